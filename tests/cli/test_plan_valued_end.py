"""A reservoir file whose end is valued by what the record implies, typed as a user types it."""

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    text = (DATA / "template.toml").read_text(encoding="utf-8").replace('year_end = "fixed"', 'year_end = "valued"')
    (tmp_path / "lake.toml").write_text(text.replace("final_hm3 = 110 ", "# "), encoding="utf-8")
    flows = [10, 9, 12, 18, 25, 28, 20, 15, 12, 10, 9, 8]
    rows = [f"{year}-{m + 1:02d},{flow + year % 3}" for year in (2001, 2002, 2003) for m, flow in enumerate(flows)]
    (tmp_path / "record.csv").write_text("date,inflow_m3s\n" + "\n".join(rows) + "\n")
    return [str(tmp_path / "record.csv"), "--reservoir", str(tmp_path / "lake.toml")]


@pytest.mark.parametrize("more", [[], ["--horizon", "record", "--solver", "dp"]])
def test_the_implied_value_is_shown_and_stands_in_the_folder(call, files: list[str], tmp_path: Path, more) -> None:
    folder = tmp_path / "plan"
    shown = " ".join(call("plan", *files, "--out", str(folder), "--no-figures", *more).out.split())
    value = json.loads((folder / "plan.json").read_text())["end_value_gwh_per_hm3"]
    assert value > 0
    told = f"1 hm³ left at the end of Dec is worth {value:g} GWh: the water value that the record implies"
    assert told in shown
    assert told in (folder / "report.html").read_text(encoding="utf-8")


def test_solvers_are_compared_on_it(call, files: list[str]) -> None:
    (found,) = json.loads(call("compare", *files, "--solver", "dp", "--json").out)["solvers"]
    assert found["solver"] == "dp"


def test_a_record_that_implies_none_is_refused_with_what_to_do(call, files: list[str], tmp_path: Path) -> None:
    record = Path(files[0])
    lines = record.read_text().splitlines()
    record.write_text("\n".join([lines[0], *(line.split(",")[0] + ",0.1" for line in lines[1:])]) + "\n")
    said = " ".join(call("plan", *files, "--out", str(tmp_path / "plan"), status=2).err.split())
    assert "end_value_gwh_per_hm3: is missing" in said
    assert "Fix: set end_value_gwh_per_hm3" in said
