"""`cast`, also between text and numbers, dates and times, and those that row functions do."""

from __future__ import annotations

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import TEXT
from colkern.operations.arguments import Kind, operation
from colkern.operations.casting.dispatch import convert
from colkern.operations.position_checks import require_valid

READ = (s.Int, s.FloatingPoint, s.Bool, s.Decimal, s.Date, s.Timestamp)
"""The types whose values can be read from text."""

WRITTEN = (*READ, s.Time, s.Duration)
"""The types whose values can be written as text."""


@operation(kind=Kind.ELEMENT_WISE)
def cast(array: Array, type: s.TypeLike, *, safe: bool = True) -> Array:
    """As `colkern.operations.cast`, which documents each cast; and between text and values that can be
    written as text.

    Numbers, booleans, dates and times become text as pyarrow writes them: `1` for 1.0, `true`,
    `2024-01-02 03:04:05`; durations become the text of their numbers. For Python's forms, use `str(x)`
    in a row function. Text is parsed if it has such a form; underscores and spaces are not allowed. A
    timestamp with a zone is read from text with an offset from UTC, one without a zone from text
    without. Such timestamps become dates and times of day by the clocks of their zone, and floats the
    nearest decimals.

    Args:
        type: The type of the result.
        safe: Whether to refuse values that the result cannot hold exactly, or that are not valid in it.

    Raises:
        TypeError, ValueError, UnsupportedError, LimitExceededError: As `colkern.operations.cast`.
    """
    type = s.as_type(type)
    require_valid(array)
    source = array.type.storage
    while isinstance(source, s.Dictionary | s.RunEndEncoded):
        source = source.value_type.storage
    result = type.storage
    # Imported late, since other casts need no row functions.
    if isinstance(source, TEXT) and isinstance(result, READ):
        from colkern.functions.text_casts import from_text

        return from_text(array, type)
    if isinstance(source, WRITTEN) and isinstance(result, TEXT):
        from colkern.functions.text_casts import to_text

        return to_text(array, type)
    if isinstance(source, s.FloatingPoint) and isinstance(result, s.Decimal):
        from colkern.functions.text_casts import to_decimals

        return to_decimals(array, type)
    if isinstance(source, s.Timestamp) and source.timezone and isinstance(result, s.Date | s.Time):
        from colkern.functions.dates import local_timestamp

        array = local_timestamp(array)
    return convert(array, type, safe)
