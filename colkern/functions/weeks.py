"""Weeks of dates and timestamps, named as in `pyarrow.compute`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from colkern.arrays import Array
from colkern.functions.dates import (
    civil,
    day_of_week,
    day_of_year_of,
    of_each_day,
    part_by_days,
    struct_of_parts,
    weekday_of,
)
from colkern.functions.row_functions import element_wise

_MONDAY, _SUNDAY = 3, 4
"""The days from such a day to 1970-01-01."""


@lru_cache(maxsize=8)
def _week_from(back: int, from_zero: bool, whole: bool) -> Callable[[int], int]:
    # The day of a week whose year is that of the week.
    middle = 0 if whole else 3

    def of_year_of_day(days: int) -> int:
        return (day_of_year_of(days) - weekday_of(days, back) + middle + 6) // 7

    def of_own_year(days: int) -> int:
        return (day_of_year_of(days - weekday_of(days, back) + middle) + 6) // 7

    return of_year_of_day if from_zero else of_own_year


def _year_from(back: int) -> Callable[[int], int]:
    def year_of_week(days: int) -> int:
        # The year of a week is that of the day in its middle.
        return civil(days - weekday_of(days, back) + 3)[0]

    return year_of_week


iso_year = part_by_days(
    "iso_year", _year_from(_MONDAY), "The ISO 8601 year, that of the week's Thursday,"
)
iso_week = part_by_days(
    "iso_week", _week_from(_MONDAY, False, False), "The ISO 8601 week, from 1 on,"
)
us_year = part_by_days(
    "us_year", _year_from(_SUNDAY), "The year that has most days of the week from Sunday on,"
)
us_week = part_by_days(
    "us_week",
    _week_from(_SUNDAY, False, False),
    "The week from Sunday on, with most of its days in the year,",
)


@element_wise("Dates and times")
def iso_calendar(values: Array) -> Array:
    """ISO 8601's year, week and day of the week of each date or timestamp: structs of int64."""

    def iso_day_of_week(values: Array) -> Array:
        return day_of_week(values, count_from_zero=False)

    return struct_of_parts(
        values, iso_year=iso_year, iso_week=iso_week, iso_day_of_week=iso_day_of_week
    )


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
        week_starts_monday: Whether weeks begin on Monday, not on Sunday.
        count_from_zero: Whether days before the first week are in week 0, not in the last of a year.
        first_week_is_fully_in_year: Whether all days of the first week are in the year, not only most.
    """
    function = _week_from(
        _MONDAY if week_starts_monday else _SUNDAY, count_from_zero, first_week_is_fully_in_year
    )
    return of_each_day(values, function, "week")
