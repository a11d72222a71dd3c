"""Genetic algorithm on islands in OpenCL, for real vectors and for tours.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). The kernels
are ``kernels/solvers/island_ga``, with the encodings of ``kernels/encodings``. A work group has an island. The same
seed gives the same bytes, but not in ``lim-async``, whose islands take what their neighbours happen to have left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from reservoir.opencl import BuiltProgram, DeviceInfo, ordering_of
from reservoir.problems.base import Problem
from reservoir.problems.encoding import PERMUTATION, encoding_of
from reservoir.solvers.base.co_residency_probe import MAX_POLLS, require_ordering
from reservoir.solvers.base.device_engine import Launch, PopulationEngine
from reservoir.solvers.base.program import build_around
from reservoir.solvers.base.results import EngineResults
from reservoir.solvers.island_ga.device_scheme import Scheme
from reservoir.solvers.island_ga.layout import IslandLayout, gene_type, items_of_best
from reservoir.solvers.island_ga.schemes import SCHEMES
from reservoir.solvers.island_ga.settings import DeviceIslandSettings


class IslandEngine(PopulationEngine[DeviceIslandSettings, IslandLayout]):
    """The genetic algorithm, each problem with islands of its own."""

    name = "island-ga"
    settings_class = DeviceIslandSettings
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}

    @property
    def evaluations(self) -> int:
        """Evaluations of a problem."""
        return self.settings.evaluations_made

    @property
    def scheme(self) -> type[Scheme]:
        """How a population uses a device."""
        return SCHEMES[self.settings.scheme]

    def settings_of(self, problem: Problem) -> DeviceIslandSettings:
        """Settings with operators of a problem's encoding, as the scheme can have them."""
        return self.scheme.settings_of(self.settings.for_encoding(encoding_of(problem)))

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> IslandLayout:
        """As the scheme says."""
        return self.scheme.layout_of(device, problems, self.settings_of(problems[0]))

    def build(self, device: DeviceInfo, problem: Problem, layout: IslandLayout) -> BuiltProgram:
        """The scheme's kernels; refused where groups would wait for each other in vain."""
        scheme, settings, ordering = self.scheme, self.settings_of(problem), ordering_of(device)
        if scheme.waits:
            require_ordering(device, "this scheme", "choose the scheme lim-is, tim or sak, which run anywhere")
        tours, single = encoding_of(problem) == PERMUTATION, scheme.file == "master_slave_ga"
        constants = {
            **settings.constants(),
            **ordering.constants(scheme.waits),
            "LANES": layout.lanes,
            "ITEMS": layout.items,
            "TEAM": layout.team,
            "WARPS": int(device.warps and device.sub_group_size % layout.team == 0),
            "STRIDE": layout.stride,
            "GROUPS": layout.groups,
            "GENE": {np.float32: "float", np.uint8: "uchar", np.uint16: "ushort"}[gene_type(problem)],
            "FITNESS": "int" if tours else "float",
            "HOME": "__global" if single else "__local",
            "CONTEXT_SPACE": "__global",
            "COUNTED": int(settings.counted),
            "MAX_POLLS": MAX_POLLS[device.kind],
            "ITEMS_OF_BEST": items_of_best(device),
        }
        common = ["rng/philox", "rng/numbers_of_streams", "rng/distributions"]
        common += ["sync/group_barrier", "sync/teams", "sync/grid"]
        files = ["island", *([] if single else ["island_ga"]), scheme.file, "best_individuals"]
        after = [f"solvers/island_ga/{file}.cl" for file in files]
        after.insert(1, "encodings/permutation.cl" if tours else "encodings/real_vector.cl")
        return build_around(
            problem.kernel(fine=True),
            device,
            constants,
            before=[f"common/{file}.cl" for file in common],
            after=after,
            options=ordering.options(scheme.waits),
        )

    def run(self, launch: Launch[IslandLayout]) -> EngineResults:
        """As the scheme says."""
        return self.scheme(launch, self.settings_of(launch.problems[0])).results()


ENGINE = IslandEngine
