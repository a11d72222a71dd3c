"""Texts in UTF-8, UTF-16 and GB18030 are read, and no other encoding is taken for one of these."""

import re

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.level_table import read_level_table
from reservoir.io.plan_folder.tables import read_cells
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.reservoir_toml.writer import write_template
from reservoir.text.data_file import encoding_of, head_lines, text_of

MONTHS = "\n".join(f"{2001 + at // 12}-{at % 12 + 1:02},{10 + at}" for at in range(24))
RECORD = f"# 来水，逐月\n日期,入库流量(m³/s)\n{MONTHS}\n"
MEMBERS = "member,date,inflow_m3s\n" + "\n".join(f"水文站{m},{line}" for m in (1, 2) for line in MONTHS.splitlines())
LEVELS = "水位(m),库容(hm3),面积(km2)\n405,10,1.2\n422,40,2\n445,120,4.6\n"
#: What is read of each way to write a text, besides UTF-8.
ENCODINGS = {"gb18030": "GB18030", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


@pytest.mark.parametrize(("encoding", "name"), ENCODINGS.items())
def test_records_ensembles_and_tables_of_levels_are_read_and_the_encoding_is_told(tmp_path, encoding, name):
    said = f"the file is read as {name} text, not as UTF-8"
    path = tmp_path / "text.csv"
    path.write_bytes(RECORD.encode(encoding))
    inflow = read_inflow(path)
    assert inflow.flow_m3s.ravel().tolist() == [*range(10, 34)]
    assert inflow.notes[0] == said
    assert inflow.content == RECORD.encode(encoding)
    path.write_bytes(MEMBERS.encode(encoding))
    ensemble = read_inflow(path)
    assert (ensemble.member_count, ensemble.notes[0]) == (2, said)
    assert np.array_equal(ensemble.flow_m3s[:2], ensemble.flow_m3s[2:])
    assert list(ensemble.members) == ["水文站1", "水文站2"]
    path.write_bytes(LEVELS.encode(encoding))
    table = read_level_table(path)
    assert (table.storage.title, table.storage.values) == ("库容(hm3)", (10.0, 40.0, 120.0))
    assert table.notes == (said,)
    path.write_bytes(f"date,release_m3s,备注(水位)\n{MONTHS.replace(chr(10), ',x' + chr(10))},x\n".encode(encoding))
    assert list(read_cells(path)["release_m3s"]) == [str(10 + at) for at in range(24)]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_reservoir_file_is_read_and_its_numbers_that_are_invented_are_named(tmp_path, encoding):
    path = tmp_path / "lake.toml"
    write_template("lake", path)
    text = re.sub(
        '^description = ".*"', 'description = "月亮湖水库"', path.read_text(encoding="utf-8"), count=1, flags=re.M
    )
    path.write_bytes(text.encode(encoding))
    lake = read_reservoir(path)
    assert lake.description == "月亮湖水库"
    assert f"the file is read as {ENCODINGS[encoding]} text, not as UTF-8" in lake.notes
    assert any('that "reservoir new" invented' in str(note) for note in lake.notes)


@pytest.mark.parametrize(
    "text",
    [
        "date,débit (m³/s)\n1953-01,1\n".encode("latin-1"),
        "data,vazão;situação\n1953-01,1\n".encode("cp1252"),
        "Дата;Расход воды\n1953-01;1\n".encode("cp1251"),
        "Дата;Расход воды\n1953-01;1\n".encode("koi8-r"),
        "日付,流入量,貯水位\n1953-01,1,2\n".encode("shift-jis"),
        "日付,流入量,貯水位\n1953-01,1,2\n".encode("euc-jp"),
        "날짜,유입량,저수위\n1953-01,1,2\n".encode("euc-kr"),
        "日期,流量\n1953-01,1\n".encode("gb18030") + b"\xff\n",
    ],
)
def test_other_encodings_are_no_chinese_and_are_refused(text):
    assert encoding_of(text) == "utf-8"
    with pytest.raises(InputError, match="is not UTF-8"):
        text_of(text)


def test_what_has_bytes_of_zero_is_utf_16_only_if_all_of_it_is():
    assert text_of("date,q\n2001-01,1\n".encode("utf-16-be")) == "date,q\n2001-01,1\n"
    for binary in (b"date,q\n2001-01,\0\n", bytes(range(256)), b"\x1f\x8b\x08\x00\x00\x00\x00\x00"):
        with pytest.raises(InputError, match="NUL byte"):
            text_of(binary)
    with pytest.raises(InputError, match="the line is not UTF-16"):
        text_of("日期,流量\n".encode("utf-16") + b"1")


@pytest.mark.parametrize("encoding", ["utf-8", *ENCODINGS])
@pytest.mark.parametrize("length", [40, 41, 42, 43, 44])
def test_the_lines_at_the_beginning_of_a_file_are_whole(encoding, length):
    head, found = head_lines(RECORD.encode(encoding)[: 4 * length])
    assert found == encoding
    text = head.decode("utf-8" if found.startswith("utf") else found)
    assert text.endswith("\n")
    assert RECORD.startswith(text)
