"""Solvers side by side on the same years."""

from reservoir.planning.comparison import compare


def test_a_solver_is_compared_with_its_own_settings_and_not_with_sizes_of_others(xiaowan, inflow):
    years = inflow.span(0, 2)
    coarse, fine, same = (
        compare(xiaowan, years, solvers=["dsmga2"], options=options)[0].gap
        for options in ({"bits": 2}, {"bits": 6}, {"bits": 6, "generations": 1})
    )
    assert coarse > 2 * fine
    assert same == fine
