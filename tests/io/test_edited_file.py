"""Keys of a reservoir file are changed in its text, and nothing else is."""

import pytest

from reservoir.errors import InputError
from reservoir.io.edited_file import edited, place_of
from reservoir.io.reservoir_toml.draft import parsed
from reservoir.io.varied_file import variants_of, varied_files

TEXT = """# mine
name = "lake"  # a name

[storage]
full_acre_ft = 98.0   # as surveyed
upper_acre_ft = [
  1, 2,
  3,
]

[release]
lower_m3s = 6
"""


def test_comments_and_all_other_lines_stay():
    text = edited(TEXT.encode(), "f", {("storage", "full_acre_ft"): 90}).decode()
    assert text == TEXT.replace("full_acre_ft = 98.0   # as", "full_acre_ft = 90   # as")
    text = edited(TEXT.encode(), "f", {("name",): "hill #2", ("release", "lower_m3s"): 5.5}).decode()
    assert text == TEXT.replace('"lake"', '"hill #2"').replace("= 6", "= 5.5")


def test_a_list_of_several_lines_is_replaced_as_a_whole():
    text = edited(TEXT.encode(), "f", {("storage", "upper_acre_ft"): 4}).decode()
    assert text == TEXT.replace("[\n  1, 2,\n  3,\n]", "4")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_key_that_is_not_there_is_added_to_its_section(end):
    content = TEXT.replace("\n", end).encode()
    values = {("release", "upper_m3s"): 7, ("plant", "installed_capacity_mw"): 2, ("step",): "month"}
    text = edited(content, "f", values).decode()
    assert f"[release]{end}upper_m3s = 7{end}lower_m3s = 6{end}" in text
    assert text.endswith(f"6{end}{end}[plant]{end}installed_capacity_mw = 2{end}")
    assert text.startswith(f'step = "month"{end}# mine{end}')
    assert text.count("\n") == text.count(end)


def test_what_cannot_be_edited_is_refused():
    with pytest.raises(
        InputError, match=r"plant.installed: cannot be changed as it is written; expected a line \[plant\]"
    ):
        edited(b"plant = { installed = 3 }\n", "f", {("plant", "installed"): 4})


def test_a_key_is_typed_as_the_file_has_it_or_without_its_unit():
    tree = parsed(TEXT.encode(), "f")
    assert place_of(tree, ["storage"], "full", "f") == ("storage", "full_acre_ft")
    assert place_of(tree, ["storage"], "dead_acre_ft", "f") == ("storage", "dead_acre_ft")
    with pytest.raises(InputError, match="write full_acre_ft, and the numbers in its unit"):
        place_of(tree, ["storage"], "full_hm3", "f")


def test_variants_have_telling_names():
    assert [*variants_of({"storage.full_hm3": (90.0, 92.5)})] == ["full_hm3-90", "full_hm3-92.5"]
    grid = variants_of({"upper:storage.full_hm3": (1.0, 2.0), "lower:storage.full_hm3": (3.0, 4.0)})
    assert [*grid][:2] == ["upper-full_hm3-1_lower-full_hm3-3", "upper-full_hm3-1_lower-full_hm3-4"]
    assert grid["upper-full_hm3-2_lower-full_hm3-3"] == {"upper:storage.full_hm3": 2.0, "lower:storage.full_hm3": 3.0}
    (link,) = variants_of({"upper to lower (2):lost_share": (0.5,)})
    assert link == "upper-to-lower-2-lost_share-0.5"  # a name for files, typed without quotes
    same = variants_of({"a.x": (1.0, 2.0), "b.x": (1.0, 2.0)})
    assert next(iter(same)) == "a-x-1_b-x-1"
    near = variants_of({"a.x": (1.0000001, 1.0000002)})
    assert [*near] == ["x-1.0000001", "x-1.0000002"]


def test_files_of_a_system_are_found_from_another_folder(tmp_path):
    (tmp_path / "one.toml").write_text("[storage]\nfull_hm3 = 5\n")
    system = '[[reservoirs]]\nfile = "one.toml"\n\n[[reservoirs]]\nname = "two"\nfile = "two.toml"\n'
    (tmp_path / "s.toml").write_text(system)
    files = varied_files(tmp_path / "s.toml", {"one:storage.full_hm3": 4.0}, tmp_path / "out", "v")
    texts = {path.relative_to(tmp_path).as_posix(): text.decode() for path, text in files.items()}
    assert texts == {
        "out/v.toml": system.replace('file = "one.toml"', 'name = "one"\nfile = "v.one.toml"').replace(
            "two.t", "../two.t"
        ),
        "out/v.one.toml": "[storage]\nfull_hm3 = 4\n",
    }
    with pytest.raises(
        InputError, match=r'is no reservoir or link of this file \(found "three"\); expected one of one, two'
    ):
        varied_files(tmp_path / "s.toml", {"three:storage.full_hm3": 4.0}, tmp_path, "v")
