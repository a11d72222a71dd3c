"""The models of CLPSO on a device: three of Yu et al. 2020 (Table 1 and sections 4.1-4.2), and this product's own.

They run the same algorithm, ``kernels/solvers/clpso``, and differ in where its random numbers come from, where the
state of a particle is kept, and how its bounds are held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

#: Where random numbers come from: own streams, the kernel (eq. 14-15), or the host (section 4.3); see `random_schemes`.
STREAM, KERNEL, HOST = RANDOM_NAMES = "stream", "kernel", "host"
#: How bounds are held: values of CONDITIONALS in the kernel.
BRANCHES, BUILT_INS, OPERATORS = 0, 1, 2


@dataclass(frozen=True)
class Model:
    """One way to put a swarm on a device.

    Parameters
    ----------
    name, summary : str
        As shown to users.
    random : str
        Where random numbers come from unless the caller says: one of `RANDOM_NAMES`.
    conditionals : int
        `BRANCHES`, `BUILT_INS` or `OPERATORS`.
    of_the_paper : bool
        A work item has one particle, and personal bests stand in global memory.
    state_in_global : bool
        So do position, velocity and exemplar.
    """

    name: str
    summary: str
    random: str
    conditionals: int = OPERATORS
    of_the_paper: bool = False
    state_in_global: bool = False


LANES = "lanes"
_BASIC = Model(
    name="basic",
    summary="random numbers from the kernel (eq. 14-15), state in global memory, branches",
    random=KERNEL,
    conditionals=BRANCHES,
    of_the_paper=True,
    state_in_global=True,
)
_INTERMEDIATE = replace(_BASIC, name="intermediate", summary="basic, with random numbers from the host", random=HOST)
_FINAL = replace(
    _INTERMEDIATE,
    name="final",
    summary="intermediate, with private arrays, clamp and step",
    conditionals=BUILT_INS,
    state_in_global=False,
)
_LANES = Model(
    name=LANES, summary="particles in vector lanes or registers, one random stream per particle", random=STREAM
)

MODELS: dict[str, Model] = {model.name: model for model in (_BASIC, _INTERMEDIATE, _FINAL, _LANES)}
