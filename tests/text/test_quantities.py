import pytest

from reservoir.text.quantities import near_names, quantity


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
