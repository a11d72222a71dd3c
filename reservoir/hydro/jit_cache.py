"""Compiled code on disk that never fails a run: damaged code is recompiled; on a full disk nothing is stored."""

from __future__ import annotations

import pickle
import shutil
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

_SUM_BYTES = 4


class SummedFile(IndexDataCacheFile):  # type: ignore[misc]
    """A function's files with a check sum at the end of each: machine code with one wrong byte ends the process."""

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + _sum(data)  # readers of pickles stop where the pickle ends

    def _load_data(self, name: str) -> Any:
        try:
            content = Path(self._data_path(name)).read_bytes()
        except IsADirectoryError as error:  # numba takes any error of the system for a file that is not there
            raise ValueError(f"{name} is no file") from error
        data, checked = content[:-_SUM_BYTES], content[-_SUM_BYTES:]
        if _sum(data) != checked:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(data)


class KeptCode(FunctionCache):  # type: ignore[misc]
    """A function's compiled code on disk."""

    _cache_file: IndexDataCacheFile

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        given = self._cache_file
        self._cache_file = SummedFile(self._cache_path, self._impl.filename_base, given._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read what is kept for a signature; None if nothing is, or if it is damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises whatever its bytes happen to mean
            self._remove()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if it can be kept."""
        with suppress(Exception):
            super().save_overload(sig, data)

    def _remove(self) -> None:
        for path in Path(self._cache_path).glob(f"{self._impl.filename_base}.*"):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _sum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_SUM_BYTES, "big")
