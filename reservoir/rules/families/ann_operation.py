"""Direct policy search as a problem: the variables are a network's numbers, the fitness what its operation makes.

Consecutive years are operated in compiled code as ``kernels/problems/reservoir/ann_operation.cl`` does.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import objective_per_stage_benefit, stage_benefit
from reservoir.hydro.conditions import released, unmet, unmet_power
from reservoir.hydro.elementwise import RealArray, clip, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import Lake
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
)
from reservoir.problems.reservoir.rows import CONDITIONS_OF_STEP, TERM_ROWS, conditions_of_steps
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.record_operation import RecordArrays, followed_by, record_of, stored_value_per_hm3
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.ann import Scales, known_inputs


class OperationContext(NamedTuple):
    """What compiled code reads, in float64 or float32; arrays of shape (steps,).

    What `RecordArrays` has bears the same names there. ``known_inputs`` has shape (steps, inputs - 1), ``m3s_per_hm3``
    are the m3/s that carry 1 hm3 in a step, ``expected_m3s_per_hm3`` those that the rule reckons with. A device is
    handed the same by these names (``HEAD`` and `row_layout` of the problem), and conditions and terms as further rows.
    """

    plant: Plant
    known_inputs: Any
    restarts: Any
    inflow: Any
    hm3_per_m3s: Any
    m3s_per_hm3: Any
    expected_inflow: Any
    expected_m3s_per_hm3: Any
    least_draft: Any
    release_lower: Any
    release_upper: Any
    storage_lower: Any
    storage_upper: Any
    cost_below: Any
    cost_above: Any
    start: Any
    water_value: Any
    storage_low: Any
    storage_scale: Any
    per_year: Any
    penalty: Any
    dead: Any
    per_missing: Any
    per_stage_benefit: Any
    conditions: Any
    terms: Any
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
    storage = context.start
    benefit = cost = left = storage - storage
    zero, one = benefit, benefit + 1
    for step in range(len(context.inflow)):
        if context.restarts[step] > zero:
            left += (storage - context.start) * context.water_value
            storage = context.start
        conditions, terms = context.conditions, context.terms
        inflow, per_flow = context.inflow[step], context.hm3_per_m3s[step]
        releases = context.release_lower[step], context.release_upper[step]
        lowest, highest = storages = context.storage_lower[step], context.storage_upper[step]
        expected, flow = context.expected_inflow[step], context.expected_m3s_per_hm3[step]
        filling, emptying = feasible_releases(storage, expected, flow, storages, releases)
        scaled = (storage - context.storage_low) * context.storage_scale - one
        part = clip(_decided(position, context.hidden, scaled, context.known_inputs[step]), zero, one)
        asked = filling + part * (emptying - filling)
        target, excess = steered(storage, asked, inflow, per_flow, storages, conditions, step)
        wanted = asked + excess * context.m3s_per_hm3[step]
        drafts = context.least_draft[step], context.release_upper[step]
        draft, end = limited(storage, wanted, target, inflow, per_flow, drafts, context.dead, conditions, step)
        release = released(conditions, step, draft, context.least_draft[step])
        cost += max(lowest - max(end, context.dead), zero) * context.cost_below[step]
        cost += max(end - highest, zero) * context.cost_above[step]
        power = power_at(context.plant, mean(storage, end), release, conditions, step)
        cost += context.penalty * (
            unmet(conditions, step, draft, release, release) + unmet_power(conditions, step, power)
        )
        cost += context.penalty * unmet_minimum(draft, drafts[0], context.per_missing * per_flow)
        benefit += stage_benefit(terms, step, power, release, per_flow)
        storage = end
    left += (storage - context.start) * context.water_value
    fitness: float = (benefit * context.per_stage_benefit + left - cost) * context.per_year
    return fitness


register_fitness(OperationContext, _fitness)

_operated = inlined(_fitness)


@compiled
def operate_networks(context: OperationContext, networks: RealArray, fitness: RealArray) -> None:
    """Fill `fitness`, the mean benefit of a year, with what each network makes; networks: (networks, numbers)."""
    for place in range(len(networks)):
        fitness[place] = _operated(context, networks[place], 0)


STEP_COUNT = "STEP_COUNT"
_NUMBERS = ("START", "WATER_VALUE", "STORAGE_LOW", "STORAGE_SCALE", "PER_YEAR", "DEAD")
#: Numbers at the head of a kernel's context: how many rows follow, the numbers of `OperationContext` and of the plant.
HEAD = ContextLayout(
    "HEAD",
    dict.fromkeys((STEP_COUNT, *_NUMBERS, "MISSING_COST", *PLANT_NUMBERS), 1),
)


_FIRST, _LAST = (OperationContext._fields.index(name) for name in ("restarts", "cost_above"))
#: The arrays of `OperationContext` that stand in a step's row, by their names there.
_ROW = tuple(name.upper() for name in OperationContext._fields[_FIRST : _LAST + 1])


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
    water_value : float
        Value of water left at the end, per hm3.
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
    water_value: float
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
        value = stored_value_per_hm3(training)
        return cls(training.model, network, record, known, scales, value, max(room, len(known)), reach, rng_stream_id)

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
        conditions, terms = bool(self.record.conditions), bool(self.record.terms)
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
        source = plant_source(forms, self.model.lake if conditions else None)
        files = ("common/math/sigmoid.cl", *STEP_FILES, "problems/reservoir/ann_operation.cl")
        return KernelProblem(source, files, constants, bounded=False)

    def kernel_context(self) -> NDArray[np.float32]:
        """Head and rows of ``kernels/problems/reservoir/ann_operation.cl``."""
        context = self._context(self.model.exact)
        head, row = HEAD, self._row_layout
        numbers = {name: getattr(context, name.lower()) for name in _NUMBERS}
        numbers |= {"MISSING_COST": context.penalty * context.per_missing, **plant_numbers(self.model.reservoir)}
        values = {name: getattr(context, name.lower()) for name in ("KNOWN_INPUTS", *_ROW)}
        if context.conditions:
            values |= conditions_of_steps(context.conditions, self.record.penalty)
        if context.terms:
            values |= {name: getattr(context.terms, field) for field, name in TERM_ROWS.items()}
        rows = row.pack(values, (len(self.known),))
        padded = np.pad(rows, ((0, self.room - len(rows)), (0, 0)))
        return np.append(head.pack(numbers | {STEP_COUNT: len(rows)}), padded).astype(np.float32)

    def compiled_context(self, *, fine: bool = False) -> OperationContext:
        """The same as arrays in float32, with the solvers' forms of the curves."""
        return self._context(self.model.approximation.compiled_plant, np.float32)

    @property
    def _row_layout(self) -> ContextLayout:
        conditions, terms = bool(self.record.conditions), bool(self.record.terms)
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
        record, scales = self.record, self.scales
        values = record._asdict() | {
            "known_inputs": self.known,
            "m3s_per_hm3": 1 / record.hm3_per_m3s,
            "expected_m3s_per_hm3": 1 / record.expected_hm3_per_m3s,
            "water_value": self.water_value,
            "storage_low": scales.storage_low_hm3,
            "storage_scale": 2 / (scales.storage_high_hm3 - scales.storage_low_hm3),
            "per_year": 1 / (len(self.known) / len(self.model.reservoir.months)),
            "per_stage_benefit": objective_per_stage_benefit(record.terms),
        }
        _, *names, _, _, _ = OperationContext._fields

        def converted(value: object) -> Any:
            return np.array(value, precision, order="C")[()]  # [()] makes a number of one

        further = record.conditions, record.terms
        if precision is not np.float64:
            lake = Lake(*self.model.compiled_lake) if record.conditions else ()
            further = tuple(each and each.converted(precision, lake) for each in further)
        return OperationContext._make(
            [plant, *(converted(values[name]) for name in names), *further, self.network.hidden]
        )
