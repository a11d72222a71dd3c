"""Tables 1, 3, 4 and 5 of Alraslan and AlKurdi 2023 and the errors of their Figure 8, from the runs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reservoir.bench.result import ResultTable
from reservoir.bench.tours.paper import BLOCKS_MS, TIMES_MS
from reservoir.bench.tours.runs import ENGINES, ISLAND, SERIAL, STRONG, STRONG_ITERATIONS, WAITING, Course

#: How engines are called in tables.
TITLES = {name: name.upper().replace("ASYNC", "async") for name in ENGINES} | {SERIAL: "serial"}
TITLES |= {name: name.replace("tim", "TIM").replace("sak", "SAK") for name in WAITING}
_REFUSED = "refused"
#: Steps of an iteration: selection, breeding, evaluation.
_STEPS = 3
_LIGHT = "lim-is"
_RESIDENT = {None: None, True: "yes", False: "no: in slices"}
#: Engines whose time on the device alone is told, too.
_ALONE = ("tim", "sak", "slk", _LIGHT)


def result_tables(
    course: Course, runs: pd.DataFrame, blocks: pd.DataFrame, counted: pd.DataFrame, strong: pd.DataFrame
) -> list[ResultTable]:
    """All of them."""
    return [
        _synchronisations(course, counted),
        _blocks(course, runs, blocks),
        _configurations(runs),
        _times(course, runs),
        _ratios(runs),
        _errors(course, runs),
        _strong(course, strong),
    ]


def reference_length(course: Course, runs: pd.DataFrame) -> int:
    """Length that errors are stated against: the optimum, or the best that any run found."""
    return course.problem.optimum or int(runs["length"].min())


#: A number of each engine, by population.
ByPopulation = dict[int, dict[str, float]]


def by_population(runs: pd.DataFrame, values: pd.Series[float], statistic: str) -> ByPopulation:
    """A statistic of each engine's runs, by population and engine."""
    found: ByPopulation = {}
    for name in TITLES:
        mine = runs["engine"] == name
        for population in sorted(runs["population"][mine].unique().tolist()):
            chosen = values[mine & (runs["population"] == population)]
            found.setdefault(population, {})[name] = float(chosen.agg(statistic))
    return dict(sorted(found.items()))


def median_ms(runs: pd.DataFrame, column: str = "seconds") -> ByPopulation:
    """Median milliseconds."""
    return by_population(runs, 1e3 * runs[column], "median")


def relative_errors(course: Course, runs: pd.DataFrame) -> ByPopulation:
    """Mean relative error (eq. 1)."""
    reference = reference_length(course, runs)
    return by_population(runs, (runs["length"] - reference) / reference, "mean")


def _synchronisations(course: Course, counted: pd.DataFrame) -> ResultTable:
    iterations, migrations = course.iterations, max(course.iterations // 50, 1)
    paper = {
        "sak": (iterations * _STEPS, 0, iterations * _STEPS),
        "slk": (iterations * _STEPS, 0, 1),
        "tim": (iterations, iterations * _STEPS, iterations),
        "lim-cg": (migrations, iterations * _STEPS, 1),
        "lim-is": (migrations, iterations * _STEPS, 2 * migrations),
    }
    rows: list[dict[str, Any]] = []
    for row in counted.to_dict("records"):
        said = paper.get(row["engine"], (None, None, None))
        rows.append(
            {
                "scheme": TITLES[row["engine"]],
                "islands": row["islands"],
                "kernel launches": row["launches"],
                "barriers of the grid": row["grid_meetings"],
                "global synchronisations": row["launches"] - 1 + row["grid_meetings"],
                "barriers of a group": row["group_meetings"],
                "paper: launches": said[2],
                "paper: global": said[0],
                "paper: of a group": said[1],
            }
        )
    notes: tuple[str, ...] = (
        f"Counted in a run of {iterations:,} iterations: launches by the program, barriers by the kernels. The kernel "
        "that picks the best individual afterwards is not among them. Every launch but the first waits for the one "
        "before, which is a synchronisation of all groups, as is a barrier of the grid.",
        f"The paper's columns are its formulas with {_STEPS} steps, at {migrations} migrations; its iteration has more "
        "steps with a barrier than ours, which breeds and evaluates a child in one.",
    )
    missing = sorted(set(ENGINES) - {SERIAL} - set(counted["engine"]))
    if missing:
        notes += (f"Not counted, since the device refuses them: {', '.join(TITLES[name] for name in missing)}.",)
    return ResultTable("Synchronisations and launches (after Table 1)", pd.DataFrame(rows), notes)


def _blocks(course: Course, runs: pd.DataFrame, blocks: pd.DataFrame) -> ResultTable:
    wall = median_ms(runs)
    rows: list[dict[str, Any]] = []
    for block in sorted(blocks["block"].unique().tolist()):
        of_block = blocks[blocks["block"] == block]
        times = median_ms(of_block)
        for population, own in times.items():
            serial = wall[population][SERIAL]
            row = {"block": block, "grid": population // ISLAND, "population": population, "serial, ms": serial}
            for scheme in ("lim-cg", "lim-is"):
                said = BLOCKS_MS[scheme].get(block, {}).get(population)
                row[f"{TITLES[scheme]}, ms"] = f"{own[scheme]:,.2f}" if scheme in own else _REFUSED
                row[f"{TITLES[scheme]}, speed-up"] = serial / own[scheme] if scheme in own else None
                row[f"{TITLES[scheme]}, paper's speed-up"] = TIMES_MS[SERIAL][population] / said if said else None
            rows.append(row)
    how = (
        "A block is a work group with an island of 128; a child is made by a sub-group of the device "
        f"({course.device.sub_group_size} items), as in the paper's pseudo-code 3. "
        f"Medians of {course.effort.repeats} runs."
    )
    if course.device.kind == "CPU":
        how += " On a CPU a work group runs on one thread, which gains nothing from more items than one."
    formats = {"serial, ms": ",.1f"}
    formats |= {f"{TITLES[each]}, {what}": ",.1f" for each in BLOCKS_MS for what in ("speed-up", "paper's speed-up")}
    notes = (how, *_refusals(course, ("lim-cg",)))
    return ResultTable("Blocks and grids (after Table 3)", pd.DataFrame(rows), notes, formats)


def _configurations(runs: pd.DataFrame) -> ResultTable:
    shapes = runs[runs["engine"].isin([name for name in ENGINES if name != SERIAL]) & (runs["run"] == 1)]
    rows = [
        {
            "scheme": TITLES[shape["engine"]],
            "population": shape["population"],
            "grid": shape["work_groups"],
            "block": shape["items"],
            "items a child": shape["team"],
            "all at work at once": _RESIDENT[shape["resident"]],
        }
        for shape in shapes.sort_values(["engine", "population"]).to_dict("records")
    ]
    notes = (
        "As the program chose them for this device. Islands have 128 individuals; SAK and SLK have one population. "
        "Whether all groups are at work at once matters to LIM-async alone, which then runs in one launch.",
    )
    return ResultTable("Configurations (after Table 4)", pd.DataFrame(rows), notes)


def _times(course: Course, runs: pd.DataFrame) -> ResultTable:
    wall, device = median_ms(runs), median_ms(runs, "device_seconds")
    rows: list[dict[str, Any]] = [
        {"population": population}
        | {TITLES[name]: times[name] for name in times}
        | {f"{TITLES[name]} on the device": device[population][name] for name in _ALONE if name in times}
        for population, times in wall.items()
    ]
    notes = (
        f"Milliseconds of {course.iterations:,} iterations with everything that a call does but compiling, medians of "
        f"{course.effort.runs} runs. A dash: refused.",
        'In "waiting" the host waits for every launch before the next, as the papers\' programs do; else launches are '
        "queued ahead, which is faster and what the ratios are stated against. "
        '"On the device" adds up the kernels alone.',
        *_refusals(course, tuple(ENGINES)),
    )
    formats = {name: ",.2f" for name in rows[0] if name != "population"}
    return ResultTable("Execution times (after Table 5)", pd.DataFrame(rows), notes, formats)


def _ratios(runs: pd.DataFrame) -> ResultTable:
    rows: list[dict[str, Any]] = []
    for population, times in median_ms(runs).items():
        row: dict[str, Any] = {"population": population}
        for name in (name for name in times if name != _LIGHT):
            row[f"{TITLES[name]} / LIM-IS"] = times[name] / times[_LIGHT]
            said = TIMES_MS.get(name, {}).get(population)
            if said:
                row[f"paper: {TITLES[name]}"] = said / TIMES_MS[_LIGHT][population]
        rows.append(row)
    formats = {name: ",.2f" for row in rows for name in row if name != "population"}
    notes = (
        "How many times as long as LIM-IS each takes, and the same from the paper's Table 5, whose serial program "
        "takes some 20 times as long as the one here: most of its 27-fold speed-up is that.",
    )
    return ResultTable("Times beside LIM-IS (after Figure 7)", pd.DataFrame(rows), notes, formats)


def _errors(course: Course, runs: pd.DataFrame) -> ResultTable:
    rows: list[dict[str, Any]] = [
        {"population": population} | {TITLES[name]: error for name, error in errors.items() if name not in WAITING}
        for population, errors in relative_errors(course, runs).items()
    ]
    optimum = course.problem.optimum
    against = f"the optimum, {optimum:,}" if optimum else f"the best of all runs, {reference_length(course, runs):,}"
    notes = (
        f"Mean of {course.effort.runs} runs of |cost - reference| / reference (eq. 1); reference: {against}.",
        "Serial, TIM, LIM-CG and LIM-IS draw the same numbers and find the same tours; LIM-async depends on which "
        "island comes first. SAK and SLK have one population, which shares its best at once.",
    )
    formats = {name: ".4f" for name in rows[0] if name != "population"}
    return ResultTable("Relative error (after Figure 8)", pd.DataFrame(rows), notes, formats)


def _strong(course: Course, strong: pd.DataFrame) -> ResultTable:
    reference = course.problem.optimum or int(strong["length"].min())
    row = {
        "population": int(strong["population"].iloc[0]),
        "iterations": min(STRONG_ITERATIONS, course.iterations),
        "runs": len(strong),
        "at the reference": int((strong["length"] == reference).sum()),
        "mean relative error": float((strong["length"] / reference - 1).mean()),
        "median time, ms": 1e3 * float(strong["seconds"].median()),
        "longest, ms": 1e3 * float(strong["seconds"].max()),
    }
    notes = (
        f"LIM-IS with order crossover (Davis 1985) for {STRONG['crossover_fraction']:.0%} of an island, and a mutation "
        "that makes the best 2-opt move, or a double bridge where none is better. The paper's operators are weak: "
        "these reach what they do not in a fraction of the iterations.",
    )
    formats = {"mean relative error": ".5f", "median time, ms": ",.1f", "longest, ms": ",.1f"}
    return ResultTable("Other operators", pd.DataFrame([row]), notes, formats)


def _refusals(course: Course, names: tuple[str, ...]) -> tuple[str, ...]:
    """Populations that engines were refused for, and the device's words once."""
    by_engine: dict[str, list[int]] = {}
    for name, population in course.refusals:
        if name in names:
            by_engine.setdefault(name, []).append(population)
    if not by_engine:
        return ()
    found = [f"{TITLES[name]} with {', '.join(f'{each:,}' for each in sizes)}" for name, sizes in by_engine.items()]
    return (
        f"Refused: {'; '.join(found)}: their groups wait for each other, and this device does not run all at once.",
    )
