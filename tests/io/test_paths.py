"""Names that no file can have are refused as input by every reader and writer."""

from pathlib import Path

import pytest

from reservoir.bench.result import claimed_for_result
from reservoir.errors import InputError
from reservoir.io.plan_folder.files import read_caveats, schedule_sha256
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.tables import read_schedule
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.reservoir_toml.writer import write_template
from reservoir.io.rule_file import read_rule, write_rule
from reservoir.problems.bits import read_spin_glass
from reservoir.problems.tours import read_tour, tour_problem

RULE = Path(__file__).parents[2] / "reports" / "xiaowan" / "rules" / "guide-curve.json"


def _claimed(path):
    with claimed_for_result(path):
        pass


USERS = {
    "read_inflow": read_inflow,
    "read_reservoir": read_reservoir,
    "read_rule": read_rule,
    "read_plan": read_plan,
    "read_caveats": read_caveats,
    "read_schedule": read_schedule,
    "schedule_sha256": schedule_sha256,
    "read_spin_glass": read_spin_glass,
    "tour_problem": tour_problem,
    "read_tour": lambda path: read_tour(path, 4),
    "write_template": lambda path: write_template("mine", path),
    "write_rule": lambda path: write_rule(read_rule(RULE), path, {}),
    "claimed_for_result": _claimed,
}


@pytest.mark.parametrize("name", ["x\ud800y", "x\0y"], ids=["a lone surrogate", "a NUL character"])
@pytest.mark.parametrize("use", USERS.values(), ids=USERS)
def test_what_no_file_can_be_called_is_refused(use, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        use(Path(name))
    assert all(Path(mistake.file).parts[0] == name for mistake in refused.value.mistakes)
    assert str(refused.value).encode()
