"""A result becomes a page that anybody can read, in a folder that takes the place of nothing but an earlier result."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from reservoir.bench.result import (
    PROVENANCE,
    TABLES,
    ExperimentResult,
    check_target,
    default_folder,
    page,
    section,
    table_text,
    write_result,
)
from reservoir.cli.bench import EXPERIMENTS
from reservoir.errors import OutputError
from reservoir.opencl import DeviceInfo


def test_numbers_are_written_in_their_format_and_what_is_missing_is_a_dash(record: ExperimentResult):
    lines = table_text(record.tables[0].frame, record.tables[0].formats or {}).splitlines()
    assert lines == [
        "| engine | seconds | runs |",
        "| :-- | --: | --: |",
        "| a\\|b | 1,234.6 | 3 |",
        "| c | – | 12 |",
    ]


def test_warnings_stand_before_every_result(record: ExperimentResult):
    written = page(record, {})
    assert 0 < written.index("synthetic inflow") < written.index("## Acceptance") < written.index("## Times")


def test_a_failed_check_is_seen(record: ExperimentResult):
    written = page(record, {})
    assert "| violation | 0 | ≤ 0 | yes |" in written
    assert "| speed-up | 7 | ≥ 8 | **NO** |" in written


def test_notes_follow_their_table(record: ExperimentResult):
    assert section(record.tables[0])[-1] == "In seconds."


def test_figures_are_shown_with_how_to_read_them(record: ExperimentResult):
    drawn = replace(record, figures={"times": Figure()}, captions={"times": "Times of runs."})
    assert "![times](times.png)\n\nTimes of runs." in page(drawn, {})


def test_the_origin_is_a_list_of_what_is_in_it(record: ExperimentResult):
    assert page(record, record.origin).endswith("## Origin\n\n- device:\n  - name: a device\n- seed: 1\n")


#: What a name in a file of others may hold.
HOSTILE = "<script>alert(1)</script> a|b \\| [x](http://evil) ![i](http://evil/i.png) `c` &amp;\n# no title\x1b[31m"


def test_no_text_of_others_becomes_markup(record: ExperimentResult):
    table = replace(record.tables[0], title=HOSTILE, notes=(HOSTILE,))
    table = replace(table, frame=table.frame.assign(**{table.frame.columns[0]: HOSTILE, HOSTILE: HOSTILE}))
    drawn = replace(
        record,
        title=HOSTILE,
        warnings=(HOSTILE,),
        tables=(table,),
        figures={"times": Figure()},
        captions={"times": HOSTILE},
    )
    written = page(drawn, {HOSTILE: {HOSTILE: HOSTILE}, "seed": HOSTILE})
    assert written.count("&lt;script&gt;") >= 11
    for markup in ("<script", "&amp;amp; `", "\x1b", "\n# no title"):
        assert markup not in written
    rest = written.replace("![times](times.png)", "").replace("\\\\", "")
    assert not re.findall(r"(?<!\\)[\[\]`<]", rest)
    rows = [line for line in written.split("\n") if line.startswith("| ")]
    cells = {len(re.findall(r"(?<!\\)\|", row.replace("\\\\", ""))) for row in rows if "script" in row}
    assert cells == {len(table.frame.columns) + 1}


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
