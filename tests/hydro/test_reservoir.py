"""A reservoir made in Python keeps the same claims as one from a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.attributes import ConversionKind, ReferenceLevels, YearEnd
from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table, constant
from reservoir.hydro.objectives import Objective
from reservoir.hydro.reservoir import Reservoir

NAN, INF = float("nan"), float("inf")
MONTHLY = ("storage_lower_hm3", "storage_upper_hm3", "release_lower_m3s", "release_upper_m3s")


def january(value: float, others: float) -> np.ndarray:
    return np.array([value] + [others] * 11)


# What is changed in a sound reservoir, the field that is named, and words of the message.
BROKEN: list[tuple[dict[str, Any], str, str]] = [
    ({"installed_mw": -5.0}, "installed_mw", r"out of range \(found -5.0\)"),
    ({"installed_mw": 0.0}, "installed_mw", "out of range"),
    ({"installed_mw": NAN}, "installed_mw", "not a finite number"),
    ({"installed_mw": 10**5000}, "installed_mw", "found a number with thousands of digits"),
    ({"installed_mw": True}, "installed_mw", "not a number"),
    ({"installed_mw": "30"}, "installed_mw", "not a number"),
    ({"installed_mw": 30_000.0}, "installed_mw", "times the maximum that release, head and conversion give"),
    ({"capacity_m3s": Table((0.0, 20.0, 25.0), (0.0, 2000.0, 0.0))}, "installed_mw", "can never be given"),
    ({"storage_upper_hm3": np.full(11, 120.0)}, "storage_upper_hm3", "has 11 values"),
    ({"release_lower_m3s": 4.0}, "release_lower_m3s", r"the shape \(\)"),
    ({"storage_lower_hm3": january(NAN, 20)}, "storage_lower_hm3", "not a finite number"),
    ({"storage_lower_hm3": ["low"] * 12}, "storage_lower_hm3", "value 1 of the list is not a number"),
    ({"storage_lower_hm3": january(-1, 20)}, "storage_lower_hm3", "below 0 in Jan"),
    ({"storage_lower_hm3": january(125, 20)}, "storage_lower_hm3", "is above storage_upper_hm3 in Jan"),
    ({"storage_upper_hm3": january(1e38, 120)}, "storage_upper_hm3", "is above 100000000 hm3 in Jan"),
    ({"release_lower_m3s": january(-1, 4)}, "release_lower_m3s", "below 0 in Jan"),
    ({"release_lower_m3s": january(90, 4)}, "release_lower_m3s", "is above release_upper_m3s in Jan"),
    ({"release_upper_m3s": np.full(12, 1e9)}, "release_upper_m3s", "is above 1000000 m3/s in every month"),
    ({"release_upper_m3s": np.full(12, 4.0), "release_lower_m3s": np.full(12, 4.0)}, "release", "nothing to plan"),
    ({"initial_storage_hm3": 300.0}, "initial_storage_hm3", "is outside the storage range"),
    ({"initial_storage_hm3": None}, "initial_storage_hm3", "is missing"),
    ({"final_storage_hm3": None}, "final_storage_hm3", "is missing"),
    ({"year_end": YearEnd.CYCLIC}, "initial_storage_hm3", "contradicts year_end"),
    ({"year_end": YearEnd.FREE}, "final_storage_hm3", "contradicts year_end"),
    ({"year_end": "open"}, "year_end", '"cyclic", "free" or "valued"'),
    ({"conversion_kind": "power"}, "conversion_kind", "rate, coefficient, efficiency"),
    ({"penalty": -1.0}, "penalty", "out of range"),
    ({"first_month": 13}, "first_month", "1 to 12"),
    ({"first_month": 1.0}, "first_month", "not a whole number"),
    ({"first_month": 10**400}, "first_month", "out of range"),
    ({"objective": Objective(firm_power_mw=INF)}, "objective.firm_power_mw", "not a finite number"),
    (
        {"objective": Objective(firm_power_mw=31.0)},
        "objective.firm_power_mw",
        r"at most the installed capacity \(30 MW",
    ),
    ({"objective": Objective(currency="bell\a")}, "objective.currency", r"U\+0007"),
    ({"objective": Objective(price_per_mwh=[-2e9] * 12)}, "objective.price_per_mwh", "below -1e[+]09 in every"),
    ({"objective": None}, "objective", "not an objective"),
    ({"marks": ReferenceLevels(flood_months=None)}, "marks.flood_months", "is not a list"),
    ({"guaranteed_energy_gwh": 300.0}, "guaranteed_energy_gwh", "262.98 GWh"),
    ({"guaranteed_power_mw": 31.0}, "guaranteed_power_mw", "at most 30 MW, the installed capacity"),
    ({"name": ""}, "name", "is empty"),
    ({"name": "a" * 65}, "name", "at most 64"),
    ({"name": None}, "name", "not text"),
    ({"caveat": "a" * 1001}, "caveat", "at most 1,000"),
    ({"caveat": "bell\a"}, "caveat", r"U\+0007"),
    ({"description": "no character: \uffff"}, "description", r"U\+FFFF"),
    ({"marks": ReferenceLevels(normal_m=INF)}, "marks.normal_m", "not a finite number"),
    ({"marks": ReferenceLevels(dead_m=41.2)}, "marks.dead_m", "far from the levels of the lake"),
    ({"marks": ReferenceLevels(flood_months=(13,))}, "marks.flood_months", "1 to 12"),
    ({"marks": None}, "marks", "not a set of reference levels"),
    ({"level": 440.0}, "level", "is not a curve"),
    ({"level": Polynomial((400.0, -0.5), (10.0, 130.0))}, "level", "decreases from 10 hm3"),
    ({"level": Table((10.0, 130.0), (400.0, 1e308))}, "level.y", "out of range at point 2"),
    ({"level": Table((30.0, 130.0), (400.0, 450.0))}, "level", "covers only 30 hm3 to 130 hm3"),
    ({"level": Table((10.0, 1e308), (400.0, 450.0))}, "level", "values within"),
    ({"tailrace": constant(500.0, (0.0, 250.0))}, "tailrace", "the same datum"),
    ({"tailrace": constant(362.0, (0.0, 100.0))}, "tailrace", "covers only 0 m3/s to 100 m3/s"),
    ({"conversion": constant(85.0, (30.0, 100.0))}, "conversion", "0.92 for 92 %"),
    ({"conversion": constant(0.85, (60.0, 100.0))}, "conversion", "covers only 60 m to 100 m"),
    ({"conversion_kind": ConversionKind.RATE}, "conversion", "does not decrease"),
    ({"capacity_m3s": PowerLaw(-5.0, 100.0, 0.0, -1.0, (30.0, 100.0))}, "capacity_m3s", "a capacity of 0 or more"),
    ({"content": "text"}, "content", "not bytes"),
]


@pytest.mark.parametrize(("change", "field", "words"), BROKEN)
def test_what_cannot_be_is_refused_by_its_field(
    small: Reservoir, change: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        replace(small, **change)
    assert field in [mistake.column for mistake in caught.value.mistakes]


def test_all_fields_that_are_wrong_are_named_together(small: Reservoir) -> None:
    with pytest.raises(InputError) as caught:
        replace(small, installed_mw=-5.0, first_month=0, initial_storage_hm3=None, release_lower_m3s=np.full(12, -1.0))
    fields = {mistake.column for mistake in caught.value.mistakes}
    assert fields == {"installed_mw", "first_month", "initial_storage_hm3", "release_lower_m3s"}


@pytest.mark.parametrize("name", MONTHLY)
def test_arrays_are_read_only_copies(small: Reservoir, name: str) -> None:
    mine = getattr(small, name).copy()
    made = replace(small, **{name: mine})
    mine[0] = -1
    assert getattr(made, name)[0] == getattr(small, name)[0]
    with pytest.raises(ValueError, match="read-only"):
        getattr(made, name)[0] = 1


def test_fields_become_what_they_are_said_to_be(small: Reservoir) -> None:
    made = replace(small, installed_mw=np.float32(31), year_end="fixed", storage_lower_hm3=[20] * 12)
    assert type(made.installed_mw) is float
    assert made.year_end is YearEnd.FIXED
    assert made.storage_lower_hm3.dtype == np.float64


@pytest.mark.parametrize(
    ("make", "column"),
    [
        (lambda: Table((1.0, 2.0), (3.0,)), "x"),
        (lambda: Table((1.0,), (3.0,)), "x"),
        (lambda: Table((), ()), "x"),
        (lambda: Table((1.0, 1.0), (3.0, 4.0)), "x"),
        (lambda: Table((0.0, 1e-300, 1.0), (3.0, 4.0, 5.0)), "x"),
        (lambda: Table((0.0, INF), (3.0, 4.0)), "x"),
        (lambda: Table((0.0, 1.0), (3.0, NAN)), "y"),
        (lambda: Table((0.0, 1.0), "ab"), "y"),
        (lambda: Polynomial((), (0.0, 1.0)), "coefficients"),
        (lambda: Polynomial((1.0,) * 14, (0.0, 1.0)), "coefficients"),
        (lambda: Polynomial((1.0, INF), (0.0, 1.0)), "coefficients"),
        (lambda: Polynomial((1.0,), (1.0, 0.0)), "domain"),
        (lambda: Polynomial((1.0,), (0.0,)), "domain"),
        (lambda: PowerLaw(0.0, 1.0, 0.0, 99.0, (0.0, 1.0)), "exponent"),
        (lambda: PowerLaw(0.0, 1.0, 0.5, 0.5, (0.0, 1.0)), "origin"),
        (lambda: PowerLaw(NAN, 1.0, 0.0, 0.5, (0.0, 1.0)), "offset"),
    ],
)
def test_a_curve_that_is_none_is_refused_by_its_field(make: Any, column: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert [mistake.column for mistake in caught.value.mistakes] == [column]


def test_points_may_come_as_any_sequence(small: Reservoir) -> None:
    made = Table(np.array([10, 130]), [400, 450])
    assert made == Table((10.0, 130.0), (400.0, 450.0))
    assert replace(small, level=made).level(70.0) == pytest.approx(425)


def test_a_sound_reservoir_has_no_notes(small: Reservoir, xiaowan: Reservoir) -> None:
    assert small.notes == xiaowan.notes == ()


@pytest.mark.parametrize(("installed", "words"), [(200.0, "far above"), (0.03, "far below")])
def test_an_installed_capacity_unlike_what_water_gives_is_noted(small: Reservoir, installed: float, words: str) -> None:
    (note,) = replace(small, installed_mw=installed).notes
    assert words in note
    assert f"{installed:g} MW" in note


def test_marks_that_differ_from_the_limits_are_noted_and_not_refused(small: Reservoir) -> None:
    dead, full = (float(small.level(storage)) for storage in (20.0, 120.0))
    assert replace(small, marks=ReferenceLevels(full + 0.4, None, dead - 0.4)).notes == ()
    notes = replace(small, marks=ReferenceLevels(full + 2, None, dead - 2)).notes
    assert [note.split()[1] for note in notes] == ["dead", "normal"]
