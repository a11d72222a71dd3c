"""Parts that are small enough for tests."""

import pytest

from reservoir.planning import parts


@pytest.fixture
def small_parts(monkeypatch) -> None:
    """Parts of five years."""
    monkeypatch.setattr(parts, "PART_YEARS", 5)
