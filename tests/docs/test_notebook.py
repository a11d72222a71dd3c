"""The notebook is valid, keeps no outputs, and runs from its first cell to its last."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def test_cells_have_ids_and_the_format_is_one_that_knows_them(notebook):
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    assert all(set(cell) >= {"cell_type", "metadata", "source"} for cell in notebook["cells"])


def test_no_outputs_are_stored(notebook):
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_the_cells_run_in_their_order(notebook, monkeypatch):
    import matplotlib.pyplot as plt

    figures = []
    monkeypatch.setattr(plt, "show", lambda: figures.append(plt.gcf()))
    names = {}
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
        assert all(axes.get_xlabel() and axes.get_ylabel() for figure in figures for axes in figure.axes)
    finally:
        plt.close("all")
    assert len(figures) == 2
    for run in names["runs"].values():
        assert 90 < run.score.percent_of_foresight < 100
