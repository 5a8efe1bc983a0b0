"""The three functions of the demo as colkern takes them: functions of one row, in plain Python.

`colkern.spark.demo.columns` has the same functions in pandas and in pyarrow; they must agree with these to
the last bit.
"""

from __future__ import annotations

import math
import string
from datetime import date, timedelta

LETTER, VOWEL, STOP, E = 1, 2, 4, 8
KINDS = bytes(
    LETTER * (chr(byte) in string.ascii_letters)
    + VOWEL * (chr(byte) in "AEIOUYaeiouy")
    + STOP * (chr(byte) in ".!?")
    + E * (chr(byte) in "Ee")
    for byte in range(256)
)
COMPLEX = 3

SATURDAY, SUNDAY = 5, 6


def amount_due(
    quantity: float | None, price: float | None, discount: float | None, tax: float | None
) -> float | None:
    """The final price of an order line, with the interest of up to 12 monthly payments."""
    # A line without a discount gets the discount of its volume; a line without a tax rate is exempt.
    if quantity is None or price is None or quantity <= 0:
        return None
    if discount is not None:
        net = price * (1 - discount)
    elif quantity >= 40:
        net = price * (1 - 0.08)
    elif quantity >= 20:
        net = price * (1 - 0.05)
    elif quantity >= 10:
        net = price * (1 - 0.02)
    else:
        net = price

    if net < 5000:
        freight = 12.5 + 0.9 * quantity
    elif net / quantity > 1500:
        freight = 0.35 * quantity + 0.004 * net
    else:
        freight = 0.35 * quantity
    rebate = 0.01 * max(net - 20000, 0.0) + 0.015 * max(net - 50000, 0.0)
    rate = tax if tax is not None else 0.0
    gross = math.floor((net + freight - rebate) * (1 + rate) * 100 + 0.5) / 100

    # Banks round each month's interest to cents, so there is no closed form.
    payments = 1 if gross < 5000 else 4 if gross < 30000 else 12
    part = math.floor(gross / payments * 100) / 100
    balance = due = gross
    for _ in range(payments - 1):
        balance -= part
        interest = math.floor(balance * 0.6 + 0.5) / 100
        balance += interest
        due += interest
    return due


def reading_grade(text: str) -> float | None:
    """The years of school for an English text: the mean of Flesch's and Kincaid's grade and of Gunning's
    fog index. None if there are no words.
    """
    # A run of vowels is a syllable, unless it is an `e` that ends a word after a consonant; a word with
    # three runs or more is a complex one.
    words = syllables = sentences = complex_words = 0
    runs = silent = before = 0
    # Bits instead of branches: no processor could predict branches on text.
    for byte in text.encode():
        kind = KINDS[byte]
        starts = kind & ~before
        vowels = (starts >> 1) & 1
        runs = (runs + vowels) * (kind & LETTER)
        words += starts & LETTER
        sentences += (starts >> 2) & 1
        complex_words += vowels & (runs == COMPLEX)
        syllables += vowels - (silent & ~kind & LETTER)
        silent = (kind >> 3) & before & ~(before >> 1) & 1
        before = kind
    syllables -= silent
    if words == 0:
        return None
    length = words / max(sentences, 1)
    kincaid = 0.39 * length + 11.8 * (syllables / words) - 15.59
    fog = 0.4 * (length + 100 * (complex_words / words))
    return (kincaid + fog) / 2


def payment_day(committed: date, received: date) -> date:
    """When a line must be paid: at the end of the month after 30 days, on no weekend."""
    due = max(committed, received) + timedelta(days=30)
    next_month = date(due.year + due.month // 12, due.month % 12 + 1, 1)
    end = next_month - timedelta(days=1)
    if end.weekday() == SATURDAY:
        return end + timedelta(days=2)
    if end.weekday() == SUNDAY:
        return end + timedelta(days=1)
    return end
