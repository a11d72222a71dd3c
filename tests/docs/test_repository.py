"""Files that tell others about the project agree with it."""

import re
import tomllib

import reservoir
from tests.docs.documents import ROOT


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    citation = re.search(r"^version: (.+)$", text_of("CITATION.cff"), re.MULTILINE)[1]
    newest = re.search(r"^## (\S+) - ", text_of("CHANGELOG.md"), re.MULTILINE)[1]
    assert {tomllib.loads(text_of("pyproject.toml"))["project"]["version"], citation, newest} == {reservoir.__version__}


def test_the_readme_is_read_in_a_few_minutes():
    assert len(text_of("README.md").splitlines()) <= 130


def test_every_dependency_has_its_reason():
    project = text_of("pyproject.toml").split("[project]")[1].split("[project.scripts]")[0]
    named = [line for line in project.splitlines() if re.match(r'\s+"[\w-]+[>=;]', line)]
    assert named
    assert [line for line in named if not re.search(r"# \w", line)] == []
