"""Checks of a reservoir's curves: trend, range of their values, and whether they cover where they are evaluated; notes.

Beyond its ends a curve is held at the last value. A survey or an acceptance test of turbines seldom covers every head
that storages and releases allow: what is missing matters only where the turbines run, and of the capacity only where it
limits them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.attributes import CONVERSIONS, CURVES, LOSSLESS_COEFFICIENT, ConversionKind, CurveConstraint, Words
from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.curves.curve import Curve, FloatArray, Follows, Polynomial, PowerLaw, Table, constant
from reservoir.hydro.unit_system import UnitSystem, UnitText
from reservoir.text.data_file import encoding_notes, encoding_of

Domain = tuple[float, float]

#: Values of a formula that are looked at, and heads at which the most power and the ends of curves are looked at.
GRID, _HEADS = 2001, 101
#: Published tables are rounded: a rate may pass the physical limit by this much.
ROUNDING = 1e-3
#: A curve may miss the end of its range by this much of it, as volumes in two units do.
SLACK = 1e-6
#: An installed capacity above so many times what water and head can give, or below such a part of it, is noted.
SURPRISING, TINY = 3.0, 0.01
#: A level read off a map and one off the curve differ by less.
LEVEL_TOLERANCE_M = 0.5
_NEEDED = {
    "storage_hm3": "from the dead to the full storage",
    "release_m3s": "all releases that [release] allows",
    "head_m": "all heads of these storages and releases",
}
#: How to say what turbines do where floods leave hardly any head.
_STANDS_STILL = ", or give a table curves.capacity that is 0 at the lowest head at which the plant works"


def _mistakes_of_values(law: CurveConstraint, curve: Curve, words: Words) -> Iterator[Mistake]:
    """Check the values of a curve: its points, or its formula on a dense grid."""
    of_points = isinstance(curve, Table)
    x = np.array(curve.x) if isinstance(curve, Table) else np.linspace(*curve.domain, GRID)
    # A formula in the wrong unit may overflow; that is a mistake to state, not a warning to print.
    with np.errstate(all="ignore"):
        y = np.array(curve.y) if isinstance(curve, Table) else curve(x)

    def where(index: int) -> str:
        """Name a point by its number and values, or a place on the grid by its values."""
        at, value = words.amount(law.x, x[index]), words.amount(law.y, y[index])
        return f"point {index + 1} ({at}: {value})" if of_points else f"{at} (value {value})"

    def mistake(problem: str, expected: str = "", mend: str = "") -> Mistake:
        return words.mistake(law.y if of_points else "", problem, expected, mend or law.mend)

    if not np.isfinite(y).all():
        yield mistake("does not give a finite number everywhere", mend="check the numbers and their units")
        return
    outside = np.flatnonzero((y < law.y_range.least) | (y > law.y_range.most))
    if outside.size:
        least, most = (words.amount(law.y, end) for end in law.y_range)
        yield mistake(f"is out of range at {where(outside[0])}", f"{law.claim}: {least} to {most}")
        return
    astray = np.flatnonzero(~law.holds(y[:-1], y[1:])) if law.holds else np.array([], int)
    if astray.size:
        at = int(astray[0])
        yield mistake(f"{law.broken} from {where(at)} to {where(at + 1)}", law.claim)
    if law is CURVES["conversion_rate"]:
        least_rate = 3600 / (LOSSLESS_COEFFICIENT * np.where(x > 0, x, np.inf))
        beyond = np.flatnonzero(y * (1 + ROUNDING) < least_rate)
        if beyond.size:
            problem = f"gives more energy than the water contains at {where(beyond[0])}"
            yield mistake(problem, f"at least {least_rate[beyond[0]]:.4f} m3/kWh there")


def _curve_mistakes(
    constraint: CurveConstraint, curve: Curve, needed: Domain | None, words: Words
) -> Iterator[Mistake]:
    """State what is wrong with a curve, which `words` call ""; `needed` is the range that it must cover, if known."""
    if not all(constraint.x_range.holds(end) for end in curve.domain):
        have, allowed = (
            " to ".join(words.amount(constraint.x, end) for end in ends) for ends in (curve.domain, constraint.x_range)
        )
        yield words.mistake("", f"covers {have}", f"values within {allowed}", "check the numbers and their units")
        return
    yield from _mistakes_of_values(constraint, curve, words)
    if needed is not None:
        yield from _coverage_mistakes(constraint, curve, needed, words)


def _coverage_mistakes(constraint: CurveConstraint, curve: Curve, needed: Domain, words: Words) -> Iterator[Mistake]:
    """Require a curve to cover a range, but for what volumes in two units differ by."""
    slack = SLACK * (needed[1] - needed[0])
    if curve.domain[0] > needed[0] + slack or curve.domain[1] < needed[1] - slack:
        have, need = (" to ".join(words.amount(constraint.x, end) for end in ends) for ends in (curve.domain, needed))
        mend = "extend the curve" + (_STANDS_STILL if constraint.x == "head_m" and needed[0] == 0 else "")
        yield words.mistake("", f"covers only {have}", f"{need}, {_NEEDED[constraint.x]}", mend)


def checked_curves(
    parts: Mapping[str, Any],
    curve_of: Callable[[str, Domain | None], tuple[Curve | None, list[Mistake]]],
    ends: tuple[Domain | None, Domain | None],
    words: Words,
    words_of: Callable[[str], Words],
    conversions: Iterable[str],
    laws: Mapping[str, CurveConstraint] = CURVES,
) -> tuple[dict[str, Any], list[Mistake]]:
    """Check the curves one after the other: those of the turbines on the heads that the first two leave.

    Parameters
    ----------
    parts : mapping
        Sound fields of a reservoir.
    curve_of : callable
        A curve by its section of `CURVES` and the range on which it is evaluated, as far as that is known, and what is
        wrong with it already; None where there is none, or it cannot be made.
    ends : pair of pair of float, or None
        Between which storages (hm3) and which releases (m3/s) the reservoir is; None where these are unsound.
    words : Words
        Of the reservoir.
    words_of : callable
        Words of a curve by its section.
    conversions : iterable of str
        Sections of the conversion that are given.
    laws : mapping
        What must hold, by section.

    Returns
    -------
    sound : dict
        The sound curves by their fields, and ``conversion_kind``; where those by head are sound, ``most_power_mw``,
        what water and head never exceed.
    mistakes : list of Mistake
    """
    storages, releases = ends
    sound: dict[str, Any] = {}
    mistakes: list[Mistake] = []

    def take(section: str, needed: Domain | None, *, whole: bool = True) -> None:
        curve, wrong = curve_of(section, needed)
        if curve is not None:
            wrong = wrong + list(_curve_mistakes(laws[section], curve, needed if whole else None, words_of(section)))
        mistakes.extend(wrong)
        if curve is not None and not wrong:
            sound[laws[section].field] = curve

    take("level", storages)
    take("tailrace", releases)
    heads: Domain | None = None
    if "level" in sound and "tailrace" in sound and storages and releases:
        curves = sound["level"], sound["tailrace"], storages, releases
        apart = list(_lake_above_tailrace(*curves, words))
        mistakes += apart
        heads = None if apart else heads_of(*curves)
        drowned = curves[0](storages[0]) <= curves[1](releases[1])
    for section in conversions:
        sound["conversion_kind"] = next(kind for kind, name in CONVERSIONS.items() if name == section)
        take(section, heads, whole=False)
    take("capacity", heads, whole=False)
    if heads and storages and releases and "conversion" in sound and "capacity_m3s" in sound:
        sound["most_power_mw"] = most_power_mw(sound, heads, releases[1])
        if "installed_mw" in parts:
            heads = heads_of(sound["level"], sound["tailrace"], _within_bounds(parts, storages), releases)
            covered = covered_heads({**parts, **sound}, heads, releases[1])
            for section in (CONVERSIONS[sound["conversion_kind"]], "capacity"):
                law = laws[section]
                mistakes += _coverage_mistakes(law, sound[law.field], covered[law.field], words_of(section))
            if drowned and sound["conversion_kind"] is ConversionKind.RATE and sound["capacity_m3s"](0.0) > 0:
                problem = "is above 0 without head, as floods leave the plant, where a conversion rate says nothing"
                mistakes.append(words_of("capacity").mistake("", problem, "0 at the lowest heads", _STANDS_STILL[5:]))
    take("area", storages)
    take("seepage", storages)
    return sound, mistakes


def heads_of(level: Curve, tailrace: Curve, storages: Domain, releases: Domain) -> Domain:
    """Lowest and highest head (m) between these storages (hm3) and releases (m3/s); 0 where there may be none."""
    lowest, highest = (float(level(end)) for end in storages)
    below_least, below_most = (float(tailrace(end)) for end in releases)
    return max(lowest - below_most, 0.0), highest - below_least


def _lake_above_tailrace(
    level: Curve, tailrace: Curve, storages: Domain, releases: Domain, words: Words
) -> Iterator[Mistake]:
    """Require some head at every storage, but for releases at which the tailwater drowns the plant."""
    lowest, below_least = float(level(storages[0])), float(tailrace(releases[0]))
    if lowest <= below_least:
        problem = f"the level at dead storage, {lowest:.7g} m, is not above the tailrace at the smallest release"
        expected = f"a level above {below_least:.7g} m"
        yield words.mistake("tailrace", problem, expected, "check that both levels have the same datum")


def most_power_mw(parts: Mapping[str, Any], heads: Domain, release_m3s: float) -> float:
    """Power (MW) that no head and no release up to `release_m3s` exceeds, but for the installed capacity."""
    head = np.linspace(*heads, _HEADS)
    conversion = conversion_of(parts["conversion"], parts["conversion_kind"])
    return float((conversion(head) * np.minimum(parts["capacity_m3s"](head), release_m3s)).max())


def covered_heads(parts: Mapping[str, Any], heads: Domain, most_release_m3s: float) -> dict[str, Domain]:
    """Heads (m) that the curves of the turbines must cover, by their fields, of all that storages and releases allow.

    The turbines run above the operating level. Beyond the heads of the capacity its last value limits nothing; beyond
    those of the conversion the capacity is 0.
    """
    conversion = conversion_of(parts["conversion"], parts["conversion_kind"])
    capacity, factor, level = parts["capacity_m3s"], parts.get("plant_factor"), parts.get("operating_level_m")
    # The largest release that the turbines could take: of a month in which they run all the time.
    most_m3s = most_release_m3s / (1.0 if factor is None else max(float(np.min(factor)), 1e-6))
    least, most = heads
    if level is not None:
        least = min(max(least, level - float(parts["tailrace"](most_release_m3s))), most)

    def limits(head: FloatArray) -> Any:
        most, per_flow = capacity(head), np.maximum(conversion(head), 1e-9)
        return (most > 0) & (most < np.minimum(parts["installed_mw"] / per_flow, most_m3s))

    def covering(curve: Curve, matters: Callable[[FloatArray], Any]) -> Domain:
        low, high = curve.domain
        below = low > least and np.any(matters(np.linspace(least, low, _HEADS)))
        above = high < most and np.any(matters(np.linspace(high, most, _HEADS)))
        return least if below else max(least, min(low, most)), most if above else min(most, max(high, least))

    running = covering(parts["conversion"], lambda head: capacity(head) > 0)
    return {"conversion": running, "capacity_m3s": covering(capacity, limits)}


def following(
    curve: Curve, parts: Mapping[str, Any], needed: Domain | None, field: str
) -> tuple[Curve | None, list[Mistake]]:
    """A curve of a reservoir whose limits may be others than when it was made; and why it cannot be.

    Parameters
    ----------
    curve : Curve
    parts : mapping
        Fields of the reservoir.
    needed : pair of float
        Where the curve is evaluated.
    field : str
        Its own, for messages.
    """
    if not isinstance(curve, Polynomial | PowerLaw) or curve.follows is Follows.NOTHING or needed is None:
        return curve, []
    domain = min(curve.domain[0], needed[0]), max(curve.domain[1], needed[1])
    try:
        if curve.follows is Follows.LARGEST_RELEASE:
            return constant(unlimited_m3s(parts), domain, curve.follows), []
        return (curve if domain == curve.domain else replace(curve, domain=domain)), []
    except InputError as refused:
        return None, [replace(mistake, column=f"{field}.{mistake.column}") for mistake in refused.mistakes]


def unlimited_m3s(parts: Mapping[str, Any]) -> float:
    """A hydraulic capacity that never binds, nor does its part by the plant factor."""
    return releases_of(parts)[1] / min((part for part in parts["plant_factor"].tolist() if part > 0), default=1.0)


def storages_of(parts: Mapping[str, Any]) -> Domain:
    """Between which storages (hm3) a reservoir is, by its fields."""
    ends = [parts[name] for name in ("initial_storage_hm3", "final_storage_hm3") if parts[name] is not None]
    least, most = float(parts["storage_lower_hm3"].min()), float(parts["storage_upper_hm3"].max())
    return min([least, *ends]), max([most, *ends])


def _within_bounds(parts: Mapping[str, Any], storages: Domain) -> Domain:
    """Storages without those beyond the bounds, where a plan may begin: turbine curves are held at their ends there."""
    if "storage_lower_hm3" not in parts or "storage_upper_hm3" not in parts:
        return storages
    least, most = float(parts["storage_lower_hm3"].min()), float(parts["storage_upper_hm3"].max())
    return max(storages[0], least), min(storages[1], most)


def releases_of(parts: Mapping[str, Any]) -> Domain:
    """Smallest and largest release (m3/s) that a reservoir allows, by its fields."""
    return float(parts["release_lower_m3s"].min()), float(parts["release_upper_m3s"].max())


#: A table of a reservoir file, and a number that is marked as invented, with what it was.
_SECTION = re.compile(r"\[+([\w.]+)\]")
#: And how the sheet of a workbook was read.
_READ = re.compile(r"^# read: (.+)$", re.MULTILINE)
_INVENTED = re.compile(r"\s*(\w+)\s*=\s*(.+?)\s*# invented \((.+?)\)")


def notes_of(parts: Mapping[str, Any]) -> Iterator[str]:
    """Say what is valid but may be unintended, by the fields of a reservoir."""
    storages, releases = _within_bounds(parts, storages_of(parts)), releases_of(parts)
    heads = heads_of(parts["level"], parts["tailrace"], storages, releases)
    installed, reached = parts["installed_mw"], most_power_mw(parts, heads, releases[1])
    if not TINY * reached <= installed <= SURPRISING * reached:
        yield (
            f"The installed capacity of {installed:,.6g} MW is far {'above' if installed > reached else 'below'} the "
            f"{reached:,.4g} MW that the largest release, the head and the conversion give: check its unit (MW), the "
            "release limits and the curves."
        )
    yield from _drowned(parts["level"], parts["tailrace"], storages, releases)
    ends = ("dead", parts["marks"].dead_m, "smallest"), ("normal", parts["marks"].normal_m, "largest")
    for (name, mark, word), storage in zip(ends, storages, strict=True):
        level = float(parts["level"](storage))
        if mark is not None and abs(mark - level) > LEVEL_TOLERANCE_M:
            yield _mark_note(name, mark, level, word, storage)
    (least, most), slack = heads, SLACK * (heads[1] - heads[0])
    for name, field in (("hydraulic capacity", "capacity_m3s"), ("conversion to power", "conversion")):
        low, high = parts[field].domain
        stands = field == "conversion" or (low > least and parts[field](low) == 0)
        why = "where the turbines stand still" if stands else "which limits nothing there"
        gaps = [(least, low)] * (low > least + slack) + [(high, most)] * (high < most - slack)
        if gaps:
            yield _gap_note(name, gaps, why)
    yield from notes_of_file(parts["content"])


def _drowned(level: Curve, tailrace: Curve, storages: Domain, releases: Domain) -> Iterator[UnitText]:
    """Say from what releases on the tailwater leaves no head: at the dead storage, and at the full one."""
    flows = np.linspace(*releases, GRID)
    tail, levels = tailrace(flows), [float(level(end)) for end in storages]
    if levels[0] > tail[-1]:
        return
    at_dead, at_full = (float(flows[np.argmax(tail >= each)]) if tail[-1] >= each else None for each in levels)

    def said(units: UnitSystem) -> str:
        full = "" if at_full is None else f" and {units.stated(at_full, 'm3/s', ',.4g')} at the full one"
        return (
            f"Floods drown the plant: from about {units.stated(at_dead or 0.0, 'm3/s', ',.4g')} at the dead "
            f"storage{full} on, the tailrace leaves no head, and there is no power. If floods do not rise so high, "
            "check that the levels of lake and tailrace have the same datum."
        )

    yield UnitText(said)


def _mark_note(name: str, mark_m: float, level_m: float, word: str, storage_hm3: float) -> UnitText:
    return UnitText(
        lambda units: (
            f"The {name} level (marks.{name}_m) is {units.stated(mark_m, 'm', '.7g')}, but the level curve gives "
            f"{units.stated(level_m, 'm', '.7g')} at the {word} storage, {units.stated(storage_hm3, 'hm3', ',.6g')}; "
            "marks are drawn in figures and are no limits."
        )
    )


def _gap_note(name: str, gaps_m: list[tuple[float, float]], why: str) -> UnitText:
    def said(units: UnitSystem) -> str:
        heads = (f"{units.number(low, 'm', '.4g')} to {units.stated(high, 'm', '.4g')}" for low, high in gaps_m)
        return f"The {name} is not given for heads of {' and '.join(heads)}: it is held at its last value, {why}."

    return UnitText(said)


def invented_numbers(content: bytes) -> Iterator[tuple[str, str]]:
    """Dotted keys that ``reservoir new`` marked as invented in a file, and their numbers as they still are."""
    section = ""
    for line in content.decode(encoding_of(content), "replace").splitlines():
        head = _SECTION.match(line)
        section = f"{head[1]}." if head else section
        marked = _INVENTED.match(line)
        if marked and "".join(marked[2].split()) == "".join(marked[3].split()):
            yield f"{section}{marked[1]}", marked[2]


def notes_of_file(content: bytes) -> Iterator[str]:
    """The encoding, how a workbook was read, and which numbers nobody gave."""
    yield from encoding_notes(encoding_of(content))
    yield from _READ.findall(content.decode(encoding_of(content), "replace"))
    left = [f"{key} = {shortened(number, 24)}" for key, number in invented_numbers(content)]
    if left:
        are = "1 number is still one that" if len(left) == 1 else f"{len(left)} numbers are still those that"
        yield f'{are} "reservoir new" invented, or took from the ends of a table: {", ".join(left)}.'
