"""``reservoir compare`` of several reservoirs as a user types it."""

import pytest

from tests.io.two_dams import wide, write_two

SMALL = ("--solver", "lshade-sequential", "--solver", "slp", "--evaluations", "500")


@pytest.fixture
def two(tmp_path):
    """Two dams and a record of both in the current folder."""
    (tmp_path / "flows.csv").write_text(wide())
    return "compare", "flows.csv", "--reservoir", write_two(tmp_path).name


def test_gaps_are_to_the_best_that_any_solver_found(call, two, strict):
    rows = strict(call(*two, *SMALL, "--repeats", "2", "--seed", "3", "--json").out)["solvers"]
    assert [row["solver"] for row in rows] == ["lshade-sequential", "slp"]
    population, programs = rows
    assert programs["gap"] == pytest.approx(0, abs=1e-6)
    assert population["gap"] > 1e-3
    assert population["energy_gwh"] < programs["energy_gwh"]
    assert (population["violation"], programs["violation"]) == (0, 0)


def test_solvers_are_compared_at_the_same_firm_power(call, two, strict):
    told = strict(call(*two, *SMALL, "--objective", "firm-power", "--json").out)["solvers"]
    assert [row["violation"] for row in told] == [0, 0]
    assert min(row["gap"] for row in told) == pytest.approx(0, abs=1e-9)
    assert max(row["gap"] for row in told) < 0.05
    shown = call(*two, "--solver", "slp", "--objective", "firm-power").out
    assert "total energy at firm power, GWh" in shown


def test_a_table_is_shown_in_the_units_asked_for(call, two):
    shown = call(
        *two, "--solver", "slp", "--solver", "auto", "--evaluations", "300", "--horizon", "record", "--units", "us"
    ).out
    assert "System    two-dams: upper, lower" in shown
    assert "total energy, GWh" in shown
    assert "auto" in shown
    assert "device seconds" in shown


def test_settings_are_given_to_the_solvers_that_have_them(call, two):
    assert "slp" in call(*two, *SMALL, "--set", "most_programs=1", "--device", "cpu").out
    told = call(*two, *SMALL, "--set", "magic=1", status=2).err
    assert "magic: no solver that is compared has this setting" in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--solver", "dp"], "--solver: the solver dp plans one reservoir"),
        (["--solver", "magic"], "--solver: there is no such solver"),
        (["--objective", "supply-shortage"], "--objective: needs supply_target_m3s"),
        (["--step", "day"], 'step "day" needs a daily record'),
    ],
)
def test_what_cannot_be_is_refused(call, two, options, said):
    assert said in call(*two, *options, status=2).err
