"""What is not kept is told in a few sentences, from which every step can be found again."""

import numpy as np

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.shortfalls import Shortfall, by_kind, step_by_step


def record(years=3, first_month=10, **of_members):
    return Inflow(np.full((years, 12), 30.0), Calendar(1990, years, first_month, **of_members))


def missed(*places, kind="low", **sizes):
    return [Shortfall(*place, kind, float(sizes.get("size", 1.0)), f"{kind} by {place}") for place in places]


def test_a_few_are_told_one_by_one():
    few = missed((0, 3), (2, 11))
    assert by_kind(few, record()) == step_by_step(few, record())
    assert by_kind(few, record())[0] == "1990/91 Jan: low by (0, 3)"


def test_many_are_one_sentence_with_stretches_over_the_end_of_a_year_and_the_worst():
    many = missed((0, 9), (0, 10), (0, 11), (1, 0), (1, 5), (2, 7), (2, 8))
    many[4] = many[4]._replace(size=9.0)
    (said,) = by_kind(many, record())
    stretches = "1990/91 Jul to 1991/92 Oct, 1991/92 Mar, 1992/93 May to Jun"
    assert said == f"7 months ({stretches}), the worst 1991/92 Mar: low by (1, 5)"


def test_each_kind_has_its_own_sentence():
    said = by_kind([*missed((0, 1), (0, 2), (0, 3)), *missed((0, 2), kind="power")], record())
    assert [line.split(":")[0] for line in said] == [
        "3 months (1990/91 Nov to Jan), the worst 1990/91 Nov",
        "1990/91 Dec",
    ]


def test_stretches_end_with_a_member_and_are_counted_beyond_six():
    ensemble = record(4, 1, years_each=2)
    (said,) = by_kind(missed((1, 10), (1, 11), (2, 0)), ensemble)
    assert "(1: 1991 Nov to Dec, 2: 1990 Jan)" in said
    (said,) = by_kind(
        missed(*((0, step) for step in range(0, 12, 2)), *((2, step) for step in range(0, 12, 2))), record()
    )
    assert "12 months" in said
    assert "and 6 more stretches" in said
