"""Synthetic inflow of several sites together: each as it is alone, correlated as on record, and found out where not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.rules.joint_inflow import correlations
from reservoir.synthetic import METHODS
from reservoir.synthetic.acceptance import assessed
from reservoir.synthetic.ensemble import Adjustments, synthetic_inflow
from reservoir.synthetic.sites import synthetic_sites

YEARS = 40
TOGETHER = [name for name in METHODS if name != "knn"]


def three_rivers():
    """Three rivers of some memory that rise and fall together; the last falls dry in late summer."""
    random, flows = np.random.default_rng(5), []
    level, factor = np.zeros(3), np.linalg.cholesky([[1.0, 0.8, 0.5], [0.8, 1.0, 0.4], [0.5, 0.4, 1.0]])
    for _ in range(12 * (YEARS + 5)):
        level = np.array([0.6, 0.4, 0.5]) * level + factor @ random.standard_normal(3)
        flows.append(level)
    season = 20.0 * (1 + 0.8 * np.sin(np.arange(12) / 2))[:, np.newaxis]
    flow = season * np.exp(0.4 * np.array(flows).reshape(-1, 12, 3)[-YEARS:])
    flow[:, 7:9, 2] = np.maximum(flow[:, 7:9, 2] - 12.0, 0.0)
    assert 5 < (flow[:, 7, 2] == 0).sum() < 35
    return SiteInflows({name: Inflow(flow[..., at], Calendar(1980, YEARS)) for at, name in enumerate("abc")})


@pytest.fixture(scope="module")
def sites():
    return three_rivers()


def month_by_month(flow):
    """Correlations of the normal scores of sites' flows in each month, shape (steps, sites, sites)."""
    scores = norm.ppf((rankdata(flow, axis=1) - 0.5) / flow.shape[1])
    return np.stack([np.corrcoef(month) for month in np.moveaxis(scores, -1, 0)])


def made(source, members=100):
    """Flows of each site, one year after another."""
    return np.stack([flow.reshape(-1, 12) for flow in source.flows_of_sites(0, members, YEARS).values()])


@pytest.mark.parametrize("method", TOGETHER)
def test_sites_correlate_as_on_record_and_every_line_passes(sites, method):
    source = synthetic_sites(sites, method, seed=3)
    missing = month_by_month(made(source)) - month_by_month(sites.flow_m3s.transpose(1, 0, 2))
    assert np.abs(missing).max() < 0.05
    assessment = assessed(source, 100)
    assert assessment.failed == []
    lines = [check.check for check in assessment.checks]
    assert len(lines) == 17
    assert lines[-2].startswith("cross-correlation (")
    assert lines[-1].startswith("lag-1 cross-correlation (")


@pytest.mark.parametrize("method", TOGETHER)
def test_sites_that_are_drawn_by_themselves_are_found_out(sites, method):
    source = synthetic_sites(sites, method)
    apart = replace(source, factor=np.eye(36))
    assert assessed(apart, 100).failed == ["cross-correlation", "lag-1 cross-correlation"]


@pytest.mark.parametrize("adjustments", [None, Adjustments.of("-10%", "+10%", "40d")], ids=["as it is", "adjusted"])
@pytest.mark.parametrize("method", METHODS)
def test_one_site_is_that_alone(sites, method, adjustments):
    together = synthetic_sites(SiteInflows({"a": sites["a"]}), method, seed=7, adjustments=adjustments)
    alone = synthetic_inflow(sites["a"], method, seed=7, adjustments=adjustments)
    assert np.array_equal(together.flows_of_sites(2, 5, 11)["a"], alone.flows(2, 5, 11))
    assert np.array_equal(together.ensemble(3)["a"].flow_m3s, alone.ensemble(3).flow_m3s)


@pytest.mark.parametrize("method", TOGETHER)
def test_the_first_site_is_that_alone_and_a_member_is_the_same_whichever_others_are_made(sites, method):
    source = synthetic_sites(sites, method)
    assert np.array_equal(source.flows_of_sites(0, 3, 9)["a"], synthetic_inflow(sites["a"], method).flows(0, 3, 9))
    some, more = source.flows_of_sites(1, 2, 5), source.flows_of_sites(0, 4, 8)
    assert all(np.array_equal(some[name][0], more[name][1, :5]) for name in sites)
    assert (some["c"][..., 7] == 0).any()


def test_a_season_is_shifted_at_all_sites_alike(sites):
    source = synthetic_sites(sites, "thomas-fiering", adjustments=Adjustments.of("-10%", None, "60d"))
    adjusted = np.stack([site.adjusted_record for site in source.sites.values()])
    assert np.abs(month_by_month(made(source)) - month_by_month(adjusted)).max() < 0.06
    assert made(source).mean() == pytest.approx(0.9 * sites.flow_m3s.mean(), rel=0.02)


def test_two_gauges_of_one_river_stay_one_river(sites):
    """Two gauges of one river whose numbers are the same but for what makes a matrix positive definite."""
    flow = sites["a"].flow_m3s
    twin = SiteInflows({"a": sites["a"], "twin": replace(sites["a"], flow_m3s=2 * flow), "b": sites["b"]})
    source = synthetic_sites(twin, "kirsch")
    assert np.isfinite(source.factor).all()
    assert month_by_month(made(source))[:, 0, 1].min() > 0.99


def test_what_does_not_draw_sites_together_is_refused(sites):
    with pytest.raises(InputError, match=r"does not draw several sites together .*; expected kirsch or thomas-fiering"):
        synthetic_sites(sites, "knn")


def test_a_month_that_never_changes_correlates_with_nothing():
    flow = np.random.default_rng(1).random((2, 20, 12))
    flow[0, :, 4] = 3.0
    found = correlations(flow)
    assert not found[0, 4].any()
    assert found[0, 3, 1, 5] == found[1, 5, 0, 3] == pytest.approx(np.corrcoef(flow[0, :, 3], flow[1, :, 5])[0, 1])
