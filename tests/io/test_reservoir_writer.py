"""A reservoir that is written as a file and read back is the same reservoir."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reservoir as package
from reservoir.errors import InputError, OutputError
from reservoir.hydro.attributes import ReferenceLevels, YearEnd
from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table, constant
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir, reservoir_digests
from reservoir.io.reservoir_toml.reader import read_reservoir, reservoir_of
from reservoir.io.reservoir_toml.writer import write_reservoir
from tests.hydro.random_reservoirs import HEADS, random_reservoir
from tests.io.small_reservoir import SMALL

DATA = Path(__file__).parents[2] / "data"
OF_FILE = {"source", "sha256", "content"}
TEXTS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=40).map(str.strip)


def require_same(written: Reservoir, back: Reservoir) -> None:
    """Every field, to the last bit."""
    assert reservoir_digests(back) == reservoir_digests(written)
    for name in {each.name for each in fields(Reservoir)} - OF_FILE:
        np.testing.assert_array_equal(getattr(back, name), getattr(written, name), err_msg=name)


def any_reservoir(seed: int, year_end: YearEnd) -> Reservoir:
    """A random one whose name a file can contain, with any end of the year; every second has losses and demands."""
    made = random_reservoir(seed)
    start = made.initial_storage_hm3
    if seed % 2:
        months = np.arange(12.0)
        made = replace(
            made,
            evaporation_mm=months - 3.7,
            withdrawal_m3s=months / 7,
            plant_factor=1 - months / 13,
            power_lower_mw=months * made.installed_mw / 1e4,
            seepage_m3s=Table(made.level.domain, (0.1, 1 / 3)),
            area_km2=Table(made.level.domain, (1.0, 2.3)),
            operating_level_m=float(made.level(np.mean(made.level.domain))),
            ramp_up_m3s=17 / 3,
            ramp_down_m3s=0.7,
        )
    open_start = year_end is YearEnd.CYCLIC
    return replace(
        made,
        name=f"random-{seed}",
        year_end=year_end,
        initial_storage_hm3=None if open_start else start,
        final_storage_hm3=start if year_end is YearEnd.FIXED else None,
        end_value_gwh_per_hm3=seed / 1e4 if year_end is YearEnd.VALUED else None,
    )


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    year_end=st.sampled_from(YearEnd),
    horizon=st.sampled_from([Horizon(), Horizon(None), Horizon(7)]),
    first_month=st.integers(1, 12),
    texts=st.tuples(TEXTS, TEXTS),
    months=st.lists(st.integers(1, 12), unique=True).map(tuple),
    promised=st.sampled_from([None, 0.1]),
)
def test_a_reservoir_is_read_back_to_the_last_bit(
    seed: int,
    year_end: YearEnd,
    horizon: Horizon,
    first_month: int,
    texts: tuple[str, str],
    months: tuple[int, ...],
    promised: float | None,
) -> None:
    made = any_reservoir(seed, year_end)
    marks = ReferenceLevels(normal_m=float(made.level(1e9)), flood_months=months)
    description, caveat = texts
    more = {"horizon": horizon, "first_month": first_month, "marks": marks, "guaranteed_energy_gwh": promised}
    more["guaranteed_power_mw"] = None if promised is None else promised / 10
    made = replace(made, description=description, caveat=caveat, **more)  # type: ignore[arg-type]
    require_same(made, reservoir_of(made.to_toml().encode(), ""))


BUNDLED = sorted(path for path in DATA.glob("**/*.toml") if "[storage]" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.name)
def test_a_bundled_reservoir_is_read_back(path: Path) -> None:
    read = reservoir_of(path.read_bytes().replace(b'"NAME"', b'"name"'), "")
    require_same(read, reservoir_of(write_reservoir(read).encode(), ""))


@pytest.mark.parametrize(
    "capacity",
    [constant(45.0, HEADS), Table((20.0, 200.0), (40.0, 50.0)), PowerLaw(1.0, 5.2, 2.0, 0.5, HEADS)],
)
@pytest.mark.parametrize("tailrace", [Table((0.0, 2000.0), (240.0, 250.0)), Polynomial((240.0, 0.01), (0.0, 2000.0))])
def test_every_kind_of_curve_is_read_back(capacity: object, tailrace: object) -> None:
    made = replace(any_reservoir(3, YearEnd.FREE), capacity_m3s=capacity, tailrace=tailrace)  # type: ignore[arg-type]
    back = reservoir_of(made.to_toml().encode(), "")
    assert (back.capacity_m3s, back.tailrace) == (capacity, tailrace)


def test_a_file_is_written_once_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "lake.toml"
    made = reservoir_of(SMALL.encode(), "")
    text = made.to_toml(path)
    assert path.read_text(encoding="utf-8") == text
    require_same(made, read_reservoir(path))
    with pytest.raises(OutputError, match=r"already exists.*force=True"):
        package.write_reservoir(made, path)
    changed = replace(made, name="other")
    assert package.write_reservoir(changed, str(path), force=True) == path.read_text(encoding="utf-8")
    assert read_reservoir(path).name == "other"
    assert [each.name for each in tmp_path.iterdir()] == ["lake.toml"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    made = reservoir_of(SMALL.encode(), "")
    with pytest.raises(OutputError, match=r"already exists.*choose another path"):
        made.to_toml(tmp_path, force=True)
    made.to_toml(tmp_path / "new" / "lake.toml")
    with pytest.raises(OutputError, match=r"lake.toml: is a file, not a folder"):
        made.to_toml(tmp_path / "new" / "lake.toml" / "lake.toml")
    with pytest.raises(OutputError, match=r"cannot be written \(File name too long\)"):
        made.to_toml(tmp_path / ("x" * 300))


def test_equal_months_are_one_number() -> None:
    release = tomllib.loads(reservoir_of(SMALL.encode(), "").to_toml())["release"]
    assert release["lower_m3s"] == 4
    assert len(release["upper_m3s"]) == 12


class Wrapped:
    """A curve of a class of the user's own."""

    domain = HEADS

    def __call__(self, x: object) -> np.ndarray:
        return constant(45.0, HEADS)(x)  # type: ignore[arg-type]

    def compiled(self) -> object:
        return constant(45.0, HEADS).compiled()


def test_what_no_file_can_contain_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "lake.toml"
    made = any_reservoir(2, YearEnd.FREE)
    with pytest.raises(InputError, match=r"name: a reservoir file cannot contain it: is not valid in file names"):
        replace(made, name="my lake").to_toml(path)
    with pytest.raises(InputError, match=r"curves.capacity: .*this class \(found \"Wrapped\"\)"):
        replace(made, capacity_m3s=Wrapped()).to_toml(path)  # type: ignore[arg-type]
    level = made.level
    assert isinstance(level, Table)
    flat = Table(level.x, (*level.y[:4], level.y[3], *level.y[5:]))
    with pytest.raises(InputError, match=r"curves.level.*cannot contain it: does not increase"):
        replace(made, level=flat).to_toml(path)
    assert not path.exists()
