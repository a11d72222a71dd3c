"""Direct policy search as a problem: the variables are a network's numbers, the fitness what its operation makes.

Consecutive years are operated in compiled code as ``kernels/problems/reservoir/ann_operation.cl`` does.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import objective_per_stage_benefit, stage_benefit
from reservoir.hydro.conditions import released, unmet, unmet_power
from reservoir.hydro.elementwise import RealArray, clip, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import (
    DEAD,
    HM3_PER_M3S,
    INFLOW,
    PER_MISSING,
    RELEASE_LOWER,
    RELEASE_UPPER,
    STORAGE_LOWER,
    STORAGE_UPPER,
    Lake,
)
from reservoir.hydro.step import feasible_releases, limited, power_at, steered, unmet_minimum
from reservoir.problems.base import ContextLayout, KernelProblem, SymmetricBox
from reservoir.problems.fitness import register_fitness
from reservoir.problems.mlp import Perceptron
from reservoir.problems.reservoir.plant_source import (
    PLANT_NUMBERS,
    STEP_FILES,
    plant_constants,
    plant_numbers,
    plant_source,
    within_constants,
)
from reservoir.problems.reservoir.rows import CONDITIONS_OF_STEP, TERM_ROWS, conditions_of_steps, terms_of_steps
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.record_operation import RecordArrays, followed_by, record_of
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.ann import Scales, known_inputs


class OperationContext(NamedTuple):
    """What compiled code reads, in float64 or float32; arrays of shape (steps,).

    ``known_inputs`` has shape (steps, inputs - 1), ``m3s_per_hm3`` are the m3/s that carry 1 hm3 in a step,
    ``expected_m3s_per_hm3`` those that the rule reckons with. A device is handed the same (``HEAD`` and `row_layout` of
    the problem), and conditions and terms as further rows.
    """

    plant: Plant
    record: RecordArrays
    known_inputs: Any
    m3s_per_hm3: Any
    expected_m3s_per_hm3: Any
    storage_low: Any
    storage_scale: Any
    per_year: Any
    per_stage_benefit: Any
    hidden: int


@inlined
def _decided(network: RealArray, hidden: int, storage: float, known: RealArray) -> float:
    """Output of the network; zero and one are written so that they keep the precision of the rest."""
    zero = storage - storage
    one = zero + 1
    inputs = len(known) + 1
    output: float = network[hidden * (inputs + 2)]
    for unit in range(hidden):
        at = unit * (inputs + 2)
        active = network[at + inputs] + network[at] * storage
        for i in range(inputs - 1):
            active += network[at + 1 + i] * known[i]
        output += network[at + inputs + 1] / (one + math.exp(-active))
    return output


def _fitness(context: OperationContext, position: RealArray, scratch: object) -> float:
    record, year, rows = context.record, context.record.year, context.record.year.rows
    storage, dead = record.start, year.numbers[DEAD]
    benefit = cost = left = storage - storage
    zero, one = benefit, benefit + 1
    for step in range(len(record.restarts)):
        if record.restarts[step] > zero:
            left += (storage - record.start) * record.water_value
            storage = record.start
        inflow, per_flow = rows[INFLOW, step], rows[HM3_PER_M3S, step]
        releases = record.release_lower[step], rows[RELEASE_UPPER, step]
        lowest, highest = storages = rows[STORAGE_LOWER, step], rows[STORAGE_UPPER, step]
        expected, flow = record.expected_inflow[step], context.expected_m3s_per_hm3[step]
        filling, emptying = feasible_releases(storage, expected, flow, storages, releases)
        scaled = (storage - context.storage_low) * context.storage_scale - one
        part = clip(_decided(position, context.hidden, scaled, context.known_inputs[step]), zero, one)
        asked = filling + part * (emptying - filling)
        target, excess = steered(storage, asked, inflow, per_flow, storages, year, step)
        wanted = asked + excess * context.m3s_per_hm3[step]
        drafts = rows[RELEASE_LOWER, step], rows[RELEASE_UPPER, step]
        draft, end = limited(storage, wanted, target, inflow, per_flow, drafts, dead, year, step)
        release = released(year, step, draft, drafts[0])
        cost += max(lowest - max(end, dead), zero) * record.cost_below[step]
        cost += max(end - highest, zero) * record.cost_above[step]
        power = power_at(context.plant, mean(storage, end), release, year, step)
        cost += record.penalty * (unmet(year, step, draft, release, release) + unmet_power(year, step, power))
        cost += record.penalty * unmet_minimum(draft, drafts[0], year.numbers[PER_MISSING] * per_flow)
        benefit += stage_benefit(year, step, power, release, per_flow)
        storage = end
    left += (storage - record.start) * record.water_value
    fitness: float = (benefit * context.per_stage_benefit + left - cost) * context.per_year
    return fitness


register_fitness(OperationContext, _fitness)

_operated = inlined(_fitness)


@compiled
def operate_networks(context: OperationContext, networks: RealArray, fitness: RealArray) -> None:
    """Fill `fitness`, the mean benefit of a year, with what each network makes; networks: (networks, numbers)."""
    for place in range(len(networks)):
        fitness[place] = _operated(context, networks[place], 0)


#: Numbers at the head of a kernel's context by where they stand in `OperationContext`; how many rows follow is before
#: them, the cost of a missing hm3 and the numbers of the plant behind.
_NUMBERS = {
    "START": "record.start",
    "WATER_VALUE": "record.water_value",
    "STORAGE_LOW": "storage_low",
    "STORAGE_SCALE": "storage_scale",
    "PER_YEAR": "per_year",
    "DEAD": "record.year.dead",
}
HEAD = ContextLayout("HEAD", dict.fromkeys(("STEP_COUNT", *_NUMBERS, "MISSING_COST", *PLANT_NUMBERS), 1))
#: The same of a step's row behind the known inputs.
_ROW = {
    "RESTARTS": "record.restarts",
    "INFLOW": "record.year.inflow",
    "HM3_PER_M3S": "record.year.hm3_per_m3s",
    "M3S_PER_HM3": "m3s_per_hm3",
    "EXPECTED_INFLOW": "record.expected_inflow",
    "EXPECTED_M3S_PER_HM3": "expected_m3s_per_hm3",
    "LEAST_DRAFT": "record.year.release_lower",
    "RELEASE_LOWER": "record.release_lower",
    "RELEASE_UPPER": "record.year.release_upper",
    "STORAGE_LOWER": "record.year.storage_lower",
    "STORAGE_UPPER": "record.year.storage_upper",
    "COST_BELOW": "record.cost_below",
    "COST_ABOVE": "record.cost_above",
}


def row_layout(known: int, *, conditions: bool = False, terms: bool = False) -> ContextLayout:
    """A step's row in a kernel's context: so many known inputs, the other arrays, and what there is of the rest."""
    further = (*(CONDITIONS_OF_STEP if conditions else ()), *(TERM_ROWS.values() if terms else ()))
    return ContextLayout("ROW", {"KNOWN_INPUTS": known, **dict.fromkeys((*_ROW, *further), 1)})


@dataclass(frozen=True, eq=False)
class NetworkOperation(SymmetricBox):
    """The operation of consecutive years by a network (implements `Problem`).

    Its fitness is the mean benefit of a year, in the unit of the objective, less the cost of violations (eq. 21), with
    the value of the water that is left at the end.

    Parameters
    ----------
    model : ReservoirModel
    network : Perceptron
        With biases and one output.
    record : RecordArrays
        The years one after the other.
    known : ndarray, shape (steps, inputs - 1)
        From `known_inputs`.
    scales : Scales
    room : int
        Steps that the problem has room for on a device: those of one room share a launch.
    reach : float
        First numbers are drawn from -reach to reach.
    rng_stream_id : int
    """

    model: ReservoirModel
    network: Perceptron
    record: RecordArrays
    known: FloatArray
    scales: Scales
    room: int
    reach: float = 1.0
    rng_stream_id: int = 0

    @classmethod
    def of(
        cls,
        training: Training,
        network: Perceptron,
        forecast: Forecast,
        scales: Scales,
        *,
        more_m3s: FloatArray | None = None,
        room: int = 0,
        reach: float = 1.0,
        rng_stream_id: int = 0,
    ) -> NetworkOperation:
        """The training years one after the other, and behind them more years of inflow, shape (years, steps)."""
        months = Months.of(training)
        record = record_of(training, months, forecast)
        if more_m3s is not None and len(more_m3s):
            record = followed_by(record, more_m3s, months, forecast)
        known = known_inputs(scales, forecast, record.inflow_now, record.inflow_before, training.steps)
        return cls(training.model, network, record, known, scales, max(room, len(known)), reach, rng_stream_id)

    @property
    def label(self) -> str:
        """Name for messages and tables."""
        return f"operation by {self.network}, {len(self.known)} steps"

    @property
    def dimension(self) -> int:
        """Numbers of the network."""
        return self.network.dimension

    @property
    def program_key(self) -> Hashable:
        """Operations of one reservoir by networks of one shape share a program."""
        return id(self.model), self.network, self.room, self.reach

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """Curves as source, and the file that reads them."""
        conditions, terms = bool(self.record.year.lake), bool(self.record.year.priced)
        constants = {
            "KNOWN": self.network.inputs - 1,
            "HIDDEN": self.network.hidden,
            "REACH": self.reach,
            **plant_constants(terms=terms),
            **HEAD.constants(),
            **self._row_layout.constants(),
            **({"CONDITIONS": 1} if conditions else {}),
        }
        forms = self.model.fine if fine else self.model.approximation
        (fitting,) = within_constants([(forms, self.model.lake if conditions else None)])
        source = plant_source(*fitting)
        files = ("common/math/sigmoid.cl", *STEP_FILES, "problems/reservoir/ann_operation.cl")
        return KernelProblem(source, files, constants, bounded=False)

    def kernel_context(self) -> NDArray[np.float32]:
        """Head and rows of ``kernels/problems/reservoir/ann_operation.cl``."""
        context, year = self._context(self.model.exact), self.record.year
        numbers = {name: attrgetter(place)(context) for name, place in _NUMBERS.items()}
        numbers |= {"STEP_COUNT": len(self.known), "MISSING_COST": self.record.penalty * year.per_missing}
        values = {"KNOWN_INPUTS": self.known, **{name: attrgetter(place)(context) for name, place in _ROW.items()}}
        if year.conditions:
            values |= conditions_of_steps(year, self.record.penalty)
        if year.terms:
            values |= terms_of_steps(year)
        rows = self._row_layout.pack(values, (len(self.known),))
        padded = np.pad(rows, ((0, self.room - len(rows)), (0, 0)))
        return np.append(HEAD.pack(numbers | plant_numbers(self.model.reservoir)), padded).astype(np.float32)

    def compiled_context(self, *, fine: bool = False) -> OperationContext:
        """The same as arrays in float32, with the solvers' forms of the curves."""
        return self._context(self.model.approximation.compiled_plant, np.float32)

    @property
    def _row_layout(self) -> ContextLayout:
        conditions, terms = bool(self.record.year.lake), bool(self.record.year.priced)
        return row_layout(self.network.inputs - 1, conditions=conditions, terms=terms)

    def value(self, position: FloatArray) -> float:
        """What a network makes, its sign turned, in float64 and by the exact curves."""
        return -float(self.mean_benefits(np.asarray(position, float)[None])[0])

    def mean_benefits(self, networks: FloatArray) -> FloatArray:
        """Mean of a year in the objective's unit, of networks, shape (networks, numbers), in float64, exact curves."""
        benefits = np.empty(len(networks))
        operate_networks(self._exact, np.ascontiguousarray(networks, float), benefits)
        return benefits

    @cached_property
    def _exact(self) -> OperationContext:
        return self._context(self.model.exact)

    def _context(self, plant: Plant, precision: type[np.floating] = np.float64) -> OperationContext:
        scales, (year, *arrays) = self.scales, self.record

        def converted(value: object) -> Any:
            return np.array(value, precision, order="C")[()]  # [()] makes a number of one

        if precision is not np.float64:
            year = year.converted(precision, Lake(*self.model.compiled_lake) if year.lake else ())
        values = (
            self.known,
            1 / self.record.year.hm3_per_m3s,
            1 / self.record.expected_hm3_per_m3s,
            scales.storage_low_hm3,
            2 / (scales.storage_high_hm3 - scales.storage_low_hm3),
            1 / (len(self.known) / len(self.model.reservoir.months)),
            objective_per_stage_benefit(year.terms),
        )
        record = RecordArrays(year, *map(converted, arrays))
        return OperationContext._make([plant, record, *map(converted, values), self.network.hidden])
