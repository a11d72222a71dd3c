"""The longest paths through pairs of cells are on a device, to the last bit, what compiled code finds."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import on_device
from reservoir.certificate.on_device import BracketsOnDevice
from reservoir.certificate.pairs import pairs_of
from reservoir.certificate.path_buffers import runs_of
from reservoir.certificate.paths import longest_paths
from reservoir.opencl import Session, assemble
from tests.certificate.device_cases import boxes_of, on_host, tabled


def of_horizons(name, seed=4):
    """Tabled plant, horizons, cells with some pairs that are dead, and what is added at the start, of each horizon."""
    random = np.random.default_rng(seed)
    plant, horizons, cells = boxes_of(name)
    plant, horizons = tabled(plant, horizons)
    given = [np.where(random.random(each.first_pair[-1]) < 0.9, 0.0, -np.inf) for each in cells]
    return plant, horizons, cells, given, [random.normal(size=each.first[1]) for each in cells]


def through_on_host(plant, horizons, cells, given, ends, *, cyclic):
    found = []
    for stages, each, alive, end in zip(horizons, cells, given, ends, strict=True):
        brackets = np.where(alive == 0.0, on_host(plant, [stages], [each]), -np.inf)
        before, after, through = np.empty(len(each.lower)), np.empty(len(each.lower)), np.empty(len(brackets))
        longest_paths(each, brackets, end, cyclic, before, after, through)
        found.append(through)
    return np.concatenate(found)


def through_on_device(device, plant, horizons, pairs, given, ends, *, cyclic):
    with Session(device) as session:
        brackets = BracketsOnDevice(session, plant, horizons)
        return brackets.through(pairs, np.concatenate(given), np.concatenate(ends), cyclic=cyclic)


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("name", ["random 0", "random 4", "losses", "zoo 1"])
def test_longest_paths_are_those_of_compiled_code(name, cyclic, device):
    plant, horizons, cells, given, ends = of_horizons(name)
    expected = through_on_host(plant, horizons, cells, given, ends, cyclic=cyclic)
    assert np.isfinite(expected).sum() > 100
    found = through_on_device(device, plant, horizons, pairs_of(cells), given, ends, cyclic=cyclic)
    assert np.array_equal(found, expected)


def test_the_items_of_a_group_share_the_cells_of_a_time(device, monkeypatch):
    monkeypatch.setattr(on_device, "group_items", lambda _: 8)
    plant, horizons, cells, given, ends = of_horizons("losses")
    for cyclic in (False, True):
        expected = through_on_host(plant, horizons, cells, given, ends, cyclic=cyclic)
        found = through_on_device(device, plant, horizons, pairs_of(cells), given, ends, cyclic=cyclic)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("cyclic", [False, True])
def test_pairs_that_are_left_out_are_as_dead_ones(cyclic, device):
    plant, horizons, cells, given, ends = of_horizons("losses")
    random, dense = np.random.default_rng(6), pairs_of(cells)
    count = np.diff(dense.first_pair)
    left_out = (random.random(len(count)) * 0.2 * (count + 1)).astype(np.int32)
    kept = ((1.0 - 0.2 * random.random(len(count))) * (count - left_out)).astype(np.int32)
    chosen = np.concatenate([np.arange(n) + p for n, p in zip(kept, dense.first_pair[:-1] + left_out, strict=True)])
    some = dense._replace(first_end=dense.first_end + left_out, first_pair=np.cumsum([0, *kept], dtype=np.int32))
    alive = np.full(dense.number, -np.inf)
    alive[chosen] = np.concatenate(given)[chosen]
    every = through_on_device(device, plant, horizons, dense, [alive], ends, cyclic=cyclic)
    found = through_on_device(device, plant, horizons, some, [alive[chosen]], ends, cyclic=cyclic)
    assert np.isfinite(found).sum() > 100
    assert np.array_equal(found, every[chosen])


def test_a_cycle_has_a_run_for_each_cell_that_it_may_begin_in():
    _, _, cells, *_ = of_horizons("losses")
    pairs, numbers = pairs_of(cells), [len(each.lower) for each in cells]
    runs, lengths = runs_of(pairs, cyclic=True)
    assert runs.runs[:, 2].tolist() == [
        cell
        for begin, each in zip(np.cumsum([0, *numbers]), cells, strict=False)
        for cell in range(begin, begin + each.first[1])
    ]
    assert lengths == sum(each.first[1] * number for each, number in zip(cells, numbers, strict=True))
    runs, lengths = runs_of(pairs, cyclic=False)
    assert len(runs.runs) == len(cells)
    assert lengths == sum(numbers)


#: Mistakes in the kernels of paths.
MISTAKES = {
    "a cycle that ends anywhere": ("run.start < 0 || x - first[last] ==", "true || x - first[last] =="),
    "a cycle that begins anywhere": ("run.start < 0 || y == run.start", "true"),
    "nothing added at the start": ("longest = ends[y];", "longest = 0.0;"),
    "one run alone": ("run < first_run[horizon[x] + 1]", "run <= first_run[horizon[x]]"),
    "a start left out": ("x = first_start[y];", "x = first_start[y] + 1;"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_paths_is_found_out(mistake, device, monkeypatch):
    source = assemble(on_device.FILES, on_device.constants(device))
    assert source.count(MISTAKES[mistake][0]) == 1
    monkeypatch.setattr(on_device, "assemble", lambda *_: source.replace(*MISTAKES[mistake]))
    plant, horizons, cells, given, ends = of_horizons("losses")
    expected = through_on_host(plant, horizons, cells, given, ends, cyclic=True)
    assert not np.array_equal(
        through_on_device(device, plant, horizons, pairs_of(cells), given, ends, cyclic=True), expected
    )
