"""The functions of `colkern.spark.demo.rows` over whole columns: as pandas and as pyarrow users
write them. pyarrow has compute functions for every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

WORDS = "[A-Za-z]+"
VOWELS = "[AEIOUYaeiouy]+"
SILENT = "[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz][Ee](?:[^A-Za-z]|$)"
COMPLEX = "(?:[AEIOUYaeiouy]+[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]+){2,}[AEIOUYaeiouy]"
STOPS = "[.!?]+"

# pandas


def amount_due_pandas(
    quantity: pd.Series, price: pd.Series, discount: pd.Series, tax: pd.Series
) -> pd.Series:
    """See `rows.amount_due`."""
    volume = np.select([quantity >= 40, quantity >= 20, quantity >= 10], [0.08, 0.05, 0.02], 0.0)
    net = price * (1 - discount.fillna(pd.Series(volume)))
    freight = np.select(
        [net < 5000, net / quantity > 1500],
        [12.5 + 0.9 * quantity, 0.35 * quantity + 0.004 * net],
        0.35 * quantity,
    )
    rebate = 0.01 * (net - 20000).clip(lower=0) + 0.015 * (net - 50000).clip(lower=0)
    gross = np.floor((net + freight - rebate) * (1 + tax.fillna(0.0)) * 100 + 0.5) / 100

    payments = pd.Series(np.select([gross < 5000, gross < 30000], [1, 4], 12))
    part = np.floor(gross / payments * 100) / 100
    balance = due = gross
    for payment in range(1, 12):
        balance = balance - part
        interest = (np.floor(balance * 0.6 + 0.5) / 100).where(payment < payments, 0.0)
        balance = balance + interest
        due = due + interest
    return due.where(quantity > 0)


def reading_grade_pandas(text: pd.Series) -> pd.Series:
    """See `rows.reading_grade`."""
    words = text.str.count(WORDS)
    syllables = text.str.count(VOWELS) - text.str.count(SILENT)
    length = words / text.str.count(STOPS).clip(lower=1)
    kincaid = 0.39 * length + 11.8 * (syllables / words) - 15.59
    fog = 0.4 * (length + 100 * (text.str.count(COMPLEX) / words))
    return ((kincaid + fog) / 2).where(words > 0)


def payment_day_pandas(committed: pd.Series, received: pd.Series) -> pd.Series:
    """See `rows.payment_day`."""
    later = np.maximum(pd.to_datetime(committed).to_numpy(), pd.to_datetime(received).to_numpy())
    month = (later + np.timedelta64(30, "D")).astype("datetime64[M]")
    end = (month + 1).astype("datetime64[D]") - 1
    return pd.Series(np.busday_offset(end, 0, roll="forward").astype("datetime64[s]"))


# pyarrow


def amount_due_arrow(
    quantity: pa.Array, price: pa.Array, discount: pa.Array, tax: pa.Array
) -> pa.Array:
    """See `rows.amount_due`."""
    volume = _case((pc.greater_equal(quantity, at), rate) for at, rate in _VOLUME)
    net = pc.multiply(price, pc.subtract(1.0, pc.coalesce(discount, volume(0.0))))
    by_size = pc.multiply(0.35, quantity)
    small = pc.add(12.5, pc.multiply(0.9, quantity))
    insured = pc.add(by_size, pc.multiply(0.004, net))
    costly = pc.greater(pc.divide(net, quantity), 1500.0)
    freight = _case([(pc.less(net, 5000.0), small), (costly, insured)])(by_size)
    rebate = pc.add(
        pc.multiply(0.01, pc.max_element_wise(pc.subtract(net, 20000.0), 0.0, skip_nulls=False)),
        pc.multiply(0.015, pc.max_element_wise(pc.subtract(net, 50000.0), 0.0, skip_nulls=False)),
    )
    taxed = pc.multiply(
        pc.subtract(pc.add(net, freight), rebate), pc.add(1.0, pc.coalesce(tax, 0.0))
    )
    gross = pc.divide(pc.floor(pc.add(pc.multiply(taxed, 100.0), 0.5)), 100.0)

    payments = _case([(pc.less(gross, 5000.0), 1.0), (pc.less(gross, 30000.0), 4.0)])(12.0)
    part = pc.divide(pc.floor(pc.multiply(pc.divide(gross, payments), 100.0)), 100.0)
    balance = due = gross
    for payment in range(1, 12):
        balance = pc.subtract(balance, part)
        interest = pc.divide(pc.floor(pc.add(pc.multiply(balance, 0.6), 0.5)), 100.0)
        interest = pc.if_else(pc.less(float(payment), payments), interest, 0.0)
        balance = pc.add(balance, interest)
        due = pc.add(due, interest)
    return pc.if_else(pc.greater(quantity, 0.0), due, None)


_VOLUME = [(40.0, 0.08), (20.0, 0.05), (10.0, 0.02)]


def _case(branches: Iterable[tuple[pa.Array, object]]) -> Callable[[object], pa.Array]:
    """`pc.case_when` over pairs of condition and value; call the result with the default value."""
    conditions, values = zip(*branches, strict=True)
    return lambda otherwise: pc.case_when(pc.make_struct(*conditions), *values, otherwise)


def reading_grade_arrow(text: pa.Array) -> pa.Array:
    """See `rows.reading_grade`."""

    def count(pattern: str) -> pa.Array:
        return pc.count_substring_regex(text, pattern).cast(pa.float64())

    words = count(WORDS)
    syllables = pc.divide(pc.subtract(count(VOWELS), count(SILENT)), words)
    length = pc.divide(words, pc.max_element_wise(count(STOPS), 1.0, skip_nulls=False))
    kincaid = pc.add(pc.multiply(0.39, length), pc.multiply(11.8, syllables))
    kincaid = pc.subtract(kincaid, 15.59)
    share = pc.multiply(100.0, pc.divide(count(COMPLEX), words))
    grade = pc.divide(pc.add(kincaid, pc.multiply(0.4, pc.add(length, share))), 2.0)
    return pc.if_else(pc.greater(words, 0.0), grade, None)


def payment_day_arrow(committed: pa.Array, received: pa.Array) -> pa.Array:
    """See `rows.payment_day`."""
    later = pc.max_element_wise(committed, received, skip_nulls=False)
    start = pc.floor_temporal(_plus_days(later, 30), unit="month")
    end = _plus_days(pc.floor_temporal(_plus_days(start, 31), unit="month"), -1)
    weekday = pc.day_of_week(end)
    to_monday = _case([(pc.equal(weekday, 5), 2), (pc.equal(weekday, 6), 1)])(0)
    return _plus_days(end, to_monday.cast(pa.int32()))


def _plus_days(dates: pa.Array, days: pa.Array | int) -> pa.Array:
    if isinstance(days, int):
        days = pa.scalar(days, pa.int32())
    return pc.add(dates.cast(pa.date32()).cast(pa.int32()), days).cast(pa.date32())
