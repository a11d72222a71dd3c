"""``reservoir plan --vary``: a plan for each value of a key, and their comparison with the unvaried plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from reservoir.cli import options
from reservoir.errors import DeviceError, InputError, OutputError
from reservoir.runtime import deferred, removed

#: Keys that are varied at most, and plans.
_MOST_KEYS, _MOST_PLANS = 2, 400
#: Folders of the unvaried plan, and of the comparison.
BASE, COMPARISON = "base", "comparison"


def plan_varied(
    request: options.Request,
    varied: Sequence[options.Varied],
    planned: Callable[..., int],
    *,
    out: Path | None,
    force: bool,
    as_json: bool,
    unit_system: str | None,
    figures: bool,
    table_format: str | None,
    step: str | None,
    **asked: Any,
) -> int:
    """Plan the case of a call and its variants, each as the command plans it with the edited file, and compare them.

    `planned` plans one; other arguments are options of the command. A variant that is refused is named, and costs no
    other its plan.
    """
    from reservoir.cases import bundled_case
    from reservoir.cli import say
    from reservoir.cli.compare import show_comparison
    from reservoir.hydro.unit_system import UnitSystem
    from reservoir.io.varied_file import variants_of, varied_files
    from reservoir.report.comparison_folder import compare_folders
    from reservoir.report.folder import new_folder, to_replace

    values = {each.key: each.values for each in varied}
    variants = variants_of(values)
    if len(values) < len(varied) or len(varied) > _MOST_KEYS or len(variants) > _MOST_PLANS:
        problem = f"asks for {len(varied)} keys, {len(variants):,} plans"
        expected = f"one key or {_MOST_KEYS}, each once, and {_MOST_PLANS} plans at most"
        raise InputError(problem, expected, column="--vary")
    bundled = bundled_case(request.case)
    files = options.CaseFiles.of(request.reservoir_file, request.inflow_file, request.reading)
    file = (request.reservoir_file if request.case else files.reservoir) or bundled.reservoir_file
    folder = out or new_folder(f"vary-{file.stem}")
    to_replace(folder, force)
    texts = {name: varied_files(file, keys, folder, name) for name, keys in variants.items()}
    if not (request.reservoir_file or request.inflow_file):  # else the record would be that of a stranger
        request = replace(request, case=bundled.name, inflow_file=bundled.inflow_file if request.names_system else None)
    how = {"force": force, "as_json": False, "silent": True, "unit_system": unit_system, "figures": figures}
    how |= {"table_format": table_format, **asked}
    of_files = {name: replace(request, reservoir_file=next(iter(contents))) for name, contents in texts.items()}
    requests = {BASE: request} | of_files
    refused, status = dict[str, str](), 0
    with _written_while_planned(folder, texts, force):
        for name in texts:  # what their reader refuses is known before anything is planned
            try:
                _ = requests[name].read_system(step) if request.names_system else requests[name].read(step)
            except InputError as error:
                if len(refused) == len(texts) - 1:
                    raise
                refused[name] = _why(error)
        requests = {name: each for name, each in requests.items() if name not in refused}
        for place, (name, each) in enumerate(requests.items(), 1):
            if not as_json:
                say(f"{place} of {len(requests)}: {name}")
            try:
                status |= planned(each, step=step, out=folder / name, **how)
            except InputError as error:
                if name == BASE or isinstance(error, OutputError | DeviceError) or len(refused) == len(texts) - 1:
                    raise
                refused[name] = _why(error)
    plans = [folder / name for name in requests if name not in refused]
    comparison = compare_folders(plans, UnitSystem.of(unit_system or "si"), refused)
    show_comparison(comparison, folder / COMPARISON, force, figures, table_format == "xlsx", as_json)
    return 1 if refused else status


@contextmanager
def _written_while_planned(folder: Path, texts: Mapping[str, Mapping[Path, bytes]], force: bool) -> Iterator[None]:
    """Write the files of variants; where their planning is ended, those that no plan stands beside are removed."""
    from reservoir.io.output import write_new

    made = list[tuple[str, Path]]()
    try:
        for name, contents in texts.items():
            for path, content in contents.items():
                again = {"choose": "choose another --out", "replace": "give --force to replace it"}
                made += [] if path.exists() else [(name, path)]
                path.parent.mkdir(parents=True, exist_ok=True)
                write_new(path, content.decode(), force=force, **again)
        yield
    except BaseException:
        with deferred():
            for name, path in made:
                if not (folder / name).exists():
                    path.unlink(missing_ok=True)
                    removed(path)
            with suppress(OSError):
                folder.rmdir()  # what holds nothing was made for nothing
        raise


def _why(error: InputError) -> str:
    return " ".join(map(str, error.mistakes))
