"""Cities and tours of TSPLIB, and spin glasses."""

from __future__ import annotations

OF_CITIES: dict[str, tuple[str, str, str]] = {
    "geographical": (
        "EUC_2D",
        "GEO",
        (
            'some.tsp, row 4: EDGE_WEIGHT_TYPE is not one that this program knows (found "GEO"); expected '
            "EDGE_WEIGHT_TYPE : EUC_2D or ATT."
        ),
    ),
    "three dimensions": (
        "EUC_2D",
        "EUC_3D",
        (
            'some.tsp, row 4: EDGE_WEIGHT_TYPE is not one that this program knows (found "EUC_3D"); expected '
            "EDGE_WEIGHT_TYPE : EUC_2D or ATT."
        ),
    ),
    "asymmetric": (
        "TYPE : TSP",
        "TYPE : ATSP",
        'some.tsp, row 2: TYPE is not one that this program knows (found "ATSP"); expected TYPE : TSP.',
    ),
    "a tour": (
        "TYPE : TSP",
        "TYPE : TOUR",
        'some.tsp, row 2: TYPE is not one that this program knows (found "TOUR"); expected TYPE : TSP.',
    ),
    "weights in full": (
        "NODE_COORD_SECTION",
        "EDGE_WEIGHT_SECTION",
        (
            "some.tsp: the file has no NODE_COORD_SECTION; expected a line NODE_COORD_SECTION, and what belongs "
            "to it below. Fix: see data/tsp/att48.tsp for an example."
        ),
    ),
    "more cities than told": (
        "DIMENSION : 4",
        "DIMENSION : 3",
        'some.tsp, row 9: the city has a number that none has (found "4 2 0"); expected 1 to 3, each once.',
    ),
    "fewer than told": (
        "DIMENSION : 4",
        "DIMENSION : 5",
        (
            "some.tsp: NODE_COORD_SECTION has another number of cities (found 4); expected 5, as DIMENSION in "
            "row 3 says. Fix: add the cities that are missing, or correct DIMENSION."
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
            'some.tsp, row 3: DIMENSION is no number of cities that this program can handle (found "4.0"); '
            "expected DIMENSION : 3 to 10,000."
        ),
    ),
    "a comma between": (
        "2 0 1.5",
        "2,0,1.5",
        (
            'some.tsp, row 7: is no city (found "2,0,1.5"); expected a whole number, and two finite coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "a decimal comma": (
        "2 0 1.5",
        "2 0 1,5",
        (
            'some.tsp, row 7: is no city (found "2 0 1,5"); expected a whole number, and two finite coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "three coordinates": (
        "2 0 1.5",
        "2 0 1.5 7",
        (
            'some.tsp, row 7: is no city (found "2 0 1.5 7"); expected a whole number, and two finite '
            "coordinates, -1,000,000,000 to 1,000,000,000."
        ),
    ),
    "nan": (
        "2 0 1.5",
        "2 0 nan",
        (
            'some.tsp, row 7: is no city (found "2 0 nan"); expected a whole number, and two finite coordinates, '
            "-1,000,000,000 to 1,000,000,000."
        ),
    ),
    "city 0": (
        "1 0 0",
        "0 0 0",
        'some.tsp, row 6: the city has a number that none has (found "0 0 0"); expected 1 to 4, each once.',
    ),
    "a name for a city": (
        "1 0 0",
        "Rome 0 0",
        (
            'some.tsp, row 6: is no city (found "Rome 0 0"); expected a whole number, and two finite '
            "coordinates, -1,000,000,000 to 1,000,000,000."
        ),
    ),
    "city twice": (
        "2 0 1.5",
        "3 0 1.5",
        'some.tsp, row 8: the city is there twice (found "3 2 1.5"); expected a line for each city.',
    ),
    "nothing": (
        "",
        "",
        (
            "some.tsp: the file has no NODE_COORD_SECTION; expected a line NODE_COORD_SECTION, and what belongs "
            "to it below. Fix: see data/tsp/att48.tsp for an example."
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
            'some.tsp, row 7: is no city (found "2 0 0x10"); expected a whole number, and two finite '
            "coordinates, -1,000,000,000 to 1,000,000,000."
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
        'some.tour, row 6: is no number of a city (found "5"); expected 1 to 4, each once.',
    ),
    "city 0": (
        ("3\n-1"),
        ("0\n-1"),
        'some.tour, row 6: is no number of a city (found "0"); expected 1 to 4, each once.',
    ),
    "a word": (
        ("3\n-1"),
        ("three\n-1"),
        'some.tour, row 6: is no number of a city (found "three"); expected 1 to 4, each once.',
    ),
    "a decimal": (
        ("3\n-1"),
        ("3.0\n-1"),
        'some.tour, row 6: is no number of a city (found "3.0"); expected 1 to 4, each once.',
    ),
    "no section": (
        "TOUR_SECTION\n",
        "",
        'some.tour, row 2: is no line of TSPLIB (found "1"); expected KEYWORD : value, or a section.',
    ),
    "two sections": (
        "EOF",
        "TOUR_SECTION",
        "some.tour, row 8: TOUR_SECTION is there twice; expected one.",
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
        'glass, row 1: is no number of spins (found "spins 4"); expected a whole number, 2 to 65,536.',
    ),
    "one spin": (
        ("4\n-0.5"),
        ("1\n-0.5"),
        'glass, row 1: is no number of spins (found "1"); expected a whole number, 2 to 65,536.',
    ),
    "too many spins": (
        ("4\n-0.5"),
        ("70000\n-0.5"),
        'glass, row 1: is no number of spins (found "70000"); expected a whole number, 2 to 65,536.',
    ),
    "no energy": (
        ("4\n-0.5\n"),
        "4\n",
        'glass, row 2: is no energy per spin (found "1 2 1"); expected one number.',
    ),
    "energy above 0": (
        "-0.5",
        "0.5",
        "glass, row 2: is no ground state's energy (found 0.5); expected -1 to 0, as the couplings allow.",
    ),
    "energy too low": (
        "-0.5",
        "-2",
        "glass, row 2: is no ground state's energy (found -2.0); expected -1 to 0, as the couplings allow.",
    ),
    "energy of no glass": (
        "-0.5",
        "-0.4",
        (
            "glass, row 2: is no ground state's energy (found -0.4); expected -0.5: couplings are whole, and so "
            "is the energy of all 4 spins."
        ),
    ),
    "spin 0": (
        "1 2 1",
        "0 2 1",
        'glass, row 3: couples no two spins (found "0 2 1"); expected two spins, 1 to 4.',
    ),
    "a spin with itself": (
        "1 2 1",
        "2 2 1",
        'glass, row 3: couples no two spins (found "2 2 1"); expected two spins, 1 to 4.',
    ),
    "twice": (
        "2 3 -1",
        "2 1 -1",
        (
            'glass, row 4: couples two spins that are coupled before (found "2 1 -1"); expected a line for two '
            "spins, with the sum of their couplings."
        ),
    ),
    "a real coupling": (
        "1 2 1",
        "1 2 0.5",
        ('glass, row 3: is no coupling (found "1 2 0.5"); expected two spins and their coupling, whole numbers.'),
    ),
    "a coupling too strong": (
        "1 2 1",
        "1 2 1000001",
        "glass, row 3: couples too strongly (found 1000001); expected 1,000,000 at most.",
    ),
    "commas": (
        "1 2 1",
        "1,2,1",
        'glass, row 3: is no coupling (found "1,2,1"); expected two spins and their coupling, whole numbers.',
    ),
    "nothing": (
        "",
        "",
        (
            "glass: holds no spin glass; expected the number of spins, the ground-state energy per spin, and "
            "couplings, a line each. Fix: choose another file."
        ),
    ),
}
