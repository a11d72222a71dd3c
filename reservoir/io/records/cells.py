"""One cell of numbers -> a flow, or a mistake; what its commas are; and which numbers are codes, or negative flows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import month_name
from reservoir.hydro.unit_system import UnitText
from reservoir.io.records import words as known
from reservoir.text.quantities import counted

#: How to mend a row of means and totals, and a month whose value is not known.
NO_SUMMARY = "delete rows of means and totals"
FILL_IN = "fill in the month's value, or keep only the complete part of the record"
# Python's own float() and int() also take "1_000", full-width digits and the like.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_FLOW = "a number of 0 or more"
_INFINITE = Mistake("infinite flow", "a finite number", "correct the value")
_MISSING = Mistake("missing value", _FLOW, FILL_IN)
_MISSING_CODE = Mistake("negative flow, probably a missing-value code", _FLOW, FILL_IN)
_CODE = Mistake("looks like a missing-value code", "the flow or volume of the month", FILL_IN)
_BALANCE = "correct the value; if it is computed from a reservoir balance, choose --negative keep or --negative zero"
_NEGATIVE = Mistake("negative flow", _FLOW, _BALANCE)


def parse_flow(text: str) -> float | Mistake:
    """Read a flow or a volume: finite and not negative."""
    number = parse_number(text)
    return number if isinstance(number, Mistake) or number >= 0 else no_flow(number)


def parse_number(text: str) -> float | Mistake:
    """Read a finite number of either sign."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        return _INFINITE if math.isinf(number) else number + 0.0  # no -0.0
    if text.casefold() in known.MISSING_WORDS:
        return _MISSING
    if _INFINITY.fullmatch(text):
        return _INFINITE
    mend = "use only the digits 0 to 9, without unit or remark"
    if re.fullmatch(r"[+-]?[0-9.,_' \u00a0\u202f]+", text):
        mend = "use a decimal point and no thousands separator: 1412.5"
    return Mistake("not a number", "a number such as 413 or 412.5", mend)


def no_flow(number: float, code: bool | None = None) -> Mistake:
    """Refuse a number that is negative, or a code of a missing value."""
    if is_known_code(number) if code is None else code:
        return _MISSING_CODE if number < 0 else _CODE
    return _NEGATIVE


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value."""
    number = parse_number(text)
    return number is _MISSING if isinstance(number, Mistake) else bool(is_known_code(number))


def looks_like_number(text: str) -> bool:
    """Whether a cell is a number, however its thousands and decimals are written."""
    return re.fullmatch(r"[+-]?\d[\d.,]*(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE) is not None


_SIGN = r"[+-]?"
#: Commas that can only be decimal marks, or only separators of thousands; what is neither here nor there is ambiguous.
_DECIMAL_COMMA = re.compile(
    rf"{_SIGN}(\d+|\d{{1,3}}(\.\d{{3}})+),(\d{{1,2}}|\d{{4,}})|{_SIGN}\d{{1,3}}(\.\d{{3}})+,\d+"
)
_DECIMAL_COMMA_TOO = re.compile(rf"{_SIGN}(0|\d{{4,}}),\d+")
_THOUSANDS_COMMA = re.compile(rf"{_SIGN}\d{{1,3}}(,\d{{3}})+\.\d*|{_SIGN}\d{{1,3}}(,\d{{3}}){{2,}}")
_EITHER = re.compile(rf"{_SIGN}[1-9]\d{{0,2}},\d{{3}}")
_THOUSANDS_POINT = re.compile(rf"({_SIGN}\d{{1,3}})((?:\.\d{{3}})+)(,\d*)?")


class NumberStyle(NamedTuple):
    """What commas in the numbers of a file are."""

    #: ``decimal`` or ``thousands``; empty where nobody knows.
    commas_are: str = ""
    #: A number with a comma.
    example: str = ""
    #: Words in the place of a flow of zero, as often as they stand there.
    zeros: tuple[str, ...] = ()

    def plain(self, text: str) -> str:
        """A number as Python writes it; what is no number stays."""
        if self.zeros and text.casefold() in known.ZERO_WORDS:
            return "0"
        if self.commas_are == "decimal":
            grouped = _THOUSANDS_POINT.fullmatch(text)
            text = grouped[1] + grouped[2].replace(".", "") + (grouped[3] or "") if grouped else text
            return text.replace(",", ".") if re.fullmatch(rf"{_SIGN}\d*,\d*", text) else text
        if self.commas_are == "thousands" and (_THOUSANDS_COMMA.fullmatch(text) or _EITHER.fullmatch(text)):
            return text.replace(",", "")
        return text

    def parsed(self, text: str, parse: Callable[[str], float | Mistake]) -> float | Mistake:
        """Read a number in this style."""
        if self.commas_are or not _EITHER.fullmatch(text):
            return parse(self.plain(text))
        thousands, decimal = text.replace(",", ""), text.replace(",", ".")
        problem = f"the comma may be a decimal mark or separate thousands: {decimal} or {thousands}"
        mend = f"write {thousands}, or {decimal}0 if it is a decimal mark"
        return Mistake(problem, "a number such as 413 or 412.5", mend)

    @property
    def notes(self) -> tuple[str, ...]:
        """How commas were read, and words."""
        notes = [
            f"{word} is read as a flow of zero ({counted(times, 'cell')})"
            for word, times in Counter(self.zeros).items()
        ]
        if self.example and self.commas_are:
            kind = "decimal marks" if self.commas_are == "decimal" else "separators of thousands"
            notes.append(f"commas in numbers are {kind}: {self.example} is {self.plain(self.example)}")
        return tuple(notes)


def number_style(texts: Iterable[str], delimiter: str, *, flows: bool = False) -> NumberStyle:
    """Look for numbers that say what their commas are; among flows also for words that stand for zero."""
    decimal, thousands, example, zeros = False, False, "", list[str]()
    for text in texts:
        if flows and text.casefold() in known.ZERO_WORDS:
            zeros.append(text)
        if "," not in text:
            continue
        is_decimal = bool(_DECIMAL_COMMA.fullmatch(text) or _DECIMAL_COMMA_TOO.fullmatch(text))
        is_thousands = _THOUSANDS_COMMA.fullmatch(text) is not None
        decimal, thousands = decimal or is_decimal, thousands or is_thousands
        example = example or (text if is_decimal or is_thousands or _EITHER.fullmatch(text) else "")
    # Where commas stand between cells, a number with one is in quotation marks: a spreadsheet writes "1,470" so, and no
    # decimal comma looks like it there.
    separates = not decimal if decimal != thousands else delimiter == "," and not decimal
    commas_are = "decimal" if decimal and not thousands else "thousands" if separates else ""
    return NumberStyle(commas_are, example, tuple(zeros))


BoolArray = NDArray[np.bool_]
# Codes: HEC-DSS writes -901, -902 and the lowest float32, the gauging services -999 and its like, CDEC -9998, NetCDF
# 9.96921e36, models 1e20 or 1e30, old tables 9999, integers their lowest number. Others show by where they stand:
# errors of a reservoir's balance vary, and are no larger than all that flows in.
#: 99, 999, 9999.99 and their like, each also as float32 has it.
_NINES = [10.0**digits - 1 for digits in range(2, 13)]
_NINES += [round(10.0**digits - 10.0**-more, more) for digits in range(2, 8) for more in range(1, 5)]
#: Positive codes beside these: of Hydromet, of Chinese meteorological tables and of integers.
_OTHERS = [998_877.0, 32_744.0, 32_766.0, 32_767.0, 2_147_483_647.0]
_REPEATED = [float(digit * count) for digit in "123456789" for count in range(4, 8)]
_BELOW_NINES = [10.0**digits - below for digits in range(4, 7) for below in range(2, 6)]
#: No flow and no volume is so large in any unit: the Amazon carries 5e11 m3 a month. Programs take 1e20 to the largest
#: float32, or the largest float64; what lies between is a slip.
_LARGEST, _LARGEST_FLOAT32, _LARGEST_FLOAT64 = 1e15, 1e40, 1.7e308
#: From how many times the largest other value a positive code stands out, however often it stands there; a short one
#: may be a flood of a small river, and is no news among other values.
_STANDS_OUT, _SHORT_STANDS_OUT, _SHORT = 2.0, 5.0, 100.0
#: A flow is followed by one that differs by less than this part of it; a code in a row is not.
_NEAR = 0.25
#: Different numbers that may be codes, and from how many times all others these stand out by their size alone.
_PEAKS, _FAR = 4, 10.0
#: A negative value below so many times the largest inflow is no error of a balance.
_BEYOND_BALANCE = 10.0
#: Equal negative values one after another, and in the whole record if there are no others, that are no errors of a
#: balance either; so many of a few steps of rounding.
_RUN, _ALL_EQUAL, _LONG_RUN, _ROUNDING_STEPS = 3, 5, 10, 5.0


def _with_float32(codes: list[float]) -> NDArray[np.float64]:
    given = np.array(codes)
    single = given.astype(np.float32).astype(np.float64)
    return np.unique(np.append(given, single[(np.abs(single - given) < 0.005) & (single % 10 != 0)]))


_POSITIVE_CODES = _with_float32([*_NINES, *_OTHERS, *_BELOW_NINES])
#: Without their signs: numbers that no balance gives by chance.
_NO_ERRORS = [901.0, 902.0, 6_999.0, 32_768.0, 2_147_483_648.0, 123_456.0, 666.0, 777.0, 888.0, 888.8, 888.88]
_NEGATIVE_CODES = -_with_float32([*_NO_ERRORS, *_NINES, *_OTHERS, *_REPEATED, *_BELOW_NINES])


def is_known_code(values: ArrayLike) -> BoolArray:
    """Whether numbers mean that there is no value, whatever stands beside them."""
    size = np.abs(values)
    huge = ((size >= _LARGEST) & (size < _LARGEST_FLOAT32)) | (size >= _LARGEST_FLOAT64)
    return np.asarray(np.isfinite(values) & (huge | np.isin(values, _NEGATIVE_CODES)))


def codes_among(values: NDArray[np.float64]) -> tuple[BoolArray, BoolArray]:
    """Tell codes from flows, or volumes.

    Parameters
    ----------
    values : ndarray, shape (..., steps)
        In the unit of the file, in the order of time; one that is not finite is neither.

    Returns
    -------
    ndarray of bool, ndarray of bool
        Of the same shape: those that are codes and no flows, and flows that are written like a code.
    """
    with np.errstate(invalid="ignore"):
        sure = is_known_code(values)
        like = np.isin(values, _POSITIVE_CODES)
        others = values[np.isfinite(values) & ~sure & ~like]
        largest = float(others.max(initial=0.0))
        for code in np.unique(values[like]).tolist():
            places = values == code
            sure |= places & _stands_out(code, places, largest, values)
        sure |= _equal_peaks(values, ~sure & (values > 0))
        negative = (values < 0) & ~sure
        if largest > 0:
            sure |= (values < -_BEYOND_BALANCE * largest) & (values > -_LARGEST_FLOAT32)
        sure |= _equal_negatives(values, negative)
    return sure, like & ~sure & (values >= _SHORT)


def _stands_out(code: float, places: BoolArray, largest: float, values: NDArray[np.float64]) -> bool:
    """Whether a positive number like a code is one, beside the largest other value and those before and after."""
    several = int(places.sum()) > 1
    if code > (_STANDS_OUT if code >= _SHORT else _SHORT_STANDS_OUT) * largest:
        return True
    if not several or code > largest:
        return several and code > largest
    first, second = places[..., :-1], places[..., 1:]
    beside = np.append(values[..., :-1][second & ~first], values[..., 1:][first & ~second])
    in_a_row = bool((first & second).any()) and not (np.abs(beside - code) <= _NEAR * code).any()
    return code >= _SHORT and in_a_row


def _equal_peaks(values: NDArray[np.float64], positive: BoolArray) -> BoolArray:
    """The few largest numbers that repeat, far above all others: no two floods are equal."""
    sizes, counts = np.unique(values[positive & np.isfinite(values)], return_counts=True)
    top = next((rank for rank in range(1, _PEAKS + 1) if rank < len(sizes) and counts[-rank] < _RUN), _PEAKS + 1) - 1
    ranks = range(1, min(top, len(sizes) - 1) + 1)
    far = [rank for rank in ranks if sizes[-rank] > max(_FAR * sizes[-rank - 1], _SHORT)]
    return positive & (values >= sizes[-far[-1]]) if far else np.zeros(values.shape, bool)


def _equal_negatives(values: NDArray[np.float64], negative: BoolArray) -> BoolArray:
    """Negative values that repeat as no errors of a balance do."""
    first = np.ones(values.shape, bool)
    first[..., 1:] = ~negative[..., 1:] | (values[..., 1:] != values[..., :-1])
    run = np.cumsum(first.ravel())
    alike = np.bincount(run)[run].reshape(values.shape)
    below = values[negative]
    one = len(below) >= _ALL_EQUAL and bool((below == below[0]).all())
    if not one and alike.max(initial=0) < _RUN:
        return np.zeros(values.shape, bool)
    sizes = np.unique(np.abs(values[np.isfinite(values)]))
    gaps = np.diff(sizes)
    resolution = float(gaps[gaps > 1e-9 * sizes[-1]].min(initial=np.inf))
    coarse = np.isfinite(resolution) & (np.abs(values) >= _ROUNDING_STEPS * resolution * (1 - 1e-9))
    repeated: BoolArray = negative & ((coarse & (one | (alike >= _RUN))) | (alike >= _LONG_RUN))
    return repeated


#: Dates of negative values that are named one by one.
NAMED = 6


def negative_note(
    volumes_hm3: NDArray[np.float64], dates: Sequence[str] | Mapping[int, str], negative: str
) -> tuple[str, ...]:
    """How many values of a computed inflow are negative, how much water that is, and what was done about them.

    `volumes_hm3` are those of the steps; of their names, the first `NAMED` negative ones are asked for. InputError if
    they take away more water than all others bring.
    """
    places = np.flatnonzero(volumes_hm3 < 0)
    if not places.size:
        return ()
    water = -float(volumes_hm3[places].sum())
    whole = float(volumes_hm3.sum()) + water
    more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
    named = ", ".join(dates[at] for at in places[:NAMED].tolist()) + more
    values = counted(len(places), "negative value")
    if water >= whole:
        problem = f"{values} ({named}) together take away {water:.4g} hm3, and all others bring {whole:.4g} hm3"
        mend = "check the values and the column: these are no errors of a balance"
        raise InputError(problem, "negative values that are errors of a reservoir's balance", mend)
    done = "set to zero, which adds " if negative == "zero" else "kept: together -"
    part = f"in the whole record, {100 * water / whole:.3g} % of its inflow ({named})"
    return (UnitText(lambda units: f"{values} {done}{units.stated(water, 'hm3', '.4g')} {part}"),)


class StepValue(NamedTuple):
    """The value of a month or another period, as an ordinal number, its cell, and how it is written there."""

    ordinal: int
    value: float
    row: int
    column: str
    text: str

    def mistake(self, problem: str, expected: str, mend: str) -> Mistake:
        """Say what is wrong with it."""
        return Mistake(problem, expected, mend, row=self.row, column=self.column, value=self.text)


def without_blank_ends(
    values: Sequence[StepValue], wrong: Sequence[tuple[int, Mistake]]
) -> tuple[list[StepValue], list[Mistake], str]:
    """Leave out months before the first value and after the last, and say so.

    `wrong` are mistakes of cells with the months that these stand for; a missing value at either end is none.
    """
    months = [value.ordinal for value in values if not is_known_code(value.value)]
    if not months:
        return [*values], [mistake for _, mistake in wrong], ""
    first, last = min(months), max(months)
    inside = [value for value in values if first <= value.ordinal <= last]
    outside = [value for value in values if not first <= value.ordinal <= last]
    ends = [value.ordinal for value in outside]
    mistakes = list[Mistake]()
    for month, mistake in wrong:
        if month and not first <= month <= last and is_missing(str(mistake.value)):
            ends.append(month)
        else:
            mistakes.append(mistake)
    spans = [(min(part), max(part)) for part in ([m for m in ends if m < first], [m for m in ends if m > last]) if part]
    named = [month_name(begin) + (f" to {month_name(end)}" if end > begin else "") for begin, end in spans]
    codes = ", ".join(dict.fromkeys(value.text for value in outside))
    left_out = f"left out, as values are missing{f' ({codes})' if codes else ''}: {', '.join(named)}"
    return inside, mistakes, left_out if named else ""


_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_WHOLE = re.compile(r"\d+")
#: Whole numbers this many times larger than one with three decimals, and numbers that are written without thousands.
_LARGER, _HUNDREDS = 10.0, range(100, 1000)
#: Rows of which codes are named.
_NAMED_ROWS = 3


def flows_among(
    values: Sequence[StepValue], negative: str | None, *, months: bool
) -> tuple[tuple[StepValue, ...], list[Mistake], list[str], tuple[str, ...]]:
    """Tell flows from codes that stand for none, and from negative numbers unless these are asked for.

    `values` are all numbers of a column, in the order of time; months may not be missing, days may. Gives those that
    are flows or volumes; what is wrong with the others; what is written like a code, and is none; and codes of days.
    """
    sure, doubtful = codes_among(np.array([value.value for value in values]))
    mistakes, codes, like_codes = list[Mistake](), dict[str, list[StepValue]](), dict[str, list[StepValue]]()
    for value, is_code, is_like in zip(values, sure.tolist(), doubtful.tolist(), strict=True):
        if is_code:
            codes.setdefault(value.text, []).append(value)
        if is_like:
            like_codes.setdefault(value.text, []).append(value)
        if months if is_code else value.value < 0 and negative is None:
            refused = no_flow(value.value, is_code)
            mend = refused.mend
            if is_code and (value.value >= 0 or negative is not None) and "e" not in value.text.casefold():
                digit = f"{value.text}{'' if '.' in value.text else '.'}1"  # no code in spite of its looks
                mend = f"{mend}; if the value is right, add a digit: {digit}"
            mistakes.append(value.mistake(refused.problem, refused.expected, mend))
    notes, missing = list[str](), list[str]()
    for text, cells in like_codes.items():
        place = f"row {cells[0].row}, column {cells[0].column}{f', {len(cells)} times' if len(cells) > 1 else ''}"
        notes.append(f"{text} ({place}) is read as a value, not as a missing-value code")
    for text, cells in () if months else codes.items():
        rows = ("rows " if len(cells) > 1 else "row ") + ", ".join(str(cell.row) for cell in cells[:_NAMED_ROWS])
        more = f" and {len(cells) - _NAMED_ROWS:,} more" if len(cells) > _NAMED_ROWS else ""
        times = f"{len(cells)} times: " if len(cells) > 1 else ""
        missing.append(f"{text} is read as a missing value, not as a flow ({times}{rows}{more})")
    flows = tuple(value for value, code in zip(values, sure.tolist(), strict=True) if not code)
    return flows, mistakes, notes, tuple(missing)


def thousands_mistakes(values: Sequence[StepValue]) -> Iterator[Mistake]:
    """Refuse ``1.110`` among whole numbers, where the point may stand between thousands."""
    grouped = [reading for reading in values if _GROUPED.fullmatch(reading.text)]
    whole = [reading.value for reading in values if _WHOLE.fullmatch(reading.text)] if grouped else []
    if not whole or len(grouped) + len(whole) < len(values):
        return
    problem = "three decimals among whole numbers: the point may be a decimal point or a thousands separator"
    for reading in grouped:
        if max(whole) in _HUNDREDS or median(whole) >= _LARGER * reading.value:
            mend = f"write {reading.text.replace('.', '')}, or {reading.text}0 if the point is a decimal point"
            yield reading.mistake(problem, "numbers without thousands separator", mend)
