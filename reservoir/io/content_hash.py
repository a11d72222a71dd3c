"""Hash of what a file, or a folder with all its files, holds."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path


def content_sha256(path: Path) -> str:
    """SHA-256 of a file, which may be large; of a folder, of its files with their names.

    Raises
    ------
    OSError
        If it is not there, or cannot be read: a pipe or a device may never end.
    """
    if not path.is_dir():
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    whole = hashlib.sha256()
    for each in sorted(path.rglob("*")):
        if each.is_file():
            whole.update(f"{each.relative_to(path).as_posix()}\0{content_sha256(each)}\n".encode())
    return whole.hexdigest()
