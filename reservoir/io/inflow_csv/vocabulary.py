"""Known words in headers and comments of inflow records.

All are folded: lower case, without accents of typography (``m³`` is ``m3``, ``–`` is ``-``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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
#: Volumes that can be given for a time, and words for that time behind a slash or "per".
VOLUMES = ("hm3", "Mm3", "MCM", "1e8m3", "km3", "m3", "acre-ft", "kaf", "taf", "maf")
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
    for volume in VOLUMES
    for time, words in TIMES.items()
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: A flow: without a unit it is taken for m3/s.
FLOW = _words(
    "inflow inflows flow flows streamflow streamflows discharge discharges q qin q_in value values "
    "zufluss abfluss débit debit débits debits caudal caudales vazão vazao portata"
)
#: A volume, or nobody knows: without a unit these say nothing.
VOLUME = _words("volume volumes vol volumen")
RUNOFF = _words("runoff yield apports apport aportación aportacion aportes")
#: Words that change nothing.
PLAIN = _words(
    "in of the at to for into from and is are as & month months monthly mean means average averages averaged avg "
    "ave total totals sum data record series time unit units rate water natural naturalised naturalized unimpaired "
    "unregulated observed obs measured estimated computed reconstructed simulated sim modelled modeled synthetic "
    "historical historic reservoir lake dam river station gauge gage site basin catchment net local upstream all "
    "mittlerer mittel mensual mensuel mensuels mensuelle medio media moyen reservoirs these figures numbers given "
    "each every"
)
#: Other quantities; a column of these is no inflow unless it says inflow or flow as well.
OTHER = _words(
    "outflow outflows release releases spill spills spillage storage storages content contents level levels stage "
    "elevation elev head evaporation evap precipitation precip rain rainfall snow temperature temp power energy "
    "generation demand demands withdrawal withdrawals seepage area depth capacity quality flag flags "
    "code remark remarks"
)
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
#: What is not the mean or the sum of a month, whatever it is of.
STATISTIC = _words(
    "max maximum min minimum peak median std stdev sd cv variance percentile quantile cumulative cumulated accumulated "
    "cum index ratio anomaly anomalies log ln normalised normalized standardised standardized percent rank deviation "
    "annual annually yearly hourly weekly decadal quarterly seasonal maxima maximo máximo máxima maximal maximale "
    "maximaler minima minimo mínimo mínima minimal minimale minimaler massimo massima mediana médiane medianwert crest "
    "extreme extremes highest lowest höchster höchste niedrigster niedrigste étiage acumulado cumulé kumuliert"
)
#: Parts of words that are written together, as ``Qmax``, ``peakflow`` and ``Spitzenabfluss``, beside whole ones.
STATISTIC_PARTS = STATISTIC | _words("máx mín mx mn pk höchst niedrig spitzen scheitel hochwasser niedrigwasser sd cv")
OTHER_PARTS = _words(
    "instantaneous instant momentary observed flood storm lake reservoir river dam station daily month day hour year"
)
#: A flow may be averaged from days; a volume of days is not that of a month.
DAILY = _words("daily")
#: Units of something else, multipliers, rates: never to be passed over.
STRANGE = _words(
    "per litre litres liter liters gallon gallons barrel barrels bushel foot feet inch inches acre acres hectare "
    "hectares metre metres meter meters cubic second seconds minute minutes hour hours day days week weeks year years "
    "decade decades dekad dekads pentad quarter hundred hundreds dozen ten tens crore crores lakh lakhs tonne "
    "mlps half halves halved double doubled twice triple treble quadruple "
    "tonnes tons mmday kilo mega giga hecto deka deca centi milli micro tera times multiply "
    "multiplied divide divided scale scaled factor tausend tsd mille miles mill tmcft cubics mgal mcft bcft "
    "mcuft mcum тыс млн млрд"
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
#: Short words that are no unit.
SHORT = _words("q to of at in the and for res rio nat obs sim avg dam los las san rif el la le du der den von van")
CHINESE_FLOW = re.compile(".*(流量|入流)")
CHINESE_VOLUME = re.compile(".*(水量|径流)")
CHINESE_RUNOFF = re.compile(".*(来水|入库)")
CHINESE_OTHER = re.compile(".*(出库|下泄|库容|水位|蒸发|降雨|降水|最大|最小|累计|累积|发电)")
CHINESE_UNIT = re.compile(".*(立方|[亿万千百兆吨升方]$|^[日年旬时秒])")
