"""Build and call the plain C program of this folder."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reservoir import runtime
from reservoir.opencl import literal
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.clpso import SwarmSettings
from reservoir.solvers.clpso.engine import swarm_constants
from reservoir.solvers.rng import stream_states

#: As fast as the compiler can: what the sequential engine has to keep up with.
FLAGS = ("-O3", "-march=native", "-ffast-math", "-fno-semantic-interposition", "-shared", "-fPIC", "-w")

#: OpenCL C of vectors that are one number wide, as C.
_LANES = """
#define CONTEXT_SPACE
#define __constant static const
typedef float reals;
typedef int ints;
#define LANES 1
#define ANY(mask) (mask)
#define REAL float
#define ALWAYS_INLINE static inline
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define CHOOSE(mask, yes, no) ((mask) ? (yes) : (no))
#define FUSED(a, b, c) ((a) * (b) + (c))
static inline int min(int a, int b) { return a < b ? a : b; }
"""


def compiler() -> str | None:
    """A C compiler, if there is one."""
    return shutil.which("gcc") or shutil.which("cc")


class PlainC:
    """The C program, specialised for the years of a reservoir and for settings of the swarm."""

    def __init__(self, year: ReservoirYears, settings: SwarmSettings, folder: Path) -> None:
        self.settings = settings
        source, library = folder / "clpso_specialised.c", folder / "clpso.so"
        source.write_text(_specialised(year, settings), encoding="utf-8")
        command = [str(compiler()), *FLAGS, "-o", str(library), str(source), "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        self._solve = ctypes.CDLL(str(library)).solve

    def solve(self, years: Sequence[ReservoirYears], seed: int) -> tuple[list[np.ndarray], list[int]]:
        """Best position of each year, and the evaluations that it took."""
        learning = self.settings.learning_probability().astype(np.float32)
        found, evaluations = [], []
        for year in years:
            context, position = year.kernel_context(), np.empty(year.dimension, np.float32)
            states = stream_states(seed, year.rng_stream_id, self.settings.particles)
            arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (context, learning, states)]
            generations = ctypes.c_int(self.settings.generations)
            evaluations.append(self._solve(*arrays, generations, position.ctypes.data_as(ctypes.c_void_p)))
            found.append(position.astype(np.float64))
        return found, evaluations


def _specialised(year: ReservoirYears, settings: SwarmSettings) -> str:
    kernel = year.kernel()
    constants = {**kernel.constants, **swarm_constants(settings)}
    defines = "\n".join(f"#define {name} {literal(value)}" for name, value in constants.items())
    problem = "\n".join(runtime.package_text("kernels", file) for file in kernel.files)
    own = (Path(__file__).parent / "clpso.c").read_text(encoding="utf-8")
    return "\n".join([defines, _LANES, kernel.source, problem, own])
