"""Fits of rules that are kept on the disk, so that a run that ends early goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import reservoir as package
from reservoir.io.rule_file import MOST_BYTES
from reservoir.rules import Forecast, Rule, Training, fit, rule_from_dict
from reservoir.runtime import remember
from reservoir.text.quantities import counted
from reservoir.text.strict_json import read_json

_ENDING = ".json"
#: What of a reservoir no fit depends on; the reservoir stands for the model that is made of it.
_WORDS = {"description", "caveat", "source", "sha256", "content", "marks"}


class KeptFits:
    """Fits rules as `reservoir.rules.fit` does, and takes the fits that an earlier run left in a folder.

    A fit is known by its family, forecast and training years, the reservoir among them, and by the source of the
    program. One that cannot be written is not kept; one that cannot be read is fitted again.

    Parameters
    ----------
    folder : Path
        Made when the first fit is kept; a link is not followed.
    tell : callable
        Told in words that fits of an earlier run are taken, and where they are when this run ends with an error.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None] = lambda words: None) -> None:
        self.folder, self._tell = folder, tell
        self._count, self._taken = 0, 0

    def __enter__(self) -> KeptFits:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say what an error leaves behind; of an interruption `reservoir.runtime` does."""
        if isinstance(error, Exception) and self._count:
            self._tell(self._left)

    def __call__(self, family: str, training: Training, forecast: Forecast) -> Rule:
        """Fit a rule, or take it."""
        digest = hashlib.sha256(f"{_program()} {family} {forecast} ".encode())
        _feed(digest, training)
        path = self.folder / f"{family}-{digest.hexdigest()[:32]}{_ENDING}"
        rule = self._read(path, family)
        if rule is None:
            rule = fit(family, training, forecast)
            self._write(path, rule)
        elif not self._taken:
            self._tell(f"Fits of an earlier run are kept in {self.folder}: those that would be the same are taken")
        self._taken += 1
        return rule

    def remove(self) -> None:
        """Remove all fits, once the rules are written."""
        remember("")
        self._count = 0
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _left(self) -> str:
        return f"{counted(self._count, 'fit')} kept in {self.folder}: the same call goes on from there"

    def _read(self, path: Path, family: str) -> Rule | None:
        if self.folder.is_symlink():
            return None
        try:
            content = read_json(path, MOST_BYTES)
            rule = rule_from_dict(content["rule"])
            sound = content["sha256"] == _sha256(content["rule"]) and rule.family == family
        except Exception:  # whatever is wrong with it, it can be fitted
            return None
        self._counted()
        return rule if sound else None

    def _write(self, path: Path, rule: Rule) -> None:
        content = rule.to_dict()
        draft = path.with_suffix(".next")
        with suppress(OSError, ValueError):
            if self.folder.is_symlink():
                return
            self.folder.mkdir(exist_ok=True)
            draft.write_text(json.dumps({"rule": content, "sha256": _sha256(content)}, allow_nan=False))
            os.replace(draft, path)
            self._counted()

    def _counted(self) -> None:
        self._count += 1
        remember(self._left)


def _sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@cache
def _program() -> str:
    """What tells one program from another: its version, and its source."""
    root = Path(package.__file__).parent
    digest = hashlib.sha256(f"{package.__version__} {np.__version__}".encode())
    for source in sorted(root.rglob("*.py")):
        digest.update(f"{source.relative_to(root)} ".encode() + source.read_bytes())
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Add a value, with all that it is made of, to a digest."""
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape} ".encode() + np.ascontiguousarray(value).tobytes())
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in _WORDS:
                digest.update(f"{field.name} ".encode())
                part = getattr(value, field.name)
                _feed(digest, part.reservoir if field.name == "model" else part)
    elif isinstance(value, Mapping):
        _feed(digest, sorted((str(name), each) for name, each in value.items()))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        digest.update(f"{len(value)} ".encode())
        for each in value:
            _feed(digest, each)
    else:
        digest.update(f"{value!r} ".encode())
