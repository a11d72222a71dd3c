"""Rule files: the bundled guide curve with another value, in JSON, at a key."""

from __future__ import annotations

ODD: tuple[tuple[str, str, str], ...] = (
    (
        "format",
        "2",
        (
            "rule.json, format: is not a supported format (found 2); expected 1. Fix: fit the rules again, or "
            "use the program version that wrote them."
        ),
    ),
    (
        "format",
        '"1"',
        (
            'rule.json, format: is not a supported format (found "1"); expected 1. Fix: fit the rules again, or '
            "use the program version that wrote them."
        ),
    ),
    ("rule", "null", "rule.json, rule: is not a rule; expected an object with the family of the rule and its values."),
    (
        "rule",
        "[]",
        ("rule.json, rule: is not a rule (found []); expected an object with the family of the rule and its values."),
    ),
    (
        "rule.family",
        '"guide"',
        (
            'rule.json, rule.family: there is no such family of rules (found "guide"); expected one of '
            "guide-curve, linear, linear-search, zones, sdp, water-value, replan, ann-regression, ann, standard. Fix: "
            "write guide-curve."
        ),
    ),
    (
        "rule.family",
        "null",
        (
            "rule.json, rule.family: there is no such family of rules; expected one of guide-curve, linear, "
            "linear-search, zones, sdp, water-value, replan, ann-regression, ann, standard. Fix: choose one of them."
        ),
    ),
    ("rule.reservoir", "3", "rule.json, rule.reservoir: is not text (found 3); expected text in quotes."),
    (
        "rule.forecast",
        '"year"',
        "rule.json, rule.forecast: is not one of the choices (found \"year\"); expected 'month' or 'none'.",
    ),
    ("rule.months", "null", "rule.json, rule.months: is null; expected keys and values in braces."),
    (
        "rule.months.calendar_month",
        "[1,2,3]",
        (
            "rule.json, rule.months.calendar_month: has the wrong number of values (found 3); expected 12, one per "
            "month."
        ),
    ),
    (
        "rule.months.calendar_month[0]",
        "1.5",
        ("rule.json, rule.months.calendar_month[0]: is not a whole number (found 1.5); expected a whole number."),
    ),
    (
        "rule.months.volume_per_flow[0]",
        "0",
        "rule.json, rule.months.volume_per_flow[0]: is not positive (found 0.0); expected more than 0.",
    ),
    (
        "rule.months.volume_per_flow[0]",
        "3",
        (
            "rule.json, rule.months.volume_per_flow[0]: is not the volume of 1 m3/s in a month (found 3.0); "
            "expected 2.4 to 2.7 hm3."
        ),
    ),
    (
        "rule.months.inflow_m3s[11]",
        "1e31",
        ("rule.json, rule.months.inflow_m3s[11]: is out of range (found 1e+31); expected -1e+30 to 1e+30."),
    ),
    (
        "rule.months.inflow_m3s[11]",
        '"much"',
        'rule.json, rule.months.inflow_m3s[11]: is not a number (found "much"); expected a number.',
    ),
    (
        "rule.months.inflow_m3s[11]",
        "NaN",
        "rule.json, rule.months.inflow_m3s[11]: is not a finite number (found nan); expected a number.",
    ),
    (
        "rule.months.release_lower_m3s[0]",
        "1e9",
        (
            "rule.json, rule.months.release_upper_m3s[0]: is below release_lower_m3s in Jan (found 3000.0); "
            "expected 1000000000 or more."
        ),
    ),
    (
        "rule.guide_hm3",
        "[]",
        "rule.json, rule.guide_hm3: has the wrong number of values (found 0); expected 12, one per month.",
    ),
    ("rule.guide_hm3[3]", "null", "rule.json, rule.guide_hm3[3]: is null; expected a number."),
    (
        "rule.guide_hm3[3]",
        "Infinity",
        "rule.json, rule.guide_hm3[3]: is not a finite number (found inf); expected a number.",
    ),
    ("rule.guide_hm3[3]", "true", "rule.json, rule.guide_hm3[3]: is not a number (found True); expected a number."),
    (
        "rule.lower_hm3[3]",
        "1e6",
        ("rule.json, rule.lower_hm3[3]: is above guide_hm3 in Apr (found 1000000.0); expected 13684.7833 or less."),
    ),
    (
        "rule.upper_hm3[3]",
        "0",
        "rule.json, rule.upper_hm3[3]: is below guide_hm3 in Apr (found 0.0); expected 13684.7833 or more.",
    ),
    (
        "rule.colour",
        '"red"',
        'rule.json, rule.colour: is not a known key (found "red"). Fix: remove it or correct its name.',
    ),
)
