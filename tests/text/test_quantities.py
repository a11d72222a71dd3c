import pytest

from reservoir.text.quantities import decimals_of, is_name, near_names, percentage, quantity, told_apart


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.012346, "0.01235"), (18.4249, "18.42"), (999.96, "1000"), (1855.7, "1,856"), (-12345.6, "-12,346")],
)
def test_a_quantity_has_four_figures_and_is_whole_from_a_thousand_on(value, text):
    assert quantity(value) == text


@pytest.mark.parametrize(("largest", "decimals"), [(0.0123, 4), (0.5, 3), (3.26, 2), (28.4, 1), (4200, 0), (0, 0)])
def test_three_figures_of_the_largest(largest, decimals):
    assert decimals_of(largest) == decimals
    assert decimals_of(-largest) == decimals


@pytest.mark.parametrize("name", ["丹江口水库", "Três-Marias", "पानी", "Łąka_2", "a"])
def test_a_name_has_letters_of_any_script(name):
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "my lake", "../a", "a/b", "a.b", "水 库", "a\n", "“a”"])
def test_what_a_disk_may_not_take_is_no_name(name):
    assert not is_name(name)


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([192.2604, 192.1331], ["192.26", "192.13"]),
        ([1_455_285.2, 1_455_258.4], ["1,455,285", "1,455,258"]),
        ([0.0598, 0.1576], ["0.0598", "0.1576"]),
        ([5.0, 5.0], ["5.000", "5.000"]),
        ([float("nan"), 12.0], ["–", "12.00"]),
        ([float("nan")], ["–"]),
        ([4_000.0 + at for at in range(32)], [f"{4_000 + at:,}.0" for at in range(32)]),
    ],
)
def test_numbers_of_a_front_are_told_apart(values, written):
    assert told_apart(values) == written


@pytest.mark.parametrize(
    ("part", "written"), [(0.6379, "63.8 %"), (1, "100 %"), (0.00297, "0.30 %"), (2.3e-5, "0.0023 %"), (0, "0 %")]
)
def test_parts_are_per_cent_without_exponents(part, written):
    assert percentage(part) == written


KNOWN = {
    "guide-curve": "a storage for each month",
    "zones": "dispatch chart",
    "linear": "a line",
    "linear-search": "it",
}


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("guide", ["guide-curve"]),
        ("Zone", ["zones"]),
        ("zoness", ["zones"]),
        ("dispatch", ["zones"]),
        ("linear_search", ["linear-search"]),
        ("line", ["linear", "linear-search"]),
        ("my-linear", ["linear"]),
        ("it", []),
        ("magic", []),
        ("", []),
    ],
)
def test_a_near_miss_finds_the_name(word, near):
    assert near_names(word, KNOWN) == near
