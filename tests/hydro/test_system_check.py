"""What `SystemCheck` finds in records: totals, sums, travel times, limits that cannot be kept, drowned tailraces."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from reservoir.hydro.attributes import InflowIs
from reservoir.hydro.calendar import Calendar, TimeStep
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import InflowSource, Link, System
from reservoir.hydro.system_check import SystemCheck
from reservoir.hydro.unit_system import US
from reservoir.io.reservoir_toml.reader import reservoir_of
from tests.io.small_reservoir import SMALL

STEPS = {"month": 12, "ten-days": 36, "day": 365}


def storms(rng, years, steps):
    """Flows with a season and storms that recede, m3/s."""
    flow, last = np.empty(years * steps), 0.0
    for at in range(flow.size):
        last = 0.7 * last + rng.gamma(0.2, 25.0) * (365 / steps) ** 0.3
        flow[at] = 10 + 5 * np.sin(2 * np.pi * at / steps) + last
    return flow.reshape(years, steps)


def checked(flows, *, links=None, total=(), local=(), step="month", changes=None):
    """A check of a chain of small reservoirs with these flows, from the top."""
    names = [f"r{place}" for place in range(len(flows))]
    small = replace(reservoir_of(SMALL.encode(), ""), step=TimeStep(step), release_lower_m3s=np.zeros(12))
    reservoirs = [replace(small, name=name, **(changes or {}).get(name, {})) for name in names]
    links = links or tuple(Link(one, other) for one, other in pairwise(names))
    of = {name: InflowSource(is_what=InflowIs.TOTAL) for name in total}
    of |= {name: InflowSource(is_what=InflowIs.LOCAL) for name in local}
    system = System(tuple(reservoirs), links, inflow_of=of)
    calendar = Calendar(2001, len(flows[0]), step=TimeStep(step))
    records = {name: Inflow(flow, calendar, allow_negative=True) for name, flow in zip(names, flows, strict=True)}
    return SystemCheck(system, SiteInflows(records))


@pytest.mark.parametrize("step", ["month", "day"])
def test_a_total_given_as_local_inflow_is_told(step):
    rng = np.random.default_rng(1)
    upper, middle, lower = (storms(rng, 6, STEPS[step]) * part for part in (1.0, 0.3, 0.2))
    check = checked([upper, upper + middle, upper + middle + lower], step=step)
    assert check.totals == ("r1", "r2")
    assert "r1: its record follows what comes from above and is never less" in check.doubts[0]
    assert 'write inflow_is = "total" below its [[reservoirs]], or "local"' in check.doubts[0]
    assert checked([upper, upper + middle], step=step, local=["r1"]).doubts == ()
    assert checked([upper, middle, lower], step=step).totals == ()
    assert checked([upper, 1.2 * upper.mean() + 0 * upper], step=step).totals == ()


def test_the_flow_at_each_reservoir_has_all_that_comes_from_above():
    upper, lower = np.full((2, 12), 10.0), np.full((2, 12), 4.0)
    check = checked([upper, lower], links=(Link("r0", "r1", 0.5), Link("r0", None, 0.5)))
    np.testing.assert_allclose(check.natural["r1"], 9.0)
    flow = check.sentences()["Flow"]
    assert flow == ("r0: 10 m³/s of its own", "r1: 4 m³/s of its own, 9 m³/s with what comes from above")
    assert "317.8 cfs with what comes from above" in check.sentences(US)["Flow"][1]
    assert check.sizes["r1"].size.inflow_fraction == pytest.approx(9 / 45, rel=0.01)


@pytest.mark.parametrize(("step", "lag", "stated"), [("day", 3, 0.5), ("ten-days", 2, 0.1), ("month", 1, 3.0)])
def test_a_travel_time_that_the_flows_contradict_is_told(step, lag, stated):
    rng = np.random.default_rng(2)
    upper, own = storms(rng, 8, STEPS[step]), 0.2 * storms(rng, 8, STEPS[step])
    late = np.roll(upper.ravel(), lag).reshape(upper.shape)
    late[0, :lag] = upper[0, 0]

    def with_travel(steps):
        link = Link("r0", "r1", travel_steps=steps, before_m3s=float(upper[0, 0]))
        check = checked([upper, own], links=(link,), total=["r1"], step=step)
        local = late + own - check.system.brought_m3s(1, {"r0": upper.reshape(1, -1)}, check.volumes).reshape(own.shape)
        return checked([upper, local], links=(link,), total=["r1"], step=step)

    (doubt,) = (each for each in with_travel(stated).doubts if "travel" in each)
    noun = TimeStep(step).noun
    assert f"r0 to r1: the flows follow each other after {lag} {noun}" in doubt
    assert f"write travel_steps = {lag}, or travel_hours = {lag * TimeStep(step).hours:g}" in doubt
    right = with_travel(float(lag))
    assert not any("travel" in each for each in right.doubts)
    assert right.sentences()["Travel"] == (f"r0 to r1: {lag} {noun}s, as the flows show",)


def test_local_inflows_say_nothing_of_travel():
    rng = np.random.default_rng(3)
    rain = storms(rng, 4, 365)
    assert checked([rain, 0.2 * rain], links=(Link("r0", "r1", travel_steps=4.0),), step="day").travels == ()


@pytest.mark.parametrize("span", ["year", "record"])
def test_values_that_are_sums_are_told(span):
    rng = np.random.default_rng(4)
    flow = storms(rng, 5, 12)
    sums = flow.cumsum(axis=1) if span == "year" else flow.cumsum().reshape(flow.shape)
    assert checked([sums]).cumulated == ("r0",)
    assert (
        "r0: its values rise from step to step and seem to be sums; give the flow of each step"
        in checked([sums]).doubts
    )
    assert checked([flow]).cumulated == ()


def test_a_least_release_that_nothing_above_can_serve_is_told():
    flow = np.full((3, 12), 5.0)
    little = {"r1": {"release_lower_m3s": np.full(12, 20.0)}}
    dry = checked([flow, 0.9 * flow], changes=little)
    assert dry.unserved == {"r1": 3}
    assert "r1: its least release cannot be given in 3 years of 3, whatever is released above" in dry.doubts[0]
    assert checked([flow, 2 * flow], changes=little).unserved == {}
    # Enough water in all, but what the upper one may release does not let it through.
    held = little | {"r0": {"release_upper_m3s": np.full(12, 6.0)}}
    assert checked([5 * flow, flow], changes=held).unserved == {"r1": 3}
    assert checked([5 * flow, flow], changes=little).unserved == {}


def test_a_lower_lake_above_the_tailrace_is_told_unless_it_backs_up():
    flow = np.full((2, 12), 20.0)
    low = {"r1": {"level": replace(reservoir_of(SMALL.encode(), "").level, y=tuple(range(300, 308)))}}
    low["r1"]["tailrace"] = replace(reservoir_of(SMALL.encode(), "").tailrace, offset=200.0)
    low["r1"]["marks"] = replace(reservoir_of(SMALL.encode(), "").marks, normal_m=306.0)
    assert checked([flow, 0.5 * flow], changes=low).warnings == ()
    (warning,) = checked([flow, 0.5 * flow]).warnings
    assert (
        "r0 to r1: the level of r1 at its full storage, 445 m, is above the tailrace of r0 at its mean flow" in warning
    )
    assert checked([flow, 0.5 * flow], links=(Link("r0", "r1", backwater=True),)).warnings == ()
    assert checked([flow, 0.5 * flow]).doubts == ()


def test_json_has_all_of_it():
    flow = np.full((2, 12), 20.0)
    told = checked([flow, 0.5 * flow]).as_dict(US)
    assert told["reservoirs"]["r1"]["natural_mean_cfs"] == pytest.approx(30 / 0.028316846592)
    assert told["links"] == [{"from": "r0", "to": "r1", "travel_steps": 0.0}]
    assert (len(told["warnings"]), told["doubts"]) == (1, [])
