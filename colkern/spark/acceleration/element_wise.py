"""The names of the functions of pandas and NumPy that treat each row of a column by itself."""

from __future__ import annotations

_METHODS = {
    "Series": """
        abs apply astype between case_when clip combine combine_first convert_dtypes copy fillna
        infer_objects isin isna isnull map mask notna notnull rename replace reset_index round to_frame
        to_numpy values where index name
        add sub mul div divide truediv floordiv mod pow radd rsub rmul rtruediv rfloordiv rmod rpow
        eq ne lt le gt ge transform
    """,
    "DataFrame": """
        abs add apply assign astype clip copy div drop eq fillna ge gt isin isna isnull le lt map mask mul
        ne notna notnull rename replace reset_index rename_axis round set_axis sub where index columns
        to_numpy values
    """,
    "ndarray": "astype clip copy round tolist dtype",
    "Index": "",
    # Accessors of Series.
    "StringMethods": """
        capitalize casefold cat center contains count decode encode endswith extract find findall
        fullmatch get index isalnum isalpha isascii isdecimal isdigit islower isnumeric isspace istitle
        isupper join len ljust lower lstrip match normalize pad partition removeprefix removesuffix repeat
        replace rfind rindex rjust rpartition rsplit rstrip slice slice_replace split startswith strip
        swapcase title translate upper wrap zfill
    """,
    "DatetimeProperties": """
        as_unit ceil components date day day_name day_of_week day_of_year dayofweek dayofyear days
        days_in_month daysinmonth end_time floor hour is_leap_year is_month_end is_month_start
        is_quarter_end is_quarter_start is_year_end is_year_start isocalendar microsecond microseconds
        minute month month_name nanosecond nanoseconds normalize quarter round second seconds start_time
        strftime time timetz to_period to_pydatetime to_timestamp total_seconds tz_convert tz_localize
        weekday week weekofyear year
    """,
    "pandas": "DataFrame Series concat cut to_datetime to_numeric to_timedelta isna isnull notna notnull",
    "numpy": """
        around busday_count busday_offset choose clip column_stack copy datetime_as_string digitize fix
        full_like interp is_busday isclose isin isneginf isposinf nan_to_num ones_like piecewise polyval
        real round searchsorted select sinc stack where zeros_like
    """,
}

ELEMENT_WISE = {owner: frozenset(names.split()) for owner, names in _METHODS.items()}
"""By owner: functions, methods and attributes whose result for a row depends on the row's values only."""

_BY_ROW_NAMES = """
    agg aggregate all any apply argmax argmin average count idxmax idxmin max mean median min norm nunique
    prod std sum var amax amin nanmax nanmean nanmin nansum
"""
BY_ROW = frozenset(_BY_ROW_NAMES.split())
"""Methods of tables and of arrays of rows, and functions of NumPy, that are element-wise with `axis=1`."""

_VALUES_DECIDE_NAMES = """
    agg aggregate apply case_when combine combine_first convert_dtypes get infer_objects map mask replace
    transform where
"""
VALUES_DECIDE = frozenset(_VALUES_DECIDE_NAMES.split())
"""Methods of columns whose result dtype depends on the values, not only on dtypes."""

NEVER = frozenset(["inplace", "out", "limit", "level"])
"""Options with which they change their arguments, or look at other rows."""
