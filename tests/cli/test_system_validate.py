"""``reservoir validate`` of several reservoirs as a user types it."""

import pytest

from reservoir.planning import system_search
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import TWO, wide, write_two

#: All that is released arrives at once: a system that dp-joint plans.
PLAIN = TWO.replace("travel_hours = 12\nbefore_cfs = 1000\n", "")


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two dams and a record of both in the current folder; the joint plan is that of the first stage."""
    monkeypatch.setattr(system_search, "STAGES", ("slp",))
    (tmp_path / "flows.csv").write_text(wide())
    return "validate", "flows.csv", "--reservoir", write_two(tmp_path).name


def test_populations_are_compared_with_the_joint_plan(call, two, strict):
    printed = strict(call(*two, "--runs", "2", "--set", "evaluations=15000", "--json", status=None).out)
    checks = {line["check"].partition(" (")[0]: line for line in printed["checks"]}
    assert checks["water balance: largest residual"]["pass"] is True
    engines = {name.partition(":")[0] for name in checks if "gap to auto, worst year of 2 runs" in name}
    assert engines in ({"lshade", "clpso"}, {"lshade-sequential", "clpso-sequential"})
    for name in engines:
        assert checks[f"{name}: problems with different results for the same seed"]["value"] == 0
        assert checks[f"{name}: sum of relative violations, 2 runs"]["value"] == 0
        assert checks[f"{name}: gap to auto, worst year of 2 runs"]["value"] < 0.01
    assert "two-tailed t-test between the engines' totals, p-value" in checks
    assert printed["system"]["reservoirs"] == ["upper", "lower"]
    assert any("dp-joint" in left for left in printed["not_checked"])


def test_too_little_work_fails_also_with_commitments(call, two, tmp_path):
    write_two(tmp_path, lower=SMALL + "\n[commitments]\nannual_release_hm3 = 700\n")
    little = ("--set", "evaluations=500", "--generations", "5", "--seed", "2")
    shown = call(*two, *little, "--horizon", "2", "--no-zoo", status=1).out
    assert "System    two-dams: upper, lower" in shown
    assert "gap to auto, worst year of 1 run (" in shown
    assert "lower: The annual release is kept in 4 of 4 years." in shown
    assert "NO" in shown
    assert "Not checked: solvers on random systems" in shown


def test_a_setting_of_no_engine_that_is_compared_is_refused(call, two):
    assert "most_corridors" in call(*two, "--set", "most_corridors=3", status=2).err


def test_dp_joint_which_keeps_the_start_is_not_compared_with_cyclic_years(call, two, tmp_path, strict):
    cyclic = SMALL.replace('year_end = "fixed"\ninitial_hm3 = 110\n', 'year_end = "cyclic"\n')
    assert cyclic != SMALL
    for text, compared in ((SMALL, True), (cyclic, False)):
        write_two(tmp_path, PLAIN, upper=text)
        quick = ("--set", "evaluations=500", "--generations", "5", "--no-zoo", "--json")
        printed = strict(call(*two, *quick, status=1).out)
        assert any("auto against dp-joint" in line["check"] for line in printed["checks"]) is compared
        left = [each for each in printed["not_checked"] if "dp-joint" in each]
        assert left == ([] if compared else ["auto against dp-joint (it does not search the start of cyclic years)"])


def test_without_opencl_all_engines_are_those_of_the_host(call, two, tmp_path, monkeypatch):
    monkeypatch.setattr("reservoir.opencl.why_unavailable", lambda: "no OpenCL platform is installed")
    monkeypatch.setattr(
        "reservoir.solvers.system_engine.choose_devices", lambda device: pytest.fail("a device is chosen")
    )
    write_two(tmp_path, PLAIN)
    shown = call(*two, "--set", "evaluations=2000", "--generations", "5", status=1).out
    assert "lshade-sequential: gap to auto" in shown
    assert "auto against dp-joint, worst problem" in shown
