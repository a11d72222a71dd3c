"""The models of CLPSO on a device: three of Yu et al. 2020 (Table 1 and sections 4.1-4.2), and this product's own.

They run the same algorithm, ``kernels/solvers/clpso``, and differ in where its random numbers come from, where the
state of a particle is kept, and how its bounds are held.
"""

from __future__ import annotations

from dataclasses import dataclass

from reservoir.errors import InputError, Mistake

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
        Where random numbers come from unless the caller says (`random_schemes.RANDOM_SCHEMES`).
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
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "basic",
            "numbers made in the kernel (eq. 14-15), state in global memory, branches",
            "kernel",
            BRANCHES,
            True,
            True,
        ),
        Model("intermediate", "the same with random numbers made on the host", "host", BRANCHES, True, True),
        Model("final", "private arrays, clamp and step", "host", BUILT_INS, True),
        Model(LANES, "particles in vector lanes or registers, own random streams", "stream"),
    )
}


def model_named(name: str) -> Model:
    """The model of that name; InputError lists the names there are."""
    if name not in MODELS:
        raise InputError(
            Mistake("there is no such model of CLPSO", ", ".join(MODELS), "choose one of them", value=name)
        )
    return MODELS[name]
