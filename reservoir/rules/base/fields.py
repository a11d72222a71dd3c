"""What the values of a rule may be, and the words in which others are refused: the key, the mistake, what is right.

Each kind of value is a type with its refusals. A kind that compares with another field finds it in what is known, which
holds the fields before it that are sound. So everything that can be judged is judged at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.text.strict_json import LARGEST

#: The volume of 1 m3/s in the shortest and in the longest month, with room for roundings, hm3.
MONTH_HM3 = (2.4, 2.7)
#: Refusals of one claim on one value; a list of a million wrong values has no more of them.
MOST_REFUSALS = 100
#: The sound fields before the one that is judged.
Known = Mapping[str, Any]


class Block(BaseModel):
    """A frozen object that holds the keys named in it and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    def __eq__(self, other: object) -> bool:
        """Compare the fields alone: arrays kept beside them have no single truth value."""
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in type(self).model_fields
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes it, as JSON can hold it; `from_dict` gives back an equal one."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Read back what `to_dict` gave.

        Raises
        ------
        InputError
            With every mistake in it.
        """
        return validated(cls, content)


@dataclass(frozen=True)
class Refusal:
    """What is wrong within a value, where in its lists, and what would have been right."""

    problem: str
    expected: str
    place: tuple[int, ...] = ()
    found: object = None


def _error(refusal: Refusal) -> InitErrorDetails:
    words = {"problem": refusal.problem, "expected": refusal.expected}
    kind = PydanticCustomError("refusal", "{problem}", words)
    return InitErrorDetails(type=kind, loc=refusal.place, input=refusal.found)


def check(claim: Callable[[Any, Known], Iterable[Refusal]]) -> AfterValidator:
    """Refuse a value with the refusals of a claim, which sees the value and what is known."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        refusals = list(islice(claim(value, info.data), MOST_REFUSALS))
        if refusals:
            raise ValidationError.from_exception_data("rule", [_error(refusal) for refusal in refusals])
        return value

    return AfterValidator(validate)


def require(holds: Callable[[float], bool], problem: str, expected: str) -> AfterValidator:
    """Refuse a number for which a condition does not hold: as `check`, of tens of thousands of numbers."""

    def validate(value: Any) -> Any:
        if holds(value):
            return value
        raise ValidationError.from_exception_data("rule", [_error(Refusal(problem, expected, found=value))])

    return AfterValidator(validate)


def count(wanted: int, what: str) -> WrapValidator:
    """Require a number of values in a list; what is wrong with the values themselves is told as well."""

    def validate(value: Any, judge: ValidatorFunctionWrapHandler) -> Any:
        errors: list[InitErrorDetails] = []
        if isinstance(value, list | tuple) and len(value) != wanted:
            errors.append(_error(Refusal("has the wrong number of values", f"{wanted}, {what}", found=len(value))))
        try:
            judged = judge(value)
        except ValidationError as refused:
            errors += _again(refused)
        if errors:
            raise ValidationError.from_exception_data("rule", errors)
        return judged

    return WrapValidator(validate)


def _again(refused: ValidationError) -> Iterator[InitErrorDetails]:
    """Errors of a list, to be raised along with others."""
    for error in refused.errors(include_url=False):
        kind, words = error["type"], error.get("ctx", {})
        again = PydanticCustomError(kind, "{problem}", words) if kind == "refusal" else kind
        yield InitErrorDetails(type=again, loc=error["loc"], input=error["input"], ctx=words)


def beyond(
    curve: Sequence[float],
    side: Literal["below", "above"],
    limit: Sequence[float],
    name: str,
    known: Known,
    *place: int,
) -> Iterator[Refusal]:
    """Refuse each month in which a curve, which stands at a place, lies on the wrong side of a limit with a name."""
    months = known.get("calendar_month") or getattr(known.get("months"), "calendar_month", ())
    sign, enough = (1, "more") if side == "below" else (-1, "less")
    for step, (value, bound) in enumerate(zip(curve, limit, strict=True)):
        if sign * value < sign * bound:
            month = MONTH_NAMES[months[step] - 1] if months else f"month {step + 1} of the year"
            problem = f"is {side} {name} in {month}"
            yield Refusal(problem, f"{bound:.10g} or {enough}", (*place, step), value)


def not_below(other: str) -> AfterValidator:
    """Require a curve that no month has below another field's."""
    return check(lambda curve, known: beyond(curve, "below", known.get(other, curve), other, known))


def not_above(other: str) -> AfterValidator:
    """Require a curve that no month has above another field's."""
    return check(lambda curve, known: beyond(curve, "above", known.get(other, curve), other, known))


def as_long_as(other: str) -> AfterValidator:
    """Require one value for each value of another field."""
    return check(lambda values, known: length(values, len(known.get(other, values)), f"one for each value of {other}"))


def length(values: Sequence[Any], wanted: int, what: str, *place: int) -> Iterator[Refusal]:
    """Refuse another number of values, in the list at a place."""
    if len(values) != wanted:
        yield Refusal("has the wrong number of values", f"{wanted}, {what}", place, len(values))


def falls(values: Sequence[float], *place: int) -> Iterator[Refusal]:
    """Refuse each value that is less than the one before it, in the list at a place."""
    for at, (before, value) in enumerate(pairwise(values), start=1):
        if value < before:
            yield Refusal("is less than the previous value", f"{before:.10g} or more", (*place, at), value)


def _table(values: Sequence[float], known: Known) -> Iterator[Refusal]:
    if len(values) < 2:
        yield Refusal("has too few values", "two or more", found=len(values))
    yield from falls(values)


def _rising(values: Sequence[float], known: Known) -> Iterator[Refusal]:
    yield from _table(values, known)
    for at, (before, value) in enumerate(pairwise(values), start=1):
        if value == before:
            yield Refusal("is equal to the previous value", f"more than {before:.10g}", (at,), value)


def _volume_of_a_month(values: Sequence[float], known: Known) -> Iterator[Refusal]:
    least, most = MONTH_HM3
    for at, value in enumerate(values):
        if value <= 0:
            yield Refusal("is not positive", "more than 0", (at,), value)
        elif not least <= value <= most:
            yield Refusal("is not the volume of 1 m3/s in a month", f"{least:g} to {most:g} hm3", (at,), value)


def _calendar(months: Sequence[int], known: Known) -> Iterator[Refusal]:
    if any((months[0] + step - 1) % MONTHS_PER_YEAR + 1 != month for step, month in enumerate(months)):
        expected = "1 to 12, each once, in calendar order, starting with any month"
        yield Refusal("are not the twelve months of a year", expected, found=list(months))


_A_MONTH = "one per month"

_RANGE = f"-{LARGEST:g} to {LARGEST:g}"
#: In compiled code: a file of a system has tens of thousands of them.
Number = Annotated[float, Field(strict=True, ge=-LARGEST, le=LARGEST)]
NotNegative = Annotated[Number, require(lambda value: not value < 0, "is negative", "0 or more")]
Positive = Annotated[Number, require(lambda value: not value <= 0, "is not positive", "more than 0")]
Numbers = tuple[Number, ...]
#: Numbers of which none is less than the one before, and numbers that all differ too.
NotFalling = Annotated[Numbers, check(_table)]
Rising = Annotated[Numbers, check(_rising)]
#: A number for each step of the water year.
Monthly = Annotated[Numbers, count(MONTHS_PER_YEAR, _A_MONTH)]
#: Volume of 1 m3/s in each month.
MonthlyVolume = Annotated[Monthly, check(_volume_of_a_month)]
#: The calendar month of each step.
CalendarMonths = Annotated[
    tuple[Annotated[int, Field(strict=True)], ...], count(MONTHS_PER_YEAR, _A_MONTH), check(_calendar)
]


Content = TypeVar("Content", bound=Block)

WRITTEN = 'use the file as "reservoir rules" wrote it, or fit the rules again'

#: What a value is not, and what it should have been, by the validator's name for the error.
_TYPES: Mapping[str, tuple[str, str]] = {
    "float_type": ("is not a number", "a number"),
    "finite_number": ("is not a finite number", "a number"),
    "int_type": ("is not a whole number", "a whole number"),
    "string_type": ("is not text", "text in quotes"),
    "tuple_type": ("is not a list", "values in square brackets"),
    "model_type": ("is not an object", "keys and values in braces"),
}


def validated(model: type[Content], content: object) -> Content:
    """Validate the content of a rule.

    Raises
    ------
    InputError
        With every mistake in it, each with its dotted key: ``curves_hm3[1][6]``.
    """
    try:
        return model.model_validate(content)
    except ValidationError as refused:
        mistakes = [_mistake(error) for error in refused.errors(include_url=False)]
    raise InputError(mistakes)


def _mistake(error: ErrorDetails) -> Mistake:
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).removeprefix(".")
    found, words = error["input"], error.get("ctx", {})
    match error["type"]:
        case "refusal":
            return Mistake(words["problem"], words["expected"], column=key, value=found)
        case "missing":
            return Mistake("is missing", mend=WRITTEN, column=key)
        case "extra_forbidden":
            return Mistake("is not a known key", mend="remove it or correct its name", column=key, value=found)
        case "greater_than_equal" | "less_than_equal" if LARGEST in map(abs, words.values()):
            return Mistake("is out of range", _RANGE, column=key, value=found)
        case "enum" | "literal_error":
            return Mistake("is not one of the choices", words["expected"], column=key, value=found)
    problem, expected = _TYPES.get(error["type"], (error["msg"], ""))
    # A mistake shows no value that is None, so its problem says it.
    return Mistake("is null" if found is None else problem, expected, column=key, value=found)
