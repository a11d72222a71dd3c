"""A hundred odd but real-looking files: each is read as it is meant, or refused with the mend."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow
from tests.io.records.odd_periods import ODD_PERIODS
from tests.io.records.odd_records import ODD_RECORDS, Read, Refused
from tests.io.records.odd_services import ODD_SERVICES

ALL = [*ODD_RECORDS, *ODD_PERIODS, *ODD_SERVICES]
READ = [record for record in ALL if isinstance(record.expected, Read)]
REFUSED = [record for record in ALL if isinstance(record.expected, Refused)]


@pytest.mark.parametrize("record", READ, ids=lambda record: record.name)
def test_it_is_read_as_it_is_meant(tmp_path, record):
    (tmp_path / "inflow.csv").write_text(record.text, encoding="utf-8")
    inflow = read_inflow(tmp_path / "inflow.csv", **record.options)
    assert inflow.labels == record.expected.labels
    np.testing.assert_allclose(inflow.flow_m3s, record.expected.flows, rtol=1e-9)
    assert inflow.unit == record.expected.unit
    assert any(record.expected.note in note for note in (*inflow.notes, ""))


@pytest.mark.parametrize("record", REFUSED, ids=lambda record: record.name)
def test_it_is_refused_with_the_mend(tmp_path, record):
    (tmp_path / "inflow.csv").write_text(record.text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_inflow(tmp_path / "inflow.csv", **record.options)
    problem, mend = record.expected
    assert any(problem in mistake.problem and mend in mistake.mend for mistake in refused.value.mistakes)
    assert len(str(refused.value)) < 12_000


def test_they_are_a_hundred_files_of_different_texts_or_options():
    assert len({(record.text, str(record.options)) for record in ALL}) == len(ALL) >= 100
    assert len({record.name for record in ALL}) == len(ALL)
