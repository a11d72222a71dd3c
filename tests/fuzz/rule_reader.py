"""Rule files of every family, spoiled; what is read advises in every situation."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from reservoir.cases import bundled_case
from reservoir.errors import InputError
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.rule_file import read_rule_file, require_same_reservoir
from reservoir.rules import rule_from_dict
from reservoir.rules.advice import Situation, advise
from tests.fuzz.case import Reader, one_file
from tests.fuzz.json_spoiling import spoiled_json

_RULES = Path(__file__).parents[2] / "reports" / "xiaowan" / "rules"
_SITUATIONS = ((1373.0, 0.0, 1e9), (15528.0, 1e9, 0.0), (9000.0, 800.0, 600.0))


@cache
def _reservoir() -> Reservoir:
    return bundled_case().reservoir()


FILE = "rule.json"


def reader() -> Reader:
    """`read_rule_file`, and the checks of commands that use a rule."""
    sound = [json.loads(path.read_bytes()) for path in sorted(_RULES.glob("*.json"))]
    assert len(sound) > 5
    return Reader(FILE, one_file(FILE, spoiled_json(sound)), _read)


def _read(folder: Path) -> None:
    file = read_rule_file(folder / FILE)
    assert rule_from_dict(file.rule.to_dict()) == file.rule
    with suppress(InputError):
        require_same_reservoir(file, _reservoir())
    for step, (storage, inflow, before) in enumerate(_SITUATIONS):
        advice = advise(file.rule, _reservoir(), Situation(4 * step, storage, inflow, before))
        assert all(math.isfinite(value) for value in asdict(advice).values())
