"""What the pages name of the code is there: Python names by import, kernels and other files by path."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
)


def _names():
    """The documentation's own reading of names, from which it makes links."""
    spec = importlib.util.spec_from_file_location("names_of_docs", ROOT / "docs" / "_extensions" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


names = _names()
#: Code that runs and files that are shown: a variable may be called reservoir there.
CODE = re.compile(r"^```(?:python|toml|text|sh|console)$.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page):
    missing = []
    for name in names.names_in(CODE.sub("", page.read_text())):
        try:
            names.source_of(name)
        except LookupError as wrong:
            missing.append(str(wrong))
    assert not missing


def test_names_are_found_in_text_and_files_of_a_plan_are_none():
    text = "`reservoir.hydro.step.head_at` reservoir.toml `kernels/common/sync/grid.cl` a/reservoir/x.py my.reservoir.x"
    assert names.names_in(text) == ["reservoir.hydro.step.head_at", "kernels/common/sync/grid.cl"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("reservoir.hydro.step.head_at", ("reservoir/hydro/step.py", "head_at")),
        ("reservoir.hydro.limits.Limits.arrays", ("reservoir/hydro/limits.py", "Limits.arrays")),
        ("reservoir.hydro.operation.Operation.release_m3s", ("reservoir/hydro/operation.py", "Operation.release_m3s")),
        ("reservoir.solvers.SOLVERS", ("reservoir/solvers/__init__.py", "SOLVERS")),
        ("reservoir.optimise", ("reservoir/planning/plan.py", "optimise")),
        ("reservoir.hydro.limits", ("reservoir/hydro/limits.py", "")),
        ("kernels/common/sync/grid.cl", ("kernels/common/sync/grid.cl", "")),
    ],
)
def test_a_name_leads_to_its_file(name, source):
    file, inner = names.source_of(name)
    assert (file.as_posix(), inner) == source


@pytest.mark.parametrize(
    "name", ["reservoir.hydro.step.no_such", "reservoir.nowhere", "reservoir.hydro.limits.Limits.no", "kernels/no.cl"]
)
def test_a_name_that_is_not_there_is_told(name):
    with pytest.raises(LookupError):
        names.source_of(name)
