"""Files that somebody has spoiled, the same ones every time."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from reservoir.errors import InputError

T = TypeVar("T")

#: What may stand in a file by mistake or on purpose.
ODD = (
    *(b"1e36", b"-1e308", b"1e400", b"nan", b"inf", b"9" * 5000, b"-0", b"1_0", b"0x1f", b"1e10", b"1.5", b"-1", b": "),
    *(b"2147483648", b"-9223372036854775809", b"DIMENSION : 1000000000\n", b"NODE_COORD_SECTION\n", b"TOUR_SECTION\n"),
    *(
        b"EOF\n",
        b"\x1b[31m",
        b"\0",
        b"\xff",
        b"\xe2\x80\xae",
        b"\xd9\xa1",
        b"\n",
        b"\r",
        b"\x0c",
        b" ",
        b"<script>",
        b"|",
    ),
)


def read_anyway(read: Callable[[Path], T], good: bytes, path: Path, seed: int) -> Iterator[T]:
    """What a reader of files makes of mutations of a good one, where it does not refuse them."""
    for data in mutations(good, 400, seed):
        path.write_bytes(data)
        try:
            found = read(path)
        except InputError:
            continue
        yield found


def mutations(good: bytes, count: int, seed: int) -> Iterator[bytes]:
    """So many spoiled copies of a file: words put in or replaced, bytes changed, stretches and lines moved."""
    rng = random.Random(seed)
    for _ in range(count):
        data = good
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = _spoiled(data, rng)
        yield data


def _spoiled(data: bytes, rng: random.Random) -> bytes:
    place, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 5, 30))
    lines = data.split(b"\n")
    row = rng.randrange(len(lines))
    words = lines[row].split() or [b""]
    words[rng.randrange(len(words))] = rng.choice(ODD)
    return rng.choice(
        (
            data[:place] + rng.choice(ODD) + data[place:],
            data[:place] + data[place + length :],
            data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :],
            data[:place] + data[place : place + length] + data[place:],
            b"\n".join([*lines[:row], b" ".join(words), *lines[row + 1 :]]),
            b"\n".join([*lines[:row], lines[rng.randrange(len(lines))], *lines[row:]]),
        )
    )
