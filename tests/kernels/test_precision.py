"""No kernel needs double precision, which devices may lack; where `dp-opencl` uses it, ``DOUBLE`` says so.

Those of proofs alone need it: CPU threads prove where a device lacks it.
"""

import re

from reservoir import resources

LINE_COMMENT = re.compile(r"//[^\n]*")
#: A number with a point, or with a power of ten, that no f ends.
DOUBLE_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?(?![\w.])")


#: Kernels that bound in double precision.
PROOFS = "certificate"


def _code() -> dict[str, str]:
    folder = resources.folder("kernels")
    files = sorted(file for file in folder.rglob("*.cl") if file.relative_to(folder).parts[0] != PROOFS)
    return {str(file.relative_to(folder)): LINE_COMMENT.sub("", file.read_text(encoding="utf-8")) for file in files}


def test_only_the_vectors_that_it_can_be_asked_of_name_it() -> None:
    assert [name for name, code in _code().items() if re.search(r"\bdouble|fp64", code)] == ["common/vector/lanes.cl"]


def test_every_number_is_single() -> None:
    assert DOUBLE_NUMBER.search("x = 0.5 * y")
    assert not DOUBLE_NUMBER.search("x = 0.5f * y + 3 + 0x1F + 1e-3f")
    assert {name: found for name, code in _code().items() if (found := DOUBLE_NUMBER.findall(code))} == {}


def test_kernels_of_proofs_compute_in_double_alone() -> None:
    files = sorted((resources.folder("kernels") / PROOFS).glob("*.cl"))
    assert files
    single = re.compile(r"\bfloat\b|(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?f\b")
    assert single.search("float x = 1.0f")
    assert [file.name for file in files if single.search(LINE_COMMENT.sub("", file.read_text(encoding="utf-8")))] == []
