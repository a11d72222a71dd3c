"""The system file: what it gives, how it is written, and every mistake with its file, line, reservoir and mend."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.attributes import InflowIs
from reservoir.hydro.calendar import CalendarKind, TimeStep
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.reservoir import differing_parts, reservoir_digests
from reservoir.hydro.system import InflowSource, Link, System
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import TWO, write_two


def complaints(folder: Path, text: str = TWO, **files: str) -> list[str]:
    """Mistakes of a system, without the folder."""
    path = write_two(folder, text, **files)
    with pytest.raises(InputError) as caught:
        reservoir.read_system(path)
    return [str(mistake).replace(f"{folder}/", "") for mistake in caught.value.mistakes]


def test_a_system_has_its_reservoirs_and_links(tmp_path):
    system = reservoir.read_system(write_two(tmp_path))
    assert (system.name, system.names, system.source) == ("two-dams", ("upper", "lower"), str(tmp_path / "two.toml"))
    (link,) = system.links
    assert (link.source, link.target, link.before_m3s) == ("upper", "lower", pytest.approx(28.316846592))
    assert link.travel_steps == pytest.approx(12 / 730.5)
    assert system.inflow_of == {"upper": InflowSource(), "lower": InflowSource()}
    assert [each.content for each in system.reservoirs] == [SMALL.encode()] * 2


@pytest.mark.parametrize(("step", "hours"), [("day", 24), ("week", 168), ("ten-days", 243.5), ("month", 730.5)])
def test_hours_of_travel_are_steps_of_the_system(tmp_path, step, hours):
    path = write_two(tmp_path, TWO.replace("first_month = 1", f'step = "{step}"'))
    assert reservoir.read_system(path).links[0].travel_steps == pytest.approx(12 / hours)
    assert reservoir.read_system(path, step="day").links[0].travel_steps == 0.5
    with pytest.raises(InputError, match="month or ten-days or week or day"):
        reservoir.read_system(path, step="hour")


def test_hours_of_travel_are_steps_of_the_call(tmp_path):
    system = reservoir.read_system(write_two(tmp_path), step="week")
    assert (system.step, system.reservoirs[0].step) == (TimeStep.WEEK, TimeStep.WEEK)
    assert system.links[0].travel_steps == pytest.approx(12 / 168)


def test_a_file_of_one_reservoir_is_a_system_of_one(tmp_path):
    write_two(tmp_path, lower=f'kind = "reservoir"\n{SMALL}')
    for name in ("upper", "lower"):
        system = reservoir.read_system(tmp_path / f"{name}.toml")
        assert (system.names, system.links, system.reservoir.source) == (("small",), (), str(tmp_path / f"{name}.toml"))


def test_sections_may_stand_in_place_of_a_file_and_names_in_place_of_names(tmp_path):
    inline = SMALL.replace('name = "small"\nfirst_month = 1\n', 'name = "lower"\ninflow = "Q lower"\n')
    inline = inline.replace("[", "[reservoirs.").replace("[reservoirs.8", "[8").replace("= [reservoirs.", "= [")
    text = TWO.replace('name = "lower"\nfile = "lower.toml"\n', inline).replace('name = "upper"\n', "")
    system = reservoir.read_system(write_two(tmp_path, text))
    assert system.names == ("upper", "lower")
    assert system.inflow_of["lower"] == InflowSource("Q lower")
    assert not differing_parts(system.reservoirs[1], reservoir_digests(system.reservoirs[0]))


def test_what_one_file_says_of_the_calendar_holds_for_all(tmp_path):
    lower = SMALL.replace("first_month = 1", 'first_month = 4\ncalendar = "equal-months"')
    upper = SMALL.replace("first_month = 1\n", "")
    system = reservoir.read_system(write_two(tmp_path, TWO.replace("first_month = 1\n", ""), upper, lower))
    assert [(each.first_month, each.calendar) for each in system.reservoirs] == [(4, CalendarKind.EQUAL_MONTHS)] * 2
    assert (system.first_month, system.calendar) == (4, CalendarKind.EQUAL_MONTHS)


def test_the_objective_is_that_of_the_system(tmp_path):
    stated = '[objective]\ngoal = "power-shortage"\npower_target_mw = 40\npenalty = 7\n[horizon]\nspan = "record"\n'
    lower = f"{SMALL}\n[objective]\npenalty_gwh = 3\n"
    system = reservoir.read_system(write_two(tmp_path, f"{TWO}\n{stated}", lower=lower))
    assert (system.objective.single, system.penalty, system.horizon) == (Goal.POWER_SHORTAGE, 7, Horizon(None))
    assert [each.objective.single for each in system.reservoirs] == [Goal.ENERGY] * 2


def test_a_system_is_read_back_as_it_was_written(tmp_path):
    read = reservoir.read_system(write_two(tmp_path))
    links = (
        Link("upper", "lower", 0.25, 1.5, 0.1, 2.0, 30.0, True),
        Link("upper", None, 0.75),
        Link("lower", None, "spilled"),
    )
    of_record = {"upper": InflowSource("q", str(tmp_path / "q.csv"), InflowIs.TOTAL), "lower": InflowSource()}
    goal = Objective({Goal.ENERGY: 2.0, Goal.UNUSED_CAPACITY: 1.0}, price_per_mwh=np.arange(12.0))
    shared = {"objective": goal, "penalty": 5.0, "horizon": Horizon(2), "caveat": "invented", "description": "two"}
    system = replace(read, links=links, inflow_of=of_record, step=TimeStep.TEN_DAYS, first_month=11, **shared)
    text = system.to_toml(tmp_path / "back.toml")
    assert text == reservoir.write_system(system, tmp_path / "back.toml", force=True)
    back = reservoir.read_system(tmp_path / "back.toml")
    assert (back.links, back.inflow_of, back.name) == (system.links, of_record, "two-dams")
    assert all(getattr(back, name) == value for name, value in shared.items())
    assert (back.step, back.first_month, back.calendar) == (TimeStep.TEN_DAYS, 11, system.calendar)
    for one, other in zip(back.reservoirs, system.reservoirs, strict=True):
        assert not differing_parts(one, reservoir_digests(other))
    assert System.of(read.reservoirs[0]).to_toml() == read.reservoirs[0].to_toml()


LINKS = TWO[TWO.index("[[links]]") :]
#: What is changed in the system file, and what is said of it.
MISTAKES = [
    ('to = "lower"', 'to = "lowr"', "two.toml, line 15, links.to (upper to lowr): lowr is no reservoir of the system"),
    ('from = "upper"\n', "", "two.toml, line 13, links.from (? to lower): is missing"),
    ("travel_hours = 12", "travel_time = 12", "links.travel_time (upper to lower): is not a known key"),
    ("travel_hours = 12", "travel_hour = 12", "expected the hours that it is under way, in place of travel_steps"),
    ("travel_hours = 12", "travel_hours = -1", "links.travel_hours (upper to lower): is out of range (found -1)"),
    ("travel_hours = 12", "travel_hours = 1\ntravel_steps = 1", "contradicts travel_steps"),
    ("before_cfs = 1000", 'carries = "al"', "links.carries (upper to lower): is not one of the choices"),
    ("before_cfs = 1000", "carries = 1.5", "links.carries (upper to lower): is out of range"),
    ("before_cfs = 1000", 'backwater = "yes"', "links.backwater (upper to lower): is neither true nor false"),
    ("before_cfs = 1000", "before_gallons = 1", '"gallons" is not a known unit'),
    (LINKS, f'{LINKS}[[links]]\nfrom = "lower"\nto = "upper"\n', "water would flow in a circle: upper -> lower -> up"),
    (LINKS, LINKS * 2, "the links of upper carry some of its release twice: all, all"),
    ("[[links]]", "[links]", "two.toml, line 13, links: is no list; expected entries [[links]]"),
    ("[[links]]", "[[link]]", "two.toml, line 13, link: is not a known list; expected [[links]]"),
    ('name = "lower"', 'name = "upper"', "two reservoirs are called upper"),
    ('name = "lower"', 'nam = "lower"', "two.toml, line 10, reservoirs.nam (lower.toml): is not a known key"),
    ('name = "lower"', 'name = "low er"', "is not valid in file names"),
    ('file = "lower.toml"', 'file = "lowr.toml"', "lowr.toml (reservoir lower, two.toml, line 11): does not exist"),
    ('file = "lower.toml"', "", "two.toml, line 9, reservoirs.file (lower): is missing"),
    ('file = "lower.toml"', 'file = "two.toml"', "is a system file itself"),
    ('file = "lower.toml"', 'file = "lower.toml"\ninflow_is = "all"', "reservoirs.inflow_is (lower): is not one of"),
    (LINKS, "[reservoirs.storage]\ndead_hm3 = 5\n", "reservoirs.file (lower): stands beside storage"),
    ("first_month = 1", "first_month = 13", "two.toml, line 3, first_month: is out of range (found 13)"),
    ("first_month = 1", "frist_month = 1", "two.toml, line 3, frist_month: is not a known key"),
    (LINKS, f"{LINKS}[storage]\ndead_hm3 = 5\n", "two.toml, line 18, storage: is of one reservoir, not of the system"),
    (LINKS, f'{LINKS}[objective]\ngoal = "power-shortage"\n', "is missing: the goal"),
    (LINKS, f'{LINKS}[objective]\ngoal = "revenue"\npenalty_gwh = 1\n', "is in GWh, which the objective is not"),
    (LINKS, f'{LINKS}[horizon]\nspan = "decade"\n', "two.toml, line 19, horizon.span: is no horizon"),
    (TWO, 'kind = "system"\n', "two.toml, reservoirs: is missing; expected entries [[reservoirs]]"),
    (TWO, 'kind = "systm"\n', "kind: is not one of the choices"),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES)
def test_a_mistake_has_its_line_its_reservoir_and_what_was_expected(tmp_path, old, new, said):
    assert TWO.count(old) == 1
    assert said in "\n".join(complaints(tmp_path, TWO.replace(old, new)))


@pytest.mark.parametrize(
    ("lower", "said"),
    [
        (
            SMALL.replace("first_month = 1", "first_month = 11"),
            "lower.toml, line 2, first_month (reservoir lower): is another than that of the system: two.toml, line 3 "
            "says first_month = 1 (found 11)",
        ),
        (
            f'{SMALL}\n[objective]\ngoal = "unused-capacity"\n',
            "objective.goal (reservoir lower): is another than that of the system: two.toml says objective.goal = en",
        ),
        (
            f"{SMALL}\n[objective]\nprice_per_mwh = 50\n",
            "lower.toml, line 34, objective.price_per_mwh (reservoir lower): is another than that of the system: "
            "two.toml says nothing of it",
        ),
        (
            SMALL.replace("dead_hm3 = 20", "dead_hm3 = 130"),
            "lower.toml, line 13 (reservoir lower), storage.dead_hm3: leaves no active storage",
        ),
    ],
)
def test_a_reservoir_file_that_is_wrong_or_disagrees_is_named(tmp_path, lower, said):
    assert any(line.startswith(said) or said in line for line in complaints(tmp_path, lower=lower))


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path):
    text = TWO.replace("before_cfs", "before_gallons").replace('to = "lower"', 'to = "lowr"')
    upper, lower = SMALL.replace("dead_hm3", "dead_gallons"), SMALL.replace("lower_m3s = 4", "lower_m3s = -4")
    told = complaints(tmp_path, text, upper=upper, lower=lower)
    places = ("links.before_gallons", "links.to", "storage.dead_gallons", "release.lower_m3s")
    assert all(any(place in line for line in told) for place in places)


def test_the_example_of_the_page_is_read(tmp_path):
    page = (Path(__file__).parents[2] / "docs/formats/system.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    files = SMALL.replace("first_month = 1\n", "")
    system = reservoir.read_system(write_two(tmp_path, example, files, files))
    assert (system.first_month, system.horizon, system.links[0].backwater) == (11, Horizon(None), True)
    assert system.inflow_of["lower"] == InflowSource("Q at lower dam", "", InflowIs.TOTAL)


def test_a_file_of_several_is_no_reservoir_file(tmp_path):
    with pytest.raises(InputError, match="is a system file, of several reservoirs"):
        reservoir.read_reservoir(write_two(tmp_path))
