"""Water that links carry: derived by hand, in steps of one and two days."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.system import Carried, Link, System, in_order, link_mistakes

FLOW = np.array([[10.0, 20.0, 30.0, 40.0]])
VOLUME = np.array([[1.0, 2.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ("link", "arriving"),
    [
        (Link("a", "b"), [10, 20, 30, 40]),
        (Link("a", "b", lost_share=0.1), [9, 18, 27, 36]),
        (Link("a", "b", lost_m3s=15), [0, 5, 15, 25]),
        (Link("a", "b", travel_steps=1), [0, 5, 40, 15]),  # 10 and 30 hm3 of a day are 5 and 15 m3/s of two
        (Link("a", "b", travel_steps=1, before_m3s=3), [6, 5, 40, 15]),  # two days before the first
        (Link("a", "b", travel_steps=0.25, before_m3s=3), [9, 16.25, 32.5, 33.75]),
        (Link("a", "b", travel_steps=1, before_m3s=3, lost_share=0.5), [3, 2.5, 20, 7.5]),
        (Link("a", "b", travel_steps=6, before_m3s=3), [3, 3, 3, 3]),
    ],
)
def test_volumes_arrive_whole(link, arriving):
    np.testing.assert_allclose(link.arriving_m3s(FLOW, VOLUME), [arriving], rtol=1e-15)


def test_what_is_under_way_at_the_end_is_what_did_not_arrive():
    for travel in (0.0, 0.3, 1.0, 2.6, 9.0):
        link = Link("a", "b", travel_steps=travel, lost_share=0.2)
        arrived = (link.arriving_m3s(FLOW, VOLUME) * VOLUME).sum()
        under_way = link.under_way_hm3(FLOW, VOLUME)[0]
        assert arrived + under_way == pytest.approx(0.8 * (FLOW * VOLUME).sum(), rel=1e-14)


def test_a_year_that_is_followed_by_itself_loses_nothing():
    link = Link("a", "b", travel_steps=1.5)
    arriving = link.arriving_m3s(FLOW, VOLUME, wraps=True)
    assert (arriving * VOLUME).sum() == pytest.approx((FLOW * VOLUME).sum(), rel=1e-14)
    np.testing.assert_allclose(arriving, [[(0.5 * 80 + 0.5 * 30) / 1, (0.5 * 10 + 0.5 * 80) / 2, 25, 17.5]])


def test_a_link_carries_its_part():
    release, turbined = np.array([[50.0]]), np.array([[30.0]])
    parts = {"all": 50, "turbined": 30, "spilled": 20, 0.25: 12.5}
    for carries, flow in parts.items():
        assert Link("a", carries=carries).of_release(release, turbined) == flow
    assert Link("a", carries="spilled").carries is Carried.SPILLED


MISTAKES = {
    "flow in a circle: a -> b -> a": [Link("a", "b"), Link("b", "a")],
    "d is no reservoir of the system": [Link("a", "d")],
    "z is no reservoir of the system": [Link("z", "a")],
    "a would flow into itself": [Link("a", "a")],
    "is out of range: -1": [Link("a", "b", travel_steps=-1)],
    "is out of range: 1.5": [Link("a", "b", lost_share=1.5)],
    "carry some of its release twice: all, all": [Link("a", "b"), Link("a", "c")],
    "carry some of its release twice: turbined, 0.5": [Link("a", "b", "turbined"), Link("a", "c", 0.5)],
    "carry 1.2 of its release": [Link("a", "b", 0.7), Link("a", "c", 0.5)],
    "there is no reservoir below": [Link("a", backwater=True)],
    "two reservoirs would back up a": [Link("a", "b", 0.5, backwater=True), Link("a", "c", 0.5, backwater=True)],
    "[0].backwater: backs up a, whose turbined and spilled flows go different ways": [
        Link("a", "b", "turbined", backwater=True),
        Link("a", "c", "spilled"),
    ],
    "backs up a, whose turbined": [Link("a", "b", "turbined", backwater=True)],  # what is spilled leaves the system
    "backs up a, whose turbined and spilled": [Link("a", "b", "spilled", backwater=True)],
}


@pytest.mark.parametrize("problem", MISTAKES)
def test_links_that_cannot_be_are_told(problem):
    told = [str(mistake) for mistake in link_mistakes(["a", "b", "c"], MISTAKES[problem])]
    assert len(told) == 1
    assert problem in told[0]


def test_two_reservoirs_of_one_name_are_told(small):
    with pytest.raises(InputError, match=f"two reservoirs are called {small.name}"):
        System((small, small))


def test_reservoirs_are_in_order_whatever_order_they_are_given_in(small):

    links = [Link("d", "b"), Link("b", "a"), Link("c", "a")]
    each = [replace(small, name=name) for name in "abcd"]
    assert {tuple(one.name for one in in_order(given, links)) for given in permutations(each)} == {("c", "d", "b", "a")}
