"""Benchmark functions as problems that any solver takes.

The eight of Yu et al. 2020 (Complexity 6589658, Table 2), and the five of Mussi, Nashed and Cagnoni 2011, which are
sums over their variables whose terms work items share (``kernels/problems/sums``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import inlined, overload
from reservoir.opencl import literal
from reservoir.problems.base import FloatArray, KernelProblem, SymmetricBox
from reservoir.problems.fitness import register_fitness

#: Of sin(pi x) / x in powers of x^2, |x| <= 1/2, highest first; relative error 6e-9.
_SINE = tuple(np.float32(each) for each in (0.077560387, -0.5982421264, 2.550069726, -5.167709685, 3.141592637))
_HALF, _QUARTER, _TWO = np.float32(0.5), np.float32(0.25), np.float32(2)


@inlined
def _sine_near(x: np.float32) -> np.float32:
    """sin(pi x), |x| <= 1/2, float32."""
    square = x * x
    value = _SINE[0]
    for place in range(1, len(_SINE)):
        value = value * square + _SINE[place]
    return value * x


def squared_sine_of_half_turns(x: float | np.floating) -> float:
    """sin(pi x)^2 = (1 - cos(2 pi x)) / 2."""
    raise NotImplementedError("call this from compiled code")


@overload(squared_sine_of_half_turns)
def _squared_sine_of_half_turns(x: Any) -> Callable[..., Any]:
    def short(x: np.float32) -> np.float32:
        sine = _sine_near(x - np.floor(x + _HALF))
        return sine * sine

    def exact(x: float) -> float:
        return math.sin(math.pi * (x - np.floor(x + 0.5))) ** 2

    return short if x == types.float32 else exact


def sine_of_turns(x: float | np.floating) -> float:
    """sin(2 pi x)."""
    raise NotImplementedError("call this from compiled code")


@overload(sine_of_turns)
def _sine_of_turns(x: Any) -> Callable[..., Any]:
    def short(x: np.float32) -> np.float32:
        turn = x - np.floor(x + _HALF)
        if turn > _QUARTER:
            turn = _HALF - turn
        elif turn < -_QUARTER:
            turn = -_HALF - turn
        return _sine_near(_TWO * turn)

    def exact(x: float) -> float:
        return math.sin(2 * math.pi * (x - np.floor(x + 0.5)))

    return short if x == types.float32 else exact


#: Where f7 has its optimum, in every dimension.
SCHWEFEL_OPTIMUM = 420.96
#: What makes f7 zero there.
_SCHWEFEL_OFFSET = 418.9828872724338
_SCHWEFEL_REACH = 500.0


@inlined
def sphere(x: RealArray) -> np.floating:
    """f1."""
    total = x.dtype.type(0)
    for d in range(len(x)):
        total += x[d] * x[d]
    return total


@inlined
def schwefel_2_22(x: RealArray) -> np.floating:
    """f2: the sum of all magnitudes and their product."""
    total, product = x.dtype.type(0), x.dtype.type(1)
    for d in range(len(x)):
        total += abs(x[d])
        product *= abs(x[d])
    return total + product


@inlined
def noisy_quartic(x: RealArray) -> np.floating:
    """f3 without its noise."""
    real = x.dtype.type
    total = real(0)
    for d in range(len(x)):
        square = x[d] * x[d]
        total += real(d + 1) * square * square
    return total


@inlined
def rosenbrock(x: RealArray) -> np.floating:
    """f4."""
    real = x.dtype.type
    total = real(0)
    for d in range(len(x) - 1):
        bend, away = x[d + 1] - x[d] * x[d], x[d] - real(1)
        total += real(100) * bend * bend + away * away
    return total


@inlined
def rosenbrock_swapped(x: RealArray) -> np.floating:
    """f2 of Li and Liu 2017, Table 4: f4 with its indices swapped, as it is printed."""
    real = x.dtype.type
    total = real(0)
    for d in range(1, len(x)):
        bend, away = x[d - 1] - x[d] * x[d], x[d - 1] - real(1)
        total += real(100) * bend * bend + away * away
    return total


@inlined
def _squares_and_sines(x: RealArray) -> tuple[np.floating, np.floating]:
    """Sums of x^2 and of sin(pi x)^2."""
    squares, sines = x.dtype.type(0), x.dtype.type(0)
    for d in range(len(x)):
        squares += x[d] * x[d]
        sines += squared_sine_of_half_turns(x[d])
    return squares, sines


@inlined
def rastrigin(x: RealArray) -> np.floating:
    """f5."""
    squares, sines = _squares_and_sines(x)
    return squares + x.dtype.type(20) * sines


@inlined
def ackley(x: RealArray) -> np.floating:
    """f6."""
    real = x.dtype.type
    squares, sines = _squares_and_sines(x)
    count = real(len(x))
    spread = math.expm1(real(-0.2) * math.sqrt(squares / count))
    return real(-20) * spread - real(math.e) * math.expm1(real(-2) * sines / count)


@inlined
def rotated_schwefel(x: RealArray, rotation: RealArray, turned: RealArray) -> np.floating:
    """f7: turned about the optimum; beyond 500 the sine counts nothing. Uses `turned` to work in."""
    real = x.dtype.type
    total = real(_SCHWEFEL_OFFSET) * real(len(x))
    _turn(x, rotation, real(SCHWEFEL_OPTIMUM), turned)
    for d in range(len(x)):
        size = abs(turned[d])
        if size <= real(_SCHWEFEL_REACH):
            total -= turned[d] * sine_of_turns(math.sqrt(size) * real(0.5 / math.pi))
    return total


@inlined
def rotated_rastrigin(x: RealArray, rotation: RealArray, turned: RealArray) -> np.floating:
    """f8: f5 of the turned position. Uses `turned` to work in."""
    _turn(x, rotation, x.dtype.type(0), turned)
    return rastrigin(turned[: len(x)])


@inlined
def elliptic(x: RealArray, weights: RealArray) -> np.floating:
    """High-conditioned elliptic: the sum of weighted squares."""
    total = x.dtype.type(0)
    for d in range(len(x)):
        total += weights[d] * x[d] * x[d]
    return total


@inlined
def griewank(x: RealArray, weights: RealArray) -> np.floating:
    """1 + the sum of x^2 / 4000 - the product of cos(2 pi w x), where w is 1 / (2 pi sqrt(d))."""
    real = x.dtype.type
    total, product = real(0), real(1)
    for d in range(len(x)):
        total += x[d] * x[d] * real(1 / 4000)
        product *= real(1) - real(2) * squared_sine_of_half_turns(x[d] * weights[d])
    return total + (real(1) - product)


@inlined
def _turn(x: RealArray, rotation: RealArray, centre: np.floating, turned: RealArray) -> None:
    """The position turned about a centre, put into `turned`."""
    for row in range(len(x)):
        total = centre
        for d in range(len(x)):
            total += rotation[row, d] * (x[d] - centre)
        turned[row] = total


class FunctionContext(NamedTuple):
    """What compiled solvers read; each function has a class of its own, by which numba picks the fitness.

    ``numbers`` is float32: a rotation, shape (dimension, dimension), or weights, shape (dimension,), or a single number
    where the function has neither.
    """

    numbers: Any


@dataclass(frozen=True)
class Function:
    """A function to be made small.

    Parameters
    ----------
    name, title : str
        As in its paper.
    reach : float
        Every variable lies between its negative and it.
    value : callable
        In compiled code: of a position; or of a position, a rotation and room to work in; or of a position and weights.
    optimum : float
        Every variable of the best position; the function is zero there.
    rotated : bool
        It has a rotation.
    noise : float
        Added to the fitness at every evaluation, times a fresh number in [0, 1).
    summed : bool
        It is a sum over its dimensions, which work items may share (``kernels/problems/sums``).
    weights : callable, optional
        A number of each dimension, for a count of dimensions.
    """

    name: str
    title: str
    reach: float
    value: Callable[..., Any]
    optimum: float = 0.0
    rotated: bool = False
    noise: float = 0.0
    summed: bool = False
    weights: Callable[[int], FloatArray] | None = None

    def __post_init__(self) -> None:
        """Register the fitness for compiled solvers, by a class that code kept on disk finds in this module."""
        name = self._context_name
        globals()[name] = context = type(name, (FunctionContext,), {"__doc__": self.title, "__module__": __name__})
        register_fitness(context, _fitness(self), noise=self.noise)

    @property
    def _context_name(self) -> str:
        return f"Context_{self.name.replace('-', '_')}"

    def context(self, numbers: NDArray[np.float32]) -> FunctionContext:
        """What compiled solvers read."""
        context: FunctionContext = globals()[self._context_name](numbers)
        return context

    @property
    def files(self) -> tuple[str, ...]:
        """Kernel files that define it."""
        if self.summed:
            return f"problems/sums/{self.name}.cl", "problems/sums/of_terms.cl"
        return "problems/functions/box.cl", f"problems/functions/{self.value.__name__}.cl"


def _fitness(function: Function) -> Callable[..., Any]:
    value = function.value
    if function.rotated:
        return lambda context, position, scratch: -value(position, context.numbers, scratch[0])
    if function.weights is not None:
        return lambda context, position, scratch: -value(position, context.numbers)
    return lambda context, position, scratch: -value(position)


#: f2 of Li and Liu 2017, Table 4; no range is given there.
ROSENBROCK_SWAPPED = Function("f2-printed", "Rosenbrock, indices swapped", 10.0, rosenbrock_swapped, optimum=1.0)

#: Of Yu et al. 2020, Table 2.
FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("f1", "Sphere", 100.0, sphere),
        Function("f2", "Schwefel P2.22", 10.0, schwefel_2_22),
        Function("f3", "Noise", 1.28, noisy_quartic, noise=-1.0),
        Function("f4", "Rosenbrock", 10.0, rosenbrock, optimum=1.0),
        Function("f5", "Rastrigin", 5.12, rastrigin),
        Function("f6", "Ackley", 32.0, ackley),
        Function(
            "f7",
            "rotated Schwefel",
            500.0,
            rotated_schwefel,
            optimum=SCHWEFEL_OPTIMUM,
            rotated=True,
        ),
        Function("f8", "rotated Rastrigin", 5.12, rotated_rastrigin, rotated=True),
    )
}


def _conditions(dimension: int) -> FloatArray:
    return 1e6 ** (np.arange(dimension) / (dimension - 1))


def _frequencies(dimension: int) -> FloatArray:
    return 1 / (2 * math.pi * np.sqrt(np.arange(1, dimension + 1)))


#: Of Mussi, Nashed and Cagnoni 2011.
RING_FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("sphere", "Sphere", 100.0, sphere, summed=True),
        Function("elliptic", "High-conditioned elliptic", 100.0, elliptic, summed=True, weights=_conditions),
        Function("rastrigin", "Rastrigin", 5.12, rastrigin, summed=True),
        Function("rosenbrock", "Rosenbrock", 30.0, rosenbrock, optimum=1.0, summed=True),
        Function("griewank", "Griewank", 600.0, griewank, summed=True, weights=_frequencies),
    )
}


def functions_named(names: str | None) -> list[Function]:
    """The functions of a list of names with commas between them, in the catalogue's order; all without a list.

    Raises
    ------
    InputError
        With every name that there is not.
    """
    if names is None:
        return list(FUNCTIONS.values())
    asked = [name.strip().lower() for name in names.split(",")]
    wrong = [name for name in asked if name not in FUNCTIONS]
    if wrong:
        known = ", ".join(FUNCTIONS)
        raise InputError([Mistake("unknown function", known, "choose from these", value=name) for name in wrong])
    return [function for name, function in FUNCTIONS.items() if name in asked]


#: With which the results of Yu et al. 2020 are met.
ROTATIONS = 20
SEED = 7


@dataclass(frozen=True)
class Rotation:
    """Which matrix: of so many rotations of planes, where none gives the unit matrix."""

    dimension: int
    rotations: int = ROTATIONS
    seed: int = SEED

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The unit matrix, turned in the planes of two axes at random by angles uniform in [0, pi / 2); read-only."""
        random = np.random.default_rng(self.seed)
        matrix = np.eye(self.dimension)
        for _ in range(self.rotations):
            plane = random.choice(self.dimension, 2, replace=False)
            angle = random.uniform(0, np.pi / 2)
            cosine, sine = np.cos(angle), np.sin(angle)
            matrix[:, plane] = matrix[:, plane] @ np.array([[cosine, -sine], [sine, cosine]])
        matrix.flags.writeable = False
        return matrix


#: Variables: Rosenbrock and planes need two. A rotation is written into a device's program; sums have weights instead.
FEWEST, MOST, MOST_OF_SUM = 2, 200, 1024


@dataclass(frozen=True)
class FunctionProblem(SymmetricBox):
    """One function in so many dimensions (implements `Problem`).

    Parameters
    ----------
    function : Function
    dimension : int
    rng_stream_id : int
        Names its random numbers.
    rotation : Rotation, optional
        Of a rotated function.
    """

    function: Function
    dimension: int
    rng_stream_id: int = 0
    rotation: Rotation | None = None

    def __post_init__(self) -> None:
        """Refuse dimensions that no program is made for."""
        most = MOST_OF_SUM if self.function.summed else MOST
        if not FEWEST <= self.dimension <= most:
            expected = f"{FEWEST} to {most:,}"
            raise InputError("the number of variables is out of range", expected, value=self.dimension)

    @property
    def label(self) -> str:
        """Name for messages and tables."""
        return f"{self.function.title}, {self.dimension} variables"

    @property
    def reach(self) -> float:
        """The function's."""
        return self.function.reach

    @property
    def program_key(self) -> Hashable:
        """Whatever a program is specialised for."""
        return self.function.name, self.dimension, self.rotation

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The function's file, and its rotation written out."""
        function = self.function
        constants = {
            "DIM": self.dimension,
            "LOWER": -function.reach,
            "UPPER": function.reach,
            "OPTIMUM": function.optimum,
        }
        if function.noise:
            constants["NOISE"] = function.noise
        source = ""
        if self.rotation is not None:
            numbers = ", ".join(literal(each) for each in self.rotation.matrix.ravel())
            source = f"__constant float rotation[] = {{{numbers}}};\n"
        files = ("common/math/elementary.cl", *function.files)
        return KernelProblem(source, files, constants, by_dimension=function.summed)

    def kernel_context(self) -> NDArray[np.float32]:
        """The weights, ones where a sum has none; of other functions nothing, but a device's arrays are not empty."""
        if self.function.weights is None:
            return np.ones(self.dimension if self.function.summed else 1, np.float32)
        return self._numbers.astype(np.float32)

    def compiled_context(self, *, fine: bool = False) -> FunctionContext:
        """The rotation or the weights in float32."""
        return self.function.context(self._numbers.astype(np.float32))

    def value(self, position: FloatArray) -> float:
        """The function in float64, without noise."""
        at = np.ascontiguousarray(position, np.float64)
        if self.rotation is not None:
            return float(self.function.value(at, self._numbers, np.empty_like(at)))
        return float(self.function.value(at, *([] if self.function.weights is None else [self._numbers])))

    @property
    def _numbers(self) -> FloatArray:
        if self.function.weights is not None:
            return self.function.weights(self.dimension)
        return np.zeros((1, 1)) if self.rotation is None else self.rotation.matrix.copy()


def function_problems(
    function: Function, count: int, *, dimension: int = 30, rotations: int = ROTATIONS, rotation_seed: int = SEED
) -> list[FunctionProblem]:
    """So many independent problems of one function, with streams 0, 1, ...

    Raises
    ------
    InputError
        If the dimension is out of range.
    """
    rotation = Rotation(dimension, rotations, rotation_seed) if function.rotated else None
    return [FunctionProblem(function, dimension, stream, rotation) for stream in range(count)]
