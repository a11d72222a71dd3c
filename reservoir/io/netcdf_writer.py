"""Write NetCDF so that a full disk is an error like any other.

HDF5 that cannot write leaves its file half closed, and ends the process when it tries again at the end. So it is given
an object of Python's instead of a name: what the disk refuses, that object keeps to itself until HDF5 has closed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reservoir.interrupts import deferred
from reservoir.planning.schedule import Dataset


class _PatientFile(io.RawIOBase):
    """A file of which every write succeeds, as far as the writer sees; `failed` has the first one that did not."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.failed: OSError | None = None

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(buffer) or 0

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        while len(rest):  # the system may take a part
            taken = self._tried(lambda part=rest: self._file.write(part))  # type: ignore[misc]
            if not taken:
                break
            rest = rest[taken:]
        return size

    def truncate(self, size: int | None = None) -> int:
        self._tried(lambda: self._file.truncate(size))
        return size or 0

    def _tried(self, action: Callable[[], int | None]) -> int | None:
        if self.failed is None:
            try:
                return action()
            except OSError as error:
                self.failed = error
        return None


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

    with path.open("r+b" if append else "w+b", buffering=0) as file:
        patient = _PatientFile(file)
        try:
            # A signal that raised within HDF5 would end it, too.
            with deferred(), h5netcdf.File(patient, "a" if append else "w") as root:
                dataset.dump_to_store(H5NetCDFStore(root), encoding=encoding)
        except Exception as error:
            # Some versions of HDF5 look whether the file has grown, and raise an error of their own.
            raise patient.failed or error from None
        if patient.failed:
            raise patient.failed
