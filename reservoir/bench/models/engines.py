"""Who runs in the experiment.

The sequential engine; every model on a device; and two other readings of how a particle learns, sequentially: the
strict choice of exemplars, and exemplars that follow the personal bests they were chosen from, which is how the
independent program that results are held against reads the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.solvers.clpso.models import MODELS
from reservoir.solvers.clpso.settings import STRICT

SEQUENTIAL, SEQUENTIAL_STRICT, SEQUENTIAL_FOLLOWING = "sequential", "sequential, strict", "sequential, following"


@dataclass(frozen=True)
class Engine:
    """An engine of the experiment.

    Parameters
    ----------
    name : str
        In tables and figures.
    solver : str
        Of the registry.
    options : mapping
        Settings of its own.
    finds_leader : bool
        It looks for the best particle in every generation, as the paper's models do (Step 5).
    """

    name: str
    solver: str
    options: Mapping[str, Any] = field(default_factory=dict)
    finds_leader: bool = False


def engines(models: str | None) -> list[Engine]:
    """The engines for a list of models with commas between them, or for all models; the sequential ones always run.

    Raises
    ------
    InputError
        With every model that there is not.
    """
    asked = list(MODELS) if models is None else [name.strip().lower() for name in models.split(",")]
    wrong = [name for name in asked if name not in MODELS]
    if wrong:
        known = ", ".join(MODELS)
        raise InputError([Mistake("there is no such model", known, "choose among them", value=name) for name in wrong])
    chosen = [
        Engine(name, "clpso", {"model": name}, model.of_the_paper) for name, model in MODELS.items() if name in asked
    ]
    return [
        Engine(SEQUENTIAL, "clpso-sequential"),
        *chosen,
        Engine(SEQUENTIAL_STRICT, "clpso-sequential", {"exemplars": STRICT}),
        Engine(SEQUENTIAL_FOLLOWING, "clpso-sequential", {"exemplars_follow": True}),
    ]


def on_a_device(some: Sequence[Engine]) -> list[str]:
    """Names of the models among engines."""
    return [each.name for each in some if each.name in MODELS]
