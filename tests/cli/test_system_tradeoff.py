"""``reservoir tradeoff`` of several reservoirs, and ``plan --point`` of one of its points, as a user types them."""

import csv
import json

import pytest

from reservoir.cli.screen import PROGRESS
from reservoir.planning import system_search
from reservoir.planning.tradeoff import FRONT_STAGES
from tests.io.two_dams import TWO, wide, write_two

#: Energy is dear in winter, when little water comes.
PRICES = "price_per_mwh = [90, 80, 60, 40, 30, 20, 20, 25, 40, 60, 80, 90]"
PRICED = TWO.replace("\n[[reservoirs]]", f'\n[objective]\ngoal = "energy"\n{PRICES}\n\n[[reservoirs]]', 1)


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two dams, prices, and a record of both in the current folder; no population searches, which takes longer."""
    monkeypatch.setattr(system_search, "STAGES", ("slp",))
    (tmp_path / "flows.csv").write_text(wide())
    return "tradeoff", "flows.csv", "--reservoir", write_two(tmp_path, PRICED).name


def test_a_front_goes_from_one_goal_to_the_other_and_a_point_is_planned(call, two, tmp_path, strict):
    shown = call(*two, "--between", "energy,revenue", "--points", "4", "--no-figures", "--out", "front").out
    assert "System    two-dams: upper, lower" in shown
    assert "Revenue of 4 years (million)" in shown
    with (tmp_path / "front/front.csv").open(newline="") as file:
        points = list(csv.DictReader(file))
    energy, revenue = ([float(point[goal]) for point in points] for goal in ("energy", "revenue"))
    assert [point["point"] for point in points] == ["p1", "p2", "p3", "p4"]
    assert energy == sorted(energy, reverse=True)
    assert revenue == sorted(revenue)
    assert revenue[-1] > 1.05 * revenue[0]
    assert {float(point["violation"]) for point in points} == {0.0}
    again = strict(call("plan", "--point", "front/p2", "--no-figures", "--json", "--out", "p").out)
    assert again["energy_gwh"] == pytest.approx(energy[1], rel=1e-3)
    assert list(again["energy_gwh_by_reservoir"]) == ["upper", "lower"]
    alone = ("plan", "flows.csv", "--reservoir", "two.toml", "--no-figures", "--json", "--out", "alone")
    assert strict(call(*alone).out)["energy_gwh"] == pytest.approx(energy[0], rel=1e-3)


def by_rows(text):
    """A record with a row for each month and site, of a quantity that is read and of one that is not."""
    rows = [line.split(",") for line in text.splitlines()[1:]]
    lines = [
        f"{date},{site},1,{flow}" for date, *each in rows for site, flow in zip(("upper", "lower"), each, strict=True)
    ]
    return "\n".join(("date,station,gauge,inflow_m3s", *lines, ""))


@pytest.mark.parametrize("layout", ["rows", "columns of rows", "own files", "an own file", "own file and rows"])
def test_a_point_is_planned_from_the_record_of_the_front_in_whatever_files(call, two, tmp_path, strict, layout):
    rows = by_rows(wide())
    (tmp_path / "case").mkdir()
    (tmp_path / "flows.csv").unlink()
    write_two(tmp_path / "case", PRICED)
    system, own, words = tmp_path / "case/two.toml", [], []
    if "own" in layout:
        own = ["upper", "lower"][: 2 if layout == "own files" else 1]
        for place, name in enumerate(own):
            series = (line.split(",") for line in wide().splitlines()[1:])
            lines = (f"{date},{flows[place]}" for date, *flows in series)
            (tmp_path / f"case/{name}.csv").write_text("\n".join(("date,inflow_m3s", *lines, "")))
            file = f'file = "{name}.toml"'
            system.write_text(system.read_text().replace(file, f'{file}\ninflow_file = "{name}.csv"'))
    if layout != "own files":
        (tmp_path / "flows.csv").write_text(wide() if layout == "an own file" else rows)
        words = ["flows.csv", *(["--column", "inflow_m3s"] if layout == "columns of rows" else [])]
    asked = ("--between", "energy,revenue", "--points", "3", "--no-figures", "--out", "front")
    front = call("tradeoff", *words, "--reservoir", "case/two.toml", "--json", *asked)
    energy = [point["energy"] for point in strict(front.out)["points"]]
    quick = ("--solver", "slp", "--no-figures", "--json")
    point = strict(call("plan", "--point", "front/p1", *quick, "--out", "p").out)
    assert point["energy_gwh"] == pytest.approx(energy[0], rel=1e-3)
    if words:  # as with the record itself
        again = strict(call("plan", *words, "--point", "front/p1", *quick, "--out", "again").out)
        assert again["energy_gwh"] == point["energy_gwh"]
    for name in own:
        file = tmp_path / f"case/{name}.csv"
        file.write_text(file.read_text().replace(",", ",1", 2))
        told = call("plan", "--point", "front/p1", *quick, "--out", "changed", status=2).err
        assert f"{name}.csv: was changed after the tradeoff was made" in told
        file.unlink()
        told = call("plan", "--point", "front/p1", *quick, "--out", "changed", status=2).err
        assert f"{name}.csv: cannot be read (No such file or directory)" in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--horizon", "2"], '"horizon": "2"'),
        (["--step", "month"], '"violation": 0.0'),
        (["--units", "us"], '"cfs"'),
        (["--format", "xlsx"], '"points"'),
    ],
)
def test_options_are_those_of_one_reservoir(call, two, tmp_path, options, said):
    asked = ("--between", "revenue,energy", "--points", "3", "--no-figures", "--json", "--out", "front")
    assert said in call(*two, *asked, *options).out
    assert (tmp_path / ("front/front.xlsx" if "xlsx" in options else "front/front.csv")).is_file()


def test_progress_tells_how_many_points_are_planned(call, two, monkeypatch):
    monkeypatch.setenv(PROGRESS, "lines")
    told = call(*two, "--between", "energy,revenue", "--points", "3", "--no-figures", "--out", "front").err
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    for stage, points in zip(FRONT_STAGES, (2, 3), strict=True):
        done = [line["done"] for line in lines if line["stage"] == stage]
        assert (done[0], done[-1], {*done} <= {*range(points + 1)}) == (0, points, True)


def test_a_figure_is_drawn(call, two, tmp_path):
    call(*two, "--between", "energy,revenue", "--points", "3", "--out", "front")
    assert "two-dams" in (tmp_path / "front/figures/front.svg").read_text()
    assert "Tradeoff of two-dams" in (tmp_path / "front/report.html").read_text()


def test_a_front_to_the_firm_power_of_the_sum_gives_ever_more_of_it(call, two, tmp_path, strict):
    call(*two, "--points", "4", "--no-figures", "--out", "front")
    with (tmp_path / "front/front.csv").open(newline="") as file:
        points = list(csv.DictReader(file))
    asked, firm, made = (
        [float(point[name]) for point in points] for name in ("asked_firm_power_mw", "firm_power", "energy")
    )
    assert firm == pytest.approx(asked, rel=1e-5)
    assert made == sorted(made, reverse=True)
    assert firm[-1] > 1.1 * firm[0]
    assert {float(point["violation"]) for point in points} == {0.0}
    again = strict(call("plan", "--point", "front/p4", "--no-figures", "--json", "--out", "p").out)
    assert again["energy_gwh"] == pytest.approx(made[-1], rel=1e-3)
