"""Run every kernel once, at small sizes, in a simulator that watches memory: ``make check-kernels``.

Oclgrind interprets kernels, built without optimisation, and tells of every access outside a buffer, every race of two
work items for data, and what depends on memory that nothing was written to. It cannot tell of the last where work items
have vectors: it takes every lane that a choice leaves out for used. Nor can it tell of what a compiler makes of a
kernel, of groups that run at the same time (here one runs after the other, and schemes that need more are refused), or
of time. Numbers are not checked: other tests do, on real devices.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

from reservoir.cases import bundled_case
from reservoir.certificate.cells import pairs_of
from reservoir.certificate.stages import stages_of
from reservoir.errors import ReservoirError
from reservoir.hydro.objectives import Horizon
from reservoir.opencl import DeviceInfo, Session, assemble, build, choose_device, program
from reservoir.problems.reservoir.record import record_problems
from reservoir.runtime import package_folder
from reservoir.solvers import SOLVERS, settings_of, solve
from reservoir.solvers.dsmga2 import DEVICE_MODELS
from reservoir.solvers.ensemble_dp.engine import ensemble_values
from reservoir.solvers.ensemble_dp.step import StepTables
from tests.certificate.device_cases import CASES, of_device, random_cells
from tests.engine_calls import CALLS, problems_by_name

LOG = Path(tempfile.mkdtemp(prefix="reservoir-oclgrind-"), "log")
#: Read by Oclgrind when it is loaded.
WATCHING = {"OCLGRIND_LOG": str(LOG), "OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1"}
WATCHING |= {"OCLGRIND_MAX_ERRORS": "100000000", "RESERVOIR_DEVICE": "oclgrind"}
#: Lanes and work items of a group, as on a GPU and as on a CPU.
LAYOUTS = ({"lanes": 1, "items": 4}, {"lanes": 4, "items": 1})
#: In place of what the calls have.
SMALL = {"particles": 8, "generations": 3, "evaluations": 300, "islands": 2, "island_size": 8, "iterations": 4}
SMALL |= {"migrate_every": 2}
SMALL_GRIDS = {"states": 9, "most_states": 17, "agreement": 1.0, "fine_states": 5, "start_states": 5}
SMALL_GRIDS |= {"most_refinements": 1, "most_restarts": 0}
#: Models of clpso whose layout is their paper's.
PAPERS_LAYOUT = ("basic", "intermediate", "final")
_KERNEL = re.compile(r"(?:__kernel|GROUP_KERNEL)\b(?:\s*__attribute__\(\([^)]*\)\)\))?(?:\s+void)?\s+(\w+)\(")
#: Kernels of groups that exchange data while they run.
TOGETHER = {"evolve_apart", "evolve_together", "run_async", "scheduled"}
#: Races that change nothing, and why.
HARMLESS = {
    r"Read-write data race.*Kernel: take_bests": "the larger of a best and its successor, before or after it is taken",
    r"Read-write data race.*Kernel: evolve\b.*encodings/": "items without a place read the last row for nothing",
    r"Write-write data race.*Kernel: breed_step.*encodings/permutation\.cl": "room behind a row, which nobody reads",
}
_UNWRITTEN = ("Uninitialized", "Controlflow depends on uninitialized")

launched: set[str] = set()


def calls(device: DeviceInfo) -> Iterator[tuple[str, bool, Callable[[], object]]]:
    """What is run: a name, whether work items have vectors, and the call."""
    problems = problems_by_name()
    for engine, settings, name in CALLS:
        if not SOLVERS[engine].opencl:
            continue
        small = {key: SMALL.get(key, value) for key, value in settings.items()}
        small |= SMALL_GRIDS if engine == "dp-opencl" else {}
        for layout in [{}] if settings.get("model") in PAPERS_LAYOUT else LAYOUTS:
            given = small | {key: value for key, value in layout.items() if key in settings_of(engine)}
            few = problems[name][:2]
            yield f"{engine} {name} {given}", given.get("lanes", 1) > 1, partial(solve, few, solver=engine, **given)
            if given == small:
                break
    case = bundled_case()
    whole = record_problems(case.reservoir(), case.inflow().span(0, 2), Horizon(None)).each
    for layout in LAYOUTS:
        yield (
            f"dp-opencl record {layout}",
            layout["lanes"] > 1,
            partial(solve, whole, solver="dp-opencl", **SMALL_GRIDS, **layout),
        )
    for model in DEVICE_MODELS:
        few = problems["bits"][:1]
        yield (
            f"dsmga2 bits {model}",
            False,
            partial(solve, few, solver="dsmga2", model=model, population=12, generations=1),
        )
    yield "ensemble of 3 futures", False, _ensemble
    for single in (False, True):
        yield f"proofs{' in float32' if single else ''}", False, partial(_bounds, device, single)
    yield "arithmetic", False, partial(_arithmetic, device)


def _ensemble() -> None:
    steps, states = 12, 9
    losses = np.array([np.linspace(1, 9, 17) * step / 3 for step in range(steps)])
    scalars = np.array(
        [(2.6, 1 / 2.6, 10.0, 380.0, 120.0, 900.0, 500.0, 700.0, 110.0, 20.0, 0.0, 300.0, 600.0)] * steps
    )
    benefit = np.random.default_rng(1).uniform(0, 9, (steps, 17, 81))
    tables = StepTables((100.0, 900.0), states, scalars, losses, benefit, 400.0)
    ensemble_values(
        tables, np.full((3, 4), 120.0), np.arange(3, dtype=np.int32), np.ones((3, states), np.float32), "auto"
    )


def _bounds(device: DeviceInfo, single: bool) -> None:
    year = CASES["random 4"][0]
    cells = random_cells(year, np.random.default_rng(3), 2)
    of_device(device, year.model.exact, [stages_of(year.limits)], pairs_of([cells]), single=single)


def _arithmetic(device: DeviceInfo) -> None:
    constants = {"LANES": 1, "CHAINS": 4, "UNROLLED": 2}
    built = build(device, assemble(["common/vector/lanes.cl", "bench/multiply_add.cl"], constants))
    with Session(device) as session:
        session.allocate(sums=(2, np.float32))
        session.run(built, "multiply_add", 2, 1, np.int32(3), np.float32(0.5), np.float32(1.0), "sums")
        session.download("sums")


def watched() -> DeviceInfo:
    """The simulator, with kernels as they are written, noted, and zeros that it sees written."""
    os.environ.update(WATCHING)
    program.DEFAULT_OPTIONS = (*program.DEFAULT_OPTIONS, "-cl-opt-disable")
    program.OPTIONS_AS_WRITTEN = (*program.OPTIONS_AS_WRITTEN, "-cl-opt-disable")
    usual = Session.run

    def run(self: Session, built: Any, kernel: str, *arguments: Any, **options: Any) -> None:
        launched.add(kernel)
        usual(self, built, kernel, *arguments, **options)

    Session.run = run
    cl.enqueue_fill_buffer = lambda queue, buffer, _, offset, size: cl.enqueue_copy(
        queue, buffer, np.zeros(size, np.uint8), dst_offset=offset
    )
    return choose_device("oclgrind")


def _harmless(message: str, vectors: bool) -> bool:
    unwritten = vectors and message.strip().startswith(_UNWRITTEN)
    return unwritten or any(re.search(each, message, re.DOTALL) for each in HARMLESS)


def main(only: str) -> int:
    """Run all calls with a word in their names, and say what was found: status 1 if anything was."""
    device, wrong = watched(), 0
    for label, vectors, call in calls(device):
        if only not in label:
            continue
        before = LOG.stat().st_size if LOG.exists() else 0
        try:
            call()
            said = "right"
        except ReservoirError as error:
            said = f"NOT RUN, {error}"
        with LOG.open(errors="replace") as file:
            file.seek(before)
            found = re.split(r"\n\s*\n(?=\S)", file.read().strip())
        found = [each for each in found if each and not _harmless(each, vectors)]
        refused = said.startswith("NOT RUN") and "exchange data while they run" in said
        wrong += bool(found) or (said != "right" and not refused)
        print(f"{f'WRONG, {len(found)} messages' if found else said}: {label}", *found[:3], sep="\n", flush=True)
    files = package_folder("kernels").rglob("*.cl")
    kernels = {name for file in files for name in _KERNEL.findall(file.read_text())} - {"__attribute__"}
    print(
        f"{len(launched & kernels)} of {len(kernels)} kernels ran; not: {', '.join(sorted(kernels - launched)) or '-'}"
    )
    return int(bool(wrong or (kernels - launched - TOGETHER and not only)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
