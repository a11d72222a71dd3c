"""Build the curves of a reservoir file, each on the range on which it will be asked."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

from reservoir.errors import InputError, Mistake
from reservoir.hydro.curves.checks import point_mistakes
from reservoir.hydro.curves.curve import Curve, constant
from reservoir.hydro.reservoir_checks.curve_constraints import CURVE_CONSTRAINTS
from reservoir.hydro.reservoir_checks.curves import (
    CONVERSIONS,
    Domain,
    curve_mistakes,
    heads_of,
    lake_above_tailrace,
    most_power_mw,
)
from reservoir.hydro.reservoir_kinds import ConversionKind
from reservoir.io.reservoir_toml.curve_schema import Form, Points, PowerCurve
from reservoir.io.reservoir_toml.draft import Draft, DraftWords
from reservoir.io.reservoir_toml.schema import File, ReleaseSection, StorageSection

#: A file's level curve has no level stretch: there a level would say nothing of the storage.
FILE_LAWS = {
    **CURVE_CONSTRAINTS,
    "level": replace(
        CURVE_CONSTRAINTS["level"],
        claim="a level that rises with the storage",
        holds=operator.lt,
        broken="does not rise",
    ),
}


@dataclass(frozen=True)
class CurveSet:
    """The curves of a reservoir, as `Reservoir` names them; None where the file leaves no sound one.

    ``most_power_mw`` is what they and the limits can ever give; None where a curve is None.
    """

    level: Curve | None
    tailrace: Curve | None
    conversion: Curve | None
    conversion_kind: ConversionKind
    capacity_m3s: Curve | None
    most_power_mw: float | None


def curves_of(file: File, draft: Draft) -> tuple[CurveSet, list[Mistake]]:
    """Build every curve that can be built, and state what is wrong with the others."""
    storages, releases = _storages(file.storage), _releases(file.release)
    level, level_mistakes = inspected("level", file.curves.level, storages, draft)
    tailrace, tailrace_mistakes = inspected("tailrace", file.curves.tailrace, releases, draft)
    heads, head_mistakes = _heads(level, tailrace, storages, releases, draft)
    conversion, kind, conversion_mistakes = _conversion(file, heads, draft)
    capacity, capacity_mistakes = _capacity(file, releases, heads, draft)
    most = None
    if conversion and capacity and heads and releases:
        most = most_power_mw(conversion, kind, capacity, heads, releases[1])
    mistakes = [*level_mistakes, *tailrace_mistakes, *head_mistakes, *conversion_mistakes, *capacity_mistakes]
    return CurveSet(level, tailrace, conversion, kind, capacity, most), mistakes


def _storages(storage: StorageSection | None) -> Domain | None:
    if storage is None or not storage.is_lake:
        return None
    return storage.dead_hm3, storage.full_hm3


def _releases(release: ReleaseSection | None) -> Domain | None:
    if release is None or not 0 <= min(release.lower_m3s) < max(release.upper_m3s):
        return None
    return min(release.lower_m3s), max(release.upper_m3s)


def _heads(
    level: Curve | None, tailrace: Curve | None, storages: Domain | None, releases: Domain | None, draft: Draft
) -> tuple[Domain | None, list[Mistake]]:
    if level is None or tailrace is None or storages is None or releases is None:
        return None, []
    mistakes = list(lake_above_tailrace(level, tailrace, storages, releases, DraftWords(draft, "curves")))
    return (None if mistakes else heads_of(level, tailrace, storages, releases)), mistakes


def _conversion(file: File, heads: Domain | None, draft: Draft) -> tuple[Curve | None, ConversionKind, list[Mistake]]:
    curve: Curve | None = None
    kind, mistakes = ConversionKind.RATE, list[Mistake]()
    for meaning, name in CONVERSIONS.items():
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
        A key of `FILE_LAWS`.
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
    words, law = DraftWords(draft, f"curves.{name}"), FILE_LAWS[name]
    mistakes = list(point_mistakes(law.x, block.x, law.y, block.y, words)) if isinstance(block, Points) else []
    domain = None if mistakes else block.reach(needed)
    if domain is None:
        return None, mistakes
    if isinstance(block, PowerCurve) and block.origin > domain[0]:
        key = f"{type(block).model_fields['origin'].alias}"
        expected = f"at most {words.amount(law.x, domain[0])}"
        return None, [words.mistake(key, "is above values that the curve will be asked for", expected)]
    try:
        curve = block.curve(domain)
    except InputError:
        # Sound numbers that are none any more in the program's units.
        mend = "check the numbers and their units"
        return None, [words.mistake("", "gives no finite number everywhere", mend=mend)]
    mistakes += curve_mistakes(law, curve, needed, words)
    return (None if mistakes else curve), mistakes
