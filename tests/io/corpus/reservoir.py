"""Reservoir files: changes of the small one."""

from __future__ import annotations

ODD: dict[str, tuple[str, str, str]] = {
    "storage in ft3": (
        "dead_hm3 = 20",
        "dead_ft3 = 20",
        (
            'r.toml, storage.dead_ft3: is not a known key: "ft3" is not a known unit (found 20); expected one of '
            "dead_hm3, dead_mm3 (Mm3), dead_mcm (MCM), dead_1e8m3, dead_1e4m3, dead_km3, dead_m3, dead_acre_ft, "
            "dead_kaf, dead_taf, dead_maf. Fix: convert it to one of these units."
        ),
    ),
    "level in inches": (
        "normal_m = 445",
        "normal_in = 17520",
        (
            'r.toml, marks.normal_in: is not a known key: "in" is not a known unit (found 17520); expected one of '
            "normal_m, normal_ft. Fix: convert it to one of these units."
        ),
    ),
    "two limits crossed": (
        "full_hm3 = 120",
        "full_hm3 = 12",
        (
            "r.toml, storage.dead_hm3: leaves no active storage (found 20); expected less than the full storage, 12 hm3."
            " Fix: correct one of the two; a run-of-river plant has fixed_hm3 in their place."
        ),
    ),
    "text for a number": (
        "full_hm3 = 120",
        'full_hm3 = "120"',
        ('r.toml, storage.full_hm3: is not a number (found "120"); expected a number: the full (maximum) storage.'),
    ),
    "a decimal comma": (
        "full_hm3 = 120",
        "full_hm3 = 120,5",
        (
            'r.toml, row 14: has extra text after the value (found "full_hm3 = 120,5"); expected key = value, '
            'with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "thousands": (
        "full_hm3 = 120",
        "full_hm3 = 1 200",
        (
            'r.toml, row 14: has extra text after the value (found "full_hm3 = 1 200"); expected key = value, '
            'with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "no value": (
        "full_hm3 = 120",
        "full_hm3 =",
        (
            'r.toml, row 14: has no value, or one that is not a number, text or list (found "full_hm3 ="); '
            'expected key = value, with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "no equals sign": (
        "full_hm3 = 120",
        "full_hm3 120",
        (
            'r.toml, row 14: has a key without = and a value (found "full_hm3 120"); expected key = value, with '
            'text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "a colon": (
        "full_hm3 = 120",
        "full_hm3: 120",
        (
            'r.toml, row 14: has a key without = and a value (found "full_hm3: 120"); expected key = value, with '
            'text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "not a number by name": (
        "full_hm3 = 120",
        "full_hm3 = nan",
        (
            "r.toml, storage.full_hm3: is not a finite number (found nan); expected a number: the full (maximum) "
            "storage."
        ),
    ),
    "minus infinite": (
        "full_hm3 = 120",
        "full_hm3 = -inf",
        (
            "r.toml, storage.full_hm3: is not a finite number (found -inf); expected a number: the full (maximum) "
            "storage."
        ),
    ),
    "a date": (
        "full_hm3 = 120",
        "full_hm3 = 1953-01-01",
        (
            'r.toml, storage.full_hm3: is not a number (found "1953-01-01"); expected a number: the full '
            "(maximum) storage."
        ),
    ),
    "a list for a number": (
        "full_hm3 = 120",
        "full_hm3 = [120]",
        ("r.toml, storage.full_hm3: is not a number; expected a number: the full (maximum) storage."),
    ),
    "a list of lists": (
        "lower_m3s = 4",
        "lower_m3s = [[4]]",
        (
            "r.toml, release.lower_m3s: has 1 value; "
            "expected one number, a list of twelve (January to December), or one a step."
        ),
    ),
    "thirteen months": (
        "lower_m3s = 4",
        "lower_m3s = [1,1,1,1,1,1,1,1,1,1,1,1,1]",
        (
            "r.toml, release.lower_m3s: has 13 values; "
            "expected one number, a list of twelve (January to December), or one a step."
        ),
    ),
    "an empty list": (
        "lower_m3s = 4",
        "lower_m3s = []",
        (
            "r.toml, release.lower_m3s: has 0 values; "
            "expected one number, a list of twelve (January to December), or one a step."
        ),
    ),
    "mixed kinds": (
        "lower_m3s = 4",
        'lower_m3s = [1,"a",1,1,1,1,1,1,1,1,1,1]',
        (
            'r.toml, release.lower_m3s: value 2 of the list is not a number (found "a"); expected a number: the '
            "minimum release: one number, a list of twelve (January to December), or one a step."
        ),
    ),
    "a section twice": (
        "[release]",
        ("[release]\n[storage]"),
        'r.toml, row 19: repeats a section (found "[storage]").',
    ),
    "a key twice": (
        "dead_hm3 = 20",
        ("dead_hm3 = 20\ndead_hm3 = 21"),
        'r.toml, row 14: repeats a key (found "dead_hm3 = 21").',
    ),
    "a section not closed": (
        "[release]",
        "[release",
        (
            "r.toml, row 18: is not TOML: Expected ']' at the end of a table declaration (found \"[release\"); "
            'expected key = value, with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "a quote not closed": (
        'name = "small"',
        'name = "small',
        (
            'r.toml, row 1: is not TOML: Illegal character \'\\n\' (found "name = "small"); expected key = value, '
            'with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "an unknown escape": (
        'name = "small"',
        'name = "sm\\q"',
        (
            'r.toml, row 1: is not TOML: Unescaped \'\\\' in a string (found "name = "sm\\q""); expected key = '
            'value, with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "an empty name": (
        'name = "small"',
        'name = ""',
        ('r.toml, name: is not valid in file names (found ""); expected only letters, digits, - and _.'),
    ),
    "a path for a name": (
        'name = "small"',
        'name = "../small"',
        ('r.toml, name: is not valid in file names (found "../small"); expected only letters, digits, - and _.'),
    ),
    "zero power": (
        "installed_capacity_mw = 30",
        "installed_capacity_mw = -0.0",
        (
            "r.toml, plant.installed_capacity_mw: is out of range (found -0.0); expected a number of at least "
            "0.0001 MW: the installed capacity of the plant, MW."
        ),
    ),
    "horsepower": (
        "installed_capacity_mw = 30",
        "installed_capacity_hp = 40000",
        (
            'r.toml, plant.installed_capacity_hp: is not a known key: "hp" is not a known unit (found 40000); '
            "expected one of installed_capacity_mw (MW), installed_capacity_kw. Fix: convert it to one of these "
            "units."
        ),
    ),
    "a month's name": (
        "first_month = 1",
        'first_month = "June"',
        (
            'r.toml, first_month: is not a whole number (found "June"); expected a whole number: the calendar '
            "month in which the water year begins, 1 to 12."
        ),
    ),
    "month zero": (
        "first_month = 1",
        "first_month = 0",
        (
            "r.toml, first_month: is out of range (found 0); expected a number of at least 1: the calendar month "
            "in which the water year begins, 1 to 12."
        ),
    ),
    "flows in barrels": (
        "lower_m3s = 4",
        "lower_barrels = 4",
        (
            'r.toml, release.lower_barrels: is not a known key: "barrels" is not a known unit (found 4); expected '
            "one of lower_m3s, lower_ls, lower_cfs, lower_kcfs. Fix: convert it to one of these units."
        ),
    ),
    "efficiency in per cent": (
        "output_coefficient = 8.3",
        "efficiency = 85",
        (
            "r.toml, plant.efficiency: is out of range (found 85); expected a number of at most 1: the overall "
            "efficiency as a fraction: 0.92 for 92 %."
        ),
    ),
    "negative efficiency": (
        "output_coefficient = 8.3",
        "efficiency = -0.8",
        (
            "r.toml, plant.efficiency: is out of range (found -0.8); expected a number of at least 0.01: the "
            "overall efficiency as a fraction: 0.92 for 92 %."
        ),
    ),
    "a curve of one point": (
        "storage_hm3 = [10, 20, 40, 60, 80, 100, 120, 130]",
        "storage_hm3 = [10]",
        ("r.toml, curves.level.storage_hm3: has 1 value, but level_m has 8; expected lists of the same length."),
    ),
    "a curve of text": (
        "storage_hm3 = [10, 20, 40, 60, 80, 100, 120, 130]",
        'storage_hm3 = "10, 20"',
        (
            'r.toml, curves.level.storage_hm3: is not a list (found "10, 20"); expected numbers in square '
            "brackets: a list of storages."
        ),
    ),
    "a falling curve": (
        "[405, 412,",
        "[412, 405,",
        (
            "r.toml, curves.level.level_m: does not increase from point 1 (10 hm3: 412 m) to point 2 (20 hm3: "
            "405 m); expected a level that increases with the storage."
        ),
    ),
    "infinite level": (
        "[405, 412,",
        "[-inf, 412,",
        (
            "r.toml, curves.level.level_m: value 1 of the list is not a finite number (found -inf); expected a "
            "number: a list of levels, m, one for each storage."
        ),
    ),
    "no kind": (
        ('[curves.tailrace]\nkind = "power"\n'),
        "[curves.tailrace]\n",
        ('r.toml, curves.tailrace.kind: is missing; expected "table", "polynomial" or "power": the kind of curve.'),
    ),
    "cubic spline": (
        'kind = "power"',
        'kind = "spline"',
        (
            'r.toml, curves.tailrace.kind: is not one of the choices (found "spline"); expected "table", '
            '"polynomial" or "power": the kind of curve.'
        ),
    ),
    "exponent of text": (
        "exponent = 0.6",
        'exponent = "0.6"',
        (
            'r.toml, curves.tailrace.exponent: is not a number (found "0.6"); expected a number: the exponent of '
            "offset + factor * (variable - origin)^exponent."
        ),
    ),
    "a huge exponent": (
        "exponent = 0.6",
        "exponent = 1e9",
        "r.toml, curves.tailrace.exponent: is out of range (found 1000000000.0); expected -10 to 10.",
    ),
    "start above the lake": (
        "initial_hm3 = 110",
        "initial_hm3 = 500",
        (
            "r.toml, storage.initial_hm3: is outside the storage range (found 500); expected 20 hm3 (dead) to "
            "120 hm3 (full)."
        ),
    ),
    "start below 0": (
        "initial_hm3 = 110",
        "initial_hm3 = -1",
        (
            "r.toml, storage.initial_hm3: is out of range (found -1); expected a number of at least 0 hm3: the "
            "storage at the start of every year."
        ),
    ),
    "tailrace above the lake": (
        "offset_m = 362",
        "offset_m = 3620",
        (
            "r.toml, curves.tailrace: the level at dead storage, 412 m, is not above the tailrace at the smallest "
            "release; expected a level above 3620.368 m. Fix: check that both levels have the same datum."
        ),
    ),
    "a comment's mark in place of a key": (
        "dead_hm3 = 20",
        "// dead_hm3 = 20",
        (
            'r.toml, row 13: is neither key = value nor [section] (found "// dead_hm3 = 20"); expected key = '
            'value, with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "JSON": (
        "",
        '{"name": "small"}',
        (
            'r.toml, row 1: is neither key = value nor [section] (found "{"name": "small"}"); expected key = '
            'value, with text in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "INI": (
        "",
        ("[storage]\ndead: 20\n"),
        (
            'r.toml, row 2: has a key without = and a value (found "dead: 20"); expected key = value, with text '
            'in "quotes", lists in [brackets] and decimals with a point.'
        ),
    ),
    "nothing": (
        "",
        "",
        (
            'r.toml: is empty; expected a reservoir file (TOML). Fix: "reservoir new NAME" writes a commented '
            "file to start from."
        ),
    ),
    "a comment alone": (
        "",
        "# nothing\n",
        (
            'r.toml: is empty; expected a reservoir file (TOML). Fix: "reservoir new NAME" writes a commented '
            "file to start from."
        ),
    ),
}
