"""A changed number builds no kernel and fits no form, and the forms that a reservoir has depend on it alone."""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import reservoir
from reservoir.hydro.curves import approximation
from reservoir.hydro.curves.approximation import COARSE, FINE, approximate, approximate_lake
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import program
from reservoir.problems.base import kernel_contexts
from tests.golden.lake import LAKES, write_files

CHANGES = 20
FEW = {"clpso": {"particles": 16, "generations": 20}, "lshade": {"evaluations": 1000}}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of lakes and records."""
    folder = tmp_path_factory.mktemp("lakes")
    write_files(folder)
    (folder / "lake.toml").write_text(LAKES["demands"] + LAKES["revenue"].removeprefix(LAKES["plain"]))
    return folder


@pytest.fixture(scope="module")
def lake(files: Path) -> Reservoir:
    """A lake with losses, demands and a price of each month, whose turbines take more at a higher head."""
    capacity = Table((30.0, 50.0, 65.0, 80.0, 100.0), (32.0, 44.0, 49.0, 51.0, 51.5))
    return replace(reservoir.read_reservoir(files / "lake.toml"), capacity_m3s=capacity)


@pytest.fixture(scope="module")
def record(files: Path) -> Inflow:
    return reservoir.read_inflow(files / "record-6.csv")


def changed(lake: Reservoir, number: int) -> Reservoir:
    """The lake with one number or list changed, another each time."""
    part = 1 - 0.0015 * (number + 1)
    storage, release = lake.storage_upper_hm3.copy(), lake.release_upper_m3s.copy()
    storage[number % 12] *= part
    release[0] *= part
    dearer = replace(lake.objective, price_per_mwh=lake.objective.price_per_mwh * part)
    capacity = lake.capacity_m3s
    return (
        replace(lake, storage_upper_hm3=storage),
        replace(lake, storage_lower_hm3=lake.storage_lower_hm3 / part),
        replace(lake, release_lower_m3s=lake.release_lower_m3s / part),
        replace(lake, release_upper_m3s=release),
        replace(lake, installed_mw=lake.installed_mw * part),
        replace(lake, capacity_m3s=Table(capacity.x, tuple(part * value for value in capacity.y))),
        replace(lake, withdrawal_m3s=lake.withdrawal_m3s * part),
        replace(lake, power_lower_mw=lake.power_lower_mw * part),
        replace(lake, objective=dearer),
        replace(lake, ramp_up_m3s=lake.ramp_up_m3s * part),
    )[number % 10]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a kernel is built and a form is fitted."""
    counts = Counter[str]()

    def counted(name, called, *given):
        counts[name] += 1
        return called(*given)

    for module, name in ((program, "file_of_program"), (approximation, "_fit")):
        monkeypatch.setattr(module, name, partial(counted, name, getattr(module, name)))
    return counts


@pytest.mark.parametrize("solver", FEW)
def test_changed_numbers_build_and_fit_nothing(solver, lake, record, device, work):
    def plan(changed_lake: Reservoir) -> bytes:
        given = {"solver": solver, "reference": False, "device": str(device.index), **FEW[solver]}
        plan = reservoir.optimise(changed_lake, record, **given)
        return kernel_contexts(plan.problems.each).tobytes()

    usual = plan(lake)
    work.clear()
    contexts = {plan(changed(lake, number)) for number in range(CHANGES)}
    assert work == {}
    assert len(contexts - {usual}) == CHANGES  # all numbers reach the kernel


def test_another_curve_is_fitted_and_built(lake, record, device, work):
    for factor in (1.0, 0.99):
        tailrace = replace(lake, tailrace=replace(lake.tailrace, factor=factor * lake.tailrace.factor))
        reservoir.optimise(
            tailrace, record, solver="lshade", reference=False, device=str(device.index), **FEW["lshade"]
        )
        counts = dict(work)
        work.clear()
    assert counts["file_of_program"] == 1
    assert counts["_fit"] > 0


@pytest.mark.parametrize("closeness", [COARSE, FINE])
@pytest.mark.parametrize("name", ["xiaowan", "small", "lake"])
def test_forms_do_not_depend_on_what_was_planned_before(name, closeness, request):
    usual = request.getfixturevalue(name)
    other = replace(usual, release_lower_m3s=usual.release_lower_m3s * 0.5)
    after = repr(approximate(other, closeness)), repr(approximate_lake(other))
    approximation._kept.cache_clear()
    approximation._fit_of_lake.cache_clear()
    assert after == (repr(approximate(other, closeness)), repr(approximate_lake(other)))


def test_a_file_with_another_limit_has_the_forms_of_the_reservoir_with_another_limit(tmp_path):
    texts = {"usual": LAKES["plain"], "narrow": LAKES["plain"].replace("lower_m3s = 4\n", "lower_m3s = 4.5\n")}
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    usual, read = (reservoir.read_reservoir(tmp_path / f"{name}.toml") for name in texts)
    narrow = replace(usual, release_lower_m3s=np.full(12, 4.5))
    assert repr(approximate(read).plant) == repr(approximate(narrow).plant) == repr(approximate(usual).plant)


def test_a_multiple_of_a_capacity_has_the_same_part_of_its_largest(lake):
    y = np.array(lake.capacity_m3s.y)
    more = replace(lake, capacity_m3s=Table(lake.capacity_m3s.x, tuple(y * 1.37)))
    usual, larger = approximate(lake), approximate(more)
    assert repr(usual.capacity_part) == repr(larger.capacity_part)
    assert larger.most_capacity_m3s == pytest.approx(1.37 * usual.most_capacity_m3s, rel=1e-12)
    heads = np.linspace(20, 110, 50)
    np.testing.assert_allclose(larger.plant.capacity(heads), 1.37 * usual.plant.capacity(heads), rtol=1e-6)
