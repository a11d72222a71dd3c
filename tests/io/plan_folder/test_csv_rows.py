"""The row of a table that cannot be read is named as an editor counts it."""

import pytest

from reservoir.errors import InputError
from reservoir.io.plan_folder.tables import read_cells, read_schedule, wrong_row


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a,b\n1,2\n3,4,5\n", 3),
        ("a,b\r\n1,2,3\r\n", 2),
        ("a,b\r1,2\r3,4,5\r", 3),
        ('a,b\n"1\n1",2\n\n3,4,5\n', 5),
        ('a,b\n1,2\n3,"4\n5,6\n', 3),
        ('a,b\n1,"2"3\n', 2),
        ('"a,b\n', 1),
    ],
)
def test_the_first_wrong_row_is_named(text, row):
    mistake = wrong_row(text)
    assert mistake is not None
    assert mistake.row == row


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", "a,b\n1\n", 'a,b\n"1,1",2'])
def test_rows_that_can_be_read_are_not_wrong(text):
    assert wrong_row(text) is None


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_table_without_a_heading_is_empty(content, tmp_path):
    (tmp_path / "schedule.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"schedule\.csv: is empty\. Fix: run `reservoir plan` again"):
        read_schedule(tmp_path)


def test_lines_may_end_as_on_old_macintoshes(tmp_path):
    (tmp_path / "schedule.csv").write_bytes(b"date,release_m3s\r2001-01,5\r2001-02,6\r")
    assert read_cells(tmp_path / "schedule.csv")["release_m3s"].tolist() == ["5", "6"]


def test_a_heading_that_never_ends_is_refused(tmp_path):
    path = tmp_path / "schedule.csv"
    path.write_bytes(b'date,"release' + b"\n123" * 50_000)
    with pytest.raises(InputError, match=r"schedule\.csv: cannot be read as a table \(field larger"):
        read_cells(path)
