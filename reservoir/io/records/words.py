"""Every word known in headers, comments and cells of inflow records, and sentences cut into words of known kinds.

A new form of a service begins with rows here. All words are folded: lower case, without accents of typography (``m³``
is ``m3``, ``–`` is ``-``). What sentences say of values is a unit, or what forbids one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from reservoir.hydro.units import VOLUME_HM3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
#: Calendar month (1 to 12) by its name: ``jan``, ``january`` and ``sept``.
MONTH_OF_NAME: Mapping[str, int] = {
    name: month for month, full in enumerate(_MONTHS, start=1) for name in (full[:3], full)
} | {"sept": 9}
#: Names of the column of dates, and of years; a water year is named by its end.
DATE_NAMES = frozenset(
    {"date", "datetime", "date time", "date/time", "timestamp", "yyyy-mm-dd", "datum", "dato", "fecha"}
    | {"日期", "时间", "年月", "年月日", "日付"}
) | {f"week{sign}{word}" for sign in " _" for word in ("ending", "beginning", "starting")}
WATER_YEAR_NAMES = frozenset({"wy", "water year", "water_year", "wateryear", "hydrological year", "hydrologic year"})
YEAR_NAMES = _words("year 年份 年度 année jahr año ano") | WATER_YEAR_NAMES
#: Names of the columns of the parts of a date, from the longest on; the least and the largest number of each.
DATE_PARTS: tuple[tuple[str, frozenset[str], range], ...] = (
    ("year", _words("year yr yyyy 年"), range(10_000)),
    ("month", _words("month mon mo mm 月"), range(1, 13)),
    ("day", _words("day dy dd 日"), range(1, 32)),
    ("hour", _words("hour hr hh"), range(25)),
)
#: Names of the column of an ensemble's members, of dimensions of NetCDF that are members even where there is one, and
#: of a column that tells the unit of each row.
MEMBER_NAMES = ("member", "scenario")
MEMBER_DIMENSIONS = (*MEMBER_NAMES, "realization", "ensemble", "number")
UNIT_NAMES = _words("unit units uom einheit unité unidad unidade 单位")
#: Cells in the place of a value that is not known, and of a date beside rows of means and totals.
MISSING_WORDS = _words(
    "na n/a #n/a <na> n.a. nan -nan 1.#qnan -1.#ind nat null nil none missing nodata - -- --- . .. ... * ** *** /"
) | {"", "#n/a n/a", "no data", "缺测", "缺"}
SUMMARY = re.compile(
    r"(mean|average|avg|total|sum|min|max|median|std|mittel|summe|media|moyenne|平均|合计|多年)\w*.*", re.IGNORECASE
)
#: What says that a date or a time stands at the end of its period, or at its beginning; HEC-DSS has types of its own
#: for means and sums of periods, whose times are their ends.
_PERIODS = r"(?:month|day|hour|period|interval|time ?step|step)s?"
_OF_PERIOD = rf"of (?:the |each |every |its |their )?{_PERIODS}"
ENDS = re.compile(
    rf"(?<!\w)(?:{_PERIODS} ?end(?:s|ing)?|ends? {_OF_PERIOD}|eo[pm]|per (?:aver|cum)|intervallende"
    r"|fin(?:ale?)? d\w{0,4} ?(?:la |l')?(?:mois|jour|journée|heure|période|mes|día|hora|per[ií]odo|interval(?:o|le))"
    r"|ende (?:des|der|eines) (?:monats|tages|stunde|zeitraums|intervalls|zeitschritts))"
    r"(?! of record)(?!\w|\W*\d)|[月日期段]末|结束时刻"
)
BEGINS = re.compile(
    rf"(?<!\w)(?:{_PERIODS} ?(?:begin(?:s|ning)?|start(?:s|ing)?)|(?:begin(?:ning)?|start)s? {_OF_PERIOD})(?!\w)"
    r"|[月日期段]初"
)
WEEK_ENDS = re.compile(r"\bweek[- _]?end(?:s|ing)\b|\b(?:ends?|last day) of (?:the |each |every )?week\b", re.I)


class Kind(Enum):
    """What a word is."""

    UNIT = "a unit that is known"
    NUMBER = "a number"
    STRANGE = "a unit, a multiplier or a rate that is not known"
    STATISTIC = "not the mean or the sum of a month"
    DAILY = "of a day"
    FLOW = "a flow"
    VOLUME = "a volume"
    RUNOFF = "a flow or a volume"
    OTHER = "another quantity"
    PLAIN = "a word that changes nothing"
    NAME = "a name, perhaps"
    OPEN = "an opening bracket"
    CLOSE = "a closing bracket"


#: Spellings of each unit, cut into words; a slash is a word of its own. Only what can mean nothing else.
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "m3/s": (
        *("m3s", "m3s-1", "m3 s", "m3 s-1", "cms", "cumec", "cumecs", "м3 / с", "м3 / сек"),
        *(f"m3 / {second}" for second in ("s", "sec", "second", "seg", "sek")),
        *(f"m3 per {second}" for second in ("s", "sec", "second")),
        *(f"cubic {metres} per second" for metres in ("metre", "metres", "meter", "meters")),
        *("立方米 / 秒", "立方米每秒", "m3 / 秒"),
    ),
    "cfs": (
        *("cfs", "cusec", "cusecs", "ft3s", "ft3 s", "ft3 s-1", "cubic feet per second", "cubic foot per second"),
        *("ft3 / s", "ft3 / sec", "ft3 / second", "ft3 per s", "ft3 per second"),
    ),
    "kcfs": ("kcfs",),
    "l/s": ("lps", "ls", "l s-1", "litres per second", "liters per second"),
    "hm3": ("hm3", "cubic hectometres", "cubic hectometers"),
    "Mm3": ("mm3",),
    "MCM": ("mcm",),
    "1e8m3": ("1e8m3", "1e8 m3", "亿 m3", "亿 立方米"),
    "km3": ("km3", "cubic kilometres", "cubic kilometers"),
    "m3": ("m3", "cubic metres", "cubic meters", "立方米"),
    "acre-ft": (
        *("acre-ft", "acre-foot", "acre-feet", "acre ft", "acre foot", "acre feet", "acreft", "acrefeet"),
        *("af", "acft", "ac-ft", "ac ft"),
    ),
    "kaf": ("kaf",),
    "taf": ("taf",),
    "maf": ("maf",),
}
#: Times for which a volume can be given, and words for them behind a slash or "per".
TIMES: Mapping[str, tuple[str, ...]] = {
    "hour": ("h", "hr", "hour"),
    "day": ("d", "day", "日", "天"),
    "week": ("wk", "week", "周"),
    "ten-days": ("旬",),
    "month": ("month", "mon", "mo", "mth", "月"),
}
#: Spellings of volumes for a time, by their names such as ``hm3/day``.
RATES: Mapping[str, tuple[str, ...]] = {
    f"{volume}/{time}": tuple(
        f"{spelling} {sign} {word}" for spelling in SPELLINGS[volume] for word in words for sign in ("/", "per")
    )
    for volume in VOLUME_HM3
    for time, words in TIMES.items()
}
#: Words that change nothing.
PLAIN = _words(
    "in of the at to for into from and is are as & month months monthly mean means average averages averaged "
    "avg ave total totals sum data record series time unit units rate water natural naturalised naturalized "
    "unimpaired unregulated observed obs measured estimated computed reconstructed simulated sim modelled "
    "modeled synthetic historical historic reservoir lake dam river station gauge gage site basin catchment "
    "net local upstream all mittlerer mittel mensual mensuel mensuels mensuelle medio media moyen reservoirs "
    "these figures numbers given each every"
)
#: Words of each kind, in the order in which a word is looked for.
WORDS: Mapping[Kind, frozenset[str]] = {
    # A flow: without a unit it is taken for m3/s.
    Kind.FLOW: _words(
        "inflow inflows flow flows streamflow streamflows discharge discharges q qin q_in value values zufluss "
        "abfluss débit debit débits debits caudal caudales vazão vazao portata"
    ),
    # A volume, or nobody knows: without a unit these say nothing.
    Kind.VOLUME: _words("volume volumes vol volumen"),
    Kind.RUNOFF: _words("runoff yield apports apport aportación aportacion aportes"),
    # With short words that are no unit.
    Kind.PLAIN: PLAIN
    | _words("q to of at in the and for res rio nat obs sim avg dam los las san rif el la le du der den von van"),
    # What is not the mean or the sum of a month, whatever it is of.
    Kind.STATISTIC: _words(
        "max maximum min minimum peak median std stdev sd cv variance percentile quantile cumulative cumulated "
        "accumulated cum index ratio anomaly anomalies log ln normalised normalized standardised standardized "
        "percent rank deviation annual annually yearly hourly weekly decadal quarterly seasonal maxima maximo "
        "máximo máxima maximal maximale maximaler minima minimo mínimo mínima minimal minimale minimaler massimo "
        "massima mediana médiane medianwert crest extreme extremes highest lowest höchster höchste niedrigster "
        "niedrigste étiage acumulado cumulé kumuliert"
    ),
    # A flow may be averaged from days; a volume of days is not that of a month.
    Kind.DAILY: _words("daily"),
    # Units of something else, multipliers, rates: never to be passed over.
    Kind.STRANGE: _words(
        "per litre litres liter liters gallon gallons barrel barrels bushel foot feet inch inches acre acres "
        "hectare hectares metre metres meter meters cubic second seconds minute minutes hour hours day days week "
        "weeks year years decade decades dekad dekads pentad quarter hundred hundreds dozen ten tens crore crores "
        "lakh lakhs tonne mlps half halves halved double doubled twice triple treble quadruple tonnes tons mmday "
        "kilo mega giga hecto deka deca centi milli micro tera times multiply multiplied divide divided scale "
        "scaled factor tausend tsd mille miles mill tmcft cubics mgal mcft bcft mcuft mcum тыс млн млрд"
    ),
    # Other quantities; a column of these is no inflow unless it says inflow or flow as well.
    Kind.OTHER: _words(
        "outflow outflows release releases spill spills spillage storage storages content contents level levels "
        "stage elevation elev head evaporation evap precipitation precip rain rainfall snow temperature temp power "
        "energy generation demand demands withdrawal withdrawals seepage area depth capacity quality flag flags "
        "code remark remarks"
    ),
}
#: Columns that say where and how a value was measured, and sums: beside a column of values they are passed over.
BESIDE = _words(
    "agency annual average avg cd class code codes comment comments count day days duration flag flags gage gauge "
    "grade id ids index lat latitude location lon longitude mean month n name no note notes number obs provisional "
    "qc qual qualifier quality record remark remarks river row sensor sens site source stat station status sum "
    "total totals type units valid water wy year yr"
)
#: Words in the names of columns that tell one series from another.
OF_SERIES = _words(
    "station stations stn sta site sites gage gauge gages gauges sensor sensors location loc river stream basin "
    "catchment watershed subbasin reservoir dam lake param params parameter parameters parm variable var statistic "
    "statistics stat stats series timeseries tsid ts element quantity property observable characteristic measure "
    "measurement measurand datatype dataset product duration interval aggregation pegel messstelle gewässer fluss "
    "größe kennwert estacion estación rio río cuenca parametro parámetro parâmetro paramètre grandeur rivière fiume "
    "stazione grandezza estação posto 站 站名 站码 测站 站号 河流 河名 水库 要素 项目 指标"
)
#: Words in the names of columns that judge single values, whatever else they name; and of what else varies in a series.
JUDGES = _words(
    "flag flags quality qual qc qa qualifier qualifiers remark remarks comment comments note notes status approval "
    "approved grade symbol sym provisional valid validity confidence bemerkung qualität statut observación "
    "observaciones calidad nota 备注 质量"
)
VARYING = _words(
    "ice rating version revision method modified updated retrieved entered user operator observer author date datetime "
    "time timestamp year years yr month months mon day days hour hours minute week season quarter decade dekad wy "
    "water annual total totals sum mean average count n row rows lat latitude lon longitude phase regime wet dry "
    "period calibration validation unit units uom"
)
#: Words in the names of columns of codes: short ones judge a value, too.
CODED = _words("cd code codes class")
#: Words of cells that say how good a value is, and how it was found.
HOW_GOOD = _words(
    "good fair poor bad ok okay suspect doubtful approved provisional preliminary accepted final raw working checked "
    "unchecked verified unverified validated unvalidated edited corrected original revised estimated estimate est "
    "observed obs measured recorded computed calculated modelled modeled simulated reconstructed reconstruction filled "
    "infilled interpolated extrapolated extended naturalised naturalized ice open yes no true false none normal high "
    "low wet dry average spring summer autumn fall winter published unpublished manual automatic auto"
)
#: Parts of words that are written together, as ``Qmax``, ``peakflow`` and ``Spitzenabfluss``, beside whole ones.
STATISTIC_PARTS = WORDS[Kind.STATISTIC] | _words(
    "máx mín mx mn pk höchst niedrig spitzen scheitel hochwasser niedrigwasser sd cv"
)
OTHER_PARTS = _words(
    "instantaneous instant momentary observed flood storm lake reservoir river dam station daily month day hour year"
)
STRANGE_FORMS = re.compile(
    "(thous|milli[oa]|millo|miljo|milio|miljard|miliard|billi|milliard|mrd|mld|mln|mio|duizend).*"
    "|k?(cfs|cms|cumec|cusec)[a-z]*|(k|m|g|t|h|d|c|b|mm|th|mil)?(cfs|cms|cumecs?|cusecs?|af|acft|ac-?ft|ft|gal|gpd|gpm|mgd|cft|cuft|cum|sfd|l|m)s?"
)
#: Volumes and flows of which a comment may speak, beside the known ones.
UNREAD_UNITS = re.compile(
    "km3|dam3|dm3|lps|mmday|cubic|mgd|gpm|ft3|mi3|yd3|in3|(k|m|b|th|mil)(cfs|cms|cumecs?|af|acft|ac-?ft|ft3|m3|cft|cuft|cum)"
    "|taf|tcf|bcm|bcf|mcf|sfd|dsf|barrels?|bbl|gallons?|lit[re]{2}s?|10\\^?\\d+m3|1e\\d+m3"
)
MULTIPLIERS = re.compile(
    "(thous|milli[oa]|millo|miljo|milio|miljard|miliard|billi|milliard|mrd|mld|mln|mio|bn|tausend|tsd|тыс|млн|млрд).*"
    "|[千万百]+|x?10+|10\\^\\d+|1?e\\d+|x1?e\\d+|k"
)
#: Depths, which only a sentence about the values can mean.
DEPTHS = _words("mm cm m in ft inch inches feet metres meters")
#: Danish and Swedish know another "af".
UNCERTAIN_IN_PROSE = _words("af")
#: The same of Chinese words, in which others are looked for.
CHINESE: Mapping[Kind, re.Pattern[str]] = {
    Kind.OTHER: re.compile(".*(出库|下泄|库容|水位|蒸发|降雨|降水|最大|最小|累计|累积|发电)"),
    Kind.STRANGE: re.compile(".*(立方|[亿万千百兆吨升方]$|^[日年旬时秒])"),
    Kind.VOLUME: re.compile(".*(水量|径流)"),
    Kind.FLOW: re.compile(".*(流量|入流)"),
    Kind.RUNOFF: re.compile(".*(来水|入库)"),
}
CHINESE_SERIES = re.compile("站|河名|河流|水库名|要素|项目|指标|类型")


class Word(NamedTuple):
    """A word, or the few that name a unit; `unit` is its name in the table of units."""

    kind: Kind
    text: str
    unit: str = ""


_UNIT_OF = {spelling: unit for unit, words in {**SPELLINGS, **RATES}.items() for spelling in words}
_LONGEST = max(spelling.count(" ") + 1 for spelling in _UNIT_OF)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣－", "-") | dict.fromkeys("·⋅•∙․⸱_", " "))
_CJK = r"\u3400-\u9fff"
_BRACKETS = {"(": Kind.OPEN, "[": Kind.OPEN, "{": Kind.OPEN, ")": Kind.CLOSE, "]": Kind.CLOSE, "}": Kind.CLOSE}
#: Words of which others are joined; short ones that change nothing would be found in names.
_PARTS = {
    **dict.fromkeys((word for word in PLAIN | OTHER_PARTS if len(word) > 2), Kind.PLAIN),
    **dict.fromkeys((spelling for spelling in _UNIT_OF if spelling.isalnum() and len(spelling) > 2), Kind.UNIT),
    **dict.fromkeys(WORDS[Kind.DAILY], Kind.DAILY),
    **dict.fromkeys(WORDS[Kind.VOLUME] | WORDS[Kind.RUNOFF] | {"v"}, Kind.VOLUME),
    **dict.fromkeys(WORDS[Kind.OTHER], Kind.OTHER),
    **dict.fromkeys(WORDS[Kind.FLOW], Kind.FLOW),
    **dict.fromkeys(STATISTIC_PARTS, Kind.STATISTIC),
    **dict.fromkeys((f"{letter}{percent}" for letter in "pq" for percent in range(1, 100)), Kind.STATISTIC),
}
_LONGEST_JOINED = 40


def folded(text: str) -> str:
    """One spelling for what typography writes in many: ``m³·s⁻¹`` and ``M^3 s-1`` are ``m3 s-1``."""
    # Compatibility would make 10⁶ of a million and 106 of both.
    text = re.sub("([0-9])([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"\1^\2", text)
    text = unicodedata.normalize("NFKC", text).translate(_DASHES).casefold()
    text = re.sub(r"(?<![a-z])([hk]?m|mm|ft|км|м)\s?(?:\^|\*\*)\s?3(?!\d)", r"\g<1>3", text)
    return re.sub(r"(?<![a-z])s\s?(?:\^|\*\*)\s?\(?-1\)?", "s-1", text)


def parts_of(name: str) -> list[str]:
    """The plain words of a column's name, also where capitals separate them: ``SensorType`` is sensor, type."""
    apart = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])", " ", name)
    return re.findall(r"[^\W\d_]+", folded(apart))


def words_of(text: str) -> tuple[Word, ...]:
    """Cut a text into words, units as long as they can be."""
    return tuple(_matched(list(_tokens(folded(text)))))


def _tokens(text: str) -> Iterator[str]:
    text = re.sub(rf"(?<=[{_CJK}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{_CJK}])", " ", text)
    # 入库水量亿m3: the multiplier belongs to the unit, but 百亿 is another.
    text = re.sub(r"(?<![十百千万亿兆])亿\s?(?=立方米|m3)", " 亿 ", text)
    # One word each, so that a comment about them is found; of these only litres a second are read.
    text = re.sub(r"(?<![a-z])(?:l|lit[re]{2}s?)\s?/\s?s(?:ec)?(?![a-z])", " lps ", text)
    text = re.sub(r"(?<![a-z])ml\s?/\s?s(?:ec)?(?![a-z])", " mlps ", text)
    text = re.sub(r"(?<![a-z])mm\s?/\s?(?:d|day|month|mon|a|yr|year)(?![a-z])", " mmday ", text)
    for token in re.findall(r"""[()\[\]{}/]|[^\s()\[\]{}/<>,;:=|"'.?!]+""", text):
        if "-" in token.strip("-") and token not in _UNIT_OF and token != "s-1":
            yield from (part for part in token.split("-") if part)
        elif token.strip("-"):
            yield token


def _matched(tokens: Sequence[str]) -> Iterator[Word]:
    place = 0
    while place < len(tokens):
        for length in range(min(_LONGEST, len(tokens) - place), 0, -1):
            text = " ".join(tokens[place : place + length])
            if text in _UNIT_OF:
                yield Word(Kind.UNIT, text, _UNIT_OF[text])
                break
        else:
            length = 1
            yield Word(_kind(tokens[place]), tokens[place])
        place += length


@lru_cache(maxsize=4096)  # an end that is none is met by many beginnings
def _cut_up(token: str) -> tuple[Kind, ...] | None:
    """The kinds of the known words that a token consists of; None of another token."""
    if not token:
        return ()
    for length in range(len(token), 0, -1):
        kind = _PARTS.get(token[:length]) or (Kind.NUMBER if token[:length].isdecimal() else None)
        rest = None if kind is None else _cut_up(token[length:])
        if kind is not None and rest is not None:
            return (kind, *rest)
    return None


def _kind(token: str) -> Kind:
    if token in _BRACKETS:
        return _BRACKETS[token]
    if token.isdecimal():
        return Kind.NUMBER
    for kind, words in WORDS.items():
        if token in words:
            return kind
    # Several known words that are written together: a statistic, or not the inflow.
    kinds = (_cut_up(token) if len(token) <= _LONGEST_JOINED else None) or ()
    if len(kinds) > 1 and Kind.STATISTIC in kinds:
        return Kind.STATISTIC
    if len(kinds) > 1 and Kind.OTHER in kinds and Kind.FLOW not in kinds:
        return Kind.OTHER
    if re.search(f"[{_CJK}]", token):
        return next((kind for kind, form in CHINESE.items() if form.match(token)), Kind.NAME)
    short = len(token) < 4 and token.isascii()
    if short or not token.isalpha() or STRANGE_FORMS.fullmatch(token):
        return Kind.STRANGE
    return Kind.NAME


_NEVER = (Kind.STRANGE, Kind.NUMBER, Kind.STATISTIC)
_QUANTITIES = (Kind.FLOW, Kind.VOLUME, Kind.RUNOFF)
#: Units before which a word that is not known may be a multiplier; nobody gives a flow so.
_BARE = frozenset(unit for unit in ("m3", "acre-ft", *RATES) if unit.partition("/")[0] in ("m3", "acre-ft"))
_FLOWS = frozenset({"m3/s", "cfs", *RATES})


@dataclass(frozen=True)
class Saying:
    """A text about values, understood."""

    #: The units in it, by their names in the table of units, each once.
    units: tuple[str, ...]
    #: Words that forbid reading it: unknown units, multipliers, rates, statistics.
    strange: tuple[str, ...]
    #: Words that are not known and may be a river's or a station's.
    names: tuple[str, ...]
    #: What its words are.
    kinds: frozenset[Kind]

    @property
    def unit(self) -> str | None:
        """The one unit that it names; None if it names none, several, or something that is not understood."""
        return self.units[0] if len(self.units) == 1 and not self.strange else None

    @property
    def is_other(self) -> bool:
        """Whether it names another quantity, and no flow."""
        return Kind.OTHER in self.kinds and Kind.FLOW not in self.kinds

    @property
    def is_no_inflow(self) -> bool:
        """Whether it names another quantity, or a statistic of whatever it is."""
        return self.is_other or Kind.STATISTIC in self.kinds

    @property
    def means_flow(self) -> bool:
        """Whether it is a flow even where no unit stands."""
        return Kind.FLOW in self.kinds and not self.kinds & {Kind.VOLUME, Kind.RUNOFF, Kind.NAME, Kind.OTHER}


def understand(text: str) -> Saying:
    """Read a column's name or a claim such as ``# unit: hm3``."""
    return judged(words_of(text))


def judged(words: Sequence[Word]) -> Saying:
    """Judge the words of a column's name or of a claim."""
    # By the slash of ``Q/(m3/s)``, standards write that a quantity is in a unit.
    kinds = [word.kind for word in words]
    slashes = [at for at, word in enumerate(words[1:-1], 1) if word.text == "/" and kinds[at - 1] in _QUANTITIES]
    of_unit = {at for at in slashes if kinds[at + 1] in (Kind.UNIT, Kind.OPEN)}
    words = [word for at, word in enumerate(words) if at not in of_unit]
    units = tuple(dict.fromkeys(word.unit for word in words if word.kind is Kind.UNIT))
    strange = [word.text for word in words if word.kind in _NEVER]
    # ``inflow (in)`` is in inches, ``inflow in m3/s`` is not.
    following = [*(word.kind for word in words[1:]), Kind.CLOSE]
    strange += ["in" for word, kind in zip(words, following, strict=False) if word.text == "in" and kind is Kind.CLOSE]
    if units:
        strange += [word.text for word in _names_in_doubt(words)]
        if not set(units) <= _FLOWS:
            strange += [word.text for word in words if word.kind is Kind.DAILY]
        # The plural of m3 is written like m3/s.
        elif any(word.kind is Kind.VOLUME and word.text.isascii() for word in words):
            strange += [word.text for word in words if word.text == "m3s"]
    names = tuple(word.text for word in words if word.kind is Kind.NAME)
    return Saying(units, tuple(dict.fromkeys(strange)), names, frozenset(word.kind for word in words))


def _names_in_doubt(words: Sequence[Word]) -> Iterator[Word]:
    """Words not known that may change the unit: in its brackets, behind it, or just before m3 and acre-ft."""
    group = opened = 0
    grouped: list[tuple[int, Word]] = []  # with the number of the bracket they stand in, 0 outside
    for word in words:
        if word.kind in (Kind.OPEN, Kind.CLOSE):
            opened += word.kind is Kind.OPEN
            group = opened if word.kind is Kind.OPEN else 0
        else:
            grouped.append((group, word))
    of_unit = {place: group for place, (group, word) in enumerate(grouped) if word.kind is Kind.UNIT}
    for place, (group, word) in enumerate(grouped):
        if word.kind is Kind.NAME and group in of_unit.values() and (group or place > min(of_unit)):
            yield word
    for (_, before), (_, word) in pairwise(grouped):
        if before.kind is Kind.NAME and word.unit in _BARE:
            yield before
