"""Whether commas and points in numbers are decimal marks or stand between thousands, from all numbers of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from reservoir.errors import Mistake

_SIGN = r"[+-]?"
#: Commas that can only be decimal marks, or only separators of thousands; what is neither here nor there is ambiguous.
_DECIMAL_COMMA = re.compile(
    rf"{_SIGN}(\d+|\d{{1,3}}(\.\d{{3}})+),(\d{{1,2}}|\d{{4,}})|{_SIGN}\d{{1,3}}(\.\d{{3}})+,\d+"
)
_DECIMAL_COMMA_TOO = re.compile(rf"{_SIGN}(0|\d{{4,}}),\d+")
_THOUSANDS_COMMA = re.compile(rf"{_SIGN}\d{{1,3}}(,\d{{3}})+\.\d*|{_SIGN}\d{{1,3}}(,\d{{3}}){{2,}}")
_EITHER = re.compile(rf"{_SIGN}[1-9]\d{{0,2}},\d{{3}}")
_THOUSANDS_POINT = re.compile(rf"({_SIGN}\d{{1,3}})((?:\.\d{{3}})+)(,\d*)?")


@dataclass(frozen=True)
class NumberStyle:
    """What commas in the numbers of a file are.

    Parameters
    ----------
    decimal_commas, thousands_commas : bool
        Whether some number says so beyond doubt.
    example : str
        A number with a comma.
    quoted : bool
        Whether commas also stand between cells: a number with one then stands in quotation marks.
    """

    decimal_commas: bool = False
    thousands_commas: bool = False
    example: str = ""
    quoted: bool = False

    @cached_property
    def commas_are(self) -> str:
        """``decimal`` or ``thousands``; empty where nobody knows."""
        if self.decimal_commas != self.thousands_commas:
            return "decimal" if self.decimal_commas else "thousands"
        # A spreadsheet quotes 1,470 where commas stand between cells, and no decimal comma looks like it there.
        return "thousands" if self.quoted and not self.decimal_commas else ""

    def plain(self, text: str) -> str:
        """A number as Python writes it; what is no number stays."""
        if self.commas_are == "decimal":
            grouped = _THOUSANDS_POINT.fullmatch(text)
            text = grouped[1] + grouped[2].replace(".", "") + (grouped[3] or "") if grouped else text
            return text.replace(",", ".") if re.fullmatch(rf"{_SIGN}\d*,\d*", text) else text
        if self.commas_are == "thousands" and (_THOUSANDS_COMMA.fullmatch(text) or _EITHER.fullmatch(text)):
            return text.replace(",", "")
        return text

    def parsed(self, text: str, parse: Callable[[str], float | Mistake]) -> float | Mistake:
        """Read a number in this style."""
        return _ambiguous(text) if not self.commas_are and _EITHER.fullmatch(text) else parse(self.plain(text))

    @property
    def notes(self) -> tuple[str, ...]:
        """How commas were read."""
        if not self.example or not self.commas_are:
            return ()
        kind = "decimal marks" if self.commas_are == "decimal" else "separators of thousands"
        return (f"commas in numbers are {kind}: {self.example} is {self.plain(self.example)}",)


def number_style(texts: Iterable[str], delimiter: str) -> NumberStyle:
    """Look for numbers that say what their commas are."""
    decimal = thousands = False
    example = ""
    for text in texts:
        if "," in text:
            is_decimal = bool(_DECIMAL_COMMA.fullmatch(text) or _DECIMAL_COMMA_TOO.fullmatch(text))
            is_thousands = _THOUSANDS_COMMA.fullmatch(text) is not None
            decimal, thousands = decimal or is_decimal, thousands or is_thousands
            if not example and (is_decimal or is_thousands or _EITHER.fullmatch(text)):
                example = text
    return NumberStyle(decimal, thousands, example, delimiter == ",")


def _ambiguous(text: str) -> Mistake:
    thousands, decimal = text.replace(",", ""), text.replace(",", ".")
    problem = f"the comma may be a decimal mark or separate thousands: {decimal} or {thousands}"
    return Mistake(
        problem, "a number such as 413 or 412.5", f"write {thousands}, or {decimal}0 if it is a decimal mark"
    )
