"""An error says where each mistake stands, what is there, what is expected and the fix; long lists are cut by kind."""

import pickle

import pytest

from reservoir.errors import MOST_ALIKE, InputError, Mistake, OutputError, worth_telling


def test_an_error_takes_the_words_of_its_one_mistake():
    mistake = Mistake("is negative", "0 or more", "correct it", file="a.csv", row=3, column="flow", value=-1)
    error = InputError("is negative", "0 or more", "correct it", file="a.csv", row=3, column="flow", value=-1)
    assert error.mistakes == InputError(mistake).mistakes == InputError([mistake]).mistakes == (mistake,)
    assert str(error) == "a.csv, row 3, column flow: is negative (found -1); expected 0 or more. Fix: correct it."


def test_an_error_of_another_process_is_the_same():
    error = pickle.loads(pickle.dumps(OutputError("already exists", file="plan", mend="choose another --out")))
    assert type(error) is OutputError
    assert str(error) == "plan: already exists. Fix: choose another --out."


@pytest.mark.parametrize(
    ("count", "more"), [(MOST_ALIKE, ""), (MOST_ALIKE + 1, "1 more mistake"), (99, "87 more mistakes")]
)
def test_mistakes_of_one_kind_are_counted_after_the_first(count, more):
    mistakes = worth_telling((Mistake("missing value", row=row) for row in range(count)), "a.csv")
    assert len(mistakes) == min(count, MOST_ALIKE) + bool(more)
    assert not more or mistakes[-1].problem == f"{more} not shown: {count - MOST_ALIKE} x missing value"
    assert not more or mistakes[-1].file == "a.csv"
