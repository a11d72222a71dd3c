import pytest

from reservoir.text.quantities import quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.012346, "0.01235"), (18.4249, "18.42"), (999.96, "1000"), (1855.7, "1,856"), (-12345.6, "-12,346")],
)
def test_a_quantity_has_four_figures_and_is_whole_from_a_thousand_on(value, text):
    assert quantity(value) == text
