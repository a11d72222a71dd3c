"""What cannot be shown is found, and shown as its escape."""

import pytest

from reservoir.text.quantities import first_unprintable, printable


@pytest.mark.parametrize("text", ["synthetic, not measured", "入库水量 (亿m³)", "Żółw ≤ 1 m³/s", "a\u00a0b", ""])
def test_plain_text_stays(text):
    assert first_unprintable(text) is None
    assert printable(text) == text


@pytest.mark.parametrize(
    ("character", "name", "escape"),
    [
        ("\x1b", "U+001B", r"\x1b"),
        ("\x07", "U+0007", r"\x07"),
        ("\x9b", "U+009B", r"\x9b"),
        ("\uffff", "U+FFFF", r"\uffff"),
        ("\u202e", "U+202E", r"\u202e"),
        ("\ud800", "U+D800", r"\ud800"),
        ("\U0010ffff", "U+10FFFF", r"\U0010ffff"),
    ],
)
def test_what_cannot_be_shown_is_named_and_escaped(character, name, escape):
    assert first_unprintable(f"a{character}b") == name
    assert printable(f"a{character}b") == f"a{escape}b"


def test_an_end_of_line_stays_an_end_of_line():
    assert printable("one\ntwo\r\n") == "one\ntwo\\r\n"
