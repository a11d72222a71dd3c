"""The OpenCL drivers of a machine: which file each lies in, how it was registered, and which cannot be loaded.

The loader of OpenCL skips drivers that cannot be loaded, and says nothing. Intel's driver for CPUs, where it is in the
program's own environment, is named to the loader here: its wheels do not register it, for their .icd files name a
folder of the machine that built them. The loader of pyopencl's wheels for Linux (ocl-icd) takes one folder of .icd
files in `VENDORS_VARIABLE`, in place of the system's; it reads none of `FILES_VARIABLE`, which the loader of those for
Windows (Khronos) adds to the registry.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform as system
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.errors import Mistake
from reservoir.runtime import usable_folder, write_at_once

if TYPE_CHECKING:
    import pyopencl as cl

#: Names the folder of the drivers' .icd files, or one of them, or a driver, in place of `USUAL_FOLDER`.
VENDORS_VARIABLE = "OCL_ICD_VENDORS"
#: Names drivers beside those that are registered.
FILES_VARIABLE = "OCL_ICD_FILENAMES"
USUAL_FOLDER = Path("/etc/OpenCL/vendors")
#: Where the wheels put Intel's driver, in an environment.
LIBRARIES = {"linux": "lib/libintelocl.so", "win32": "Library/bin/intelocl64.dll"}
#: Ways in which a driver is registered, beside the variable that names it.
SYSTEM, OWN_ENVIRONMENT = "system", "own environment"

_EXTRA = "pip install 'reservoir[intel]'"
_PREFIX = "reservoir-drivers-"
_LONGEST_NAME = 4096
_MOST_PLATFORMS = 16
_AGAIN = "install the driver again with its libraries, or remove this file"


@dataclass(frozen=True)
class Driver:
    """A driver that the loader is told of.

    Parameters
    ----------
    library : str
        Its file: a path, or a name that the system looks up; empty if the .icd file cannot be read.
    registered : str
        `SYSTEM`, `OWN_ENVIRONMENT` or the variable that names it.
    file : str
        The .icd file that names it; empty if none does.
    unreadable : str
        Why the .icd file cannot be read.
    """

    library: str
    registered: str
    file: str = ""
    unreadable: str = ""


def install_words() -> str:
    """What to install where there is no OpenCL, on this system."""
    if sys.platform == "linux" and system.machine() == "x86_64":
        return (
            f"install an OpenCL driver, or PoCL for any CPU: pip install pocl-binary-distribution, or Intel's: {_EXTRA}"
        )
    if sys.platform == "win32" and system.machine() == "AMD64":
        return f"install the OpenCL driver of your GPU or CPU, or Intel's for CPUs: {_EXTRA}"
    return "install the OpenCL driver of your GPU, or PoCL for any CPU by the system's package manager"


def mend_of_driver(cpu: bool) -> str:
    """What to do about a driver that does not work."""
    other = f", or install Intel's for CPUs: {_EXTRA}" if cpu and LIBRARIES.get(sys.platform) else ""
    return f"update its driver{other}"


def registered_drivers() -> list[Driver]:
    """The drivers that the loader is told of; of those in Windows' registry none."""
    if not asked_by_user():
        own = own_driver()
        return [*_of_folder(USUAL_FOLDER, SYSTEM), *([Driver(str(own), OWN_ENVIRONMENT)] if own else [])]
    files = filter(None, os.environ.get(FILES_VARIABLE, "").split(os.pathsep))
    drivers = [Driver(library, FILES_VARIABLE) for library in files]
    asked = os.environ.get(VENDORS_VARIABLE, "")
    if asked and Path(asked).is_file() and Path(asked).suffix != ".icd":
        return [*drivers, Driver(asked, VENDORS_VARIABLE)]
    of_folder = _of_folder(Path(asked), VENDORS_VARIABLE) if asked else _of_folder(USUAL_FOLDER, SYSTEM)
    return [*drivers, *of_folder]


def driver_of(platform: cl.Platform) -> Driver | None:
    """The driver that a platform belongs to; None where that cannot be told."""
    known, spec = registered_drivers(), find_spec("pyopencl")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        # Wheels put drivers (PoCL) into pyopencl's own folder, where its loader looks.
        for driver in _of_folder(Path(package, ".libs"), OWN_ENVIRONMENT):
            known.append(Driver(str(Path(package, ".libs", driver.library)), OWN_ENVIRONMENT, driver.file))
    return next((driver for driver in known if platform.int_ptr in _platforms_of(driver.library)), None)


def broken_drivers() -> list[Mistake]:
    """Find registered drivers that cannot be loaded, with what their loading says."""
    asked = os.environ.get(VENDORS_VARIABLE, "") if asked_by_user() else ""
    if asked and not Path(asked).exists():
        mend = f"unset it, or set it to a folder of .icd files, such as {USUAL_FOLDER}"
        return [Mistake("the folder or file does not exist", mend=mend, column=VENDORS_VARIABLE, value=asked)]
    return [mistake for driver in registered_drivers() if (mistake := _why_broken(driver))]


@cache
def name_own_driver() -> None:
    """Name Intel's driver to the loader, once and before it is loaded; what the user has set is left as it is."""
    library = own_driver()
    if library is None or asked_by_user():
        return
    if sys.platform == "win32":
        os.environ[FILES_VARIABLE] = str(library)
        # Its libraries lie beside it, where Windows does not look by itself.
        os.environ["PATH"] = f"{library.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    elif folder := _folder_with(library):
        os.environ[VENDORS_VARIABLE] = str(folder)


def asked_by_user() -> bool:
    """Whether a variable names drivers that is not `name_own_driver`'s, in this process or in the one it came from."""
    folder, files = os.environ.get(VENDORS_VARIABLE, ""), os.environ.get(FILES_VARIABLE, "")
    return bool(folder and not Path(folder).name.startswith(_PREFIX)) or bool(files and files != str(own_driver()))


def own_driver() -> Path | None:
    """Intel's driver in this environment; None if there is none, or another of its name is registered already.

    Registered are those of the system, and those that are there and the environment's own files name, where its loader
    reads these, such as conda's.
    """
    inside = LIBRARIES.get(sys.platform)
    library = Path(sys.prefix, inside) if inside else None
    if library is None or not library.is_file():
        return None
    of_environment = _of_folder(Path(sys.prefix, "etc/OpenCL/vendors"), OWN_ENVIRONMENT)
    others = {Path(driver.library).name for driver in _of_folder(USUAL_FOLDER, SYSTEM)}
    others |= {Path(driver.library).name for driver in of_environment if Path(driver.library).is_file()}
    return None if library.name in others else library


def _of_folder(place: Path, registered: str) -> Iterator[Driver]:
    """Drivers that the .icd files of a folder name, or one such file."""
    for file in sorted(place.glob("*.icd")) if place.is_dir() else [place] if place.exists() else []:
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:
                yield Driver(opened.readline(_LONGEST_NAME).strip(), registered, str(file))
        except OSError as error:
            yield Driver("", registered, str(file), f"cannot be read ({error.strerror})")


def _why_broken(driver: Driver) -> Mistake | None:
    if driver.unreadable:
        return Mistake(driver.unreadable, mend="make it readable, or remove it", file=driver.file)
    try:
        ctypes.CDLL(driver.library)
    except (OSError, ValueError) as error:
        problem = f"its driver cannot be loaded: {error}"
        if driver.registered == OWN_ENVIRONMENT:
            return Mistake(problem, mend=f"install it with its libraries: {_EXTRA}", file=driver.library)
        if driver.file:
            return Mistake(problem, mend=_AGAIN, file=driver.file, value=driver.library)
        mend = "unset it, or name a driver that can be loaded"
        return Mistake(problem, mend=mend, column=driver.registered, value=driver.library)
    return None


def _platforms_of(library: str) -> set[int]:
    """The handles of a loaded driver's platforms, as the extension cl_khr_icd tells them."""
    try:
        address = ctypes.CDLL(library).clGetExtensionFunctionAddress
    except (OSError, ValueError, AttributeError):
        return set()
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    function = address(b"clIcdGetPlatformIDsKHR")
    if not function:
        return set()
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(function)
    handles, count = (ctypes.c_void_p * _MOST_PLATFORMS)(), ctypes.c_uint(0)
    if ask(_MOST_PLATFORMS, handles, ctypes.byref(count)) != 0:
        return set()
    return {handle for handle in handles[: count.value] if handle}


def _folder_with(library: Path) -> Path | None:
    """A folder of the system's .icd files and one for a driver; None where nothing can be written."""
    base = usable_folder("drivers")
    if base is None:
        return None
    readable = (driver for driver in _of_folder(USUAL_FOLDER, SYSTEM) if not driver.unreadable)
    texts = {**{Path(driver.file).name: driver.library for driver in readable}, "reservoir-own.icd": str(library)}
    folder = base / f"{_PREFIX}{hashlib.sha256(repr(texts).encode()).hexdigest()[:16]}"
    try:
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            file, content = folder / name, f"{text}\n".encode()
            if not (file.is_file() and file.read_bytes() == content):
                write_at_once(file, content)
    except OSError:
        return None
    return folder
