"""Find the files that come with the package: the top-level folders ``kernels/`` and ``data/``.

In a checkout or an editable install these folders stand beside the package; a wheel carries them inside it.
"""

from __future__ import annotations

from pathlib import Path

from reservoir.errors import ReservoirError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Find one of the package's folders.

    Parameters
    ----------
    name : str
        ``"kernels"`` or ``"data"``.

    Raises
    ------
    ReservoirError
        If this installation lacks the folder.
    """
    # Inside first: beside an installed package stand the folders of other packages.
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise ReservoirError(f"The folder {name}/ is missing from this installation of reservoir; install it again.")


def path(folder_name: str, name: str) -> Path:
    """Find one file of a folder, e.g. ``path("data", "cases.toml")``.

    Raises
    ------
    ReservoirError
        If the folder or the file is missing.
    """
    place = folder(folder_name) / name
    if not place.is_file():
        raise ReservoirError(f"{folder_name}/ has no file {name}; looked for {place}.")
    return place


def text(folder_name: str, name: str) -> str:
    """Read one file of a folder, e.g. ``text("kernels", "common/rng/philox.cl")``.

    Raises
    ------
    ReservoirError
        If the folder or the file is missing.
    """
    return path(folder_name, name).read_text(encoding="utf-8")
