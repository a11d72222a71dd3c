"""A record becomes one page that anybody can read."""

from dataclasses import replace

from matplotlib.figure import Figure

from reservoir.bench.markdown import page, section, table_text
from reservoir.bench.record import Record


def test_numbers_are_written_in_their_format_and_what_is_missing_is_a_dash(record: Record):
    lines = table_text(record.tables[0].frame, record.tables[0].formats or {}).splitlines()
    assert lines == [
        "| engine | seconds | runs |",
        "| :-- | --: | --: |",
        "| a\\|b | 1,234.6 | 3 |",
        "| c | – | 12 |",
    ]


def test_warnings_stand_before_every_result(record: Record):
    written = page(record, {})
    assert 0 < written.index("synthetic inflow") < written.index("## Acceptance") < written.index("## Times")


def test_a_failed_check_is_seen(record: Record):
    written = page(record, {})
    assert "| violation | 0 | ≤ 0 | yes |" in written
    assert "| speed-up | 7 | ≥ 8 | **NO** |" in written


def test_notes_follow_their_table(record: Record):
    assert section(record.tables[0])[-1] == "In seconds."


def test_figures_are_shown_with_how_to_read_them(record: Record):
    drawn = replace(record, figures={"times": Figure()}, captions={"times": "Times of runs."})
    assert "![times](times.png)\n\nTimes of runs." in page(drawn, {})


def test_the_origin_is_a_list_of_what_is_in_it(record: Record):
    assert page(record, record.origin).endswith("## Origin\n\n- device:\n  - name: a device\n- seed: 1\n")
