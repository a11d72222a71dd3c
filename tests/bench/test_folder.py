"""A record's folder is written as a whole, and takes the place of nothing but an earlier record."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reservoir.bench import EXPERIMENTS
from reservoir.bench.folder import PROVENANCE, TABLES, check_target, default_folder, write_result
from reservoir.bench.result import ExperimentResult
from reservoir.errors import OutputError
from reservoir.opencl import DeviceInfo


def test_every_number_table_and_origin_is_written(record: ExperimentResult, tmp_path: Path):
    folder = write_result(record, tmp_path / "bench")
    assert list(pd.read_csv(folder / "runs.csv").columns) == ["engine", "seconds", "runs"]
    assert (folder / TABLES).read_text().startswith("# small on a device")
    written = json.loads((folder / PROVENANCE).read_text())
    assert written["device"] == {"name": "a device"}
    assert written["program"]["version"]
    assert [check["pass"] for check in written["checks"]] == [True, False]
    assert written["files"] == sorted(entry.name for entry in folder.iterdir())


def test_an_earlier_record_is_replaced_only_by_force(record: ExperimentResult, tmp_path: Path):
    folder = write_result(record, tmp_path / "bench")
    with pytest.raises(OutputError, match="--force"):
        write_result(record, folder)
    write_result(replace(record, data={}), folder, force=True)
    assert not (folder / "runs.csv").exists()


@pytest.mark.parametrize("recorded", [True, False])
def test_what_no_experiment_wrote_is_never_replaced(record: ExperimentResult, tmp_path: Path, recorded: bool):
    folder = tmp_path / "bench"
    if recorded:
        write_result(record, folder)
    else:
        folder.mkdir()
    (folder / "thesis.tex").write_text("precious")
    with pytest.raises(OutputError, match=r"thesis\.tex"):
        check_target(folder, force=True)


def test_a_folder_without_a_readable_record_is_foreign(tmp_path: Path):
    (tmp_path / PROVENANCE).write_text("[]")
    with pytest.raises(OutputError, match="that do not belong to an experiment"):
        check_target(tmp_path, force=True)


def test_folders_are_named_by_the_case_and_the_device(two_cores: DeviceInfo):
    assert default_folder("small", two_cores) == Path("reports/bench/small-cpu")
    assert default_folder("small", None) == Path("reports/bench/small-cpu")
    gpu = replace(two_cores, kind="GPU", name="NVIDIA H200 (PCIe)")
    assert default_folder("small", gpu) == Path("reports/bench/small-nvidia-h200-pcie")


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, "xiaowan", "functions-clpso", "functions-lshade"])
def test_no_folder_is_that_of_a_committed_result(experiment: str):
    assert not (Path(__file__).parents[2] / default_folder(experiment, None)).exists()
