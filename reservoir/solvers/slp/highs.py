"""HiGHS as it comes with SciPy: a linear program that begins where another of its shape ended."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.plant_steps import FloatArray
from reservoir.solvers.slp.program import Programs


class Solved(NamedTuple):
    """The best point, shape (columns,), its value, where another program may begin, and prices of the rows.

    None where there is no point, and no prices where SciPy does not show them.
    """

    point: FloatArray | None
    value: float
    basis: Any = None
    prices: FloatArray | None = None


def maximised(programs: Programs, place: int, basis: Any = None, *, presolve: bool = True) -> Solved:
    """Solve the program at a place, from the basis of another if one is given.

    What presolving rounds may make rows contradict each other that are met by a point exactly.
    """
    of_year = _Arrays(programs, place)
    try:  # what SciPy shows of HiGHS begins anew each time, which takes several times as long
        from scipy.optimize._highspy import _core as highs  # type: ignore[import-not-found]
    except ImportError:
        return _by_scipy(of_year, presolve)
    return _by_highs(highs, of_year, basis, presolve)


class _Arrays:
    def __init__(self, programs: Programs, place: int) -> None:
        self.start, self.index, self.values = programs.starts, programs.places, programs.values[place]
        self.cost = programs.cost[place]
        self.columns = programs.columns[0][place], programs.columns[1][place]
        self.rows = programs.rows[0][place], programs.rows[1][place]


def proven_most(programs: Programs, place: int, prices: FloatArray) -> float:
    """What no point of a program exceeds, whatever the prices of rows, shape (rows,): weak duality trusts no tolerance.

    The value is (cost - prices A) x + prices (A x), of which each term is at most what it is at one of its bounds.
    """
    of = _Arrays(programs, place)
    column = np.repeat(np.arange(len(of.cost)), np.diff(of.start))
    reduced = of.cost - np.bincount(column, of.values * prices[of.index], len(of.cost))
    terms = (reduced, *of.columns), (prices, *of.rows)
    with np.errstate(invalid="ignore"):
        return float(sum(np.where(x, np.where(x > 0, x * most, x * least), 0.0).sum() for x, least, most in terms))


def _by_highs(highs: Any, of: _Arrays, basis: Any, presolve: bool) -> Solved:
    solver, columns = highs._Highs(), len(of.cost)
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    if solver.run() == highs.HighsStatus.kError:  # without a program: another of this process has begun more threads
        solver.setOptionValue("threads", 0)
    if not presolve:
        solver.setOptionValue("presolve", "off")
    shape = columns, len(of.rows[0]), len(of.values), int(highs.MatrixFormat.kColwise), int(highs.ObjSense.kMaximize)
    arrays = of.cost, *of.columns, *of.rows, of.start, of.index, of.values, np.zeros(columns, np.int32)
    solver.passModel(*shape, 0.0, *arrays)  # as arrays: one by one, numbers take half as long as the solving
    if basis is not None:
        solver.setBasis(basis)
    solver.run()
    if solver.getModelStatus() != highs.HighsModelStatus.kOptimal:
        return Solved(None, -np.inf)
    solution, value = solver.getSolution(), float(solver.getInfo().objective_function_value)
    return Solved(np.array(solution.col_value), value, solver.getBasis(), np.array(solution.row_dual))


def _by_scipy(of: _Arrays, presolve: bool) -> Solved:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    matrix = csc_array((of.values, of.index, of.start), shape=(len(of.rows[0]), len(of.cost)))
    limits, bounds, options = LinearConstraint(matrix, *of.rows), Bounds(*of.columns), {"presolve": presolve}
    found = milp(-of.cost, constraints=limits, bounds=bounds, options=options)  # type: ignore[arg-type]
    point: NDArray[np.float64] | None = found.x
    return Solved(point, -np.inf if point is None else float(of.cost @ point))
