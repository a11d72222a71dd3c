import json
import math

from reservoir.text.strict_json import strict_json


def test_what_json_does_not_know_is_null_at_any_depth():
    content = {"a": math.nan, "b": [1.5, math.inf, {"c": (-math.inf, "x")}], "d": None, "e": 3, "f": True}
    expected = {"a": None, "b": [1.5, None, {"c": [None, "x"]}], "d": None, "e": 3, "f": True}
    assert json.loads(strict_json(content), parse_constant=lambda name: 1 / 0) == expected
