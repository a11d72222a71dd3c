"""The OpenCL drivers of a machine: which file each lies in, how it was registered, and which cannot be loaded.

The loader of OpenCL skips drivers that cannot be loaded, and says nothing.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.errors import Mistake
from reservoir.opencl.own_driver import FILES_VARIABLE, USUAL_FOLDER, VARIABLE, asked_by_user, library_in, own_driver

if TYPE_CHECKING:
    import pyopencl as cl

#: Ways in which a driver is registered, beside the variable that names it.
SYSTEM, OWN_ENVIRONMENT = "system", "own environment"
_MOST_PLATFORMS = 16
_AGAIN = "install the driver again with its libraries, or remove this file"
_ITS_LIBRARIES = "install it with its libraries: pip install 'reservoir[intel]'"


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


def registered_drivers() -> list[Driver]:
    """The drivers that the loader is told of; of those in Windows' registry none."""
    own, asked = own_driver(), asked_by_user()
    found = list(_of_variables() if asked else _of_folder(USUAL_FOLDER, SYSTEM))
    if own is not None and not asked:
        found.append(Driver(str(own), OWN_ENVIRONMENT))
    return found


def driver_of(platform: cl.Platform) -> Driver | None:
    """The driver that a platform belongs to; None where that cannot be told."""
    known = (*registered_drivers(), *_bundled_drivers())
    return next((driver for driver in known if platform.int_ptr in _platforms_of(driver.library)), None)


def broken_drivers() -> list[Mistake]:
    """Find registered drivers that cannot be loaded, with what their loading says."""
    asked = os.environ.get(VARIABLE, "") if asked_by_user() else ""
    if asked and not Path(asked).exists():
        mend = f"unset it, or set it to a folder of .icd files, such as {USUAL_FOLDER}"
        return [Mistake("the folder or file does not exist", mend=mend, column=VARIABLE, value=asked)]
    return [mistake for driver in registered_drivers() for mistake in _why_broken(driver)]


def _of_variables() -> Iterator[Driver]:
    for library in filter(None, os.environ.get(FILES_VARIABLE, "").split(os.pathsep)):
        yield Driver(library, FILES_VARIABLE)
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        yield from _of_folder(USUAL_FOLDER, SYSTEM)
    elif Path(asked).is_file() and Path(asked).suffix != ".icd":
        yield Driver(asked, VARIABLE)
    else:
        yield from _of_folder(Path(asked), VARIABLE)


def _of_folder(place: Path, registered: str) -> Iterator[Driver]:
    """Drivers that the .icd files of a folder name, or one such file."""
    for file in sorted(place.glob("*.icd")) if place.is_dir() else [place] if place.exists() else []:
        try:
            yield Driver(library_in(file), registered, str(file))
        except OSError as error:
            yield Driver("", registered, str(file), f"cannot be read ({error.strerror})")


def _bundled_drivers() -> Iterator[Driver]:
    """Drivers that wheels put into pyopencl's own folder, where its loader looks: PoCL."""
    spec = find_spec("pyopencl")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        for driver in _of_folder(Path(package, ".libs"), OWN_ENVIRONMENT):
            yield Driver(str(Path(package, ".libs", driver.library)), OWN_ENVIRONMENT, driver.file)


def _why_broken(driver: Driver) -> list[Mistake]:
    if driver.unreadable:
        return [Mistake(driver.unreadable, mend="make it readable, or remove it", file=driver.file)]
    try:
        ctypes.CDLL(driver.library)
    except (OSError, ValueError) as error:
        problem = f"its driver cannot be loaded: {error}"
        if driver.registered == OWN_ENVIRONMENT:
            return [Mistake(problem, mend=_ITS_LIBRARIES, file=driver.library)]
        column, value = ("", driver.library) if driver.file else (driver.registered, driver.library)
        mend = _AGAIN if driver.file else "unset it, or name a driver that can be loaded"
        return [Mistake(problem, mend=mend, file=driver.file, column=column, value=value)]
    return []


def _platforms_of(library: str) -> set[int]:
    """The handles of a loaded driver's platforms, as the extension cl_khr_icd tells them."""
    try:
        loaded = ctypes.CDLL(library)
        address = loaded.clGetExtensionFunctionAddress
    except (OSError, ValueError, AttributeError):
        return set()
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    found = address(b"clIcdGetPlatformIDsKHR")
    if not found:
        return set()
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(found)
    handles, count = (ctypes.c_void_p * _MOST_PLATFORMS)(), ctypes.c_uint(0)
    if ask(_MOST_PLATFORMS, handles, ctypes.byref(count)) != 0:
        return set()
    return {handle for handle in handles[: count.value] if handle}
