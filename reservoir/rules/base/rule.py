"""What a monthly operation rule is, and what it may know.

A rule sees the month, the storage at its start, the inflow of the month before and, with a one-month forecast, the
inflow of the month itself. It never sees the future: there is no argument through which it could.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Protocol

from reservoir.rules.base.monthly import Months


class Forecast(StrEnum):
    """What is known of a month's inflow when its release is decided."""

    MONTH = "month"
    """The mean inflow of the month (a perfect one-month forecast)."""
    NONE = "none"
    """Only the inflow of the month before."""


class Rule(Protocol):
    """A fitted rule of one family."""

    @property
    def family(self) -> str:
        """Name of the family in the registry."""

    @property
    def reservoir(self) -> str:
        """Name of the reservoir that it was fitted for."""

    @property
    def forecast(self) -> Forecast:
        """What it may know of a month's inflow."""

    @property
    def months(self) -> Months:
        """The months of a water year."""

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release (m3/s) wanted in a step.

        Parameters
        ----------
        step : int
            Step of the water year, from 0.
        storage_hm3 : float
            Storage at the start of the step.
        inflow_now_m3s : float or None
            Mean inflow of the step; None where `forecast` is ``none``.
        inflow_before_m3s : float
            Mean inflow of the step before.
        """

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it; `from_dict` gives back an equal one."""

    @classmethod
    def from_dict(cls, content: object) -> Rule:
        """Read back what `to_dict` gave, or refuse it with every mistake in it."""
