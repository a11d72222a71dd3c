"""Intel's OpenCL driver for CPUs in the program's own environment, named to OpenCL's loader.

Its wheels do not register it: their .icd files name a folder of the machine that built them. The loader of pyopencl's
wheels for Linux (ocl-icd) takes one folder of .icd files in `VARIABLE`, in place of the system's; it reads none of
`FILES_VARIABLE`, which the loader of those for Windows (Khronos) adds to the registry.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from reservoir.runtime import usable_folder

#: Names the folder of the drivers' .icd files, or one of them, or a driver, in place of `USUAL_FOLDER`.
VARIABLE = "OCL_ICD_VENDORS"
#: Names drivers beside those that are registered.
FILES_VARIABLE = "OCL_ICD_FILENAMES"
USUAL_FOLDER = Path("/etc/OpenCL/vendors")
#: Where the wheels put the driver, in an environment.
LIBRARIES = {"linux": "lib/libintelocl.so", "win32": "Library/bin/intelocl64.dll"}

_EXTRA = "pip install 'reservoir[intel]'"
_PREFIX = "reservoir-drivers-"
_LONGEST_NAME = 4096


def install_words() -> str:
    """What to install where there is no OpenCL, on this system."""
    if sys.platform == "linux" and platform.machine() == "x86_64":
        return (
            f"install an OpenCL driver, or PoCL for any CPU: pip install pocl-binary-distribution, or Intel's: {_EXTRA}"
        )
    if sys.platform == "win32" and platform.machine() == "AMD64":
        return f"install the OpenCL driver of your GPU or CPU, or Intel's for CPUs: {_EXTRA}"
    return "install the OpenCL driver of your GPU, or PoCL for any CPU by the system's package manager"


def mend_of_driver(cpu: bool) -> str:
    """What to do about a driver that does not work."""
    return "update its driver" + (
        f", or install Intel's for CPUs: {_EXTRA}" if cpu and LIBRARIES.get(sys.platform) else ""
    )


def own_driver() -> Path | None:
    """The driver in this environment; None if there is none, or another of its name is registered already."""
    inside = LIBRARIES.get(sys.platform)
    library = Path(sys.prefix, inside) if inside else None
    if library is None or not library.is_file() or library.name in _registered_names():
        return None
    return library


@cache
def name_own_driver() -> None:
    """Name the driver to the loader, once and before it is loaded; what the user has set is left as it is."""
    library = own_driver()
    if library is None or asked_by_user():
        return
    if sys.platform == "win32":
        os.environ[FILES_VARIABLE] = str(library)
        # Its libraries lie beside it, where Windows does not look by itself.
        os.environ["PATH"] = f"{library.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return
    folder = _folder_with(library)
    if folder is not None:
        os.environ[VARIABLE] = str(folder)


def asked_by_user() -> bool:
    """Whether a variable names drivers that is not `name_own_driver`'s, in this process or in the one it came from."""
    folder, files = (os.environ.get(name, "") for name in (VARIABLE, FILES_VARIABLE))
    own = own_driver()
    of_user = folder and not Path(folder).name.startswith(_PREFIX), files and files != str(own)
    return any(of_user)


def library_in(file: Path) -> str:
    """The driver that an .icd file names; OSError if it cannot be read."""
    with open(file, encoding="utf-8", errors="replace") as opened:
        return opened.readline(_LONGEST_NAME).strip()


def _registered_names() -> set[str]:
    """Names of the drivers that the system registers, and of those that are there and the environment's files name.

    The latter of an environment whose loader reads these, such as conda's.
    """
    names = {Path(library).name for library in _libraries(USUAL_FOLDER)}
    inside = _libraries(Path(sys.prefix, "etc/OpenCL/vendors"))
    return names | {Path(library).name for library in inside if Path(library).is_file()}


def _libraries(folder: Path) -> list[str]:
    return [text.split("\n")[0].strip() for text in _texts(folder).values()]


def _texts(folder: Path) -> Mapping[str, str]:
    """The .icd files of a folder that can be read, by their names."""
    found = {}
    for file in sorted(folder.glob("*.icd")):
        try:
            found[file.name] = library_in(file)
        except OSError:  # `registered.broken_drivers` tells of it
            continue
    return found


def _folder_with(library: Path) -> Path | None:
    """A folder of the system's .icd files and one for a driver; None where nothing can be written."""
    base = usable_folder("drivers")
    if base is None:
        return None
    texts = {**_texts(USUAL_FOLDER), "reservoir-own.icd": str(library)}
    folder = base / f"{_PREFIX}{hashlib.sha256(repr(texts).encode()).hexdigest()[:16]}"
    try:
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            write_small(folder / name, f"{text}\n")
    except OSError:
        return None
    return folder


def write_small(file: Path, text: str) -> None:
    """Write a small file at once, which another process may be writing too."""
    if file.is_file() and file.read_bytes() == text.encode():
        return
    descriptor, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
    os.replace(draft, file)
