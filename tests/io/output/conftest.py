"""A folder that a run replaces."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A folder of an earlier run, of which the next one writes two files again."""
    folder = tmp_path / "plan"
    for name in ("a.txt", "inner/c.txt", "inner/old.txt"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text("old")
    return folder
