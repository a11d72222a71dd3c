import pytest

from reservoir.text.quantities import decimals_of, is_name, near_names, quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.012346, "0.01235"), (18.4249, "18.42"), (999.96, "1000"), (1855.7, "1,856"), (-12345.6, "-12,346")],
)
def test_a_quantity_has_four_figures_and_is_whole_from_a_thousand_on(value, text):
    assert quantity(value) == text


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
