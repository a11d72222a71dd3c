"""Build the curves of a reservoir file, each on the range on which it will be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from reservoir.errors import Mistake
from reservoir.hydro.curves import Curve, constant
from reservoir.hydro.reservoir import ConversionKind
from reservoir.hydro.reservoir_toml.curve_schema import Domain, Form, Points, PowerForm
from reservoir.hydro.reservoir_toml.draft import Draft
from reservoir.hydro.reservoir_toml.laws import LAWS, broken_laws
from reservoir.hydro.reservoir_toml.schema import File, Release, Storage

#: A curve may miss the end of its range by this much of it, as volumes in two units do.
SLACK = 1e-6

_CONVERSIONS = {
    "conversion_rate": ConversionKind.RATE,
    "output_coefficient": ConversionKind.COEFFICIENT,
    "efficiency": ConversionKind.EFFICIENCY,
}

_NEEDED = {
    "storage_hm3": "from the dead to the full storage",
    "release_m3s": "every release that [release] allows",
    "head_m": "every head that these storages and releases can give",
}


@dataclass(frozen=True)
class CurveSet:
    """The curves of a reservoir, as `Reservoir` names them; None where the file leaves no sound one."""

    level: Curve | None
    tailrace: Curve | None
    conversion: Curve | None
    conversion_kind: ConversionKind
    capacity_m3s: Curve | None


def curves_of(file: File, draft: Draft) -> tuple[CurveSet, list[Mistake]]:
    """Build every curve that can be built, and state what is wrong with the others."""
    storages, releases = _storages(file.storage), _releases(file.release)
    level, level_mistakes = inspected("level", file.curves.level, storages, draft)
    tailrace, tailrace_mistakes = inspected("tailrace", file.curves.tailrace, releases, draft)
    heads, head_mistakes = _heads(level, tailrace, storages, releases, draft)
    conversion, kind, conversion_mistakes = _conversion(file, heads, draft)
    capacity, capacity_mistakes = _capacity(file, releases, heads, draft)
    mistakes = [*level_mistakes, *tailrace_mistakes, *head_mistakes, *conversion_mistakes, *capacity_mistakes]
    return CurveSet(level, tailrace, conversion, kind, capacity), mistakes


def _storages(storage: Storage | None) -> Domain | None:
    if storage is None or not storage.is_lake:
        return None
    return storage.dead_hm3, storage.full_hm3


def _releases(release: Release | None) -> Domain | None:
    if release is None or not 0 <= min(release.lower_m3s) < max(release.upper_m3s):
        return None
    return min(release.lower_m3s), max(release.upper_m3s)


def _heads(
    level: Curve | None, tailrace: Curve | None, storages: Domain | None, releases: Domain | None, draft: Draft
) -> tuple[Domain | None, list[Mistake]]:
    if level is None or tailrace is None or storages is None or releases is None:
        return None, []
    lowest, highest = (float(level(end)) for end in storages)
    below_least, below_most = (float(tailrace(end)) for end in releases)
    if lowest - below_most > 0:
        return (lowest - below_most, highest - below_least), []
    problem = f"the lake at dead storage stands at {lowest:.7g} m, not above the tailrace at the largest release"
    expected = f"a level above {below_most:.7g} m"
    return None, [draft.mistake("curves.tailrace", problem, expected, "check that both levels have one datum")]


def _conversion(file: File, heads: Domain | None, draft: Draft) -> tuple[Curve | None, ConversionKind, list[Mistake]]:
    curve: Curve | None = None
    kind, mistakes = ConversionKind.RATE, list[Mistake]()
    for name, meaning in _CONVERSIONS.items():
        block, value = getattr(file.curves, name), getattr(file.plant, name, None)
        if block is not None:
            curve, wrong = inspected(name, block, heads, draft)
            kind, mistakes = meaning, [*mistakes, *wrong]
        elif value is not None and heads is not None:
            curve, kind = constant(value, heads), meaning
    return curve, kind, mistakes


def _capacity(
    file: File, releases: Domain | None, heads: Domain | None, draft: Draft
) -> tuple[Curve | None, list[Mistake]]:
    if file.curves.capacity is not None:
        return inspected("capacity", file.curves.capacity, heads, draft)
    if file.plant is None or releases is None or heads is None:
        return None, []
    # Left out, the hydraulic capacity never binds: the installed capacity and the release do.
    return constant(file.plant.hydraulic_capacity_m3s or releases[1], heads), []


def inspected(name: str, block: Form | None, needed: Domain | None, draft: Draft) -> tuple[Curve | None, list[Mistake]]:
    """Build a curve and check it against its law.

    Parameters
    ----------
    name : str
        A key of `LAWS`.
    block : Points, Formula or None
        The curve's section; None where it is missing or broken.
    needed : pair of float or None
        The range on which the curve will be asked; None where a mistake elsewhere leaves it unknown.
    draft : Draft
        The file, for messages.

    Returns
    -------
    Curve or None
        None where there is a mistake, or a formula's domain is unknown.
    list of Mistake
        Everything that is wrong with this curve.
    """
    if block is None:
        return None, []
    mistakes = list(_points(name, block, draft)) if isinstance(block, Points) else []
    domain = None if mistakes else block.reach(needed)
    if domain is None:
        return None, mistakes
    mistakes += _origin(name, block, domain, draft)
    if not mistakes:
        curve = block.curve(domain)
        mistakes += [*broken_laws(name, block, curve, draft), *_reach(name, domain, needed, draft)]
    return (None if mistakes else curve), mistakes


def _points(name: str, block: Points, draft: Draft) -> Iterator[Mistake]:
    law, key = LAWS[name], f"curves.{name}.{LAWS[name].x}"
    x_key, y_key = (draft.entry(f"curves.{name}.{part}").key.rpartition(".")[2] for part in (law.x, law.y))
    if len(block.x) != len(block.y):
        yield draft.mistake(key, f"has {len(block.x)} values but {y_key} has {len(block.y)}", "lists of one length")
    elif len(block.x) < 2:
        yield draft.mistake(key, "has no two points", "at least two")
    for index, (before, after) in enumerate(pairwise(block.x), 1):
        if not before < after:
            pair = f"point {index} ({draft.amount(key, before)}) to point {index + 1} ({draft.amount(key, after)})"
            yield draft.mistake(key, f"does not rise from {pair}", f"points in rising order of {x_key}")
            return


def _origin(name: str, block: Form, domain: Domain, draft: Draft) -> Iterator[Mistake]:
    if isinstance(block, PowerForm) and block.origin > domain[0]:
        key = f"curves.{name}.{type(block).model_fields['origin'].alias}"
        yield draft.mistake(
            key, "is above values that the curve will be asked for", f"at most {draft.amount(key, domain[0])}"
        )


def _reach(name: str, domain: Domain, needed: Domain | None, draft: Draft) -> Iterator[Mistake]:
    if needed is None:
        return
    slack = SLACK * (needed[1] - needed[0])
    if domain[0] > needed[0] + slack or domain[1] < needed[1] - slack:
        key = f"curves.{name}.{LAWS[name].x}"
        have, need = (" to ".join(draft.amount(key, end) for end in ends) for ends in (domain, needed))
        yield draft.mistake(
            f"curves.{name}", f"covers {have} only", f"{need}, {_NEEDED[LAWS[name].x]}", "extend the curve"
        )
