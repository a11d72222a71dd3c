"""What people call the quantities of a reservoir: their words, with a unit, as keys of a reservoir file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from reservoir.hydro.attributes import ATTRIBUTES, Attribute, Unit, curve_keys, units_of
from reservoir.hydro.units import FLOW_M3S, key_suffix
from reservoir.io.level_table import QUANTITIES, spelt
from reservoir.io.records.words import folded

#: Where a quantity of the tables below is a level that stands for a storage: the level curve says which.
BY_LEVEL = tuple(f"storage.{stem}_hm3" for stem in ("dead", "full", "initial", "final", "lower", "upper"))
#: A constant tailwater, which no key of the table is.
TAILWATER = Attribute("curves.tailrace.tailwater_m", "the constant level below the dam, m")
#: Columns of curves by the end of their keys.
_CURVES = {
    "curves.tailrace.release_m3s": "release; discharge; outflow; flow; total release; 下泄流量; 流量; 出库流量",
    "curves.tailrace.level_m": "tailwater level; tailrace level; tailwater; tailrace; 尾水位; 下游水位",
    "curves.efficiency.head_m": "head; net head; gross head; 水头; 净水头",
    "curves.efficiency.efficiency": "efficiency; overall efficiency; plant efficiency; 效率",
    "curves.output_coefficient.coefficient": "coefficient; output coefficient; k; 出力系数",
    "curves.conversion_rate.rate_m3_per_kwh": "rate; conversion rate; water rate; water per energy; 耗水率",
    "curves.capacity.capacity_m3s": "capacity; hydraulic capacity; turbine capacity; turbine discharge; 过流能力",
    "curves.seepage.storage_hm3": "storage; 库容",
    "curves.seepage.seepage_m3s": "seepage; seepage loss; 渗漏",
    "curves.turbine.flow_m3s": "full gate flow; full gate discharge; turbine flow",
    "curves.turbine.power_mw": "power; full gate power; output; 出力",
}
#: Names beside the words of the keys themselves, by keys.
_NAMES = {
    "name": "name; reservoir; reservoir name; dam; 水库; 水库名称",
    "description": "description; remark",
    "caveat": "caveat; warning",
    "first_month": "first month; water year begins; first month of water year",
    "plant.installed_capacity_mw": "installed power; nameplate capacity; rated power; rated capacity; capacity; "
    "power capacity; total installed capacity; 装机容量; 总装机容量; 装机",
    "plant.units": "number of units; number of turbines; 台数; 机组台数",
    "plant.unit_capacity_mw": "capacity of one unit; capacity per unit; 单机容量",
    "plant.unit_hydraulic_capacity_m3s": "discharge of one unit; discharge per unit; unit discharge; 单机流量",
    "plant.hydraulic_capacity_m3s": "turbine capacity; turbine discharge; maximum turbine discharge; turbine flow; "
    "maximum turbine flow; rated discharge; rated flow; design discharge; plant discharge; capacity; "
    "maximum turbine release; 满发流量; 额定流量; 最大过机流量; 引用流量",
    "plant.output_coefficient": "k; coefficient; coefficient k; output coefficient k; 出力系数; 综合出力系数",
    "plant.efficiency": "overall efficiency; plant efficiency; turbine efficiency; total efficiency; 效率; 综合效率",
    "plant.guaranteed_power_mw": "firm power; 保证出力",
    "plant.power_lower_mw": "minimum power; minimum output; 最小出力",
    "plant.operating_level_m": "minimum operating level; minimum turbine level; 最低发电水位",
    "marks.normal_m": "normal level; normal pool level; normal water level; full supply level; fsl; "
    "normal operating level; maximum operating level; 正常蓄水位; 正常高水位",
    "marks.dead_m": "dead level; dead water level; minimum drawdown level; mddl; 死水位",
    "marks.flood_m": "flood level; flood limit level; flood control level; 汛限水位; 防洪限制水位",
    "storage.dead_hm3": "inactive storage; minimum storage; 死库容",
    "storage.full_hm3": "total storage; maximum storage; storage at full supply level; gross storage; "
    "full supply level; 总库容; 正常库容",
    "storage.lower_hm3": "minimum storage; rule curve minimum; 最小库容; 最低水位; 下限水位",
    "storage.upper_hm3": "maximum storage; rule curve; flood limit; guide curve; target storage limit; 最大库容; "
    "最高水位; 上限水位; 汛限水位; flood limit level",
    "storage.initial_hm3": "start storage; starting storage; 初始库容; 起调水位; 初始水位",
    "storage.final_hm3": "end storage; ending storage; 末库容; 末水位",
    "release.lower_m3s": "minimum flow below; environmental flow; "
    "ecological flow; compensation flow; residual flow; 最小流量; 最小下泄流量; 生态流量; 最小出库流量",
    "release.upper_m3s": "channel capacity; 最大流量; 最大下泄流量; 最大出库流量",
    "losses.evaporation_mm": "net evaporation; evaporation; 蒸发; 蒸发量",
    "losses.withdrawal_m3s": "withdrawals; diversion; diversions; abstraction; 取水; 取水流量",
    "losses.seepage_m3s": "seepage; seepage loss; 渗漏; 渗漏流量",
    "objective.price_per_mwh": "price; energy price; power price; tariff; 电价",
    TAILWATER.key: "tailwater level; tailrace level; tailwater; tailrace; 尾水位; 下游水位",
}
#: Words that are one, and words that say nothing here; what a word is called depends on the unit beside it.
_SAME = {
    **dict.fromkeys(("min", "min.", "minimum", "minimal", "lowest", "smallest", "least"), "lower"),
    **dict.fromkeys(("max", "max.", "maximum", "maximal", "highest", "largest"), "upper"),
    **dict.fromkeys(("initial", "beginning"), "start") | dict.fromkeys(("final", "ending"), "end"),
    **dict.fromkeys(("tailrace",), "tailwater") | dict.fromkeys(("elevation", "elev", "el", "pool"), "level"),
    **dict.fromkeys(("discharge", "outflow", "release", "releases"), "flow"),
    **dict.fromkeys(("volume", "vol", "contents", "content"), "storage"),
}
_NOTHING = frozenset(("the", "a", "of", "in", "at", "per", "for", "by", "and", "to", "limit", "limits"))
_NOTHING |= {"reservoir", "lake", "dam", "water", "plant"}
#: Units beside those of volumes, areas and levels, by the end of keys.
_UNITS = {
    **{key_suffix(unit): spelt(unit) for unit in FLOW_M3S},
    "ls": f"{spelt('l/s')}|l ?/ ?s",
    "mw": "mw|megawatts?|兆瓦",
    "kw": "kw|kilowatts?|千瓦",
    "gwh": "gwh",
    "mwh": "mwh",
    "mm": "mm|millimet(?:re|er)s?|毫米",
    "in": "in|inch(?:es)?",
    "per_mwh": r"(?:[a-z]{3}|[€$£¥])? ?(?:/|per) ?mwh",
    "percent": "%|percent",
    "m3_per_kwh": "m3 ?(?:/|per) ?kwh",
}
_UNITS |= {key_suffix(unit): pattern for of in QUANTITIES.values() for unit, pattern in of.units.items()}
_ENDS = {ending: re.compile(rf"(.*?)(?: |(?<![a-z0-9/^-]))(?:{pattern})") for ending, pattern in _UNITS.items()}
_PERCENT = Unit("%", "percent", 0.01)


class KeyMeant(NamedTuple):
    """A key that a text means: its row, in which unit; and whether it is given as a level that stands for a storage."""

    row: Attribute
    unit: Unit | None
    by_level: bool = False

    @property
    def written(self) -> str:
        """The key within its section, as a file has it; of a fraction in percent, that of the fraction."""
        return self.row.name if self.unit in (None, _PERCENT) else self.row.written(self.unit)  # type: ignore[arg-type]


def _bag(text: str) -> frozenset[str]:
    """Words of a text that tell quantities apart."""
    words = (_SAME.get(word, word) for word in re.findall(r"[^\W_]+", folded(text)))
    return frozenset(word for word in words if word not in _NOTHING)


def _names_of(row: Attribute, more: str) -> Iterator[frozenset[str]]:
    yield _bag(row.stem)
    if row.section and not row.section.startswith("curves."):
        yield _bag(f"{row.section.partition('.')[0].replace('marks', 'level')} {row.stem}")
    yield from (_bag(name) for name in more.split(";") if name)


@cache
def _rows(curves: bool) -> tuple[tuple[Attribute, frozenset[frozenset[str]]], ...]:
    """Rows with the words for each; of a level that is a mark and a storage's, the mark stands first."""
    if not curves:
        ordered = sorted((*ATTRIBUTES, TAILWATER), key=lambda row: row.section != "marks")
        return tuple((row, frozenset(_names_of(row, _NAMES.get(row.key, "")))) for row in ordered)
    rows = []
    for key, names in _CURVES.items():
        curve, _, name = key.removeprefix("curves.").partition(".")
        keys = curve_keys(curve)
        row = next(row for row in keys.get("table", keys.get("", ())) if row.name == name)
        of_curve = Attribute(key, row.meaning)
        rows.append((of_curve, frozenset(_bag(each) for each in (of_curve.stem, *names.split(";")))))
    return tuple(rows)


def _without_unit(text: str) -> Iterator[tuple[str, str]]:
    """A text as a quantity and the unit at its end, by the end of keys; and as a whole with no unit."""
    words = re.sub(r"[\s_,;:()\[\]{}]+", " ", folded(text)).strip()
    for ending, form in _ENDS.items():
        match = form.fullmatch(words)
        if match and match[1].strip():
            yield match[1], ending
    yield words, ""


def keys_meant(text: str, unit: str = "", *, curves: bool = False, section: str | None = None) -> list[KeyMeant]:
    """Keys that a name may mean, the likelier first.

    Parameters
    ----------
    text : str
        Such as ``Installed capacity (MW)``, ``dead_storage_mcm`` or ``死水位``.
    unit : str
        The unit, where it stands elsewhere.
    curves : bool
        Whether columns of curves are meant, and not numbers of the reservoir.
    section : str, optional
        The only section that is looked at.
    """
    exact = re.sub(r"\W+", "_", f"{text} {unit}".strip()).casefold()
    meant = [] if curves else list(_keys_written(exact, section))
    for name, ending in _without_unit(f"{text} {unit}".strip() if unit else text):
        bag = _bag(name)
        for row, names in _rows(curves):
            if bag and bag in names and section in (None, row.section):
                meant += _in_unit(row, ending)
            if row.key in BY_LEVEL and section is None and (_as_storage(bag) in names or bag in names):
                meant += [KeyMeant(row, unit, True) for unit in units_of("level_m")[1] if unit.suffix == ending]
    return meant


def _keys_written(text: str, section: str | None) -> Iterator[KeyMeant]:
    """Keys of a file as they are, or behind the name of their section."""
    for row, _ in _rows(False):
        first = row.section.partition(".")[0]
        for name in (text, text.removeprefix(f"{first}_") if section in (None, row.section) else text):
            unit = row.unit(name)
            if section in (None, row.section) and (unit or (not row.units and name == row.name)):
                yield KeyMeant(row, unit)
                break


def named_without_unit(text: str) -> Attribute | None:
    """The row with a unit that a name means, but for a unit that is missing or not known; None where there is none."""
    bag = _bag(re.sub(r"[(\[{].*?[)\]}]", " ", text))
    return next((row for row, names in _rows(False) if row.units and bag and bag in names), None)


def _as_storage(bag: frozenset[str]) -> frozenset[str]:
    return frozenset(bag - {"level"} | {"storage"}) if "level" in bag else bag


def _in_unit(row: Attribute, ending: str) -> Iterator[KeyMeant]:
    """A row in a unit, if it has that unit, or no unit and needs none."""
    if ending == "percent" and row.name in ("efficiency", "plant_factor"):
        yield KeyMeant(row, _PERCENT)
    elif not row.units and ending == ("per_mwh" if row.name.endswith("per_mwh") else ""):
        yield KeyMeant(row, None)
    else:
        yield from (KeyMeant(row, unit) for unit in row.units if unit.suffix == ending)


def unit_meant(text: str, choices: Mapping[str, str]) -> str | None:
    """The unit of a formula that a text spells; `choices` are their names by the end of keys. None of another text."""
    words = re.sub(r"[\s_]+", " ", folded(text)).strip()
    return next((choices[end] for end, form in _UNITS.items() if end in choices and re.fullmatch(form, words)), None)
