import contextlib
import json
import re
from dataclasses import replace

import pytest
from pydantic import ValidationError

import reservoir as package
from reservoir.errors import InputError, OutputError
from reservoir.io.rule_file import read_rule, require_reservoir, write_rule
from reservoir.rules import FAMILIES, Forecast, fit, rule_from_dict

FITTED_TO = {"record": "inflow.csv", "years": ["1953", "1962"]}
every_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(scope="module")
def rules(training):
    return {family: fit(family, training) for family in FAMILIES}


@pytest.fixture
def contents(rules):
    """What each family's rule holds, free to be edited."""
    return {family: json.loads(json.dumps(rule.to_dict())) for family, rule in rules.items()}


def decisions(rule):
    return [rule.release(step, storage, 900.0, 700.0) for step in range(12) for storage in (5000.0, 9000.0)]


def refusal(content):
    """What is said of a rule's content, a line a mistake."""
    with pytest.raises(InputError) as refused:
        rule_from_dict(content)
    return str(refused.value).splitlines()


def refused_file(path):
    with pytest.raises(InputError) as refused:
        read_rule(path)
    assert all(mistake.file == str(path) for mistake in refused.value.mistakes)
    return str(refused.value)


def months_cut(content):
    content["months"]["volume_per_flow"].pop()


def months_twice(content):
    content["months"]["calendar_month"][3] = 3


def months_out_of_order(content):
    content["months"]["calendar_month"].reverse()


def months_beyond(content):
    content["months"]["calendar_month"] = list(range(0, 12))


def months_as_names(content):
    content["months"]["calendar_month"][0] = "Jan"


def weightless(content):
    content["months"]["volume_per_flow"][1] = 0


def release_crosses(content):
    content["months"]["release_lower_m3s"][6] = 1e6


def true_number(content):
    content["months"]["inflow_m3s"][2] = True


def text_number(content):
    content["months"]["inflow_m3s"][2] = "3"


def null_number(content):
    content["months"]["inflow_m3s"][2] = None


def nan_number(content):
    content["months"]["inflow_m3s"][2] = float("nan")


def endless_number(content):
    content["months"]["inflow_m3s"][2] = 10**400


def number_for_list(content):
    content["months"]["inflow_m3s"] = 3


def list_for_object(content):
    content["months"] = []


def unknown_key(content):
    content["months"]["colour"] = "red"


def name_missing(content):
    del content["reservoir"]


def name_number(content):
    content["reservoir"] = 7


def other_forecast(content):
    content["forecast"] = "week"


@every_family
@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (months_cut, "months.volume_per_flow: has the wrong number of values (found 11); expected 12, one per month"),
        (months_twice, "months.calendar_month: are not the twelve months of a year (found [1, 2, 3, 3,"),
        (months_out_of_order, "expected 1 to 12, each once, in calendar order, starting with any month"),
        (months_beyond, "months.calendar_month: are not the twelve months"),
        (months_as_names, 'months.calendar_month[0]: is not a whole number (found "Jan")'),
        (weightless, "months.volume_per_flow[1]: is not positive (found 0.0)"),
        (release_crosses, "months.release_upper_m3s[6]: is below release_lower_m3s in Jul"),
        (true_number, "months.inflow_m3s[2]: is not a number (found True); expected a number"),
        (text_number, 'months.inflow_m3s[2]: is not a number (found "3")'),
        (null_number, "months.inflow_m3s[2]: is null; expected a number"),
        (nan_number, "months.inflow_m3s[2]: is not a finite number (found nan)"),
        (endless_number, "months.inflow_m3s[2]: is not a number (found 1000"),
        (number_for_list, "months.inflow_m3s: is not a list (found 3)"),
        (list_for_object, "months: is not an object (found [])"),
        (unknown_key, 'months.colour: is not a known key (found "red")'),
        (name_missing, "reservoir: is missing"),
        (name_number, "reservoir: is not text (found 7)"),
        (other_forecast, "forecast: is not one of the choices (found \"week\"); expected 'month' or 'none'"),
    ],
)
def test_what_all_families_share_is_refused_with_what_and_where(contents, family, edit, said):
    edit(contents[family])
    lines = refusal(contents[family])
    assert len(lines) == 1
    assert said in lines[0]


def guide_crosses(content):
    content["lower_hm3"][3], content["upper_hm3"][11] = 14_000.0, 1_000.0


def factors_cut(content):
    content["factors"][4].pop()


def months_of_factors_cut(content):
    content["factors"].pop()


def linear_bounds_cross(content):
    content["highest_hm3"][0] = 1_000.0


def firm_negative(content):
    content["firm_mw"] = -1


def standard_falls(content):
    content["storage_hm3"][1], content["storage_hm3"][2] = content["storage_hm3"][2], content["storage_hm3"][1]


def standard_table_cut(content):
    content["release_m3s"].pop()


def standard_table_of_one(content):
    content["storage_hm3"], content["release_m3s"] = [5000.0], [700.0]


@pytest.mark.parametrize(
    ("family", "edit", "said"),
    [
        ("guide-curve", guide_crosses, "lower_hm3[3]: is above guide_hm3 in Apr (found 14000.0); expected"),
        ("guide-curve", guide_crosses, "upper_hm3[11]: is below guide_hm3 in Dec (found 1000.0); expected"),
        ("linear", factors_cut, "factors[4]: has the wrong number of values (found 2); expected 3, one each for"),
        ("linear", months_of_factors_cut, "factors: has the wrong number of values (found 11); expected 12"),
        ("linear", linear_bounds_cross, "highest_hm3[0]: is below lowest_hm3 in Jan (found 1000.0); expected"),
        ("standard", firm_negative, "firm_mw: is negative (found -1.0); expected 0 or more"),
        ("standard", standard_falls, "storage_hm3[2]: is less than the previous value"),
        (
            "standard",
            standard_table_cut,
            "release_m3s: has the wrong number of values (found 40); expected 41, one for",
        ),
        ("standard", standard_table_of_one, "storage_hm3: has too few values (found 1); expected two or more"),
    ],
)
def test_what_a_family_holds_is_refused_with_what_and_where(contents, family, edit, said):
    edit(contents[family])
    assert any(said in line for line in refusal(contents[family]))


def test_crossing_months_are_named_by_their_place_where_the_months_are_wrong_too(contents):
    content = contents["guide-curve"]
    guide_crosses(content)
    del content["months"]
    lines = refusal(content)
    assert len(lines) == 3
    assert "lower_hm3[3]: is above guide_hm3 in month 4 of the year" in lines[1]


@every_family
def test_all_mistakes_are_told_together(contents, family):
    content = contents[family]
    for edit in (months_twice, text_number, release_crosses, name_missing, other_forecast):
        edit(content)
    content["months"]["volume_per_flow"] = [None, *content["months"]["volume_per_flow"][2:]]
    content["extra"] = 1
    lines = refusal(content)
    assert [line.split(":")[0] for line in lines] == [
        "reservoir",
        "forecast",
        "months.calendar_month",
        "months.volume_per_flow",
        "months.volume_per_flow[0]",
        "months.inflow_m3s[2]",
        "months.release_upper_m3s[6]",
        "extra",
    ]
    assert "in month 7 of the year" in lines[6]


JUNK = (
    None,
    True,
    "x",
    3,
    -1.5,
    [],
    {},
    [[]],
    [None] * 12,
    [[1.0]] * 12,
    [[[]]] * 12,
    [{}] * 3,
    [1.0] * 12,
    [[1] * 12] * 3,
)


@every_family
@pytest.mark.parametrize("within", ["rule", "months", "plant"])
def test_whatever_stands_at_a_key_is_accepted_or_refused_as_input(contents, family, within):
    content = contents[family]
    part = content if within == "rule" else content.get(within, {})
    for key, kept in part.copy().items():
        for junk in JUNK:
            part[key] = junk
            with contextlib.suppress(InputError):
                rule_from_dict(content)
        part[key] = kept
    rule_from_dict(content)


@pytest.mark.parametrize("content", [None, 3, "rule", [], [{}]])
def test_what_is_not_an_object_is_no_rule(content):
    assert "is not a rule" in refusal(content)[0]
    for family in FAMILIES.values():
        with pytest.raises(InputError, match=r"is not an object|is null"):
            family.from_dict(content)


@pytest.mark.parametrize("family", [None, 3, ["zones"], {}, "horoscope"])
def test_a_family_that_is_none_is_refused_with_the_known_ones(contents, family):
    lines = refusal({**contents["zones"], "family": family})
    assert len(lines) == 1
    assert "family: there is no such family of rules" in lines[0]
    assert ", ".join(FAMILIES) in lines[0]


def test_a_rule_without_family_or_of_another_is_refused(contents):
    content = contents["zones"]
    with pytest.raises(InputError, match=r"family: is not one of the choices .*expected 'sdp'"):
        FAMILIES["sdp"].from_dict(content)
    del content["family"]
    assert refusal(content)[0].startswith("family: is missing; expected one of guide-curve")


@every_family
def test_a_rule_cannot_be_changed(rules, family):
    with pytest.raises(ValidationError, match="frozen"):
        rules[family].reservoir = "another"


@every_family
def test_a_water_year_may_begin_in_any_month(contents, family):
    months = contents[family]["months"]
    months["calendar_month"] = months["calendar_month"][4:] + months["calendar_month"][:4]
    assert rule_from_dict(contents[family]).months.calendar_month == (5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4)


@every_family
@pytest.mark.parametrize("forecast", Forecast)
def test_a_rule_written_to_a_file_and_read_back_is_equal_and_decides_the_same(training, tmp_path, family, forecast):
    rule, path = fit(family, training, forecast), tmp_path / "rule.json"
    write_rule(rule, path, FITTED_TO)
    again = read_rule(path)
    assert again == rule
    assert again.family == family
    assert decisions(again) == decisions(rule)


def test_a_rule_file_says_its_format_program_and_what_it_was_fitted_to(rules, tmp_path):
    path = tmp_path / "rule.json"
    write_rule(rules["linear"], str(path), FITTED_TO)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content == {
        "format": 1,
        "program": f"reservoir {package.__version__}",
        "fitted_to": FITTED_TO,
        "rule": rules["linear"].to_dict(),
    }
    assert list(content) == ["format", "program", "fitted_to", "rule"]
    assert path.read_text(encoding="utf-8").startswith('{\n  "format": 1,\n')


def test_a_file_is_written_whole_or_not_at_all(rules, tmp_path, monkeypatch):
    path = tmp_path / "rule.json"
    write_rule(rules["linear"], path, {})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON compliant"):
        write_rule(rules["standard"], path, {"years": float("nan")})

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(OutputError, match=r"rule\.json: cannot be written \(No space left"):
        write_rule(rules["standard"], path, {})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["missing/rule.json", "."])
def test_a_place_that_cannot_be_written_is_refused(rules, tmp_path, place):
    with pytest.raises(OutputError, match="cannot be written"):
        write_rule(rules["standard"], tmp_path / place, {})
    assert not list(tmp_path.iterdir())


def test_no_such_file_and_a_folder_are_refused(tmp_path):
    assert "missing.json: does not exist; expected a rule file" in refused_file(tmp_path / "missing.json")
    assert "is a folder, not a file" in refused_file(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\n\xff\xfe", "row 2: is not UTF-8 text"),
        (b"", "row 1, column 1: is not JSON: Expecting value"),
        (b'{"format": 1,\n  "rule": }', "row 2, column 11: is not JSON: Expecting value"),
        (b"[" * 200_000, "cannot be read as JSON"),
        (
            b'{"format": 1, "rule": {}, "rule": {}}',
            "cannot be read as JSON: the key rule appears twice in one object",
        ),
        (b'{"format": ' + b"1" * 5000 + b"}", "cannot be read as JSON"),
        (b"[]", "is not a rule file"),
        (b"null", "is not a rule file"),
        (b"{}", "is not a rule file"),
        (b'{"format": 2, "rule": {}}', "format: is not a supported format (found 2); expected 1"),
        (b'{"format": true, "rule": {}}', "format: is not a supported format (found True); expected 1"),
        (b'{"format": 1}', "rule: is missing"),
        (b'{"format": 1, "rule": 3}', "rule: is not a rule (found 3)"),
        (b'{"format": 1, "rule": {}}', "rule.family: is missing"),
        (b'{"format": 1, "rule": {"family": "horoscope"}}', "rule.family: there is no such family"),
    ],
)
def test_a_file_that_holds_no_rule_is_refused(tmp_path, content, said):
    path = tmp_path / "rule.json"
    path.write_bytes(content)
    assert said in refused_file(path)


@every_family
def test_a_file_of_a_rule_with_mistakes_is_refused_with_all_of_them(rules, contents, tmp_path, family):
    path = tmp_path / "rule.json"
    write_rule(rules[family], path, {})
    document = json.loads(path.read_text(encoding="utf-8"))
    text_number(document["rule"])
    release_crosses(document["rule"])
    path.write_text(json.dumps(document), encoding="utf-8")
    lines = refused_file(path).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{path}, rule.months.inflow_m3s[2]: is not a number")
    assert lines[1].startswith(f"{path}, rule.months.release_upper_m3s[6]: is below")


@every_family
def test_a_rule_for_its_own_reservoir_is_accepted(rules, xiaowan, family):
    require_reservoir(rules[family], xiaowan)


@every_family
def test_a_rule_for_another_reservoir_is_refused_with_both_names(rules, xiaowan, family):
    said = r'rule\.json: is a rule for another reservoir \(found "xiaowan"\); expected a rule for elsewhere'
    mend = "give the reservoir file of xiaowan, or fit rules for elsewhere"
    with pytest.raises(InputError, match=f"{said}.*{re.escape(mend)}"):
        require_reservoir(rules[family], replace(xiaowan, name="elsewhere"), "rule.json")


@every_family
def test_a_rule_for_other_water_years_is_refused_with_both_months(rules, xiaowan, family):
    said = r"begin in another month \(found \"Jan\"\); expected Jun, the first_month of xiaowan.*first_month = 1"
    with pytest.raises(InputError, match=said):
        require_reservoir(rules[family], replace(xiaowan, first_month=6))
