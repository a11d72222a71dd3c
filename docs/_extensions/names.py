"""What a page's text names of the code: dotted Python names, and paths of files.

In Markdown a name stands between backticks: ``reservoir.hydro.step.head_at``, ``kernels/solvers/clpso/clpso.cl``.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_DOTTED = r"reservoir(?:\.\w+)+"
_PATH = r"(?:kernels|reservoir|docs|tests)/[\w/.-]+\.(?:cl|py|md|toml|csv)"
_NAME = re.compile(rf"(?<![\w./-])(?:{_PATH}|{_DOTTED})(?![\w/])")
_NO_NAME = re.compile(r"reservoir\.(?:toml|json|csv|md)$")


def names_in(text: str) -> list[str]:
    """Names of the code in a text: dotted names and paths, each once."""
    return [name for name in dict.fromkeys(_NAME.findall(text)) if not _NO_NAME.match(name)]


def source_of(name: str) -> tuple[Path, str]:
    """File of a name and the name within that file, empty for the whole file.

    Raises
    ------
    LookupError
        If there is no such thing.
    """
    if "/" in name:
        if not (ROOT / name).is_file():
            raise LookupError(f"there is no file {name}")
        return Path(name), ""
    module, found, rest = _imported(name)
    holder = found
    for place, part in enumerate(rest):
        holder, found = found, getattr(found, part, None)
        if found is None and not _is_field(holder, part):
            raise LookupError(f"there is no {name}: {module.__name__} has no {'.'.join(rest[: place + 1])}")
    home, inner = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    if rest and isinstance(home, str) and isinstance(inner, str) and home.startswith("reservoir"):
        module, rest = import_module(home), inner.split(".")
    return Path(module.__file__).resolve().relative_to(ROOT), ".".join(rest)


def _imported(name: str) -> tuple[Any, Any, list[str]]:
    """The module of a dotted name, twice, and the parts behind it."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:end])
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            module = import_module(".".join(parts[:end]))
            return module, module, parts[end:]
    raise LookupError(f"there is no {name}")


def _is_field(holder: Any, name: str) -> bool:
    """Whether a class states a field that has no value before there is an object."""
    return isinstance(holder, type) and any(name in vars(each).get("__annotations__", {}) for each in holder.__mro__)
