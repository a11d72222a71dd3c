"""A record becomes one page that anybody can read."""

import re
from dataclasses import replace

from matplotlib.figure import Figure

from reservoir.bench.markdown import page, section, table_text
from reservoir.bench.result import ExperimentResult


def test_numbers_are_written_in_their_format_and_what_is_missing_is_a_dash(record: ExperimentResult):
    lines = table_text(record.tables[0].frame, record.tables[0].formats or {}).splitlines()
    assert lines == [
        "| engine | seconds | runs |",
        "| :-- | --: | --: |",
        "| a\\|b | 1,234.6 | 3 |",
        "| c | – | 12 |",
    ]


def test_warnings_stand_before_every_result(record: ExperimentResult):
    written = page(record, {})
    assert 0 < written.index("synthetic inflow") < written.index("## Acceptance") < written.index("## Times")


def test_a_failed_check_is_seen(record: ExperimentResult):
    written = page(record, {})
    assert "| violation | 0 | ≤ 0 | yes |" in written
    assert "| speed-up | 7 | ≥ 8 | **NO** |" in written


def test_notes_follow_their_table(record: ExperimentResult):
    assert section(record.tables[0])[-1] == "In seconds."


def test_figures_are_shown_with_how_to_read_them(record: ExperimentResult):
    drawn = replace(record, figures={"times": Figure()}, captions={"times": "Times of runs."})
    assert "![times](times.png)\n\nTimes of runs." in page(drawn, {})


def test_the_origin_is_a_list_of_what_is_in_it(record: ExperimentResult):
    assert page(record, record.origin).endswith("## Origin\n\n- device:\n  - name: a device\n- seed: 1\n")


#: What a name in a file of others may hold.
HOSTILE = "<script>alert(1)</script> a|b \\| [x](http://evil) ![i](http://evil/i.png) `c` &amp;\n# no title\x1b[31m"


def test_no_text_of_others_becomes_markup(record: ExperimentResult):
    table = replace(record.tables[0], title=HOSTILE, notes=(HOSTILE,))
    table = replace(table, frame=table.frame.assign(**{table.frame.columns[0]: HOSTILE, HOSTILE: HOSTILE}))
    drawn = replace(
        record,
        title=HOSTILE,
        warnings=(HOSTILE,),
        tables=(table,),
        figures={"times": Figure()},
        captions={"times": HOSTILE},
    )
    written = page(drawn, {HOSTILE: {HOSTILE: HOSTILE}, "seed": HOSTILE})
    assert written.count("&lt;script&gt;") >= 11
    for markup in ("<script", "&amp;amp; `", "\x1b", "\n# no title"):
        assert markup not in written
    rest = written.replace("![times](times.png)", "").replace("\\\\", "")
    assert not re.findall(r"(?<!\\)[\[\]`<]", rest)
    rows = [line for line in written.split("\n") if line.startswith("| ")]
    cells = {len(re.findall(r"(?<!\\)\|", row.replace("\\\\", ""))) for row in rows if "script" in row}
    assert cells == {len(table.frame.columns) + 1}
