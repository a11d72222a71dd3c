"""The Start screen: what a newcomer drops is read, what nobody gave is asked for, and only then there is a case."""

from types import SimpleNamespace

import pytest

from reservoir.errors import InputError
from reservoir.hydro.curve_checks import invented_numbers
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.workbook import require_cells
from reservoir.page import start
from reservoir.page.workspace import Workspace
from tests.io.case_book import case_sheets, curve, days, saved

LEVELS = """Elevation (ft),Storage (acre-feet),Area (acres)
"1,300","1,000",100
"1,350","32,500",400
"1,410","131,900",760
"""
FLOWS = [400, 500, 900, 1500, 2400, 2000, 1400, 900, 600, 500, 450, 400]
RECORD = "年份," + ",".join(f"{month}月" for month in range(1, 13)) + "\n"
RECORD += "".join(
    f"{year}," + ",".join(str(flow + year % 7 * 10) for flow in FLOWS) + "\n" for year in range(1990, 2000)
)


@pytest.fixture
def desk(tmp_path):
    return SimpleNamespace(workspace=Workspace(tmp_path / "work"))


def dropped(desk, name, content):
    return desk.workspace.upload(name, content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def files(desk):
    """Levels in US units with separators of thousands, and a Chinese table of months that says no unit."""
    return {"table": dropped(desk, "levels.csv", LEVELS), "inflow": dropped(desk, "流量.csv", RECORD)}


def read(desk, **ask):
    return start.read(desk, ask, lambda *told: None)


def begin(desk, **ask):
    return start.begin(desk, ask, lambda *told: None)


def by_key(answer):
    return {field["key"]: field for field in answer["fields"]}


def test_files_are_shown_as_they_were_read_and_every_guess_has_a_field(desk, files):
    answer = read(desk, **files)
    assert answer["faults"] == {}
    assert "storage 1000 to 131900 acre-ft" in answer["read"][0]
    assert "1,300 is 1300" in answer["read"][1]
    fields = by_key(answer)
    assert answer["left"][0] == "unit"  # nobody said it
    assert {*answer["left"][1:]} <= {*fields}
    assert fields["storage.full_hm3"]["number"] == "131900.0"
    assert fields["storage.full_hm3"]["unit"] == "acre-ft"
    assert "ft (level)" in fields["storage.full_hm3"]["units"]
    assert fields["storage.full_hm3"]["expected"] == "1000 to 131900 acre-ft"
    assert fields["plant.output_coefficient"]["expected"] == "0.1 to 9.80665"
    assert not any(field.get("kept") for field in answer["fields"])
    told = read(desk, **files, reading={"unit": "cfs"}, units="us")
    assert "unit" not in told["left"]
    assert "mean flow 1,0" in told["record"]["Unit"][0]
    small = read(desk, **files, typed={"plant.hydraulic_capacity_m3s": ["40", "m3/s"]})
    assert "cfs" in small["record"]["Doubt"][0]


def test_it_plans_only_what_is_given_or_expressly_kept(desk, files):
    ask = files | {"reading": {"unit": "cfs"}, "name": "upper-lake"}
    with pytest.raises(InputError, match="nobody gave this number") as refused:
        begin(desk, **ask)
    assert {wrong.column for wrong in refused.value.mistakes} == {*read(desk, **ask)["left"]}
    assert [*desk.workspace.folder.glob("*.toml")] == []
    ask["typed"] = {
        "storage.full_hm3": ["1400", "ft (level)"],
        "curves.tailrace.tailwater_m": ["1200", "ft"],
        "plant.efficiency": ["0.88", ""],
        "plant.installed_capacity_mw": ["25", "MW"],
        "release.lower_m3s": ["50 50 50 60 60 60 60 60 60 50 50 50", "cfs"],
    }
    answer = read(desk, **ask)
    ask["kept"] = {key: by_key(answer)[key]["number"] for key in answer["left"]}
    begun = begin(desk, **ask)
    assert begun["words"] == ["inflow.csv", "--reservoir", "base.toml", "--unit", "cfs"]
    base = desk.workspace.folder / "base.toml"
    lake = read_reservoir(base)
    assert lake.name == "upper-lake"
    assert lake.level(lake.storage_upper_hm3.max()) == pytest.approx(1400 * 0.3048)
    assert lake.tailrace(10.0) == pytest.approx(1200 * 0.3048)
    assert lake.release_lower_m3s[3] == pytest.approx(60 * 0.3048**3)
    # What is kept stays marked, so that every result names it.
    assert len([*invented_numbers(base.read_bytes())]) == len(ask["kept"])
    assert (desk.workspace.folder / "inflow.csv").read_text("utf-8") == RECORD
    assert begin(desk, **ask)["words"][:3] == ["inflow-2.csv", "--reservoir", "base-2.toml"]  # nothing is replaced


def test_an_assumption_that_changed_is_not_kept_any_more(desk, files):
    ask = files | {"kept": {"storage.initial_hm3": "131900.0"}}
    assert "storage.initial_hm3" not in read(desk, **ask)["left"]
    assert "storage.initial_hm3" in read(desk, **ask, typed={"storage.full_hm3": ["100000", "acre-ft"]})["left"]


def test_faults_stand_beside_what_they_are_about_and_hide_no_other(desk, files):
    typed = {
        "storage.dead_hm3": ["2000", "ft (level)"],
        "plant.output_coefficient": ["98", ""],
        "release.lower_m3s": ["1 2", "cfs"],
        "plant.installed_capacity_mw": ["many", "MW"],
    }
    answer = read(desk, **files, typed=typed, reading={"missing_days": "x"}, name="a b")
    faults = {key: " ".join(texts) for key, texts in answer["faults"].items()}
    assert set(faults) == {*typed, "missing_days", "name"}
    assert "1300 to 1410 ft" in faults["storage.dead_hm3"]
    assert "at most 9.80665" in faults["plant.output_coefficient"]
    assert "not a number" in faults["plant.installed_capacity_mw"]
    assert answer["read"]
    assert {*typed} <= {*by_key(answer)}
    with pytest.raises(InputError, match="many"):
        begin(desk, **files, typed=typed)


def test_a_refused_file_is_told_beside_it_and_the_other_is_still_read(desk, files):
    answer = read(desk, table=files["inflow"], inflow=files["inflow"])
    assert "no header names a level and a storage" in answer["faults"]["table"][0]
    assert answer["record"]["Years"]
    answer = read(desk, table=files["table"], inflow=files["table"])
    assert [*answer["faults"]] == ["inflow"]
    assert answer["read"]
    assert "there is no such file" in read(desk, table="uploads/none.csv")["faults"]["table"][0]
    assert "outside" in read(desk, table="../../etc/passwd")["faults"]["table"][0]


def test_what_a_record_needs_is_asked_for_in_the_words_of_the_page(desk, files):
    lacking = "date,inflow_m3s\n" + "".join(f"2001-{day // 28 + 1:02}-{day % 28 + 1:02},5\n" for day in range(28 * 12))
    ask = files | {"inflow": dropped(desk, "days.csv", lacking)}
    assert "(“Days that a month may lack” 3)" in read(desk, **ask)["faults"]["inflow"][0]
    assert read(desk, **ask, reading={"missing_days": "3"})["faults"] == {}
    with pytest.raises(InputError, match="no question"):
        read(desk, typed={"storage.full_hm3": 12})


def test_a_workbook_may_hold_all_and_its_sheets_can_be_chosen(desk, tmp_path):
    book = saved(case_sheets(), tmp_path / "case.xlsx")
    answer = read(desk, table=dropped(desk, "case.xlsx", book.read_bytes()))
    assert answer["faults"] == {}
    assert answer["record"]["Years"]
    assert "plant.installed_capacity_mw" not in by_key(answer)
    lakes = saved({"1998": curve(), "2015": curve()}, tmp_path / "lakes.xlsx")
    flows = saved({"Gauge 1": days(2), "Gauge 2": days(2)}, tmp_path / "flows.xlsx")
    ask = {
        "table": dropped(desk, "lakes.xlsx", lakes.read_bytes()),
        "inflow": dropped(desk, "f.xlsx", flows.read_bytes()),
    }
    answer = read(desk, **ask)
    assert answer["sheets"] == {"table": ["1998", "2015"], "inflow": ["Gauge 1", "Gauge 2"]}
    assert {*answer["faults"]} == {"table", "inflow"}
    ask["sheets"] = ["2015", "Gauge 2"]
    answer = read(desk, **ask)
    assert answer["faults"] == {}
    ask["kept"] = {key: by_key(answer)[key]["number"] for key in answer["left"]}
    assert begin(desk, **ask)["words"] == ["inflow.xlsx", "--reservoir", "base.toml", "--sheet", "Gauge 2"]


def test_a_workbook_of_too_many_cells_is_refused_before_it_is_read(desk, tmp_path, monkeypatch):
    book = saved({"All": [[1] * 50] * 30}, tmp_path / "large.xlsx").read_bytes()
    require_cells(book, 1500)
    with pytest.raises(InputError, match="more than 1,499 cells"):
        require_cells(book, 1499)
    monkeypatch.setattr(start, "MOST_CELLS", 1000)
    assert "1,000 cells" in read(desk, table=dropped(desk, "large.xlsx", book))["faults"]["table"][0]


def test_cases_are_offered_with_their_caveats(desk, files):
    offered = start.offered(desk, {}, lambda *told: None)
    cases = {case["name"]: case for case in offered["cases"]}
    assert "synthetic inflow, not the historical record" in cases["xiaowan"]["says"]
    assert cases["lancang"]["kind"] == "system"
    assert any("approximate" in caveat for caveat in cases["lancang"]["says"])
    assert offered["records"] == sorted(files.values())
