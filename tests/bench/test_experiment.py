"""What a user may choose of an experiment is read once for all of them, and mistakes are told by the option."""

import re
from pathlib import Path

import pandas as pd
import pytest

from reservoir import bench, runtime
from reservoir.bench.experiment import RunBudget, bundled, names_named, numbers_named
from reservoir.bench.ring import RingStudy
from reservoir.bench.scaling import ScalingStudy
from reservoir.bench.tables import by
from reservoir.errors import InputError
from reservoir.planning.checks import Check

KINDS = ("mk", "ftrap", "cyc", "spin")


def kinds(text):
    return names_named(text, KINDS, "there is no such kind of problem", "--problems")


def sizes(text):
    return numbers_named(text, lambda bits: bits >= 1, "is not a valid size", "bits", "--sizes")


def test_names_are_read_in_any_case_and_all_are_meant_by_none():
    assert kinds(" MK, spin") == ("mk", "spin")
    assert kinds(None) == KINDS
    with pytest.raises(InputError, match=r"--problems.*no such kind of problem.*maxcut.*mk, ftrap, cyc, spin"):
        kinds("mk,maxcut")


def test_numbers_are_sorted_and_told_once():
    assert sizes("120,60,60") == (60, 120)
    for wrong in ("60,x", "0", ""):
        with pytest.raises(InputError, match=r"--sizes.*is not a valid size.*expected bits"):
            sizes(wrong)


PAPERS = sorted(path.stem for path in runtime.package_folder("data").joinpath("bench").iterdir())


@pytest.mark.parametrize("paper", PAPERS)
def test_all_that_the_file_of_a_paper_says_is_shown(paper):
    """Of every table, claim, note and caption the name stands in a module; one of a family without what varies."""
    code = "".join(path.read_text(encoding="utf-8") for path in Path(bench.__file__).parent.glob("*.py"))
    said = bundled(paper)
    for section in ("tables", "claims", "notes", "captions"):
        for name in said.get(section, {}):
            assert re.search(rf'"{name}"', code) or re.sub(r"^(cpu|gpu)|\d$", "", name) in code, f"{section}: {name}"


def test_a_table_and_a_claim_are_made_of_what_the_file_says(two_cores):
    asked = {"dimensions": (2,), "generations": 10, "particles": 4}
    study = RingStudy(device=two_cores, budget=RunBudget(), **asked)
    table = study.table("times", [{"variables": 1000, "sync, ms": 0.25}], "One more.")
    assert (table.title, table.formats) == (
        "Execution times (after Figure 2, middle)",
        {"variables": ",d", "sync, ms": ",.1f"},
    )
    assert "of 10 generations" in table.notes[0]
    assert table.notes[-1] == "One more."
    assert study.claim("many", 100.0, dear="f") == Check(
        "f: async / sequential, speed, many swarms", 100.0, 100.0, True
    )
    assert study.claim("medians", 2.5, function="f").passed is False
    assert study.claim("medians", 2.5, 3.0, function="f").passed is True


def test_columns_of_a_table_are_those_that_the_file_says(two_cores):
    row = dict.fromkeys(("years", "particles", "generations", "lanes", "swarms", "devices", "items"), 3)
    row |= {"sweep": "years", "device_seconds": 0.5, "wall_seconds": 0.75, "part_of_limit": 0.25}
    row |= {"moves_per_second": 2e6, "evaluations_per_second": 1e6}
    study = ScalingStudy(device=two_cores, budget=RunBudget(), record=(), moves_limit=1.0)
    frame = study.table("scaling", [row], repeats="one run", most=1).frame
    assert list(frame)[4:8] == ["lanes", "years per group", "devices", "device, s"]
    assert frame.iloc[0, 7:].tolist() == [0.5, 0.75, 2.0, 1.0, 25.0]


def test_statistics_keep_the_order_in_which_values_come():
    runs = pd.DataFrame({"size": [9, 9, 2, 9], "engine": ["b", "a", "b", "b"], "seconds": [1.0, 4.0, 5.0, 3.0]})
    frame = by(runs, "size", "engine")
    assert (list(frame.index), list(frame)) == ([9, 2], ["b", "a"])
    assert frame.loc[9].tolist() == [2.0, 4.0]
