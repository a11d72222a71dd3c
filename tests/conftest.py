"""Reservoirs, records and a device that the tests share, and how hypothesis searches."""

import ctypes
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import reservoir as package
from reservoir.errors import DeviceError
from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.curves.curve import Polynomial, PowerLaw
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.plan_folder.saved_plan import SavedPlan, read_plan
from reservoir.io.records.reader import read_inflow
from reservoir.opencl import DeviceInfo, choose_device
from reservoir.opencl.devices import ENVIRONMENT_VARIABLE
from reservoir.opencl.drivers import OWN_ENVIRONMENT, driver_of
from reservoir.opencl.drivers import VENDORS_VARIABLE as VENDORS
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.report.folder import write_plan
from reservoir.report.rules_folder import write_rules
from reservoir.rules.evaluation import Evaluation, evaluate
from reservoir.rules.findings import rules_checks
from reservoir.runtime import SIGNALS
from tests.year_ends import cyclic, free

# The same examples on every machine: a failure is never a matter of luck, and compiled code may take seconds at first.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50)
# Others in every run, and more: what fails is printed with the seed that finds it again.
settings.register_profile("explore", deadline=None, derandomize=False, max_examples=2000, print_blob=True)
settings.load_profile("suite")

POCL = "pocl"

#: Files that take longest. Workers take whole files in this order: one that began last would keep a single one at work.
#: Beside the first, which compiles most of all code where nothing is compiled yet, those with caches of their own.
LONGEST = (
    "docs/test_documented_code.py",
    "cli/test_environment.py",
    "test_wheel.py",
    "cli/test_killed_plan.py",
    "cli/test_typed_calls.py",
    "certificate/test_bound.py",
    "solvers/windows/test_sweeps.py",
    "rules/test_carry_over.py",
    "cli/test_prove_command.py",
    "planning/test_simulation.py",
    "solvers/exchanges/test_end_of_search.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The device is an option of the run."""
    parser.addoption("--device", help=f"OpenCL device of the tests, as `reservoir plan --device`; {POCL} if left out.")


def pytest_configure(config: pytest.Config) -> None:
    """Every program under test, in this process or another, takes the same device for ``auto``."""
    os.environ[ENVIRONMENT_VARIABLE] = config.getoption("device") or POCL
    # Workers and these programs fill the cores: libraries' own threads would wait for each other, at work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The first of hundreds of processes keeps what Python compiles for the others, as a user's does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    config.option.loadscopereorder = False  # pytest-xdist begins with the files of most tests, which are quick


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, and mark what uses the device, so that ``-m device`` selects it."""
    folder = Path(__file__).parent
    places = {folder / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
    for item in items:
        if "device" in getattr(item, "fixturenames", ()) or item.get_closest_marker("pocl"):
            item.add_marker("device")


@pytest.fixture(autouse=True)
def _tiny_numbers_are_no_zeros(request: pytest.FixtureRequest) -> Iterator[None]:
    """A library may leave the processor rounding tiny numbers to zero: undone, and told, for the tests behind it."""
    _keep_tiny_numbers(request.node, "before")
    yield
    _keep_tiny_numbers(request.node, "in")


def _keep_tiny_numbers(test: pytest.Item, when: str) -> None:
    if np.float64(1e-308) * np.float64(0.1) == 0:
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).fesetenv(ctypes.c_void_p(-1))
        test.warn(pytest.PytestWarning(f"tiny numbers became zeros {when} this test"))


@pytest.fixture(autouse=True)
def _device_that_a_test_needs(request: pytest.FixtureRequest) -> None:
    """Choose the device for the parameters that are marked to need it, and skip what is PoCL's alone on another."""
    alone = request.node.get_closest_marker("pocl")
    if request.node.get_closest_marker("device") or alone:
        request.getfixturevalue("device")
    if alone and not request.getfixturevalue("on_pocl"):
        pytest.skip(f"of PoCL alone: {alone.kwargs['reason']}")


@pytest.fixture
def heard() -> Iterator[None]:
    """Signals as a terminal has them, here and in programs that the test begins: nohup and a shell's & ignore some."""
    ignored = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(scope="session")
def device(pytestconfig: pytest.Config) -> DeviceInfo:
    """The device of the run: PoCL, which every machine can have, unless another is asked for, which must be there."""
    asked = pytestconfig.getoption("device")
    try:
        return choose_device(asked or POCL)
    except DeviceError as error:
        if asked:
            raise
        pytest.skip(f"needs PoCL: {error}")


@pytest.fixture(scope="session")
def on_pocl(device: DeviceInfo) -> bool:
    """Whether that is PoCL."""
    return device.platform == "Portable Computing Language"


@pytest.fixture(scope="session")
def only_pocl(device: DeviceInfo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a program that finds no driver beside PoCL's, and is asked for no device by name."""
    driver, folder = driver_of(device.device.platform), tmp_path_factory.mktemp("drivers")
    if driver is None:
        pytest.skip(f"the driver of {device.platform} is in none of the usual places")
    if driver.registered != OWN_ENVIRONMENT:
        (folder / "pocl.icd").write_text(f"{driver.library}\n")
    return {VENDORS: str(folder), ENVIRONMENT_VARIABLE: "auto"}


@pytest.fixture(scope="session")
def two_cores() -> DeviceInfo:
    """A CPU of two cores, pretended: for what is decided by a device's properties and runs nothing."""
    return DeviceInfo(
        index=0,
        platform="pretended",
        name="two cores",
        kind="CPU",
        driver="1.0",
        version="OpenCL 3.0",
        compute_units=2,
        max_work_group_size=4096,
        native_float_width=8,
        sub_group_size=1,
        warps=False,
        local_memory_bytes=1 << 19,
        global_memory_bytes=1 << 33,
        max_allocation_bytes=1 << 31,
        device=None,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="session")
def large_gpu(two_cores: DeviceInfo) -> DeviceInfo:
    """A large GPU, pretended."""
    return replace(
        two_cores,
        kind="GPU",
        name="a large GPU",
        compute_units=132,
        max_work_group_size=1024,
        native_float_width=1,
        sub_group_size=32,
        warps=True,
        local_memory_bytes=49_152,
    )


@pytest.fixture(scope="session")
def xiaowan() -> Reservoir:
    """The bundled reservoir: tables, a conversion rate, calendar years that begin and end full."""
    return package.bundled_case().reservoir()


@pytest.fixture(scope="session")
def inflow() -> Inflow:
    """The bundled record of 62 years."""
    return package.bundled_case().inflow()


@pytest.fixture(scope="session")
def five_years(inflow: Inflow) -> Inflow:
    """The first five years of the bundled record."""
    return Inflow(flow_m3s=inflow.flow_m3s[:5], calendar=Calendar(1953, 5))


@pytest.fixture(scope="session")
def small() -> Reservoir:
    """An invented reservoir that shares nothing with the bundled one.

    Polynomial level, power-law tailrace and capacity, an efficiency, water years from June that end emptier than they
    began, bounds that change by month, and inflows that fill it several times a year.
    """
    return Reservoir(
        name="small",
        level=Polynomial((400.0, 0.55, -0.0012), (10.0, 130.0)),
        tailrace=PowerLaw(362.0, 0.16, 0.0, 0.6, (0.0, 250.0)),
        conversion=Polynomial((0.62, 0.006, -3.2e-5), (30.0, 100.0)),
        conversion_kind=ConversionKind.EFFICIENCY,
        capacity_m3s=PowerLaw(0.0, 5.2, 0.0, 0.5, (30.0, 100.0)),
        installed_mw=30.0,
        storage_lower_hm3=np.array([20, 20, 20, 25, 30, 20, 20, 20, 20, 40, 40, 30], float),
        storage_upper_hm3=np.array([120, 120, 120, 115, 110, 90, 80, 80, 100, 120, 120, 120], float),
        release_lower_m3s=np.array([4, 4, 4, 5, 6, 4, 4, 4, 4, 4, 4, 4], float),
        release_upper_m3s=np.array([80, 80, 80, 80, 120, 200, 200, 200, 120, 80, 80, 80], float),
        initial_storage_hm3=105.0,
        final_storage_hm3=95.0,
        year_end=YearEnd.FIXED,
        penalty=260.0,
        first_month=6,
    )


@pytest.fixture(scope="session")
def small_inflow() -> Inflow:
    """Three invented water years, dry, normal and wet, the first of them holding a 29th of February."""
    months = np.array([55, 80, 75, 50, 35, 25, 18, 14, 12, 16, 24, 38], float)  # June first
    return Inflow(flow_m3s=np.outer([0.6, 1.0, 1.5], months), calendar=Calendar(1955, 3, first_month=6))


@pytest.fixture(scope="session")
def many_years(small_inflow: Inflow) -> Inflow:
    """Twenty-three years between the dry one and the wet one of the invented record."""
    spread = np.linspace(0.6, 1.5, 23)[np.random.default_rng(5).permutation(23)]
    return Inflow(np.outer(spread, small_inflow.flow_m3s[1]), Calendar(1901, 23, first_month=6))


@pytest.fixture(scope="session")
def years(xiaowan: Reservoir, five_years: Inflow) -> list[ReservoirYears]:
    """Five years of the bundled case."""
    return list(reservoir_problems(xiaowan, five_years))


@pytest.fixture(scope="session")
def small_years(small: Reservoir, small_inflow: Inflow) -> list[ReservoirYears]:
    """Three years of the invented case."""
    return list(reservoir_problems(small, small_inflow))


@pytest.fixture(
    scope="session",
    params=["xiaowan", "xiaowan cyclic", "xiaowan free", "small", "small cyclic", "small free"],
)
def case(request: pytest.FixtureRequest) -> tuple[Reservoir, Inflow]:
    """Both reservoirs with their records, in every kind of year end."""
    name, _, end = request.param.partition(" ")
    given = request.getfixturevalue(name)
    record = request.getfixturevalue({"xiaowan": "five_years", "small": "small_inflow"}[name])
    return {"": given, "cyclic": cyclic(given), "free": free(given)}[end] if end else given, record


@pytest.fixture(scope="session")
def six_years_file(inflow: Inflow, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first six years of the bundled record as a file."""
    rows = ["year," + ",".join(f"m{month:02d}" for month in range(1, 13))]
    rows += [f"{1953 + year}," + ",".join(f"{flow:g}" for flow in inflow.flow_m3s[year]) for year in range(6)]
    path = tmp_path_factory.mktemp("record") / "six.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def six_year_plan(xiaowan: Reservoir, six_years_file: Path) -> Plan:
    """Six years at their reference optimum."""
    return package.optimise(xiaowan, read_inflow(six_years_file), solver="dp")


@pytest.fixture(scope="session")
def planned(six_year_plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of that plan, without figures; not to be written to."""
    folder = tmp_path_factory.mktemp("planned") / "plan"
    return write_plan(six_year_plan, folder, plan_checks(six_year_plan), figures=False)


@pytest.fixture(scope="session")
def six_year_rules(planned: Path) -> tuple[Evaluation, SavedPlan]:
    """Families that are fitted in no time, on the plan as it is read back."""
    saved = read_plan(planned)
    return evaluate(saved.plan, folds=2, families=("guide-curve", "linear", "standard")), saved


@pytest.fixture(scope="session")
def ruled(planned: Path, six_year_rules: tuple[Evaluation, SavedPlan]) -> Path:
    """A copy of that folder with the rules in it; not to be written to."""
    evaluation, _ = six_year_rules
    folder = planned.with_name("ruled")
    shutil.copytree(planned, folder)
    write_rules(evaluation, read_plan(folder), rules_checks(evaluation), figures=False)
    return folder
