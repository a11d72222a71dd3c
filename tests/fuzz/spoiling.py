"""Files that somebody has spoiled: hypothesis strategies that take sound bytes and change some of them."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Words that no reader should fall over, wherever they stand.
ODD_WORDS = (
    *(
        b"1e36",
        b"-1e308",
        b"1e308",
        b"1e400",
        b"-1e-320",
        b"nan",
        b"-nan",
        b"inf",
        b"-Infinity",
        b"9" * 500,
        b"9" * 5000,
    ),
    *(
        b"-0",
        b"-0.0",
        b"0",
        b"-1",
        b"1_0",
        b"0x1f",
        b"1e10",
        b"1.5",
        b"+1",
        b".5",
        b"5.",
        b"1e",
        b"1e99999999",
        b"1e-9999",
    ),
    *(
        b"2147483648",
        b"-9223372036854775809",
        b"18446744073709551616",
        b"0001",
        b"true",
        b"null",
        b"None",
        b"1,5",
        b"1 5",
    ),
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1a", b"\x1b[31m", b"\x7f", b"\x85"),
    *(
        "\u202e\u2028\u00a0\u200b\u0661\uff11\u00b2\u4ebf\U0001f600\ufffe\u0130".encode()[i:j]
        for i, j in ((0, 3), (3, 6))
    ),
    *(each.encode() for each in "\u00a0\u200b\u0661\uff11\u00b2\u4ebf\U0001f600\ufffe\u0130\u212a"),
    *(b"\n", b"\r", b"\r\n", b"\x0b", b"\x0c", b"\t", b" ", b"", b'"', b"'", b'"""', b"\\", b"\\u0000", b"\\ud800"),
    *(
        b",",
        b";",
        b":",
        b"#",
        b"=",
        b".",
        b"..",
        b"-",
        b"/",
        b"|",
        b"%s",
        b"{}",
        b"{0}",
        b"[",
        b"]",
        b"{",
        b"}",
        b"<b>",
    ),
    *(b"[/]", b"[bold]", b"a" * 300, b"../..", b"/etc/passwd", b"year", b"date", b"Feb 30", b"0000", b"9999", b"10000"),
)

_PLACE = st.integers(0, 2**20)
_LENGTH = st.sampled_from((1, 1, 2, 5, 30, 400))


@st.composite
def spoiled(
    draw: Draw, sound: Sequence[bytes], words: Sequence[bytes] = (), most: int = 4, cells: bytes = b","
) -> bytes:
    """A sound file, changed in up to `most` places.

    Parameters
    ----------
    sound : sequence of bytes
        Files to begin with.
    words : sequence of bytes
        Words of the format, put in beside `ODD_WORDS`.
    cells : bytes
        What stands between the cells or words of a line.
    """
    data: bytes = draw(st.sampled_from(sound))
    changes = draw(st.lists(st.sampled_from(_CHANGES), max_size=most))
    word = st.sampled_from((*ODD_WORDS, *words))
    for change in changes:
        data = change(draw, data, word, cells)
    return data


def _at(draw: Draw, length: int) -> int:
    return int(draw(_PLACE)) % max(length, 1)


def _put_in(draw: Draw, data: bytes, word: Any, _: bytes) -> bytes:
    place = _at(draw, len(data) + 1)
    return data[:place] + draw(word) + data[place:]


def _leave_out(draw: Draw, data: bytes, *_: Any) -> bytes:
    place = _at(draw, len(data))
    return data[:place] + data[place + draw(_LENGTH) :]


def _repeat(draw: Draw, data: bytes, *_: Any) -> bytes:
    place, length = _at(draw, len(data)), draw(_LENGTH)
    return data[:place] + data[place : place + length] * draw(st.sampled_from((2, 3, 50))) + data[place + length :]


def _other_byte(draw: Draw, data: bytes, *_: Any) -> bytes:
    place = _at(draw, len(data))
    return data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]


def _other_cell(draw: Draw, data: bytes, word: Any, cells: bytes) -> bytes:
    lines = data.split(b"\n")
    row = _at(draw, len(lines))
    parts = lines[row].split(cells)
    parts[_at(draw, len(parts))] = draw(word)
    return b"\n".join([*lines[:row], cells.join(parts), *lines[row + 1 :]])


def _other_column(draw: Draw, data: bytes, word: Any, cells: bytes) -> bytes:
    """The same cell of every line gone, twice, or a word."""
    place, how, put = _at(draw, 14), draw(st.integers(0, 2)), draw(word)
    lines = []
    for line in data.split(b"\n"):
        parts = line.split(cells)
        if place < len(parts):
            parts[place : place + 1] = ([], [parts[place]] * 2, [put])[how]
        lines.append(cells.join(parts))
    return b"\n".join(lines)


def _move_line(draw: Draw, data: bytes, *_: Any) -> bytes:
    lines = data.split(b"\n")
    here, there = _at(draw, len(lines)), _at(draw, len(lines))
    kept = lines if draw(st.booleans()) else [*lines[:here], *lines[here + 1 :]]
    return b"\n".join([*kept[:there], lines[here], *kept[there:]])


def _leave_line_out(draw: Draw, data: bytes, *_: Any) -> bytes:
    lines = data.split(b"\n")
    here = _at(draw, len(lines))
    return b"\n".join([*lines[:here], *lines[here + 1 + draw(st.sampled_from((0, 0, 2))) :]])


def _cut(draw: Draw, data: bytes, *_: Any) -> bytes:
    return data[: _at(draw, len(data) + 1)]


def _other_form(draw: Draw, data: bytes, *_: Any) -> bytes:
    """The whole file in another encoding, with other ends of line, or packed."""
    return bytes(draw(st.sampled_from(_FORMS))(data))


def _recoded(encoding: str) -> Callable[[bytes], bytes]:
    return lambda data: data.decode("utf-8", "replace").encode(encoding, "replace")


_FORMS: tuple[Callable[[bytes], bytes], ...] = (
    *map(_recoded, ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7", "utf-8-sig", "gb18030")),
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: data.replace(b"\n", b"\r"),
    lambda data: data.replace(b"\n", b"\n\n"),
    lambda data: data.replace(b",", b";"),
    lambda data: data.replace(b",", b"\t").replace(b".", b","),
    lambda data: data.upper(),
    lambda data: data + data,
    lambda data: data[::-1],
    lambda data: gzip.compress(data, mtime=0),
    lambda data: b"PK\x03\x04" + data,
    lambda data: b"\n" * 300 + data,
)

_CHANGES = (
    *(_put_in, _leave_out, _repeat, _other_byte, _other_cell, _other_cell, _other_cell, _other_column),
    *(_move_line, _leave_line_out, _cut, _other_form),
)
