"""NetCDF, Zarr and workbooks that are broken, far larger than their files or elsewhere: refused, and nothing worse."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io import containers
from reservoir.io.records.reader import read_inflow

h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install 'reservoir[netcdf]'")
xarray = pytest.importorskip("xarray", reason="xarray is not installed: pip install 'reservoir[netcdf]'")
zarr = pytest.importorskip("zarr", reason="zarr is not installed: pip install 'reservoir[netcdf]'")

FLOW = 10.0 + np.arange(36) % 12
#: Bytes that a refusal may take beyond what the program holds before.
LITTLE = 60_000_000


def dataset(**further):
    inflow = ("time", FLOW, {"units": "m3 s-1"})
    times = np.arange("2001-01", "2004-01", dtype="datetime64[M]").astype("datetime64[s]")
    return xarray.Dataset({"inflow": inflow} | further, {"time": times})


def netcdf(folder, change=lambda file: None, each=None):
    """A file that is changed after it was written."""
    path = folder / "inflow.nc"
    (each or dataset()).to_netcdf(path, engine="h5netcdf")
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def zarr_folder(folder, change=lambda path: None, version=3):
    path = folder / "inflow.zarr"
    dataset().to_zarr(path, consolidated=False, zarr_format=version)
    change(path)
    return path


def replaced(file, variable="inflow", **changes):
    """Write a variable anew, in another way."""
    attributes = {key: value for key, value in file[variable].attrs.items() if key == "units"}
    del file[variable]
    made = file.create_dataset(variable, **changes)
    made.attrs.update(attributes)
    if variable == "time":
        made.make_scale(variable)
        file["inflow"].dims[0].attach_scale(made)
        return
    for axis, name in enumerate(("time", "member")[: made.ndim]):
        if name not in file:
            file.create_dataset(name, (made.shape[axis],), "i4", chunks=(min(made.shape[axis], 1_000_000),)).make_scale(
                name
            )
        made.dims[axis].attach_scale(file[name])


def outside(file):
    """The inflow as a link into another file."""
    other = str(file.filename) + ".other"
    with h5py.File(other, "w") as elsewhere:
        file.copy("inflow", elsewhere)
    del file["inflow"]
    return os.path.basename(other)


def linked(file):
    file["inflow"] = h5py.ExternalLink(outside(file), "/inflow")


def linked_by_a_group(file):
    file["elsewhere"] = h5py.ExternalLink(outside(file), "/")
    file["inflow"] = h5py.SoftLink("/elsewhere/inflow")


def stored_outside(file):
    Path(file.filename).with_name("values").write_bytes(FLOW.tobytes())
    replaced(file, shape=(36,), dtype="f8", external=[("values", 0, 288)])


def virtual(file):
    layout = h5py.VirtualLayout((36,), "f8")
    layout[:] = h5py.VirtualSource(outside(file), "inflow", (36,))
    made = file.create_virtual_dataset("inflow", layout)
    made.attrs["units"] = "m3 s-1"
    made.dims[0].attach_scale(file["time"])


def looped(file):
    del file["inflow"]
    file["inflow"] = h5py.SoftLink("/other")
    file["other"] = h5py.SoftLink("/inflow")


@pytest.mark.parametrize("change", [linked, linked_by_a_group, stored_outside, virtual])
def test_values_outside_the_file_are_refused(tmp_path, change):
    with pytest.raises(InputError, match=r"inflow\.nc: .*; expected one file with all its values"):
        read_inflow(netcdf(tmp_path, change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (looped, "cannot be read as NetCDF"),
        (lambda file: file["inflow"].attrs.update(scale_factor="ten"), "cannot be read as NetCDF"),
        (lambda file: file["inflow"].attrs.update(add_offset=[1.0, 2.0]), "cannot be read as NetCDF|dimensions"),
        (lambda file: file["inflow"].attrs.update(units=np.arange(3)), "units attribute is no unit that is known"),
        (lambda file: file["time"].attrs.update(units="days since the flood"), "cannot be read as NetCDF"),
        (lambda file: file["time"].attrs.update(calendar="mayan"), "cannot be read as NetCDF"),
        (lambda file: file["time"].write_direct(np.full(36, 2**62)), "cannot be read as NetCDF"),
        (lambda file: file["time"].write_direct(np.full(36, -(2**63))), "time has a missing value, number 1"),
        (lambda file: replaced(file, "time", data=[b"113"] * 36), r"time is of type (.S3|object); expected numbers"),
        (
            lambda file: file.create_dataset("withdrawal_hm", data=FLOW).dims[0].attach_scale(file["time"]),
            "nc: withdrawal_hm seems to be withdrawal, but is not read by this name",
        ),
        (lambda file: file.attrs.update(caveat="\x1b[31m"), "unprintable character"),
        (lambda file: file.attrs.update(caveat="a " * 900), "caveat has more than 1,000 characters"),
        (
            lambda file: replaced(file, data=FLOW[:24], maxshape=(None,)),
            "inflow has 24 values; expected 36, the lengths",
        ),
        (lambda file: replaced(file, data=np.ones((2, 36))), "inflow has 2 x 36 values; expected 36 x 36"),
        (lambda file: replaced(file, data=FLOW.astype("c16")), "no variable by time"),
        (lambda file: replaced(file, data=[b"5"] * 36), "no variable by time"),
        (lambda file: replaced(file, data=np.array([(1, 2.0)] * 36, "i4,f8")), "no variable by time|cannot be read"),
    ],
)
def test_what_libraries_fall_over_is_a_refusal(tmp_path, change, said, recwarn):
    with pytest.raises(InputError, match=said) as refused:
        read_inflow(netcdf(tmp_path, change))
    assert "inflow.nc" in str(refused.value)
    assert not recwarn.list


@pytest.mark.parametrize("at", [8, 40, 96, 200, 600, 2000, 4100, 5000])
def test_a_file_of_which_bytes_are_lost_is_read_or_refused(tmp_path, at, capfd):
    path = netcdf(tmp_path)
    content = bytearray(path.read_bytes())
    content[at : at + 60] = b"\xff" * 60
    path.write_bytes(content)
    try:
        assert read_inflow(path).years
    except InputError as refused:
        assert "inflow.nc" in str(refused)
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="they are opened in this process elsewhere")
@pytest.mark.parametrize("made", [netcdf, zarr_folder])
def test_a_library_that_ends_its_process_is_a_refusal(tmp_path, monkeypatch, capfd, made):
    path = made(tmp_path)
    monkeypatch.setattr(containers, "_dataset", lambda path, engine: os.abort())
    forked, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: forked.append(fork()) or forked[-1])
    with pytest.raises(
        InputError, match=r"inflow\.(nc|zarr): cannot be read as .*the library that reads it did not survive it"
    ):
        read_inflow(path)
    assert capfd.readouterr().err == ""
    assert len(forked) == 1
    with pytest.raises(ChildProcessError):  # nobody is left behind
        os.waitpid(forked[0], os.WNOHANG)


@pytest.mark.skipif(sys.platform != "linux", reason="they are opened in this process elsewhere")
def test_a_library_that_asks_for_all_memory_gets_none(tmp_path, monkeypatch):
    path = netcdf(tmp_path)
    monkeypatch.setattr(containers, "_dataset", lambda path, engine: bytearray(1 << 30))
    with pytest.raises(InputError, match=r"inflow\.nc: cannot be read as .*it asks for more memory than there is"):
        read_inflow(path)


def metadata(**changes):
    def change(path):
        file = path / "inflow" / "zarr.json"
        text = file.read_text()
        for pattern, other in changes.values():
            text, count = re.subn(pattern, other, text)
            assert count
        file.write_text(text)

    return change


def spoilt(path):
    chunk = path / "inflow" / "c" / "0"
    chunk.write_bytes(chunk.read_bytes()[:16] + b"\xff" * 60)


def larger(path):
    (path / "inflow" / "c" / "0").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(100_000))


def inflated(codec):
    """A chunk of many zeros more than it should have."""

    def change(path):
        from numcodecs.registry import get_codec

        file = path / "inflow" / ".zarray"
        told = json.loads(file.read_text())
        file.write_text(json.dumps(told | {"compressor": get_codec({"id": codec}).get_config()}))
        (path / "inflow" / "0").write_bytes(get_codec({"id": codec}).encode(np.zeros(100_000)))

    return change


class Program:
    """What a pickle runs when it is read."""

    def __reduce__(self):
        return (os.mkdir, ("ran",))


def pickled(path):
    """A number that is "compressed" by the codec of objects."""
    file = path / "inflow" / ".zarray"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"compressor": {"id": "pickle"}, "filters": None}))
    (path / "inflow" / "0").write_bytes(pickle.dumps(Program()))


def link_out(path):
    chunk = path / "inflow" / "c" / "0"
    shutil.move(chunk, path.with_name("elsewhere"))
    chunk.symlink_to(path.with_name("elsewhere"))


def pipe(path):
    (path / "inflow" / "c" / "0").unlink()
    os.mkfifo(path / "inflow" / "c" / "0")


@pytest.mark.parametrize(
    ("change", "said", "version"),
    [
        (spoilt, "cannot be read as NetCDF or Zarr", 3),
        (larger, "100,004 bytes for 288 bytes of values", 3),
        *((inflated(codec), "800,000 bytes for 288 bytes of values", 2) for codec in ("blosc", "zstd")),
        (inflated("gzip"), "800,000 bytes for 288 bytes of values", 2),
        (pickled, "cannot be read as NetCDF or Zarr", 2),
        (link_out, "is a link to .*; expected one file with all its values", 3),
        (pipe, "is no file", 3),
        (metadata(shape=(r'"chunk_shape": \[\s*36', '"chunk_shape": [0')), "chunks of no values|cannot be read", 3),
        (metadata(shape=(r'"data_type": "float64"', '"data_type": "float65"')), "cannot be read as NetCDF", 3),
        (lambda path: (path / "inflow" / "zarr.json").write_text("[" * 100_000), "cannot be read as NetCDF", 3),
        (lambda path: (path / "zarr.json").write_bytes(b" " * 5_000_000), r"zarr\.json is too large", 3),
    ],
)
def test_a_broken_folder_is_refused(tmp_path, monkeypatch, change, said, version):
    path = zarr_folder(tmp_path, change, version)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said) as refused:
        read_inflow(path)
    assert "inflow.zarr" in str(refused.value)
    assert not (tmp_path / "ran").exists()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "inflow.nc")
    with pytest.raises(InputError, match=r"inflow\.nc: is neither a file nor a folder"):
        read_inflow(tmp_path / "inflow.nc")


def of_members(count, **storage):
    return lambda file: replaced(file, shape=(36, count), dtype="f8", **storage)


def wide_chunks(path):
    whole = (r'"chunk_shape": \[\s*36', '"chunk_shape": [4000000000')
    metadata(whole=whole)(path)


def long_in_zarr(path):
    metadata(whole=(r'"shape": \[\s*36', '"shape": [36000000000'))(path)


def many_chunks(path):
    changes = (r'"shape": \[\s*36', '"shape": [3600000'), (r'"chunk_shape": \[\s*36', '"chunk_shape": [1')
    metadata(shape=changes[0], chunk=changes[1])(path)


def workbook_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            archive.writestr(name, "<a/>")
        with archive.open("xl/worksheets/sheet1.xml", "w") as part:
            for _ in range(300):
                part.write(b"<c/>" * 262_144)
    return path


BOMBS = {
    "members": lambda folder: netcdf(folder, of_members(50_000_000, chunks=(36, 1_000_000))),
    "members that are packed": lambda folder: netcdf(folder, of_members(9_000_000, chunks=(36, 10_000), compression=9)),
    "one large chunk": lambda folder: netcdf(
        folder, lambda file: replaced(file, shape=(36,), dtype="f8", chunks=(400_000_000,), maxshape=(None,))
    ),
    "Zarr": lambda folder: zarr_folder(folder, long_in_zarr),
    "chunks of Zarr": lambda folder: zarr_folder(folder, wide_chunks),
    "chunks that are not there": lambda folder: zarr_folder(folder, many_chunks),
    "a workbook": lambda folder: workbook_bomb(folder / "inflow.xlsx"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_far_larger_than_its_file_is_refused_before_it_is_read(tmp_path, name):
    path = BOMBS[name](tmp_path)
    assert sum(each.stat().st_size for each in (path, *path.rglob("*"))) < 1_000_000
    read = f"from reservoir.io.records.reader import read_inflow; read_inflow({str(path)!r})"
    program = f"import resource, xarray, h5netcdf, zarr, openpyxl\nheld = {HELD}\ntry:\n    {read}\n"
    program += f"except Exception as error:\n    print({HELD} - held, type(error).__name__, error)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    more, kind, said = ran.stdout.split(" ", 2)
    assert kind == "InputError"
    assert "declares" in said
    assert int(more) < LITTLE


HELD = f"resource.getrusage({resource.RUSAGE_SELF}).ru_maxrss * 1024"


def test_a_workbook_that_is_packed_wrongly_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book, packed = openpyxl.Workbook(), io.BytesIO()
    for month in range(36):
        book.active.append([f"{2001 + month // 12}-{month % 12 + 1:02}", 5.5])
    book.save(packed)
    with zipfile.ZipFile(packed) as archive:
        place = archive.getinfo("xl/worksheets/sheet1.xml").header_offset
    path, content = tmp_path / "inflow.xlsx", packed.getvalue()
    refused = 0
    for at in range(place, min(place + 400, len(content)), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        with pytest.raises(InputError) as error:
            read_inflow(path)
        refused += "cannot be read as a workbook" in str(error.value)
    assert refused > 20
