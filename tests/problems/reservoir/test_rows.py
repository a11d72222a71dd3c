"""Years prepared and certified side by side are, to the byte, what each is alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numba import typeof

from reservoir.hydro import operation as blocks
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.compiled_year import MOST_UNROLLED
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import EXACT_MARGIN, Limits, satisfiable
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import PLAIN_FIELDS, PLAIN_NUMBERS
from reservoir.problems.base import Certified, Problem, certify_all, kernel_contexts
from reservoir.problems.reservoir.year import FLOAT32_MARGIN, ReservoirYears, reservoir_problems
from reservoir.runtime import THREADS_VARIABLE
from tests.solvers.toys import Toy

#: What a record's inflows are multiplied by: a drought and a deluge, in which no bounds can be kept, and between.
FACTORS = (0.05, 0.6, 1.0, 1.6, 12.0)
#: Steps of a year: one, fewer and more than a year's months, and more than compiled code unrolls.
STEP_COUNTS = (1, 2, 5, 12, MOST_UNROLLED + 2)


@pytest.fixture(scope="module")
def tried(case: tuple[Reservoir, Inflow]) -> ReservoirYears:
    """Years of a case, of which some cannot be satisfied."""
    reservoir, record = case
    flow = np.concatenate([record.flow_m3s * factor for factor in FACTORS])
    calendar = Calendar(record.calendar.first_year, len(flow), reservoir.first_month)
    return reservoir_problems(reservoir, Inflow(flow_m3s=flow, calendar=calendar))


def with_steps(year: ReservoirYears, steps: int) -> ReservoirYears:
    """The last so many steps of a year that runs again and again."""
    rows = {name: np.resize(row[0, ::-1], (1, steps))[:, ::-1].copy() for name, row in year.limits.rows.items()}
    return replace(year, limits=replace(year.limits, rows=rows))


def test_exact_physics_is_compiled_once_for_all_numbers_of_steps(small_years: list[ReservoirYears]) -> None:
    assert len({typeof(with_steps(small_years[0], steps).exact_year) for steps in STEP_COUNTS}) == 1


def positions_in(problems: list[Problem]) -> list[np.ndarray]:
    """A position of each problem, some variables beyond their bounds."""
    random = np.random.default_rng(7)
    return [each.lower + random.uniform(-0.1, 1.1, each.dimension) * (each.upper - each.lower) for each in problems]


def rows_of(limits: Limits, margin: float, dtype: type) -> Iterator[tuple[bytes, ...]]:
    """The arrays of years, year by year, as bytes."""
    years = limits.arrays(margin, dtype)
    assert years.rows.shape == (len(limits), 1, PLAIN_FIELDS, limits.steps)
    assert years.numbers.shape == (len(limits), 1, PLAIN_NUMBERS)
    return zip(*([row.tobytes() for row in each] for each in (years.rows, years.numbers)), strict=True)


def each_of(found: Certified) -> list[Certified]:
    """What is certified of many, problem by problem."""
    columns = found.fitness.tolist(), found.benefit.tolist(), found.violation.tolist()
    return [Certified(*worth) for worth in zip(*columns, strict=True)]


def test_some_of_the_years_tried_cannot_be_satisfied(tried: ReservoirYears) -> None:
    alone = [bool(satisfiable(year.limits)) for year in tried]
    assert set(alone) == {True, False}
    assert satisfiable(tried.limits).tolist() == alone


@pytest.mark.parametrize("steps", STEP_COUNTS)
@pytest.mark.parametrize(("margin", "dtype"), [(EXACT_MARGIN, np.float64), (FLOAT32_MARGIN, np.float32)])
def test_arrays_of_stacked_years_are_those_of_each(
    tried: ReservoirYears, steps: int, margin: float, dtype: type
) -> None:
    limits = [with_steps(year, steps).limits for year in tried]
    for year, row in zip(limits, rows_of(Limits.of(limits), margin, dtype), strict=True):
        *alone, lake, priced, cyclic, unrolled = year.arrays(margin, dtype)
        assert lake == priced == ()
        assert tuple(each.tobytes() for each in alone) == row
        assert cyclic == year.cyclic
        assert len(unrolled) in (0, steps)


@pytest.mark.parametrize("steps", STEP_COUNTS)
def test_contexts_made_together_are_those_made_one_by_one(tried: ReservoirYears, steps: int) -> None:
    years = [with_steps(year, steps) for year in tried]
    together = kernel_contexts(years)
    assert together.dtype == np.float32
    assert together.tobytes() == b"".join(year.kernel_context().tobytes() for year in years)


@pytest.mark.parametrize("steps", STEP_COUNTS)
def test_years_certified_together_are_worth_what_each_is_alone(tried: ReservoirYears, steps: int) -> None:
    years = [with_steps(year, steps) for year in tried]
    positions = positions_in(years)
    alone = [year.certify(position) for year, position in zip(years, positions, strict=True)]
    assert each_of(certify_all(years, positions)) == alone
    assert any(worth.violation > 0 for worth in alone)


def test_problems_of_any_kind_are_certified_in_their_order(
    years: list[ReservoirYears], small_years: list[ReservoirYears]
) -> None:
    short = [with_steps(year, 5) for year in years]
    fixed = [replace(year, limits=year.limits.starting_at(70.0)) for year in small_years]
    toys = [Toy(rng_stream_id=stream, centre=stream / 3) for stream in range(5)]
    problems = [each for five in zip(years, short, toys, strict=True) for each in five] + small_years + fixed
    positions = positions_in(problems)
    alone = [problem.certify(position) for problem, position in zip(problems, positions, strict=True)]
    assert each_of(certify_all(problems, positions)) == alone


def test_problems_that_know_no_stack_are_asked_one_by_one() -> None:
    toys = [Toy(rng_stream_id=stream, slope=1.0 + stream) for stream in range(3)]
    np.testing.assert_array_equal(kernel_contexts(toys), [toy.kernel_context() for toy in toys])


def test_certifying_nothing_gives_nothing() -> None:
    assert each_of(certify_all([], [])) == []


def test_no_number_of_an_operation_can_be_changed_after_it(years: list[ReservoirYears]) -> None:
    operation = years[0].operate(years[0].upper)
    arrays = [each for each in vars(operation).values() if isinstance(each, np.ndarray)]
    assert len(arrays) > 10
    assert not any(array.flags.writeable for array in arrays)


def test_a_batch_is_its_years(tried: ReservoirYears) -> None:
    positions = np.array(positions_in(tried))
    operation = tried.operate(positions)
    for place, (year, position) in enumerate(zip(tried, positions, strict=True)):
        alone = vars(year.operate(position))
        same = vars(operation[place])
        assert all(np.asarray(array).tobytes() == np.asarray(same[name]).tobytes() for name, array in alone.items())
        assert type(year) is ReservoirYears
        assert (year.lower.shape, year.kernel_context().ndim, len(year)) == ((tried.dimension,), 1, 1)
        assert (year.label, year.rng_stream_id) == (tried.labels[place], tried.rng_stream_ids[place])
        assert year.certify(position).fitness == tried.certify(positions).fitness[place]
    some = tried[1:4]
    assert [year.label for year in some] == list(tried.labels[1:4])
    assert some.kernel_contexts().tobytes() == tried.kernel_contexts()[1:4].tobytes()
    assert ReservoirYears.batch(list(some)).kernel_contexts().tobytes() == some.kernel_contexts().tobytes()


@pytest.mark.parametrize("threads", [2, 3])
def test_years_certified_by_several_threads_are_to_the_byte_those_of_one(
    tried: ReservoirYears, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = np.stack(positions_in(list(tried)))
    found = []
    for each in (1, threads):
        monkeypatch.setenv(THREADS_VARIABLE, str(each))
        monkeypatch.setattr(blocks, "LEAST_YEARS", 2)
        found.append(tried.certify(positions))
    one, several = found
    for name in ("fitness", "benefit", "violation"):
        assert getattr(one, name).tobytes() == getattr(several, name).tobytes()
    for name in ("draft_m3s", "storage_hm3", "power_mw", "violation"):
        assert getattr(one.operation, name).tobytes() == getattr(several.operation, name).tobytes()
