"""No kernel needs double precision, which devices may lack; where `dp-opencl` uses it, ``DOUBLE`` says so.

Those of proofs use it where a device has it: their numbers are `real`, which is double or float.
"""

import re

from reservoir import runtime

LINE_COMMENT = re.compile(r"//[^\n]*")
#: A number with a point, or with a power of ten, that no f ends.
DOUBLE_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?(?![\w.])")


#: Kernels of proofs: numbers without an f are float32 in them if the program is built so.
PROOFS = "certificate"


def _code() -> dict[str, str]:
    folder = runtime.package_folder("kernels")
    files = sorted(file for file in folder.rglob("*.cl") if file.relative_to(folder).parts[0] != PROOFS)
    return {str(file.relative_to(folder)): LINE_COMMENT.sub("", file.read_text(encoding="utf-8")) for file in files}


def test_only_the_vectors_that_it_can_be_asked_of_name_it() -> None:
    assert [name for name, code in _code().items() if re.search(r"\bdouble|fp64", code)] == ["common/vector/lanes.cl"]


def test_every_number_is_single() -> None:
    assert DOUBLE_NUMBER.search("x = 0.5 * y")
    assert not DOUBLE_NUMBER.search("x = 0.5f * y + 3 + 0x1F + 1e-3f")
    assert {name: found for name, code in _code().items() if (found := DOUBLE_NUMBER.findall(code))} == {}


def test_one_kernel_of_proofs_says_what_a_number_is() -> None:
    files = sorted((runtime.package_folder("kernels") / PROOFS).glob("*.cl"))
    named = re.compile(r"\b(?:double|float)\b|fp64")
    code = {file.name: LINE_COMMENT.sub("", file.read_text(encoding="utf-8")) for file in files}
    assert [name for name, text in code.items() if named.search(text)] == ["real.cl"]
