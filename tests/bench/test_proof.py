"""Bounds against schedules: a tiny run, and that a bound that is too low is found out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir.bench import proof
from reservoir.bench.experiment import RunBudget
from reservoir.bench.proof import ProofStudy, SystemRun, share_within
from reservoir.certificate.bound import ProvenBound, compile_ahead, prove_bound
from reservoir.certificate.system import SystemBound
from reservoir.errors import InputError
from reservoir.planning.checks import all_pass
from reservoir.solvers import SOLVERS, settings_of
from reservoir.zoo import Part

ASKED = {"budget": RunBudget(runs=1, quick=True), "part": "tuning", "solvers": "dp-opencl,lshade-sequential"}


def tiny(**own):
    return proof.run(years=2, prove_seconds=600.0, **ASKED, **own)


class Proofs:
    """Proofs of a tiny run by what they were asked, and the calls that it made; asked again, none is proved again."""

    def __init__(self):
        self.calls, self._proved = [], {}

    def prove(self, year, storages, fitness, effort):
        self.calls.append("prove_bound")
        asked = (year.label, np.asarray(storages).tobytes(), fitness, effort)
        if asked not in self._proved:
            self._proved[asked] = prove_bound(year, storages, fitness, effort)
        return self._proved[asked]

    def compile(self, *given):
        self.calls.append("compile_ahead")
        return compile_ahead(*given)


@pytest.fixture(scope="module")
def proofs():
    return Proofs()


@pytest.fixture(scope="module")
def tiny_run(proofs, device):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proof, "prove_bound", proofs.prove)
        patch.setattr(proof, "compile_ahead", proofs.compile)
        return tiny(), list(proofs.calls)


@pytest.mark.device
def test_no_schedule_is_above_its_bound_and_the_blind_bound_is_no_guess(tiny_run):
    found, _ = tiny_run
    assert all_pass(found.checks)
    schedules, years = found.data["schedules"], found.data["years"]
    assert dict(schedules.groupby("solver").size()) == {"dp": 2, "dp-opencl": 2, "lshade-sequential": 1}
    assert (schedules["excess"] <= 0).all()
    assert (schedules["blind_excess"] <= 0).all()
    assert years["gap"].between(0, 0.05).all()  # the second year is a hard one
    assert years["blind_gap"].between(0, 0.05).all()
    assert (years["blind_boxes"] > 0).all()
    assert [table.title for table in found.tables] == ["By part", "By solver"]
    assert set(found.headlines) == {"schedules", "tuning part"}


@pytest.mark.device
def test_code_is_compiled_ahead_of_the_first_proof_of_each_year(tiny_run):
    assert tiny_run[1] == ["compile_ahead", "prove_bound", "prove_bound"] * 2


@pytest.mark.device
@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.usefixtures("tiny_run")  # whose proofs are taken again
def test_a_bound_that_is_too_low_fails_the_check(monkeypatch, proofs, blind):
    told = []

    def too_low(year, storages, fitness, effort):
        proved = proofs.prove(year, storages, fitness, effort)
        told.append(fitness)
        second = len(told) % 2 == 0
        return replace(proved, bound=proved.bound * (1 - 1e-3)) if second == blind else proved

    monkeypatch.setattr(proof, "prove_bound", too_low)
    found = tiny()
    assert not all_pass(found.checks)
    assert found.checks[0].value > 0
    assert told[1] < told[0]  # the blind proof does not know the best schedule


@pytest.mark.device
def test_a_wrong_bracket_is_found_by_the_blind_proof_alone(monkeypatch):
    def dropping(year, storages, fitness, effort):
        """What a proof comes to that drops every path: its threshold."""
        return ProvenBound(fitness + effort.gap * abs(fitness), None, 1, 1)

    monkeypatch.setattr(proof, "prove_bound", dropping)
    schedules = tiny().data["schedules"]
    assert (schedules["excess"] <= 0).all()
    assert (schedules["blind_excess"] > 0).all()


def made_up(**of_year):
    """Findings of one year with one schedule that keeps its limits, worth 100."""
    place = {"part": "test", "number": 0, "year": "1991"}
    known = {"best": 100.0, "scale": 0.0, "bound": 100.001, "infeasible": False, "seconds": 1.0, "boxes": 9}
    blind = {"blind_bound": 100.002, "blind_infeasible": False, "blind_seconds": 2.0, "blind_boxes": 9}
    schedule = place | {"solver": "dp", "seed": 1, "fitness": 100.0, "violation": 0.0}
    years = pd.DataFrame([place | known | blind | of_year])
    data = {"bounds": years, "schedules": pd.DataFrame([schedule]), "refused": pd.DataFrame()}
    sizes = {"reservoirs": 1, "years": 1, "host_reservoirs": 1, "host_years": 1, "gap": 1e-5, "seconds": 1.0}
    return ProofStudy(budget=RunBudget(), device=None, parts=(), solvers=(), data=data, **sizes)


def test_shares_and_excess_of_a_year():
    found = made_up()
    assert found.compared["excess"].item() == pytest.approx(-1e-5)
    assert found.compared["blind_excess"].item() == pytest.approx(-2e-5)
    assert share_within(found.proofs, 1e-5) == 1.0
    assert share_within(found.proofs, 1e-6) == 0.0
    assert found.by_part()["within 1e-5"].item() == 1.0
    assert all_pass(found.checks())


def test_a_schedule_in_a_year_that_is_proved_to_have_none_fails_the_check():
    found = made_up(bound=np.nan, infeasible=True)
    assert found.beyond == 1
    assert not all_pass(found.checks())


def test_a_bound_that_is_no_number_fails_the_check():
    assert made_up(bound=np.nan).beyond == 1
    assert made_up(blind_bound=np.nan).beyond == 0  # not all years have one


#: Populations on the host take the first systems alone.
WALKED = (("systems", 0), ("systems", 1), ("committed", 0))
SOLVERS_OF_ONE = ("slp", "dpsa-sequential", "lshade-sequential", "auto")


def measured_of(device, name, *solvers):
    """One random system, its schedules by some solvers held against its bounds."""
    study = ProofStudy(
        budget=RunBudget(runs=1, quick=True), device=device, parts=(Part.TEST,), solvers=(), reservoirs=0, years=1,
        host_reservoirs=20, host_years=1, gap=1e-3, seconds=20.0, systems=6, committed=25, system_solvers=solvers,
    )  # fmt: skip
    place = study.named_runs[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProofStudy, "named_runs", {name: place})
        return study.measured()


@pytest.fixture(scope="module")
def of_a_system(device):
    """A system of two reservoirs."""
    return measured_of(device, "test systems 5", *SOLVERS_OF_ONE)


@pytest.mark.device
def test_no_schedule_of_a_system_is_above_its_bounds(of_a_system):
    counts = of_a_system.compared.groupby("solver").size()
    assert set(counts.index) == {"random", *SOLVERS_OF_ONE}
    assert counts["random"] > 5  # the others violate limits
    assert of_a_system.beyond == 0
    assert of_a_system.proofs["part"].tolist() == ["test systems"]
    for gap in ("gap", "blind_gap"):
        assert of_a_system.proofs[gap].between(0, 2e-3).all()
    assert (of_a_system.compared["excess"] <= 0).all()


@pytest.mark.device
@pytest.mark.parametrize("of", ["bound", "blind_bound"])
def test_a_bound_of_a_system_that_is_too_low_is_found(of_a_system, of):
    bounds = of_a_system.data["bounds"]
    lower = replace(of_a_system, data=of_a_system.data | {"bounds": bounds.assign(**{of: bounds[of] * (1 - 5e-3)})})
    assert lower.beyond > 0
    assert not all_pass(lower.checks())


@pytest.mark.device
def test_all_solvers_that_plan_systems_are_walked_and_refusals_are_told(monkeypatch):
    asked, able = [], [name for name, entry in SOLVERS.items() if entry.systems]
    on_host = {name for name in able if SOLVERS[name].seeded and not SOLVERS[name].opencl}

    def refuses(*_, solver, **how):
        asked.append(solver)
        assert how.keys() >= {*proof.SYSTEM_EFFORT} & {*settings_of("lshade" if solver == "auto" else solver)}
        assert how.keys() <= {"horizon", "seed", "device", *settings_of("lshade" if solver == "auto" else solver)}
        raise InputError("too large", mend="choose another")

    runs = {f"test {of} {number}": SystemRun(Part.TEST, number, of == "committed") for of, number in WALKED}
    monkeypatch.setattr(ProofStudy, "named_runs", runs)
    monkeypatch.setattr(proof, "optimise_system", refuses)
    monkeypatch.setattr(proof, "prove_system", lambda *_, **__: SystemBound(1e9, np.zeros(1), ()))
    found = proof.run(budget=ASKED["budget"], systems=2, committed=1)
    further = [name for name in able if name not in on_host]
    assert asked == [*able, "auto", *further, "auto", *able, "auto"]
    assert found.headlines["dp-joint refused"] == "3, the first: too large. Fix: choose another."
    (table,) = [each for each in found.tables if each.title == "Refused"]
    assert table.frame["solver"].tolist() == asked
    assert table.frame["refused"].str.contains("too large").all()


@pytest.mark.device
def test_systems_with_commitments_are_two_years_each_of_which_keeps_them(device):
    found = measured_of(device, "test committed 15", "slp")
    counts = found.compared.groupby("solver").size()
    assert counts["slp"] == 1
    assert counts["random"] > 0  # few keep them all
    assert found.beyond == 0
    assert found.proofs["part"].tolist() == ["test committed"]
    assert found.proofs["year"].str.contains(" to ").all()
    assert found.proofs["gap"].between(0, 2e-2).all()
    bounds = found.data["bounds"]
    assert replace(found, data=found.data | {"bounds": bounds.assign(bound=bounds["bound"] * 0.97)}).beyond > 0
