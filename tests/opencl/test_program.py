"""Programs are assembled alike from like parts, built once, and blamed on the right file."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.errors import DeviceError, ReservoirError
from reservoir.opencl import DeviceInfo, Session, assemble, build, literal
from reservoir.opencl.program import _ERROR_LINE, _in_file

pyopencl = pytest.importorskip("pyopencl", reason="needs pyopencl", exc_type=ImportError)

DOUBLE = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2.0f; }\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (5, "5"),
        (-5, "(-5)"),
        (np.int64(7), "7"),
        (2**32 - 1, "4294967295"),
        (0.1, "0.1f"),
        (-0.5, "(-0.5f)"),
        (2, "2"),
        (2.0, "2.0f"),
        (1e-20, "1e-20f"),
        (np.float64(1.5), "1.5f"),
        (np.float32(1.5), "1.5f"),
        (float("inf"), "INFINITY"),
        (float("-inf"), "(-INFINITY)"),
        (float("nan"), "NAN"),
        ("float8", "float8"),
    ],
)
def test_values_are_written_as_c(value: float | str, written: str) -> None:
    assert literal(value) == written


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_literal_reads_back_to_the_last_bit(value: float) -> None:
    text = literal(value)
    assert text.strip("()").endswith("f")
    assert np.float32(text.strip("()f")).tobytes() == np.float32(value).tobytes()


def test_a_float_literal_is_exact_on_the_device(device: DeviceInfo) -> None:
    values = np.random.default_rng(1).normal(size=500).astype(np.float32) ** 9
    written = ", ".join(literal(value) for value in values)
    source = (
        f"__constant float written[] = {{{written}}};\n"
        "__kernel void copy(__global float *x) { size_t i = get_global_id(0); x[i] = written[i]; }"
    )
    with Session(device) as session:
        session.allocate(x=(500, np.float32))
        session.run(build(device, source), "copy", 500, None, "x")
        np.testing.assert_array_equal(session.download("x"), values)


@pytest.mark.parametrize("value", [1e39, -1e39])
def test_a_number_that_float32_cannot_hold_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="does not fit into float32"):
        literal(value)


def test_definitions_come_sorted_before_files_in_the_order_given(kernels: Path) -> None:
    (kernels / "solvers").mkdir()
    (kernels / "solvers" / "b.cl").write_text("second\n")
    (kernels / "a.cl").write_text("first\n")
    assert assemble(["a.cl", "solvers/b.cl", "a.cl"], {"LANES": 8, "DIM": 12}) == (
        "#define DIM 12\n"
        "#define LANES 8\n"
        '// file: a.cl\n#line 1 "a.cl"\nfirst\n\n'
        '// file: solvers/b.cl\n#line 1 "solvers/b.cl"\nsecond\n'
    )


def test_a_missing_file_is_named(kernels: Path) -> None:
    with pytest.raises(ReservoirError, match=r"kernels/ has no file absent\.cl"):
        assemble(["absent.cl"], {})


@pytest.mark.parametrize("name", ["2D", "A B", "A(x)", "Ä", ""])
def test_a_name_that_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a C identifier"):
        assemble([], {name: 1})


def test_the_same_source_is_built_once(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    class Counted(pyopencl.Program):
        def build(self, *arguments: object, **options: object) -> object:
            built.append(arguments)
            return super().build(*arguments, **options)

    monkeypatch.setattr(pyopencl, "Program", Counted)
    source = DOUBLE + "// built once\n"
    assert build(device, source) is build(device, source, options=[])
    assert len(built) == 1
    assert build(device, source, ["-DN=1"]) is not build(device, source)
    assert len(built) == 2


def test_what_is_built_as_written_has_no_option_that_changes_rounding(device: DeviceInfo) -> None:
    for as_written in (False, True):
        program = build(device, DOUBLE, as_written=as_written)
        options = program.program.get_build_info(device.device, pyopencl.program_build_info.OPTIONS)
        assert any(each in options for each in ("-cl-mad-enable", "-cl-denorms-are-zero")) != as_written


def test_options_reach_the_compiler(device: DeviceInfo) -> None:
    program = build(device, "__kernel void NAME(__global int *x) { x[0] = 1; }", ["-DNAME=fill"])
    assert program.kernels == ("fill",)


def test_infinity_survives_the_options(device: DeviceInfo) -> None:
    source = "__kernel void f(__global float *x) { x[0] = -INFINITY; x[1] = fmax(x[1], x[0]) < -1e38f ? 1.0f : 2.0f; }"
    with Session(device) as session:
        session.upload(x=np.array([0, -np.inf], np.float32))
        session.run(build(device, source), "f", 1, 1, "x")
        np.testing.assert_array_equal(session.download("x"), np.array([-np.inf, 1], np.float32))


@pytest.mark.pocl(reason="NVIDIA's compiler remarks on every kernel that it may inline")
def test_a_compiler_that_says_nothing_leaves_an_empty_log(device: DeviceInfo) -> None:
    assert build(device, DOUBLE).log == ""


def test_what_the_compiler_remarks_is_kept(device: DeviceInfo) -> None:
    assert "mind the gap" in build(device, "#warning mind the gap\n" + DOUBLE).log


#: Another thread, which compiles Python, puts back the filters of warnings that it found, in the middle of a build.
REMARK = """
import sys, warnings
import pyopencl
from reservoir.opencl import build, choose_device
other, built = warnings.catch_warnings(), pyopencl.Program.build
def meanwhile(program, *given, **options):
    other.__exit__(None, None, None)
    return built(program, *given, **options)
pyopencl.Program.build = meanwhile
device = choose_device(sys.argv[1])
other.__enter__()
print(build(device, "#warning mind the gap\\n__kernel void none(void) {}").log)
"""


def test_what_the_compiler_remarks_does_not_warn_whatever_other_threads_do(device: DeviceInfo) -> None:
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", REMARK, device.platform], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    assert "mind the gap" in said.stdout


def test_a_build_failure_names_the_file_and_the_row(device: DeviceInfo, kernels: Path) -> None:
    (kernels / "good.cl").write_text(DOUBLE + "#warning do not look here\n")
    (kernels / "bad.cl").write_text("\n__kernel void bad(__global float *x)\n{\n    x[0] = nonsense;\n}\n")
    with pytest.raises(DeviceError) as caught:
        build(device, assemble(["good.cl", "bad.cl"], {"DIM": 12}))
    (mistake,) = caught.value.mistakes
    assert (mistake.file, mistake.row) == ("bad.cl", 4)
    assert device.name in mistake.problem
    assert "undeclared identifier 'nonsense'" in mistake.problem


def test_a_long_log_is_trimmed_to_its_first_errors(device: DeviceInfo) -> None:
    body = "\n".join(f"    x[0] = nonsense{row};" for row in range(100))
    with pytest.raises(DeviceError) as caught:
        build(device, f"__kernel void bad(__global float *x)\n{{\n{body}\n}}\n")
    assert "nonsense0" in str(caught.value)
    assert len(str(caught.value).splitlines()) < 25
    assert "more lines)" in str(caught.value)
    assert (
        f"Fix: update the driver of {device.platform} ({device.driver}; needs OpenCL C 1.2, has {device.version}"
        in str(caught.value)
    )


def test_other_compilers_wording_is_understood() -> None:

    for line in ("error: a/b.cl:3:5: words", "a/b.cl:3:5: error: words", "a/b.cl:3:5: fatal error: words"):
        place = _ERROR_LINE.match(line)
        assert place
        assert (place["file"], place["row"]) == ("a/b.cl", "3")


def test_a_row_of_the_whole_program_is_told_as_one_of_its_file(kernels: Path) -> None:
    (kernels / "two_rows.cl").write_text("first\nsecond\n")
    source = assemble(["two_rows.cl"], {"DIM": 12})
    assert _in_file(source, "<kernel>", 1 + source.splitlines().index("second")) == ("two_rows.cl", 2)
    assert _in_file(source, "<kernel>", 1) == ("<kernel>", 1)
    assert _in_file(source, "two_rows.cl", 7) == ("two_rows.cl", 7)


def test_an_unknown_kernel_is_answered_with_those_there_are(device: DeviceInfo) -> None:
    with pytest.raises(DeviceError, match="no kernel thrice; expected twice"):
        build(device, DOUBLE).kernel("thrice")


def test_each_kernel_object_has_arguments_of_its_own(device: DeviceInfo) -> None:
    program = build(device, DOUBLE)
    assert program.kernel("twice") is not program.kernel("twice")
