"""Comments of inflow files and words of a call, and what unit each says."""

from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3

#: Comments above a wide table: the unit that they claim, "" where none does, or a part of the refusal.
COMMENTS = {
    "": [
        *("mean 1230 m3/s", "catchment 113,300 km2", "Mean of 62 years: 1230 m3/s, drainage area (km2): 113300"),
        *(
            "mean annual inflow 38,800 hm3",
            "Source: GRDC",
            "flows in the dry season are estimated",
            "gauge in Jinghong",
        ),
        *("capacity 2,400 taf", "storage in km3", "downloaded on 2020-01-01", "Débit de l'Isère", "Vandføring af åen"),
        *(
            "precipitation in mm",
            "USGS 11425500 SACRAMENTO R A VERONA CA",
            "10 years of 1000 are dry",
            "unity in variety",
        ),
    ],
    "m3/s": [
        *(
            "flows in m3/s",
            "Monthly mean inflow to Xiaowan Reservoir, m3/s, 1953 to 2014",
            "unit: m³/s",
            "unit m3s",
            "m3/s",
        ),
        *(
            "Einheit: m3/s",
            "Units of the values: m3/s",
            "All flows are in cumecs.",
            "unit: m3/s (monthly mean)",
            "Q (m3/s)",
        ),
        *(
            "units: m3/s; source: GRDC 2010",
            "单位：m3/s",
            "Werte in m3/s",
            "unit is m3/s",
            "values in m3/s for each month",
        ),
    ],
    "hm3": [
        *(
            "unit hm3",
            "unit: hm3",
            "*** values: hm3 ***",
            "units = HM3",
            "all values in hm3",
            "inflow (hm3)",
            "Inflow volumes in hm3",
            "hm3",
            "in hm3",
        ),
        *(
            "unit: hm3, monthly totals",
            "Units are hm3.",
            "Inflow: hm3",
            "the data is in hm3",
            "unité : hm3",
            "unidad: hm3",
        ),
    ],
    "hm3/day": ["unit: hm3/day", "values in hm3 per day"],
    "1e8m3": ["单位：亿m3", "单位: 亿立方米", "unit: 1e8m3"],
    "1e4m3": ["单位：万m3", "单位: 万立方米"],
    "cfs": ["flow [cfs]", "monthly mean flow, cubic feet per second", "units: ft3/s"],
    "kcfs": ["units: kcfs", "flows in kcfs"],
    "km3": ["values in km3", "inflow in cubic kilometres"],
    "taf": ["flow data in taf"],
    "kaf": ["unit kaf"],
    "l/s": ["values in l/s", "Inflow (l/s)"],
    "Refused with unknown unit": [
        *(
            "unit: barrel",
            "values in mm",
        ),
        *(
            "unit:",
            "unit: ?",
            "multiply by 1000",
            "values x 10^6",
            "unit: m3/s, x1000",
            "values in barrels",
            "unit: percent",
            "Inflow (mm/day)",
        ),
    ],
    "Refused with with the unknown": [
        *(
            "unit: million m3",
            "values in million m3",
            "values in 10^6 m3",
            "volumes (10^6 m3)",
            "in 1000 acre-ft",
            "10^6 m3",
        ),
        *(
            "All values in thousands of acre-feet",
            "unit of inflow: 1000 m3",
            "values in m3/s-days",
        ),
        *(
            "Zuflüsse in Mio. m³",
            "inflow in Mio. m3",
            "unit: hm3/quarter",
            "inflow in 1e6 m3",
            "inflow in Mio m3",
            "unit: m3 per year",
            "unit: m3/s or cfs",
            "unit: 10⁶ m³",
        ),
    ],
    "Refused with a comment mentions": [
        "converted from cfs",
        "caveat: converted from hm3 of the operator",
        "hm3 of water at the dam site of Dachaoshan",
    ],
    "Refused with two units": ["unit: m3/s (cfs)"],
}
EVERY_COMMENT = [(comment, expected) for expected, comments in COMMENTS.items() for comment in comments]

#: What the call may name, and how it is understood; None is refused.
CALLS = {
    **{name: name for name in (*FLOW_M3S, *VOLUME_HM3)},
    **{
        "m³/s": "m3/s",
        "m3s": "m3/s",
        "CFS": "cfs",
        "acre_ft": "acre-ft",
        "acre-feet": "acre-ft",
        "亿m3": "1e8m3",
        "万m³": "1e4m3",
        "百万m3": None,
        "万m3/s": None,
        "hm³": "hm3",
        "hm3/month": "hm3",
        "m3/day": "m3/day",
    },
    **dict.fromkeys(["", " ", "million m3", "hm3/yr", "m3/2 days", "inflow", "1000 cfs", "Mio m3"]),
    **dict.fromkeys(["inflow m3/s", "barrel", "10^6 m3", "m3/s\x1b", "x" * 5000]),
}
