"""A newcomer's mistakes are answered by what can be done about them."""

import json

import pytest

CURVE = "level_m,storage_hm3\n298,5\n303,12\n308,24\n313,41\n318,64\n322,86\n326,112\n"
RECORD = "date,inflow_m3s\n" + "".join(
    f"{year}-{month:02d},{30 + month}\n" for year in (2001, 2002) for month in range(1, 13)
)


@pytest.fixture
def files(call, tmp_path):
    """A record, a table of levels, a reservoir file and a folder of a plan without rules."""
    (tmp_path / "flows.csv").write_text(RECORD)
    (tmp_path / "levels.csv").write_text(CURVE)
    call("new", "lake", "--from", "levels.csv", "--inflow", "flows.csv")
    (tmp_path / "planned/rules").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("plna flows.csv", "No such command 'plna'. Did you mean plan?"),
        ("dance", "Commands are plan, rules, simulate,"),
        ("bench tps", "Did you mean tsp?"),
        ("plan flows.csv lake.toml", "The reservoir is given by an option: --reservoir lake.toml"),
        ("tradeoff flows.csv --between energy, firm-power", "A value with blanks stands in quotation marks"),
        ("rules", "Missing argument 'PLAN_DIR'. It is a folder that \"reservoir plan\" wrote."),
        ("operate --month 5", 'It is a rule that "reservoir rules PLAN_DIR" wrote'),
        ("simulate planned/rules/linear.json", "It is a record of inflow"),
        ("new", "It is a name for the reservoir"),
        ("prove", "or a table with a release for each step"),
        ("plan flow.csv", "flow.csv: the file does not exist. Fix: check the path; there is flows.csv."),
        ("plan flows", "there is flows.csv."),
        (
            "check flows.csv --reservoir laek.toml",
            "laek.toml: does not exist; expected a reservoir file (TOML). Fix: check",
        ),
        ("check flows.csv --reservoir laek.toml", "there is lake.toml;"),
        ("check levels.csv", "this is a table of levels and storages, not a record"),
        ("check levels.csv", '"reservoir new NAME --from FILE" makes a reservoir file of it'),
        ("check flows.csv --reservoir levels.csv", 'with "--from TABLE" of levels'),
        ("check flows.csv --unit gallons", "--unit: unknown unit"),
        ("plan flows.csv --reservoir lake.toml --objective powr", "--objective: is no goal"),
        ("tradeoff flows.csv --reservoir lake.toml --between energy,power", "--between: is no goal"),
        ("operate planned --month 5 --level 310", '"reservoir rules PLAN_DIR" writes rules into PLAN_DIR/rules'),
        ("rules planned --reliability 95", "for 95 % give 0.95"),
    ],
)
def test_a_mistake_is_answered_by_what_to_do(call, files, typed, answer):
    assert answer in call(*typed.split(), status=2).err


def test_rules_that_are_there_are_named_where_another_is_asked_for(call, files):
    (files / "planned/rules/zones.json").write_text(json.dumps({}))
    for rule in ("planned", "planned/rules/linear.json"):
        assert "rules there: planned/rules/zones.json" in call("operate", rule, "--month", "5", status=2).err


def test_a_front_of_years_says_where_years_do_not_stand_by_themselves(call, tmp_path):
    (tmp_path / "dry.csv").write_text(RECORD.replace(",3", ",").replace(",4", ",0"))
    (tmp_path / "levels.csv").write_text(CURVE)
    call("new", "lake", "--from", "levels.csv", "--inflow", "dry.csv")
    asked = ["tradeoff", "dry.csv", "--reservoir", "lake.toml", "--points", "3", "--no-figures"]
    said = "and a plan of each year alone does not represent the reservoir. Fix: plan the whole record"
    assert said in call(*asked).out
    assert said not in call(*asked, "--horizon", "record").out
