"""What is too large is refused with a number and a remedy, before anything is allocated."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from reservoir.errors import DeviceError, InputError
from reservoir.opencl import ordering_of
from reservoir.solvers import SOLVERS, settings_of, solve
from reservoir.solvers.clpso import DeviceSwarmSettings
from reservoir.solvers.clpso.engine import ClpsoEngine
from reservoir.solvers.island_ga import DeviceIslandSettings
from reservoir.solvers.island_ga.engine import gene_type, single_layout
from reservoir.solvers.lshade import DeviceLshadeSettings
from reservoir.solvers.lshade.engine import LshadeEngine
from tests.solvers.toys import Toy

LARGEST = 2**31 - 1
DEVICE_SOLVERS = [name for name, solver in SOLVERS.items() if solver.opencl]
#: Of each setting of a layout what no device has, and what is said of it.
IMPOSSIBLE = {
    "lanes": ((0, 3), "the number of lanes is not a supported vector width"),
    "items": ((0, 10**6), "the work group size is out of range"),
    "swarms": ((0, 10**6), "the work group size is out of range"),
}


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("clpso", {"particles": LARGEST}),
        ("clpso", {"generations": LARGEST}),
        ("clpso-sequential", {"particles": LARGEST}),
        ("lshade", {"evaluations": LARGEST}),
        ("lshade-sequential", {"evaluations": LARGEST}),
        ("ann-pso", {"particles": LARGEST}),
        ("ann-pso", {"exchange_every": 1, "generations": 10**8}),
        ("ann-pso-parallel", {"exchange_every": 1, "generations": 10**8}),
        ("ring-pso", {"particles": LARGEST}),
        ("ring-pso", {"mode": "async", "slice_generations": 2**40}),
        ("ring-pso-sequential", {"particles": LARGEST}),
        ("island-ga", {"islands": LARGEST}),
        ("island-ga", {"islands": 1, "island_size": 4, "evaluations": 10**12}),
        ("island-ga", {"migrate_every": 1, "iterations": 10**9}),
        ("island-ga", {"scheme": "lim-async", "slice_stages": 2**40}),
        ("island-ga-sequential", {"migrate_every": 1, "iterations": 10**9}),
        ("dsmga2", {"population": LARGEST}),
    ],
)
def test_too_much_is_refused_before_it_is_allocated(device, solver, options):
    solve([Toy()], solver="clpso-sequential", generations=1)  # imports
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"out of range|too many"):
            solve([Toy()], solver=solver, **options)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("solver", "setting", "value", "message"),
    [
        (name, setting, value, message)
        for name in DEVICE_SOLVERS
        for setting, (values, message) in IMPOSSIBLE.items()
        if setting in settings_of(name)
        for value in values
    ],
)
def test_layouts_that_no_device_has_are_refused(device, years, solver, setting, value, message):
    with pytest.raises(InputError, match=message):
        solve(years[:1], solver=solver, **{setting: value})


def test_a_swarm_that_no_stack_holds_is_refused(two_cores):
    """On a CPU a work item has a whole swarm, and its thread would end the process."""
    settings = DeviceSwarmSettings(particles=65_536)
    with pytest.raises(
        DeviceError, match=r"65,536 particles needs .* bytes of private memory per work item.*choose fewer"
    ):
        ClpsoEngine(settings).layout(two_cores, [Toy(dimension=30)])


def test_more_numbers_than_32_bits_count_are_refused(two_cores):
    wide = SimpleNamespace(encoding="real", dimension=60_000, label="wide", kernel_context=lambda: np.zeros(1))
    settings = DeviceLshadeSettings(members_per_dimension=1000, archive_fraction=100.0)
    with pytest.raises(InputError, match=r"too many values.*fewer members_per_dimension"):
        LshadeEngine(settings).layout(two_cores, [wide])
    with pytest.raises(InputError, match="the population has too many values"):
        single_layout(two_cores, wide, DeviceIslandSettings(islands=1, island_size=65_536))


def test_more_cities_than_genes_tell_apart_are_refused():
    tour = SimpleNamespace(encoding="permutation", dimension=65_537, label="large")
    with pytest.raises(InputError, match=r"large: has too many cities.*65,536"):
        gene_type(tour)


@pytest.fixture
def promises_nothing(device, monkeypatch):
    """The device of the run as if it spoke OpenCL C 1.2 alone."""
    monkeypatch.setattr("reservoir.opencl.devices.Ordering.promised", False)


class Promises(SimpleNamespace):
    """As much of a device as is asked for what it promises."""

    def __init__(self, version: str, language: str, features: tuple[str, ...] = (), major: int = 0) -> None:
        device = SimpleNamespace(
            opencl_c_version=language,
            opencl_c_features=[SimpleNamespace(name=name) for name in features],
            opencl_c_all_versions=[SimpleNamespace(version=1 << 22), SimpleNamespace(version=3 << 22)],
        )
        if major:
            device.compute_capability_major_nv = major
        super().__init__(version=version, warps=major >= 7, device=device)


FEATURES = ("__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_scope_device")


@pytest.mark.parametrize(
    ("promises", "expected"),
    [
        (Promises("OpenCL 1.2 x", "OpenCL C 1.2 x"), (False, "")),
        (Promises("OpenCL 2.1 x", "OpenCL C 2.0 x"), (False, "CL2.0")),
        (Promises("OpenCL 3.0 x", "OpenCL C 1.2 x"), (False, "")),
        (Promises("OpenCL 3.0 x", "OpenCL C 1.2 x", FEATURES[:1]), (False, "")),
        (Promises("OpenCL 3.0 x", "OpenCL C 1.2 x", FEATURES), (False, "CL3.0")),
        (Promises("OpenCL 3.0 CUDA", "OpenCL C 1.2 ", major=9), (True, "")),
        (Promises("OpenCL 3.0 CUDA", "OpenCL C 1.2 ", major=6), (True, "")),
    ],
)
def test_groups_order_what_they_write_by_what_the_device_promises(promises, expected):
    ordering = ordering_of(promises)
    assert (ordering.ptx, ordering.language) == expected
    assert ordering.promised == any(expected)


@pytest.mark.parametrize(
    ("options", "mend"),
    [
        ({"solver": "island-ga", "scheme": "lim-cg"}, "lim-is"),
        ({"solver": "island-ga", "scheme": "slk"}, "lim-is"),
        ({"solver": "island-ga", "scheme": "lim-async"}, "lim-is"),
        ({"solver": "ring-pso", "mode": "async"}, "mode sync"),
    ],
)
def test_a_device_that_promises_no_order_is_refused_where_groups_wait(promises_nothing, options, mend):
    with pytest.raises(DeviceError, match=f"does not guarantee memory ordering.*{mend}"):
        solve([Toy()], **options)


@pytest.mark.parametrize(
    "options",
    [{"solver": "island-ga", "scheme": scheme, "iterations": 3} for scheme in ("lim-is", "tim", "sak")]
    + [{"solver": "ring-pso", "generations": 3}],
)
def test_who_waits_for_nobody_needs_no_promise(device, request, options):
    usual = solve([Toy()], **options)[0]
    request.getfixturevalue("promises_nothing")
    assert solve([Toy()], **options)[0].position.tolist() == usual.position.tolist()
