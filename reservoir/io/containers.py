"""Files that hold arrays or archives: no fault of theirs, no size that they declare, no link or full disk does harm."""

from __future__ import annotations

import faulthandler
import io
import math
import os
import pickle
import signal
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from reservoir.errors import InputError, shortened
from reservoir.planning.operated_record import Dataset
from reservoir.runtime import deferred

INSTALL = "pip install 'reservoir[netcdf]'"
#: Bytes that arrays may take in memory, whatever the file holds; and times its bytes beyond.
_MOST_ARRAY_BYTES, _MOST_PACKED = 32_000_000, 20
#: Chunks of an array that may be missing, and bytes of a file of metadata.
_MOST_CHUNKS, _MOST_METADATA_BYTES = 10_000, 4_000_000
#: Bytes of a file that is opened in a process of its own: what it reads is there twice for a while.
_MOST_APART = 256_000_000
#: Bytes that this process may take beside a few times its values: HDF5 asks for what a broken length says.
_ROOM_APART = 250_000_000
#: Bytes by which a chunk may be larger on disk than in memory, where twice its size is less.
_CHUNK_ROOM = 4_000
_ZARR_METADATA = frozenset({"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"})
#: Ends of the names of NetCDF files, and of folders of Zarr.
SUFFIXES, ZARR = (".nc", ".nc4", ".cdf", ".netcdf"), ".zarr"
T = TypeVar("T")
#: Makes the error of a file of the reason why it cannot be read.
Refusal = Callable[[str], InputError]


def is_netcdf(file: str) -> bool:
    """Whether a file or folder is NetCDF or Zarr, by its name."""
    return file.casefold().rstrip("/\\").endswith((*SUFFIXES, ZARR))


def library_call(read: Callable[[], T], refuse: Refusal) -> T:
    """What a library reads; whatever it raises over a broken file is a refusal, and its warnings are not shown.

    Raises
    ------
    InputError
        If it fails: libraries raise anything over bytes that they do not expect, and promise nothing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except ModuleNotFoundError as error:
        refused = InputError(f"this file needs {error.name}, which is not installed", mend=INSTALL)
    except InputError:
        raise
    except MemoryError:
        refused = refuse("it asks for more memory than there is")
    except Exception as error:
        refused = refuse(shortened(str(error).partition("\n")[0] or type(error).__name__, 200))
    # Out of the handler: a file that is half open is closed here, not when somebody forgets the error.
    raise refused


def require_size(declared: int, stored: int, usual: int, times: int) -> None:
    """Refuse what says of itself that it is far larger in memory than on disk, before any of it is read.

    Parameters
    ----------
    declared, stored : int
        Bytes in memory, as the file declares, and on disk.
    usual : int
        Bytes that are read in any case.
    times : int
        How many times larger than on disk it may be beyond.

    Raises
    ------
    InputError
    """
    if declared > max(usual, times * stored):
        problem = f"declares {declared / 1e6:,.0f} MB of values, in {stored / 1e6:,.3f} MB of file"
        expected = f"at most {usual / 1e6:,.0f} MB, or {times} times the file"
        raise InputError(problem, expected, "check that this is the right file, and that it is not damaged")


def of_dataset(path: Path, read: Callable[[Any], T], refuse: Refusal) -> T:
    """What is read of a NetCDF file or a Zarr folder, opened as an xarray.Dataset, its times not decoded.

    HDF5 and Zarr are opened in a process of their own where that costs little: over some broken files HDF5 overwrites
    memory, and it and Blosc end the process.

    Parameters
    ----------
    path : Path
    read : callable
        Takes the dataset and returns what can be sent by `pickle`.
    refuse : callable

    Raises
    ------
    InputError
        If it cannot be opened, or refers to other files; and as `read` does.
    """
    engine = library_call(lambda: _engine(path), refuse)

    def opened() -> T:
        dataset = library_call(lambda: _dataset(path, engine), refuse)
        try:
            return read(dataset)
        finally:
            with suppress(InputError):
                library_call(dataset.close, refuse)

    size = 0 if engine == "scipy" else _Stored.of(path).size
    if engine == "scipy" or sys.platform != "linux" or size > _MOST_APART:
        return opened()
    return _apart(opened, refuse, _ROOM_APART + 4 * max(_MOST_ARRAY_BYTES, _MOST_PACKED * size))


def _apart(read: Callable[[], T], refuse: Refusal, room: int) -> T:
    """Call a function in a copy of this process, which may take so many bytes more than it holds."""
    receiving, sending = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that threads are not copied: it needs none
        child = os.fork()
    if not child:
        _answer(read, receiving, sending, room)
    os.close(sending)
    try:
        with open(receiving, "rb") as pipe:
            error, answer = pickle.load(pipe)
    except (EOFError, pickle.UnpicklingError):
        error, answer = refuse("the library that reads it did not survive it"), None
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if error is not None:
        raise error
    return answer  # type: ignore[no-any-return]


def _answer(read: Callable[[], Any], receiving: int, sending: int, room: int) -> NoReturn:
    """In the copy: write what is read, or the error, and end without a word."""
    try:
        import resource  # there is none on Windows

        used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        most, limit = resource.getrlimit(resource.RLIMIT_DATA)
        room += used
        resource.setrlimit(resource.RLIMIT_DATA, (room if most == resource.RLIM_INFINITY else min(most, room), limit))
        os.close(receiving)
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with open(sending, "wb") as pipe:
            try:
                answer: tuple[Exception | None, Any] = None, read()
            except Exception as error:
                answer = error, None
            pickle.dump(answer, pipe, protocol=5)
    finally:
        os._exit(0)


def loaded(dataset: Any, names: Iterable[str], path: Path, refuse: Refusal) -> dict[str, Any]:
    """Variables of a dataset with their values, of a plausible size.

    Raises
    ------
    InputError
        If a variable is far larger than its file, or cannot be read.
    """
    variables, stored = {name: dataset.variables[name] for name in names}, _Stored.of(path)
    for variable in variables.values():
        chunks = variable.encoding.get("chunksizes") or variable.encoding.get("chunks")
        stored.require_array(variable.shape, chunks, variable.dtype.itemsize)
    if not path.is_dir():
        library_call(lambda: _require_written(path, variables), refuse)
    return library_call(lambda: {name: variable.load() for name, variable in variables.items()}, refuse)


def _engine(path: Path) -> str:
    """What xarray reads a file or a folder with; it is imported here."""
    import xarray  # noqa: F401

    if path.is_dir():
        import zarr  # noqa: F401

        return "zarr"
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError("is neither a file nor a folder", mend="check the path")
    with path.open("rb") as opened:
        begin = opened.read(4)
    if begin.startswith(b"CDF"):  # the classic format, which Python itself reads
        return "scipy"
    if begin == b"\x89HDF":
        import h5netcdf  # noqa: F401

        return "h5netcdf"
    raise InputError("is no NetCDF file", mend="check the file; a CSV file is read if its name ends in .csv")


def _dataset(path: Path, engine: str) -> Any:
    import xarray

    plain: dict[str, Any] = {"engine": engine, "decode_times": False, "decode_timedelta": False}
    if engine == "zarr":
        _check_zarr(path)
        plain["consolidated"] = False
    elif engine == "h5netcdf":
        _check_hdf5(path)
    return xarray.open_dataset(path, **plain)


def _check_hdf5(path: Path) -> None:
    """Refuse what leads to other files, and coordinates that are too large: they are read when the file is opened."""
    import h5py

    stored = _Stored.of(path)
    links = list[tuple[str, Any]]()
    with h5py.File(path, "r") as file:
        file.visititems_links(lambda name, link: links.append((name, link)))
        for name, link in links:
            if isinstance(link, h5py.ExternalLink):
                raise _leads_out(f"{name} is a link to {link.filename}")
        for name, link in links:
            values = file[name] if isinstance(link, h5py.HardLink) else None
            if not isinstance(values, h5py.Dataset) or values.shape is None:
                continue
            if values.external:
                raise _leads_out(f"the values of {name} are in {values.external[0][0]}")
            if values.is_virtual:
                raise _leads_out(f"{name} is put together of values elsewhere")
            size = values.dtype.itemsize
            if len(values.shape) == 1 or values.is_scale:
                stored.require_array(values.shape, values.chunks, size)
            if values.chunks and values.dtype.kind != "O":
                chunks = zip(values.shape, values.chunks, strict=True)
                size *= math.prod(-(-length // chunk) * chunk for length, chunk in chunks)
                _require_packed(name, values.id.get_storage_size(), size)


def _require_written(path: Path, variables: Mapping[str, Any]) -> None:
    """Refuse variables of HDF5 that end before their dimensions do: zeros would be read for the rest."""
    if _engine(path) != "h5netcdf":
        return
    import h5py

    with h5py.File(path, "r") as file:
        for name, variable in variables.items():
            written = file[name].shape if name in file else ()
            if len(written) == len(variable.shape) and written != variable.shape:
                shapes = [" x ".join(map(str, shape)) for shape in (written, variable.shape)]
                problem, expected = f"{name} has {shapes[0]} values", f"{shapes[1]}, the lengths of its dimensions"
                raise InputError(problem, expected, "check that the file was written to its end")


def _check_zarr(path: Path) -> None:
    """The same of a folder; what is no file there could be read for ever."""
    import zarr

    root = path.resolve()
    for entry in path.rglob("*"):
        name = entry.relative_to(path)
        if entry.is_symlink() and not entry.resolve().is_relative_to(root):
            raise _leads_out(f"{name} is a link to {os.readlink(entry)}")
        if not (entry.is_file() or entry.is_dir()):
            raise InputError(f"{name} is no file", mend="delete it, or copy the data anew")
        if entry.name in _ZARR_METADATA and entry.stat().st_size > _MOST_METADATA_BYTES:
            problem, expected = f"{name} is too large", f"at most {_MOST_METADATA_BYTES / 1e6:.0f} MB"
            raise InputError(problem, expected, "check that this is the right folder")
    stored = _Stored.of(path)
    # One after another: zarr's own walk opens all at once, and tells on standard error what nobody waited for.
    for folder in path.iterdir():
        inside = set(os.listdir(folder)) if folder.is_dir() else set()
        array = zarr.open(folder, mode="r") if _ZARR_METADATA & inside else None
        if not isinstance(array, zarr.Array):
            continue
        size = array.dtype.itemsize
        if len(array.shape) == 1 or folder.name in (getattr(array.metadata, "dimension_names", None) or ()):
            stored.require_array(array.shape, array.chunks, size)
        if array.dtype.kind == "O":
            continue
        size *= math.prod(array.shards or array.chunks)
        packed: Any = array.compressors[-1] if array.compressors and not array.shards else None
        codec = str(getattr(packed, "codec_id", None) or (packed and packed.to_dict()["name"]))
        for file in folder.rglob("*"):
            if file.name not in _ZARR_METADATA and file.is_file():
                _require_packed(folder.name, file.stat().st_size, size)
                _require_packed(folder.name, _unpacked(file, codec), size)


def _unpacked(chunk: Path, codec: str) -> int:
    """Bytes that a packed chunk says it has; 0 where it does not say."""
    with chunk.open("rb") as file:
        head = file.read(18)
        if codec == "gzip" and len(head) == 18:
            file.seek(-4, os.SEEK_END)
            return int.from_bytes(file.read(4), "little")
    if codec == "blosc":
        return int.from_bytes(head[4:8], "little")
    if codec == "zstd" and len(head) > 5:  # RFC 8878, 3.1.1.1
        single, dictionary = head[4] >> 5 & 1, (0, 1, 2, 4)[head[4] & 3]
        begin, length = 6 - single + dictionary, (single, 2, 4, 8)[head[4] >> 6]
        return int.from_bytes(head[begin : begin + length], "little") + 256 * (length == 2)
    return 0


def _leads_out(problem: str) -> InputError:
    return InputError(problem, "one file with all its values", "copy the values into one file")


class _Stored(NamedTuple):
    """Bytes of a file, or of the files in a folder, and how many files that are; none of a file."""

    size: int
    files: int = 0

    @classmethod
    def of(cls, path: Path) -> _Stored:
        """Look at a file, or into a folder."""
        if not path.is_dir():
            return cls(path.stat().st_size)
        sizes = [entry.stat().st_size for entry in path.rglob("*") if entry.is_file()]
        return cls(sum(sizes), len(sizes))

    def require_array(self, shape: Sequence[int], chunks: Sequence[int] | None, itemsize: int) -> None:
        """Refuse an array of implausible size, of chunks of such a size, or of very many that are not there."""
        size = max(itemsize, 8)  # every number is read as float64
        require_size(math.prod(shape) * size, self.size, _MOST_ARRAY_BYTES, _MOST_PACKED)
        if not chunks:
            return
        if min(chunks) < 1:
            raise InputError("has chunks of no values", mend="write the file anew")
        require_size(math.prod(chunks) * size, self.size, _MOST_ARRAY_BYTES, _MOST_PACKED)
        count = math.prod(-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True))
        if self.files and count > max(_MOST_CHUNKS, 2 * self.files):
            problem = f"declares {count:,} chunks; {self.files:,} files are there"
            raise InputError(problem, f"at most {_MOST_CHUNKS:,}, or twice the files", "check that the folder is whole")


def _require_packed(name: str, stored: int, size: int) -> None:
    """Refuse a chunk that has more bytes than its values, on disk or unpacked."""
    if stored > max(2 * size, size + _CHUNK_ROOM):
        problem = f"{name} has {stored:,} bytes for {size:,} bytes of values"
        raise InputError(problem, mend="check that the file is not damaged")


#: HDF5 that cannot write leaves its file half closed, and ends the process when it tries again at the end. So it is
#: given an object of Python's instead of a name: what the disk refuses, that object keeps to itself until HDF5 has
#: closed.
class _PatientFile(io.FileIO):
    """A file of which every write succeeds, as far as the writer sees; `failed` has the first one that did not."""

    failed: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while self.failed is None and len(rest) and (taken := super().write(rest)):
                rest = rest[taken:]  # the system may take a part
        except OSError as error:
            self.failed = error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            if self.failed is None:
                super().truncate(size)
        except OSError as error:
            self.failed = error
        return size or 0


def write_netcdf(
    dataset: Dataset, path: Path, encoding: Mapping[str, Mapping[str, Any]] | None = None, *, append: bool = False
) -> None:
    """Write a dataset, encoded as `xarray.Dataset.to_netcdf` would, to a new file, or `append` to one.

    Raises
    ------
    OSError
        If the disk is full, or the file cannot be written for another reason.
    """
    import h5netcdf  # type: ignore[import-untyped]
    from xarray.backends import H5NetCDFStore

    with _PatientFile(path, "r+" if append else "w+") as patient:
        try:
            # A signal that raised within HDF5 would end it, too.
            with deferred(), h5netcdf.File(patient, "a" if append else "w") as root:
                dataset.dump_to_store(H5NetCDFStore(root), encoding=encoding)
        except Exception as error:
            # Some versions of HDF5 look whether the file has grown, and raise an error of their own.
            raise patient.failed or error from None
        if patient.failed:
            raise patient.failed
