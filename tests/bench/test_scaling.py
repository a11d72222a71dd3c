"""Ensembles of any size, and points that say what was measured or why it was not."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.bench.experiment import RunBudget
from reservoir.bench.scaling import (
    FULL,
    SWEEPS,
    Point,
    ScalingStudy,
    ensemble,
    scaling_table,
)
from reservoir.problems.reservoir.year import reservoir_problems


@pytest.fixture(scope="module")
def years(small, small_inflow):
    return reservoir_problems(small, small_inflow)


@pytest.fixture
def bench(years, device) -> ScalingStudy:
    return ScalingStudy(device=device, budget=RunBudget(quick=True), record=years, moves_limit=1e9)


def points_of(device, years=range(62), **kin):
    return list(ScalingStudy(device=device, budget=RunBudget(), record=years, moves_limit=1e9, **kin).points())


def test_an_ensemble_begins_with_the_record_and_no_two_years_share_random_numbers(years):
    many = ensemble(years, 8)
    assert [each.rng_stream_id for each in many[:3]] == [each.rng_stream_id for each in years]
    assert len({each.rng_stream_id for each in many}) == 8
    for one, other in zip(many[3:6], years, strict=True):
        for name in ("rows", "numbers"):
            of_one, of_other = (getattr(year.limits, name) for year in (one, other))
            assert of_one
            assert list(of_one) == list(of_other)
            assert all(np.array_equal(of_one[field], of_other[field]) for field in of_one)
        assert one.limits.cyclic == other.limits.cyclic


def test_sweeps_reach_from_the_record_to_the_largest_ensemble(two_cores):
    points = points_of(two_cores)
    swept = [point.value for point in points if point.sweep == "years"]
    assert (swept[0], swept[-1]) == (62, 100_000)
    assert swept == sorted(swept)
    assert {point.sweep for point in points} == set(SWEEPS) - {"devices"}


def test_a_gpu_is_filled_and_has_no_vectors(large_gpu):
    points = points_of(large_gpu, kin=(large_gpu,))
    assert {point.years for point in points if point.sweep == "particles"} == {FULL["many_years"]}
    assert [point.lanes for point in points if point.sweep == "lanes"] == [1]
    assert [point.devices for point in points if point.sweep == "devices"] == [1, 2]


def test_moves_are_years_times_particles_times_generations(bench):
    row = bench.measure_point(Point("generations", 6, generations=30))
    assert row["moves_per_second"] * row["device_seconds"] == pytest.approx(6 * 40 * 30)
    assert row["part_of_limit"] == pytest.approx(row["moves_per_second"] / 1e9)
    assert 0 < row["evaluations_per_second"] <= row["moves_per_second"] * 31 / 30
    assert row["refused"] == ""


def test_what_the_device_refuses_keeps_its_reason(bench, device):
    row = bench.measure_point(Point("swarms", 3, swarms=device.max_work_group_size + 1))
    assert "the work group size is out of range" in row["refused"]
    assert "moves_per_second" not in row


def test_every_point_is_measured_and_progress_told(bench, monkeypatch):
    points = [Point("generations", 3, generations=5), Point("swarms", 3, swarms=10**6)]
    monkeypatch.setattr(ScalingStudy, "points", lambda _: points)
    told = []
    told_of = replace(bench, budget=replace(bench.budget, progress=lambda *each: told.append(each)))
    frame = told_of.measured().data["scaling"]
    assert list(frame["value"]) == [5, 10**6]
    assert list(frame["moves_per_second"].notna()) == [True, False]
    assert told[-1] == ("scaling", 2, 2)
    assert any("Refused" in note for note in scaling_table(bench, frame).notes)


def test_a_points_work_fills_its_time(bench, monkeypatch):
    """At 0.1 ms a generation of 1,000 years, 50 ms hold 250 generations of 2,000 years."""

    (found,) = bench.solved(bench.record[:1], Point("years", 1), 1)

    def solved(self, problems, point, generations):
        return [replace(found, device_seconds=1e-7 * len(problems) * generations)]

    monkeypatch.setattr(ScalingStudy, "solved", solved)
    many = ensemble(bench.record, 2000)
    assert bench.generations_for(many, Point("years", 2000)) == 250
    assert np.isclose(bench.budget.point_seconds, 0.05)
