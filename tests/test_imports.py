"""Who may import whom: no circles, not even in a folder or for types alone, and no folder that one above it needs."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import reservoir

PACKAGE = Path(reservoir.__file__).parent
#: Folders, each of which may import those before it; ``opencl`` knows no reservoirs.
ORDER = (
    *("text", "opencl", "hydro", "zoo", "problems", "solvers", "certificate", "planning", "rules", "synthetic"),
    *("io", "report", "bench", "page", "cli"),
)
#: The facade names everything, and nothing asks it for more than a module.
FACADE = "reservoir"


@cache
def modules() -> dict[str, Path]:
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in names.items()}


def imported(name: str, *, within_functions: bool) -> set[str]:
    """Modules of the package that a module imports, for types too."""
    tree, found = ast.parse(modules()[name].read_text("utf-8")), set()
    for node in ast.walk(tree) if within_functions else outside_functions(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = {f"{node.module}.{each.name}" for each in node.names}
            found |= (parts & modules().keys()) or {node.module}
    return found & modules().keys() - {name}


def outside_functions(tree: ast.AST):
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from outside_functions(node)


def test_no_modules_import_each_other():
    graph = {name: imported(name, within_functions=False) for name in modules() if name != FACADE}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def folder_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


@pytest.mark.parametrize("folder", ORDER)
def test_a_folder_imports_none_above_it(folder):
    above = {*ORDER[ORDER.index(folder) + 1 :]}
    wrong = {
        f"{name} imports {other}"
        for name in modules()
        if folder_of(name) == folder
        for other in imported(name, within_functions=True)
        if folder_of(other) in above
    }
    assert not wrong
