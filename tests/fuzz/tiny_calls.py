"""Calls of commands that compute: tiny problems, with one word of most calls changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Folder of a plan with rules, and one of the rules.
PLAN, RULE = "plan", "plan/rules/linear-search.json"
#: Calls that make them.
PREPARATIONS = (
    ("plan", "record.csv", "--reservoir", "small.toml", "--solver", "dp", "--no-figures", "--out", PLAN),
    ("rules", PLAN, "--folds", "3", "--family", "linear-search", "--no-figures"),
)

_RECORD = ("record.csv", "--reservoir", "small.toml")
_SWARM: Mapping[str, Sequence[str]] = {
    "--particles": ("4", "8", "1", "0", "9"),
    "--generations": ("1", "3", "0", "-1"),
    "--seed": ("1", "0", "18446744073709551615", "18446744073709551616"),
}
_EVALUATIONS: Mapping[str, Sequence[str]] = {"--evaluations": ("100", "200", "1", "0", "-5"), "--seed": ("1", "3")}
#: Sizes that an engine takes; those without a device come more often, as they compile no kernels.
_SIZES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "clpso-sequential": _SWARM,
    "ring-pso-sequential": _SWARM,
    "ann-pso-parallel": _SWARM,
    "clpso": _SWARM,
    "island-ga-sequential": {"--evaluations": ("20000", "100"), "--seed": ("1", "3")},
    "lshade-sequential": _EVALUATIONS,
    "dsmga2": _EVALUATIONS | {"--set": ("bits=2", "bits=4", "bits=0", "bits", "first=1", "lanes=x", "bits=nan")},
    "dp": {},
    "dp-opencl": {},
}
_REPORT: Mapping[str, Sequence[str]] = {"--json": (), "--profile": (), "--no-reference": (), "--force": ()}
_FLOWS = ("30", "0", "1e6", "-3", "nan", "1e400")
#: Words for anything.
_ODD_WORDS = (
    *("", " ", "0", "-1", "1.5", "nan", "inf", "x", "--", "-", "\x1b[31m", "é", "a" * 300, "[/]"),
    *("record.csv", "small.toml", "odd.csv", "odd.toml", "odd.json", "folder", "none", "loop", "pipe", ".", RULE, PLAN),
)


def _some(draw: Draw, options: Mapping[str, Sequence[str]]) -> list[str]:
    """Some of these options, each with one of its values."""
    typed = []
    for name, values in options.items():
        if draw(st.booleans()):
            typed += [name, draw(st.sampled_from(values))] if values else [name]
    return typed


def _sizes(draw: Draw, solver: str) -> list[str]:
    """A small budget: the first value of each size of an engine, or another."""
    typed = []
    for name, values in _SIZES[solver].items():
        typed += [name, draw(st.sampled_from([values[0]] * 6 + list(values)))]
    return typed


def _plan(draw: Draw) -> list[str]:
    solver = draw(st.sampled_from(sorted(_SIZES)))
    sizes = _sizes(draw, solver)
    return ["plan", *_RECORD, "--solver", solver, *sizes, "--no-figures", *_some(draw, _REPORT)]


def _compare(draw: Draw) -> list[str]:
    solvers = draw(st.lists(st.sampled_from(["dp", "clpso-sequential", "ring-pso-sequential"]), max_size=3))
    named = [word for solver in solvers or ["dp"] for word in ("--solver", solver)]
    return ["compare", *_RECORD, *named, *_sizes(draw, "clpso-sequential"), *_some(draw, {"--json": ()})]


def _validate(draw: Draw) -> list[str]:
    return ["validate", *_RECORD, *_sizes(draw, "clpso"), *_some(draw, {"--runs": ("1", "2"), "--json": ()})]


def _rules(draw: Draw) -> list[str]:
    options = {"--forecast": ("month", "none"), "--json": (), "--force": ()}
    folds = draw(st.sampled_from(["3", "2", "leave-one-out", "1", "9"]))
    family = draw(st.sampled_from(["linear-search", "zones", "sdp"]))
    return ["rules", PLAN, "--folds", folds, "--family", family, "--no-figures", *_some(draw, options)]


def _simulate(draw: Draw) -> list[str]:
    options = {"--level": ("430", "445", "1e9", "nan"), "--yearly": (), "--foresight": (), "--json": ()}
    return ["simulate", RULE, "record.csv", *_some(draw, options)]


def _operate(draw: Draw) -> list[str]:
    state = draw(st.sampled_from([("--level", "430"), ("--storage", "60"), ("--storage", "1e9"), ("--level", "0")]))
    options = {"--inflow-before": _FLOWS, "--json": (), "--reservoir": ("small.toml",)}
    inflow = draw(st.sampled_from(["30"] * 4 + list(_FLOWS)))
    return ["operate", RULE, "--month", "5", *state, "--inflow", inflow, *_some(draw, options)]


def _bench(draw: Draw) -> list[str]:
    sizes = ("--dim", draw(st.sampled_from("321")), "--functions", draw(st.sampled_from(["f1", "f7", "f1,f5"])))
    solver = draw(st.sampled_from(["clpso-sequential", "ring-pso-sequential"]))
    return ["bench", "functions", "--quick", "--solver", solver, *sizes, "--generations", "3", "--runs", "2"]


_CALLS = (*[_plan] * 4, _compare, _validate, *[_rules] * 2, *[_simulate] * 3, *[_operate] * 3, _bench)
#: Commands that write a folder.
_WRITING = (_plan, _simulate, _bench)


@st.composite
def tiny_calls(draw: Draw) -> list[str]:
    """A call that computes within a second; in every second one, a word is another, is gone or comes twice."""
    made = draw(st.sampled_from(_CALLS))
    typed = made(draw)
    if made in _WRITING:
        typed += ["--out", draw(st.sampled_from(["out", "out", "out/deep", "folder", "loop", "pipe/out"]))]
    if draw(st.booleans()):
        place = draw(st.integers(1, len(typed) - 1))
        words = (typed[place],) * 2, (), (draw(st.sampled_from(_ODD_WORDS)),)
        typed[place : place + 1] = draw(st.sampled_from((*words, words[-1], words[-1])))
    return typed
