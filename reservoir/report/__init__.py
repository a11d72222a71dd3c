"""Figures, tables and the folder of a plan."""

import os

from reservoir.runtime import run_folder, why_unusable


def _give_matplotlib_a_cache() -> None:
    """Let it keep what it found of fonts in a folder of this run, where its own cannot be written."""
    from pathlib import Path

    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    asked = os.environ.get("MPLCONFIGDIR")
    usual = Path(asked) if asked else base / "matplotlib"
    if (not usual.is_absolute() and not asked) or why_unusable(usual):
        run = run_folder()
        if run is not None and not why_unusable(run / "matplotlib"):
            os.environ["MPLCONFIGDIR"] = str(run / "matplotlib")


_give_matplotlib_a_cache()
