"""The inflow model of several sites: members are like the record by every test of synthetic inflow; others are not."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr

from reservoir.cases import bundled_case
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.rules.base.fields import validated
from reservoir.rules.base.training import inflow_before
from reservoir.rules.inflow_model import InflowModel, normal_numbers
from reservoir.rules.joint_inflow import JointInflowModel, correlations_of_months, scores
from reservoir.synthetic.acceptance import compare_flows, compare_sites, joined
from tests.synthetic.test_sites import three_rivers

MEMBERS, STEPS = 100, 12
#: What members are to keep, of all that synthetic inflow is compared in.
KEPT = (
    "mean of the month",
    "deviation of the month",
    "years without flow in the month",
    "lag-1 correlation",
    "annual variance",
    "cross-correlation",
    "lag-1 cross-correlation",
)


@dataclass(eq=False)
class Years:
    """What an inflow model reads of the years of a site."""

    inflow_m3s: np.ndarray
    steps: int = STEPS

    @property
    def inflow_before_m3s(self):
        return inflow_before(self.inflow_m3s)

    @property
    def years(self):
        return len(self.inflow_m3s)


def records(case):
    sites = three_rivers() if case == "dry" else bundled_case(case).inflows()
    return np.stack([site.flow_m3s for site in sites.values()])


@pytest.fixture(scope="module", params=["lancang-3", "dry"])
def fitted(request):
    flow = records(request.param)
    return flow, JointInflowModel.of([Years(each) for each in flow])


def members_of(model, years):
    """Flows of each site, shape (sites, members, years, steps)."""
    sites = len(model.sites)
    made = model.futures(0, np.empty((1, 0, sites)), normal_numbers(3, MEMBERS, STEPS * (1 + years), sites))[0]
    return np.moveaxis(made, -1, 0).reshape(sites, MEMBERS, years, STEPS)


def failed(flow, made):
    """What members do not keep."""
    (names, calendar), years = ("abcdef"[: len(flow)], Calendar(1980, flow.shape[1])), flow.shape[1]
    record, synthetic = dict(zip(names, flow, strict=True)), dict(zip(names, made, strict=True))
    of_sites = {name: compare_flows(record[name], synthetic[name], calendar) for name in names}
    compared = [*joined(of_sites), *compare_sites(record, synthetic, calendar)]
    assert years > 30
    assert {each.statistic for each in compared} >= set(KEPT)
    return [each.statistic for each in compared if each.check.passed is False and each.statistic in KEPT]


def apart(model):
    sites = len(model.sites)
    return JointInflowModel(sites=model.sites, factor=np.tile(np.eye(sites), (STEPS, 1, 1)).tolist())


def test_members_are_like_the_record(fitted):
    flow, model = fitted
    made = members_of(model, flow.shape[1])
    assert failed(flow, made) == []
    wanted, found = (correlations_of_months(scores(each)) for each in (flow, made.reshape(len(flow), -1, STEPS)))
    assert np.abs(found - wanted).max() < 0.08  # no noise correlates more than 1
    dry = (flow == 0).mean(axis=1)
    assert np.abs((made == 0).mean(axis=(1, 2)) - dry).max() < 0.02
    assert dry.max() > 0.2 or flow.min() > 0


def test_members_of_sites_drawn_apart_are_found_out(fitted):
    flow, model = fitted
    assert failed(flow, members_of(apart(model), flow.shape[1])) == ["cross-correlation", "lag-1 cross-correlation"]


def test_one_site_is_the_model_of_one_site(fitted):
    flow, model = fitted
    own = InflowModel.of(Years(flow[0]))
    assert model.sites[0] == own
    alone, numbers = JointInflowModel.of([Years(flow[0])]), normal_numbers(1, 7, 20, 1)
    known = flow[0][:3, [4, 3]]
    futures = own.futures(5, known, ndtr(numbers[..., 0]))
    np.testing.assert_allclose(alone.futures(5, known[..., None], numbers)[..., 0], futures, rtol=1e-9)


def test_a_wet_month_at_one_site_makes_wet_months_at_the_others_too(fitted):
    """Of many members, those whose months before were wet at the first site, against futures drawn given that."""
    flow, model = fitted
    made, step = members_of(model, 400).reshape(len(flow), -1, STEPS), 5
    known = np.quantile(made[:, :, step - 1], 0.8, axis=1)
    near = (np.abs(made[:, :, step - 1] / known[:, None] - 1) < 0.25).all(axis=0)
    futures = model.futures(step, known[None, None], normal_numbers(2, 3000, STEPS + 3, len(flow)))[0]
    assert near.sum() > 100
    of_near = made[:, near, step : step + 3].transpose(1, 2, 0)
    np.testing.assert_allclose(futures.mean(axis=0), of_near.mean(axis=0), rtol=0.1)
    for one, other in ((0, 1), (0, 2)):
        found, wanted = (np.corrcoef(each[:, 1, one], each[:, 1, other])[0, 1] for each in (futures, of_near))
        assert found == pytest.approx(wanted, abs=0.15)


def test_it_is_the_same_read_back_and_wrong_shapes_are_refused(fitted):
    flow, model = fitted
    content = json.loads(json.dumps(model.model_dump(mode="json")))
    again, numbers = validated(JointInflowModel, content), normal_numbers(1, 5, 24, len(flow))
    known = flow[:, :1, 3].T[None]
    assert np.array_equal(again.futures(4, known, numbers), model.futures(4, known, numbers))
    few, many = normal_numbers(1, 3, 18, len(flow)), model.futures(4, known, numbers)
    assert np.array_equal(model.futures(4, known, few)[0], many[0, :3, :6])
    content["factor"][4] = content["factor"][4][1:]
    with pytest.raises(InputError, match=r"factor\[4\]: has the wrong number of values"):
        validated(JointInflowModel, content)


def test_few_years_tell_no_correlation():
    flow = records("lancang-3")[:, :3]
    model = JointInflowModel.of([Years(each) for each in flow])
    np.testing.assert_array_equal(model.factor, np.tile(np.eye(3), (STEPS, 1, 1)))
