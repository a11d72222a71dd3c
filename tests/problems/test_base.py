"""What stands in a context stands where its constants say, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.problems.base import ContextLayout

layouts = st.builds(
    ContextLayout,
    st.just("SIZE"),
    st.dictionaries(st.sampled_from("ABCDEFGH"), st.integers(1, 9), min_size=1),
    st.integers(1, 16),
)


@given(layouts, st.integers(1, 4))
def test_every_number_is_found_at_its_constant_and_the_rest_is_zero(layout: ContextLayout, contexts: int) -> None:
    random = np.random.default_rng(3)
    values = {name: random.uniform(1, 2, (contexts, count)) for name, count in layout.blocks.items()}
    packed, places = layout.pack(values, (contexts,)), layout.constants()
    assert packed.shape == (contexts, places["SIZE"])
    for name, count in layout.blocks.items():
        np.testing.assert_array_equal(packed[:, places[name] : places[name] + count], values[name])
    assert np.count_nonzero(packed) == contexts * sum(layout.blocks.values())


@given(layouts)
def test_the_size_is_padded_and_no_more(layout: ContextLayout) -> None:
    used = sum(layout.blocks.values())
    assert layout.size % layout.padded_to == 0
    assert used <= layout.size < used + layout.padded_to


def test_one_context_needs_no_axis() -> None:
    np.testing.assert_array_equal(ContextLayout("SIZE", {"A": 2, "B": 1}).pack({"A": [3, 4], "B": 5}), [3, 4, 5])


def test_a_block_of_one_number_takes_a_number_a_context() -> None:
    layout = ContextLayout("SIZE", {"A": 2, "B": 1})
    np.testing.assert_array_equal(layout.pack({"A": np.eye(2), "B": [5, 6]}, (2,)), [[1, 0, 5], [0, 1, 6]])


@pytest.mark.parametrize(
    "values", [{"A": np.ones((2, 2))}, {"A": np.ones((2, 3)), "B": [1, 2]}, {"A": np.ones((2, 2)), "B": [1]}]
)
def test_other_names_and_shapes_are_refused(values: dict) -> None:
    with pytest.raises(ValueError, match=r"SIZE has A, B|reshape"):
        ContextLayout("SIZE", {"A": 2, "B": 1}).pack(values, (2,))
