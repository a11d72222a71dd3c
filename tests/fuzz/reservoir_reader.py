"""Reservoir files: the bundled ones, the template and a small one, spoiled."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.curves.approximation import approximate
from reservoir.io.reservoir_toml.draft import KEYS
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled
from tests.io.small_reservoir import SMALL

_DATA = Path(__file__).parents[2] / "data"
_TOML = (
    *(
        b'"',
        b"'''",
        b'"""',
        b"\\U00110000",
        b"[[storage]]",
        b"[curves]",
        b"[storage.x]",
        b"a.b.c",
        b"x = {a = 1, b = [1]}",
    ),
    *(
        b"1979-05-27T07:32:00Z",
        b"07:32:00",
        b"0xdeadbeef",
        b"0o17",
        b"0b1",
        b"1_000",
        b"+inf",
        b"true",
        b"[1, [2, 'x']]",
    ),
    *(
        b"." * 50,
        b"a." * 40,
        b"[" * 200,
        b"{" * 200,
        b"9" * 401,
        b'"caf\\u00e9"',
        b'kind = "table"',
        b'kind = "polynomial"',
    ),
    *(
        b"[0]",
        b"[1e308, -1e308]",
        b"[1, 2, 3]",
        b"[" + b"1," * 12 + b"]",
        b"[1e-300, 1e300]",
        b'"cyclic"',
        b'"free"',
        b"cfs",
    ),
)

FILE = "reservoir.toml"


def reader() -> Reader:
    """`read_reservoir`."""
    files = [_DATA / "template.toml", *(_DATA / "xiaowan").glob("*.toml")]
    sound = [*[SMALL.encode()] * 4, *(path.read_bytes() for path in sorted(files))]
    keys = [word.encode() for key in KEYS for word in (key, f"{key.rpartition('.')[2]} = 1\n", f"[{key}]\n")]
    return Reader(FILE, one_file(FILE, spoiled(sound, (*_TOML, *keys), cells=b" ")), _read)


def _read(folder: Path) -> None:
    path = folder / FILE
    reservoir = read_reservoir(path)
    bounds = reservoir.storage_lower_hm3, reservoir.storage_upper_hm3
    releases = reservoir.release_lower_m3s, reservoir.release_upper_m3s
    for lower, upper in (bounds, releases):
        assert lower.shape == upper.shape == (12,)
        assert np.isfinite(lower).all()
        assert np.isfinite(upper).all()
        assert (lower >= 0).all()
        assert (lower <= upper).all()
    for curve, (lower, upper) in ((reservoir.level, bounds), (reservoir.tailrace, releases)):
        assert np.isfinite(curve(np.array([lower.min(), upper.max()]))).all()
    for curve in (reservoir.conversion, reservoir.capacity_m3s):
        values = curve(np.linspace(*curve.domain, 9))
        assert np.isfinite(values).all()
        assert (values >= 0).all()
    assert np.isfinite([reservoir.installed_mw, reservoir.penalty]).all()
    assert reservoir.installed_mw > 0
    assert reservoir.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    with suppress(
        InputError
    ):  # curves may be float32 approximation of the curves for float32; one in eight, as this takes longest
        if reservoir.sha256[0] in "01":
            found = approximate(reservoir)
            assert np.isfinite([found.head_error_m, found.power_error]).all()
    told = "".join((reservoir.name, reservoir.description, reservoir.caveat, *reservoir.notes))
    assert first_unprintable(told.replace("\n", " ").replace("\t", " ")) is None
