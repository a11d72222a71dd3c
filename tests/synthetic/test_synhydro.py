"""Kirsch's method as another package has it: an independent reference, if it is installed."""

import numpy as np
import pandas as pd
import pytest

from reservoir.hydro.inflow import periods_of
from reservoir.synthetic import acceptance
from reservoir.synthetic.acceptance import compare_flows
from reservoir.synthetic.ensemble import synthetic_inflow

synhydro = pytest.importorskip("synhydro", reason="SynHydro is not installed: pip install synhydro")

MEMBERS = 40


@pytest.fixture(scope="module")
def theirs(inflow):
    """Members of SynHydro's Kirsch generator, shape (members, years, months)."""
    months = pd.DatetimeIndex(periods_of(inflow.calendar).to_timestamp(), freq="MS")
    series = pd.DataFrame({"lake": inflow.flow_m3s.ravel()}, index=months)
    generator = synhydro.KirschGenerator()
    generator.fit(series)
    ensemble = generator.generate(n_realizations=MEMBERS, n_years=inflow.years, seed=1)
    return ensemble.data_by_site["lake"].to_numpy().T.reshape(MEMBERS, inflow.years, 12)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "statistic",
    [
        acceptance.STATISTICS["mean of the month"],
        acceptance.STATISTICS["deviation of the month"],
        lambda flow: acceptance.monthly_correlations(flow, 1),
        acceptance.STATISTICS["flow duration curve"],
    ],
)
def test_both_make_the_same_months(inflow, theirs, statistic):
    ours = statistic(synthetic_inflow(inflow, "kirsch").flows(0, MEMBERS, inflow.years))
    others = statistic(theirs)
    error = np.sqrt(ours.var(axis=0, ddof=1) + others.var(axis=0, ddof=1))
    assert (np.abs(ours.mean(axis=0) - others.mean(axis=0)) < error).all()


@pytest.mark.filterwarnings("default")
def test_the_acceptance_table_finds_that_theirs_forget_the_year_before(inflow, theirs):
    found = {each.statistic: each for each in compare_flows(inflow.flow_m3s, theirs, inflow.calendar)}
    assert found["mean of the month"].check.passed
    ours = synthetic_inflow(inflow, "kirsch").flows(0, MEMBERS, inflow.years)
    own = {each.statistic: each for each in compare_flows(inflow.flow_m3s, ours, inflow.calendar)}
    of_record = found["annual lag-1 correlation"].record[0]
    their_error, our_error = (
        abs(each["annual lag-1 correlation"].synthetic.mean() - of_record) for each in (found, own)
    )
    assert our_error < their_error / 3
