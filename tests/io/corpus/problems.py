"""Cities and tours of TSPLIB, and spin glasses."""

from __future__ import annotations

OF_CITIES: dict[str, tuple[str, str, str]] = {
    "geographical": (
        "EUC_2D",
        "GEO",
        (
            'some.tsp, row 4: EDGE_WEIGHT_TYPE is not supported (found "GEO"); expected EDGE_WEIGHT_TYPE : '
            "EUC_2D or ATT."
        ),
    ),
    "three dimensions": (
        "EUC_2D",
        "EUC_3D",
        (
            'some.tsp, row 4: EDGE_WEIGHT_TYPE is not supported (found "EUC_3D"); expected EDGE_WEIGHT_TYPE : '
            "EUC_2D or ATT."
        ),
    ),
    "asymmetric": (
        "TYPE : TSP",
        "TYPE : ATSP",
        'some.tsp, row 2: TYPE is not supported (found "ATSP"); expected TYPE : TSP.',
    ),
    "a tour": (
        "TYPE : TSP",
        "TYPE : TOUR",
        'some.tsp, row 2: TYPE is not supported (found "TOUR"); expected TYPE : TSP.',
    ),
    "weights in full": (
        "NODE_COORD_SECTION",
        "EDGE_WEIGHT_SECTION",
        (
            "some.tsp: the file has no NODE_COORD_SECTION; expected a line NODE_COORD_SECTION, followed by its "
            "data. Fix: see data/tsp/att48.tsp for an example."
        ),
    ),
    "more cities than told": (
        "DIMENSION : 4",
        "DIMENSION : 3",
        'some.tsp, row 9: the city number is out of range (found "4 2 0"); expected 1 to 3, each once.',
    ),
    "fewer than told": (
        "DIMENSION : 4",
        "DIMENSION : 5",
        (
            "some.tsp: NODE_COORD_SECTION has a wrong number of cities (found 4); expected 5, the DIMENSION in "
            "row 3. Fix: add the missing cities, or correct DIMENSION."
        ),
    ),
    "no number of cities": (
        "DIMENSION : 4\n",
        "",
        "some.tsp: DIMENSION is missing; expected DIMENSION : 3 to 10,000.",
    ),
    "a decimal number of cities": (
        "DIMENSION : 4",
        "DIMENSION : 4.0",
        (
            'some.tsp, row 3: DIMENSION is not a supported number of cities (found "4.0"); expected DIMENSION : '
            "3 to 10,000."
        ),
    ),
    "a comma between": (
        "2 0 1.5",
        "2,0,1.5",
        (
            'some.tsp, row 7: is not a city (found "2,0,1.5"); expected a city number and two coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "a decimal comma": (
        "2 0 1.5",
        "2 0 1,5",
        (
            'some.tsp, row 7: is not a city (found "2 0 1,5"); expected a city number and two coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "three coordinates": (
        "2 0 1.5",
        "2 0 1.5 7",
        (
            'some.tsp, row 7: is not a city (found "2 0 1.5 7"); expected a city number and two coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "nan": (
        "2 0 1.5",
        "2 0 nan",
        (
            'some.tsp, row 7: is not a city (found "2 0 nan"); expected a city number and two coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "city 0": (
        "1 0 0",
        "0 0 0",
        'some.tsp, row 6: the city number is out of range (found "0 0 0"); expected 1 to 4, each once.',
    ),
    "a name for a city": (
        "1 0 0",
        "Rome 0 0",
        (
            'some.tsp, row 6: is not a city (found "Rome 0 0"); expected a city number and two coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "city twice": (
        "2 0 1.5",
        "3 0 1.5",
        'some.tsp, row 8: the city appears twice (found "3 2 1.5"); expected one line per city.',
    ),
    "nothing": (
        "",
        "",
        (
            "some.tsp: the file has no NODE_COORD_SECTION; expected a line NODE_COORD_SECTION, followed by its "
            "data. Fix: see data/tsp/att48.tsp for an example."
        ),
    ),
    "too far apart": (
        "3 2 1.5",
        "3 1e9 1e9",
        (
            'some.tsp: tours may be too long (found "5,656,854,246"); expected at most 2,147,483,647. Fix: give '
            "the coordinates in a larger unit."
        ),
    ),
    "hexadecimal": (
        "2 0 1.5",
        "2 0 0x10",
        (
            'some.tsp, row 7: is not a city (found "2 0 0x10"); expected a city number and two coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
}

TOUR = """\
TYPE : TOUR
TOUR_SECTION
1
2
4
3
-1
EOF
"""
OF_A_TOUR: dict[str, tuple[str, str, str]] = {
    "a city twice": (
        ("4\n3"),
        ("4\n4"),
        'some.tour, row 6: the city is in the tour twice (found "4"); expected 1 to 4, each once.',
    ),
    "a city left out": (
        ("3\n-1"),
        "-1",
        "some.tour, row 5: the tour has too few cities (found 3); expected 4.",
    ),
    "city 5": (
        ("3\n-1"),
        ("5\n-1"),
        'some.tour, row 6: is not a city number (found "5"); expected 1 to 4, each once.',
    ),
    "city 0": (
        ("3\n-1"),
        ("0\n-1"),
        'some.tour, row 6: is not a city number (found "0"); expected 1 to 4, each once.',
    ),
    "a word": (
        ("3\n-1"),
        ("three\n-1"),
        'some.tour, row 6: is not a city number (found "three"); expected 1 to 4, each once.',
    ),
    "a decimal": (
        ("3\n-1"),
        ("3.0\n-1"),
        'some.tour, row 6: is not a city number (found "3.0"); expected 1 to 4, each once.',
    ),
    "no section": (
        "TOUR_SECTION\n",
        "",
        'some.tour, row 2: is not a TSPLIB line (found "1"); expected KEYWORD : value, or a section.',
    ),
    "two sections": (
        "EOF",
        "TOUR_SECTION",
        "some.tour, row 8: TOUR_SECTION appears twice; expected one.",
    ),
}

GLASS = """\
4
-0.5
1 2 1
2 3 -1
3 4 1
4 1 1
"""
OF_A_GLASS: dict[str, tuple[str, str, str]] = {
    "a head line": (
        ("4\n-0.5"),
        ("spins 4\n-0.5"),
        ('glass, row 1: is not a valid number of spins (found "spins 4"); expected a whole number, 2 to 65,536.'),
    ),
    "one spin": (
        ("4\n-0.5"),
        ("1\n-0.5"),
        'glass, row 1: is not a valid number of spins (found "1"); expected a whole number, 2 to 65,536.',
    ),
    "too many spins": (
        ("4\n-0.5"),
        ("70000\n-0.5"),
        'glass, row 1: is not a valid number of spins (found "70000"); expected a whole number, 2 to 65,536.',
    ),
    "no energy": (
        ("4\n-0.5\n"),
        "4\n",
        'glass, row 2: is not an energy per spin (found "1 2 1"); expected one number.',
    ),
    "energy above 0": (
        "-0.5",
        "0.5",
        (
            "glass, row 2: is not a ground-state energy (found 0.5); expected -1 to 0, the range that the "
            "couplings allow."
        ),
    ),
    "energy too low": (
        "-0.5",
        "-2",
        (
            "glass, row 2: is not a ground-state energy (found -2.0); expected -1 to 0, the range that the "
            "couplings allow."
        ),
    ),
    "energy of no glass": (
        "-0.5",
        "-0.4",
        (
            "glass, row 2: is not a ground-state energy (found -0.4); expected -0.5: the couplings and the "
            "energy of all 4 spins are whole numbers."
        ),
    ),
    "spin 0": (
        "1 2 1",
        "0 2 1",
        'glass, row 3: does not couple two spins (found "0 2 1"); expected two different spins, 1 to 4.',
    ),
    "a spin with itself": (
        "1 2 1",
        "2 2 1",
        'glass, row 3: does not couple two spins (found "2 2 1"); expected two different spins, 1 to 4.',
    ),
    "twice": (
        "2 3 -1",
        "2 1 -1",
        (
            'glass, row 4: couples two spins a second time (found "2 1 -1"); expected one line per pair of spins, '
            "with the sum of their couplings."
        ),
    ),
    "a real coupling": (
        "1 2 1",
        "1 2 0.5",
        ('glass, row 3: is not a coupling (found "1 2 0.5"); expected two spins and their coupling, whole numbers.'),
    ),
    "a coupling too strong": (
        "1 2 1",
        "1 2 1000001",
        "glass, row 3: has too large a coupling (found 1000001); expected at most 1,000,000.",
    ),
    "commas": (
        "1 2 1",
        "1,2,1",
        ('glass, row 3: is not a coupling (found "1,2,1"); expected two spins and their coupling, whole numbers.'),
    ),
    "nothing": (
        "",
        "",
        (
            "glass: is not a spin-glass file; expected the number of spins, the ground-state energy per spin and "
            "the couplings, one per line. Fix: choose another file."
        ),
    ),
}
