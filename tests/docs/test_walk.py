"""What a stranger's way tells, from steps and from the tests' own file."""

from tests.walk import Step, suite, table

#: As ``pytest --junitxml`` writes it.
WRITTEN = """<testsuites><testsuite failures="1" time="9.5">
<testcase classname="tests.hydro.test_head" name="a" time="1.5"/>
<testcase classname="tests.hydro.test_head" name="b" time="4"/>
<testcase classname="tests.test_errors" name="c" time="0.25"/></testsuite></testsuites>"""


def test_steps_are_summed_and_one_that_failed_is_told():
    told = table("A chapter", [Step("make plan", 60.0, 90.25, True), Step("reservoir plan", 1.5, 2.0, False)])
    assert told.startswith("## A chapter\n")
    assert "| `make plan` | 60.0 | 90.2 |" in told
    assert "| `reservoir plan` **failed** | 1.5 | 2.0 |" in told
    assert "| all | 61.5 | 92.2 |" in told


def test_tests_are_summed_by_folder_the_longest_first(tmp_path):
    (tmp_path / "suite.xml").write_text(WRITTEN)
    rows = [line for line in suite(tmp_path / "suite.xml").splitlines() if line.startswith("| ")]
    assert rows[1:] == ["| hydro | 2 | 6 | 4 |", "| tests | 1 | 0 | 0 |", "| all | 3 | 6 | 4 |"]
    assert suite(tmp_path / "suite.xml").endswith("From the first to the last: 10 s, 1 failed.\n")
