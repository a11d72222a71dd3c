"""Records in NetCDF, Zarr and workbooks: bytes, attributes, types and sizes spoiled; what is read is sound."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from reservoir.errors import InputError
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.io.records.reader import read_inflow
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Case, Oddity, Reader, one_file
from tests.fuzz.json_spoiling import spoiled_json
from tests.fuzz.spoiling import spoiled

Draw = Callable[[st.SearchStrategy[Any]], Any]

_NETCDF, _ZARR, _XLSX = "inflow.nc", "inflow.zarr", "inflow.xlsx"
_FLOW = 20.0 + 7 * np.arange(72).reshape(2, 36) % 31

#: Attributes that mean something, and values that they may have.
_ATTRIBUTES = (
    *("units", "calendar", "bounds", "climatology", "cell_methods", "standard_name", "coordinates", "_FillValue"),
    *("missing_value", "scale_factor", "add_offset", "valid_min", "valid_max", "valid_range", "_Unsigned", "caveat"),
    *("CLASS", "NAME", "DIMENSION_LIST", "dtype", "grid_mapping", "DIMENSION_LABELS", "_Netcdf4Dimid", "positive"),
)
_VALUES: tuple[Any, ...] = (
    *("", "x", "m3 s-1", "cfs", "mm", "days since 2001-01-01", "seconds since 1e9", "months since 1-1-1", "noleap"),
    *("days since 0000-00-00", "360_day", "edges", "time", "inflow", "time: mean", "time: maximum", "true", "\x1b[31m"),
    *(
        b"DIMENSION_SCALE",
        b"\xff",
        "a" * 3000,
        0,
        1,
        -1,
        0.1,
        -0.0,
        1e308,
        1e-320,
        np.nan,
        np.inf,
        255,
        2**62,
        -(2**63),
    ),
    *([], [0.0, 50.0], [50.0, 0.0], [np.nan, 1.0], ["a", "b"], np.int8(-1), np.uint8(3), np.int16(30), np.float32(9e9)),
    *([1e300] * 40, np.bool_(True), np.zeros((2, 2))),
)
_TYPES = ("i1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "S3", "?", ">i4", ">f8")
_SHAPES = ((), (0,), (1,), (2,), (36,), (35,), (36, 2), (2, 36), (36, 0), (1, 36), (36, 1, 2), (10**9,), (36, 10**7))


def netcdf_reader() -> Reader:
    """`read_inflow` of NetCDF, classic and HDF5."""
    hdf5, classic = ([_saved(each, engine) for each in _sound()] for engine in ("h5netcdf", "scipy"))
    bytes_of = spoiled(
        [*hdf5, *classic], (b"CDF\x05", b"\x89HDF\r\n\x1a\n", b"\xff" * 8, b"\0" * 64), most=6, cells=b"\0"
    )
    return Reader(_NETCDF, one_file(_NETCDF, st.one_of(bytes_of, _restructured(hdf5))), _read(_NETCDF))


def zarr_reader() -> Reader:
    """`read_inflow` of Zarr, both formats."""
    return Reader(f"{_ZARR}/zarr.json", _zarr_cases(), _read(_ZARR))


def xlsx_reader() -> Reader:
    """`read_inflow` of workbooks."""
    books = [_book(rows) for rows in ([_header(), *_rows()], [["Inflow"], [], _header("hm3"), *_rows()], _wide())]
    return Reader(_XLSX, one_file(_XLSX, st.one_of(spoiled(books, most=6), _repacked(books))), _read(_XLSX))


def _read(name: str) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        try:
            inflow = read_inflow(folder / name)
        except InputError as refused:
            classic = (folder / name).is_file() and (folder / name).read_bytes().startswith(b"CDF")
            assert classic or "more memory than there is" not in str(refused)
            raise
        flow = inflow.flow_m3s
        assert flow.shape == (inflow.years, 12)
        assert inflow.years >= 1
        assert np.isfinite(flow).all()
        assert 0 <= flow.min() <= flow.max() <= FLOW_M3S.most
        names = () if inflow.members is None else inflow.members.tolist()
        assert (
            first_unprintable("".join((inflow.caveat, *inflow.notes, *inflow.labels, inflow.unit_from, *names))) is None
        )
        for beside in (inflow.evaporation_mm, inflow.withdrawal_m3s, inflow.price_per_mwh):
            assert beside is None or np.isfinite(beside).all()

    return read


def _sound() -> list[Any]:
    """A record with all that may stand beside it, one that is packed, and an ensemble."""
    import xarray

    months = np.arange("2001-01", "2004-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
    since = {"units": "days since 1970-01-01"}
    flow, edges = {"units": "m3 s-1", "cell_methods": "time: mean"}, np.stack([months[:-1], months[1:]], axis=1)
    times = "time", months[:-1].astype("i4"), since
    full = xarray.Dataset(
        {
            "inflow": ("time", _FLOW[0], flow | {"valid_range": [0.0, 900.0]}),
            "edges": (("time", "nv"), edges.astype("i4")),
            "evaporation_mm": ("time", _FLOW[0] - 40, {"units": "mm"}),
            "withdrawal_cfs": ("time", _FLOW[1].astype("f4"), {"units": "ft3/s"}),
            "price_per_mwh": ("time", _FLOW[1]),
        },
        {"time": ("time", months[1:].astype("i4"), since | {"bounds": "edges"})},
        {"caveat": "invented"},
    )
    packed = xarray.Dataset({"inflow": ("time", _FLOW[0], flow)}, {"time": times})
    packed.inflow.encoding = {"dtype": "i2", "scale_factor": 0.1, "add_offset": 3.0, "_FillValue": -32767}
    names = {"member": ("member", ["dry", "wet"]), "time": times}
    ensemble = xarray.Dataset({"inflow": (("member", "time"), _FLOW, flow)}, names)
    return [full, packed, ensemble]


def _saved(dataset: Any, engine: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        dataset.to_netcdf(path := Path(folder) / "a.nc", engine=engine)
        return path.read_bytes()


@st.composite
def _restructured(draw: Draw, sound: list[bytes]) -> bytes:
    """A file of HDF5 in which somebody changed attributes, variables and links."""
    import h5py

    held = io.BytesIO(draw(st.sampled_from(sound)))
    with h5py.File(held, "r+") as file:
        for change in draw(
            st.lists(st.sampled_from((_attribute, _attribute, _attribute, _variable, _link)), max_size=3)
        ):
            try:
                change(draw, file, draw(st.sampled_from(sorted(file))))
            except Exception:
                continue  # HDF5 does not hold everything
    return held.getvalue()


def _attribute(draw: Draw, file: Any, name: str) -> None:
    holder = file if draw(st.integers(0, 9)) == 0 else file[name]
    attribute = draw(st.sampled_from(_ATTRIBUTES))
    if draw(st.integers(0, 4)) == 0 and attribute in holder.attrs:
        del holder.attrs[attribute]
    else:
        holder.attrs[attribute] = draw(st.sampled_from(_VALUES))


def _variable(draw: Draw, file: Any, name: str) -> None:
    """Another variable of the same name, or the same values in another type."""
    if getattr(file[name], "size", 10_000) > 1000:
        return
    values, attributes = file[name][()], dict(file[name].attrs)
    kind, shape = draw(st.sampled_from(_TYPES)), draw(st.sampled_from((values.shape, *_SHAPES)))
    storage: dict[str, Any] = {}
    if shape and draw(st.booleans()):
        storage = {
            "chunks": tuple(draw(st.sampled_from((1, 2, 36, 10**6))) for _ in shape),
            "maxshape": (None,) * len(shape),
        }
        storage |= draw(st.sampled_from(({}, {"compression": 9}, {"shuffle": True, "fletcher32": True})))
    del file[name]
    if shape == values.shape:
        made = file.create_dataset(name, data=values.astype(kind), **storage)
    else:
        made = file.create_dataset(name, shape, kind, **storage)
    for attribute in ("units", "bounds", "calendar"):
        if attribute in attributes:
            made.attrs[attribute] = attributes[attribute]
    if name in ("time", "member"):
        made.make_scale(name)
    for axis, scale in enumerate(draw(st.permutations(("member", "time")))[-len(shape) :] if shape else ()):
        if scale in file and scale != name:
            made.dims[axis].attach_scale(file[scale])


def _link(draw: Draw, file: Any, name: str) -> None:
    import h5py

    links = (
        *(h5py.ExternalLink("inflow.nc", "/inflow"), h5py.ExternalLink("/dev/zero", "/"), h5py.SoftLink("/nowhere")),
        *(h5py.SoftLink(f"/{name}"), h5py.SoftLink("/time"), file["time"], file),
    )
    other = draw(st.sampled_from((name, "more", "evaporation_mm", "group/in/group")))
    if other in file:
        del file[other]
    file[other] = draw(st.sampled_from(links))


@st.composite
def _zarr_cases(draw: Draw) -> Case:
    """A folder of which some files are spoiled, gone or something else."""
    files: dict[str, bytes | Oddity] = dict(draw(st.sampled_from(_folders())))
    for _ in range(draw(st.integers(0, 3))):
        name, how = draw(st.sampled_from(sorted(files))), draw(st.integers(0, 19))
        content = files[name]
        if how == 0 or not isinstance(content, bytes):
            files[name] = draw(st.sampled_from([each for each in Oddity if each is not Oddity.FOLDER]))
        elif how == 1:
            del files[name]
        elif content.startswith(b"{") and how < 14:
            try:
                files[name] = draw(spoiled_json([json.loads(content)]))
            except (ValueError, RecursionError):
                continue
        else:
            files[name] = draw(spoiled([content], (b"\x28\xb5\x2f\xfd", b"\xff" * 8), cells=b"\0"))
    return files


@cache
def _folders() -> list[dict[str, bytes]]:
    """Sound folders: every format with every codec that it has without further packages."""
    import zarr

    found = []
    for dataset in _sound():
        dataset = dataset.drop_vars("member", errors="ignore")  # texts of version 3 are not specified
        for version, codec in ((2, None), (3, None), (3, zarr.codecs.GzipCodec()), (3, zarr.codecs.BloscCodec())):
            encoding = {} if codec is None else {name: {"compressors": codec} for name in dataset.data_vars}
            for name in dataset.data_vars if codec is None else ():
                encoding[name] = {"chunks": tuple(max(size // 2, 1) for size in dataset[name].shape)}
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / _ZARR
                dataset.to_zarr(path, zarr_format=version, consolidated=False, encoding=encoding)
                found.append(
                    {str(each.relative_to(folder)): each.read_bytes() for each in path.rglob("*") if each.is_file()}
                )
    return found


_PARTS = (
    *(b"<c/>", b'<c r="B3"><v>1e400</v></c>', b'<c r="XFD1" t="n"><v>7</v></c>', b'<c r="A5" t="s"><v>99</v></c>'),
    *(
        b'<row r="1048577"/>',
        b'<row r="99999999999">',
        b'<row r="-1">',
        b'<dimension ref="A1"/>',
        b"</row>",
        b"</sheetData>",
    ),
    *(
        b'<c r="C2" t="inlineStr"><is><t>x</t></is></c>',
        b't="d"',
        b't="b"',
        b't="e"',
        b's="9999"',
        b's="-1"',
        b"&#0;",
        b"&a;",
    ),
    *(
        b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">]>',
        b"<![CDATA[",
        b"<f>1+1</f>",
        b"<v></v>",
        b"<v>nan</v>",
        b"<a>" * 3000,
    ),
    *(b'<dimension ref="A1:XFD1048576"/>', b'<mergeCell ref="A1:XFD1048576"/>', b'encoding="utf-16"', b"<v>1_0</v>"),
)
_PACKINGS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def _header(unit: str = "m3s") -> list[Any]:
    return ["date", f"inflow_{unit}", "flag"]


def _rows() -> list[list[Any]]:
    from datetime import datetime

    flows = [*enumerate(_FLOW.ravel().tolist()[:36])]
    return [[datetime(2001 + at // 12, at % 12 + 1, 1), flow, "A" if at % 5 else None] for at, flow in flows]


def _wide() -> list[list[Any]]:
    return [["year", *range(1, 13)], *([2001 + year, *_FLOW[0, :12].tolist()] for year in range(4))]


def _book(rows: list[list[Any]]) -> bytes:
    import openpyxl

    book, packed = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.create_sheet("other").append(["a", 1])
    book.save(packed)
    return packed.getvalue()


@st.composite
def _repacked(draw: Draw, books: list[bytes]) -> bytes:
    """A workbook whose parts were changed before they were packed."""
    with zipfile.ZipFile(io.BytesIO(draw(st.sampled_from(books)))) as archive:
        parts: Mapping[str, bytes] = {name: archive.read(name) for name in archive.namelist()}
    packed = io.BytesIO()
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(packed, "w", draw(st.sampled_from(_PACKINGS))) as archive:
        changed = {draw(st.sampled_from([*parts, *[sheet] * 6])) for _ in range(draw(st.integers(0, 2)))}
        for name, part in parts.items():
            if name not in changed:
                archive.writestr(name, part)
            elif draw(st.integers(0, 9)):
                separator = draw(st.sampled_from((b"><", b'"', b" ")))
                archive.writestr(name, draw(spoiled([part], _PARTS, cells=separator)))
    return packed.getvalue()
