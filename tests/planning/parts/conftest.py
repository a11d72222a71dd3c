"""Parts that are small enough for tests."""

import pytest

from reservoir.planning.parts import run


@pytest.fixture
def small_parts(monkeypatch) -> None:
    """Parts of five years."""
    monkeypatch.setattr(run, "PART_YEARS", 5)
