"""Standard JSON: without NaN and infinity."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def known(value: Any) -> Any:
    """A value with None in the place of every NaN and infinity within it, which JSON does not know."""
    if isinstance(value, Mapping):
        return {name: known(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def strict_json(content: Any) -> str:
    """Write JSON for people and machines, with an end of line."""
    return json.dumps(known(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
