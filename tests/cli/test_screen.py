import io
import json
import time

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress

from reservoir.cli import screen
from reservoir.cli.screen import Column, PrintableConsole, show_line, show_table

COLUMNS = (Column("solver"), Column("device"), Column("energy, GWh", "right"), Column("seconds", "right"))
ROWS = [("dynamic", "a device with a name of many words", "1,474,331.7", "0.0728"), ("b", "", "728", "12")]


def shown(width: int) -> str:
    screen = PrintableConsole(file=io.StringIO(), width=width)
    show_table(COLUMNS, ROWS, title="Title", lines_after=(0,), screen=screen)
    return screen.file.getvalue()


@pytest.mark.parametrize("width", [*range(10, 90, 5), 140, 100_000])
def test_numbers_stand_whole_at_every_width(width):
    words = shown(width).replace("│", " ").split()
    assert {"1,474,331.7", "0.0728", "728", "12"} <= set(words)


@pytest.mark.parametrize("width", [50, 60, 70, 80, 140])
def test_a_table_keeps_within_the_screen(width):
    assert max(map(len, shown(width).splitlines())) <= width


def test_a_pipe_gets_every_cell_on_one_line():
    assert "│ a device with a name of many words │" in shown(100_000)


@pytest.mark.parametrize("width", [40, 80])
def test_a_long_line_goes_on_below_itself_on_a_terminal_whatever_its_letters(monkeypatch, width):
    screen = PrintableConsole(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr("reservoir.cli.screen.console", lambda: screen)
    words = "丹江口水库的曲线为估算值 " * 9
    show_line("Inflow", words)
    lines = screen.file.getvalue().splitlines()
    assert len(lines) > 2
    assert max(map(cell_len, lines)) <= width
    assert lines[0].startswith("Inflow    丹江口")
    assert all(line.startswith(" " * 10) for line in lines[1:])
    assert "".join(" ".join(lines)[10:].split()) == "".join(words.split())


def test_a_long_line_is_one_in_a_pipe(capsys):
    show_line("Inflow", "word " * 60 + "end")
    assert capsys.readouterr().out.splitlines() == ["Inflow    " + "word " * 60 + "end"]


def first_columns(width: int) -> list[str]:
    screen = PrintableConsole(file=io.StringIO(), width=width)
    columns = [Column(f"column {place}", "right") for place in range(9)]
    show_table(columns, [["123,456"] * 9], most_columns=3, screen=screen)
    return screen.file.getvalue().splitlines()


@pytest.mark.parametrize(("width", "count"), [(100_000, 3), (91, 9), (80, 7), (31, 3), (21, 2)])
def test_a_terminal_gets_as_many_columns_as_it_has_room_for_and_a_pipe_the_first(width, count):
    lines = first_columns(width)
    assert lines[-2].count("123,456") == count
    assert max(map(len, lines)) <= width


def test_where_not_even_one_column_has_room_the_first_stand_below_each_other():
    assert [line for line in first_columns(8) if line] == [f"column {place}: 123,456" for place in range(3)]


def test_nothing_that_a_terminal_obeys_is_printed():
    screen = PrintableConsole(file=io.StringIO(), width=80)
    show_table((Column("x"),), [("\x1b[31mred",)], screen=screen)
    screen.print("title\x1b]0;owned\x07")
    assert "\x1b" not in screen.file.getvalue()
    assert r"\x1b]0;owned\x07" in screen.file.getvalue()


@pytest.mark.parametrize(("done", "runs"), [(0, True), (3, False), (62, False)])
def test_a_bar_runs_to_and_fro_until_a_first_piece_is_done(done, runs):
    """A launch of all years tells nothing before its end: a bar that stands at 0 would say that nothing is done."""
    with Progress(disable=True) as bars:
        bars.add_task("clpso", total=62, completed=done)
        assert screen._Bar().render(bars.tasks[0]).pulse == runs


def test_a_stage_shows_the_seconds_that_it_takes_before_its_first_piece(monkeypatch):
    text = io.StringIO()
    monkeypatch.setattr(screen, "console", lambda stderr=False: Console(file=text, force_terminal=True, width=120))
    with screen.progress_bars() as show:
        show("clpso", 0, 62)
        time.sleep(1.2)
    assert "0/62" in text.getvalue()
    assert "0:00:01" in text.getvalue()


def test_a_program_that_asks_for_lines_gets_five_a_second_of_a_stage_and_its_last(monkeypatch, capsys):
    monkeypatch.setenv(screen.PROGRESS, "lines")
    now = [100.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    with screen.progress_bars() as show:
        for place in range(101):
            now[0] += 0.01
            show("clpso", place, 100)
        show("reference", 0, None)
        show("reference", 0.5, None)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [each["done"] for each in told if each["stage"] == "clpso"] == [0, 20, 40, 60, 80, 100]
    assert told[-2:] == [{"stage": "reference", "done": done, "total": None} for done in (0, 0.5)]
    monkeypatch.delenv(screen.PROGRESS)
    with screen.progress_bars() as show:
        show("clpso", 1, 1)
    assert capsys.readouterr().err == ""
