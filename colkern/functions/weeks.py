"""Weeks of dates and timestamps, named as in `pyarrow.compute`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from colkern.arrays import Array
from colkern.functions.dates import civil, day_of_year_of, of_each_day, part_by_days, weekday_of
from colkern.functions.row_functions import element_wise

_SUNDAY = 4
"""The days from a Sunday to 1970-01-01; 3 from a Monday."""


@element_wise("Dates and times")
def week(
    values: Array,
    *,
    week_starts_monday: bool = True,
    count_from_zero: bool = False,
    first_week_is_fully_in_year: bool = False,
) -> Array:
    """The week of the year of each date or timestamp: int64.

    Args:
        values: Dates or timestamps.
        week_starts_monday: Whether weeks begin on Monday, not on Sunday.
        count_from_zero: Whether days before the first week are in week 0, not in the last of a year.
        first_week_is_fully_in_year: Whether all days of the first week are in the year, not only most.
    """
    function = _week_from(
        3 if week_starts_monday else _SUNDAY, count_from_zero, first_week_is_fully_in_year
    )
    return of_each_day(values, function, "week")


@lru_cache(maxsize=8)
def _week_from(back: int, from_zero: bool, whole: bool) -> Callable[[int], int]:
    # The day of a week whose year is that of the week.
    middle = 0 if whole else 3

    def of_year_of_day(days: int) -> int:
        return (day_of_year_of(days) - weekday_of(days, back) + middle + 6) // 7

    def of_own_year(days: int) -> int:
        return (day_of_year_of(days - weekday_of(days, back) + middle) + 6) // 7

    return of_year_of_day if from_zero else of_own_year


def _us_year(days: int) -> int:
    return civil(days - weekday_of(days, _SUNDAY) + 3)[0]


us_week = part_by_days(
    "us_week",
    _week_from(_SUNDAY, False, False),
    "The week from Sunday on, with most of its days in the year,",
)
us_year = part_by_days(
    "us_year", _us_year, "The year that has most days of the week from Sunday on,"
)
