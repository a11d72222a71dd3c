"""Committed results: how they are made again, and the list of them."""

import json

import pytest

from tests import evidence

#: In an invented drawing: a coordinate, one of few digits, a scale, and a word that only looks like a number.
DRAWING = '<svg><path d="M 1.23456 -0.5 L 10.98765 3" transform="scale(0.015625)"/><text>v1.2345a</text></svg>'


@pytest.fixture
def folder(tmp_path):
    """A folder as an experiment writes it: a light figure, a heavy one, two tables and a page."""
    (tmp_path / "light.svg").write_text(DRAWING)
    (tmp_path / "heavy.svg").write_text(DRAWING + " " * evidence.MOST_SVG)
    for name in ("light.png", "heavy.png"):
        evidence.Image.linear_gradient("L").convert("RGB").save(tmp_path / name)
    (tmp_path / "small.csv").write_text("a\n1\n")
    (tmp_path / "large.csv").write_text("a\n" + "1\n" * evidence.MOST_TABLE)
    (tmp_path / "tables.md").write_text("![light](light.png) ![heavy](heavy.svg) [all](large.csv) [few](small.csv)")
    (tmp_path / "bench.json").write_text('{"checks": [], "files": ["light.png"]}')
    return tmp_path


def test_smaller_copies_are_complete_and_the_page_links_to_what_is_there(folder):
    evidence.shrink(folder)
    names = ["bench.json", "heavy.png", "large.csv.gz", "light.svg", "small.csv", "tables.md"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert json.loads((folder / "bench.json").read_text())["files"] == names
    page = "![light](light.svg) ![heavy](heavy.png) [all](large.csv.gz) [few](small.csv)"
    assert (folder / "tables.md").read_text() == page
    assert len(evidence.gzip.decompress((folder / "large.csv.gz").read_bytes())) == 2 + 2 * evidence.MOST_TABLE
    drawing = '<svg><path d="M 1.23 -0.5 L 10.99 3" transform="scale(0.015625)"/><text>v1.2345a</text></svg>'
    assert (folder / "light.svg").read_text() == drawing


@pytest.mark.pocl(reason="results of a processor")
def test_a_row_is_made_by_its_commands_and_listed(tmp_path, monkeypatch):
    commands = (
        "reservoir bench functions --quick --functions f1 --device {device} --out {out}",
        "reservoir solvers clpso",
        "reservoir solvers dp",
        "reservoir synth --case xiaowan --years 62 --no-check --out {out}/made.csv",
        "python -m tests.walk --help",
    )
    monkeypatch.setattr(evidence, "ROWS", (evidence.Row("small", commands, kinds=("cpu",), left_out=("runs.csv",)),))
    monkeypatch.setattr(evidence, "REPORTS", tmp_path)
    evidence.make("cpu", [], tmp_path)
    printed = (tmp_path / "small" / "solvers.txt").read_text()
    assert printed.startswith("$ reservoir solvers clpso\nclpso: ")
    assert "\n$ reservoir solvers dp\ndp: " in printed
    assert "Written to reports/small/made.csv" in (tmp_path / "small" / "made.txt").read_text()
    assert not (tmp_path / "small" / "runs.csv").exists()
    made = json.loads((tmp_path / "small" / evidence.MADE).read_text())
    assert made["platform"] == "Portable Computing Language"
    assert made["commands"][0].endswith("--device pocl --out reports/small")
    (tmp_path / "README.md").write_text(
        "Before\n\n<!-- begin: python -m tests.evidence table -->\n\n<!-- end -->\nAfter\n"
    )
    evidence.write_table()
    listed = (tmp_path / "README.md").read_text()
    assert made["commands"][0] in listed
    assert made["driver"] in listed
    assert (listed.startswith("Before\n"), listed.endswith("\nAfter\n")) == (True, True)
    with pytest.raises(SystemExit, match="no row of gpu is called small"):
        evidence.make("gpu", ["small"], tmp_path)


def test_the_list_of_results_is_that_of_the_folders():
    page = (evidence.REPORTS / "README.md").read_text(encoding="utf-8")
    assert evidence.table() in page
    listed = {row.folder(kind) for row in evidence.ROWS for kind in row.kinds}
    assert {path.name for path in evidence.REPORTS.iterdir() if (path / evidence.MADE).exists()} <= listed
