"""What users' kernels do with byte strings: the spelling of Python's `bytes`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from colkern.jit.device.emitter import Emitter, Value, integer, items
from colkern.jit.device.kinds import (
    BYTES,
    INTEGER,
    NOTHING,
    PLAIN,
    Bytes,
    Literal,
    Record,
    is_plain,
)
from colkern.kernels import byte_strings
from colkern.kernels import slot_values as slots

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_string(value: Value) -> bool:
    """Whether a value is a byte string, or a string of the source."""
    return isinstance(value.kind, Bytes | Literal)


def as_bytes(e: Emitter, value: Value) -> tuple[str, str]:
    """Address and length of a byte string or a string of the source."""
    value = e.inner(value)
    if isinstance(value.kind, Literal):
        return e.literal(value.kind.value)
    if not isinstance(value.kind, Bytes):
        raise e.failure(f"a byte string meets {value.kind.words}")
    address, length = value.parts
    return address, length


def data_of(literal: Literal) -> bytes:
    """The bytes of a string of the source."""
    return literal.value.encode() if isinstance(literal.value, str) else literal.value


def compared(e: Emitter, sign: str, left: Value, right: Value) -> Value:
    """`left sign right`."""
    if isinstance(left.kind, Literal) and isinstance(right.kind, Literal):
        return Value(PLAIN, (str(COMPARISONS[sign](data_of(left.kind), data_of(right.kind))),))
    both = (*as_bytes(e, left), *as_bytes(e, right))
    if sign in ("==", "!="):
        equal = e.call(byte_strings.equal_bytes, e.like("u1"), *both)
        return Value(PLAIN, (e.bind(equal if sign == "==" else f"not {equal}"),))
    order = e.call(byte_strings.order_of_bytes, e.like("u1"), *both)
    return Value(PLAIN, (e.bind(f"{order} {sign} 0"),))


def contains(e: Emitter, string: Value, part: Value) -> Value:
    """`part in string`; `part` may be a byte."""
    address, length = as_bytes(e, string)
    if is_plain(part.kind):
        _require_byte(e, part)
        call = e.call(byte_strings.has_byte, e.like("u1"), address, length, part.parts[0])
        return Value(PLAIN, (e.bind(call),))
    found = e.call(byte_strings.find_bytes, e.like("u1"), address, length, *as_bytes(e, part))
    return Value(PLAIN, (e.bind(f"{found} >= 0"),))


def byte(e: Emitter, string: Value, index: str) -> Value:
    """`string[index]`, an int64."""
    address, length = as_bytes(e, string)
    if e.program.checked:
        place = e.place(IndexError, "byte string index out of range")
        slot = e.bind(e.call(slots.checked_slot_of, index, "_ck_zero", length, place))
        e.stop_if_noted()
    else:
        slot = e.call(slots.slot_of, index, "_ck_zero", length)
    call = e.call(byte_strings.byte_at, e.like("u1"), address, e.bind(slot))
    return Value(PLAIN, (e.bind(call),))


def byte_of_slot(e: Emitter, string: Value, k: str) -> Value:
    """Byte `k` (a uint64 within the length)."""
    address, _ = as_bytes(e, string)
    return Value(PLAIN, (e.bind(e.call(byte_strings.byte_at, e.like("u1"), address, k)),))


def part(e: Emitter, string: Value, start: str | None, stop: str | None) -> Value:
    """`string[start:stop]`."""
    address, length = as_bytes(e, string)
    begin = e.bind(e.call(slots.bound_of, start, length)) if start else "0"
    end = e.bind(e.call(slots.bound_of, stop, length)) if stop else length
    return _cut(e, address, begin, e.bind(e.call(slots.span, begin, end)))


def _cut(e: Emitter, address: str, begin: str, length: str) -> Value:
    return Value(BYTES, (e.bind(f"{address} + _ck_u8({begin})"), length))


def number(e: Emitter, string: Value) -> Value:
    """`int(string)`; 0 where the bytes spell none."""
    address, length = as_bytes(e, string)
    call = e.call(byte_strings.integer_of, e.like("u1"), address, length)
    value, spelled, fits = e.bind_each(call, 3)
    e.check(spelled, ValueError, "the byte string is no integer")
    e.check(fits, OverflowError, "the integer does not fit 64 bits")
    return Value(PLAIN, (value,))


# Methods


def _affix(function: Callable[..., Any]) -> Any:
    def affix(e: Emitter, string: Value, arguments: Sequence[Value]) -> Value:
        _arguments(e, arguments, 1, 1)
        several = isinstance(arguments[0].kind, Record)
        parts = items(arguments[0]) if several else arguments
        whole = as_bytes(e, string)
        found = [
            e.bind(e.call(function, e.like("u1"), *whole, *as_bytes(e, each))) for each in parts
        ]
        return Value(PLAIN, (f"({' or '.join(found) or 'False'})",))

    return affix


def _search(function: Callable[..., Any], absent: str) -> Any:
    """Of a function that gives `absent` where nothing is found; -1 says that it gives a position."""

    def search(e: Emitter, string: Value, arguments: Sequence[Value]) -> Value:
        _arguments(e, arguments, 1, 3)
        start, stop = _bounds(e, arguments[1:])
        address, length = as_bytes(e, string)
        start = e.bind(start) if start else "0"
        begin = e.bind(e.call(slots.bound_of, start, length)) if arguments[1:] else "0"
        end = e.bind(e.call(slots.bound_of, stop, length)) if stop else length
        if arguments[1:]:
            string = _cut(e, address, begin, e.bind(e.call(slots.span, begin, end)))
        wanted = _searched(e, arguments[0])
        found = e.bind(e.call(function, e.like("u1"), *as_bytes(e, string), *wanted))
        if arguments[1:]:
            # Not even an empty string is found behind the end.
            inside = f"{start} <= {length} and {begin} <= {end} and {found} != {absent}"
            moved = f"{found} + {begin}" if absent == "-1" else found
            found = e.bind(f"{moved} if {inside} else {absent}")
        return Value(PLAIN, (found,))

    return search


def _searched(e: Emitter, value: Value) -> tuple[str, str]:
    """Address and length of what is searched for: a byte string, or a byte as a number."""
    if not is_plain(value.kind):
        return as_bytes(e, value)
    _require_byte(e, value)
    address, _ = e.literal(bytes(range(256)))
    return e.bind(f"{address} + _ck_u8({value.parts[0]} & 255)"), "1"


def _require_byte(e: Emitter, value: Value) -> None:
    number = integer(value)
    if number is None or not 0 <= number < 256:
        byte = value.parts[0]
        e.check(f"0 <= {byte} and {byte} < 256", ValueError, "byte must be in range(0, 256)")


def _bounds(e: Emitter, arguments: Sequence[Value]) -> tuple[str | None, str | None]:
    texts = [None if a.kind == NOTHING else e.plain(a) for a in arguments]
    start, stop = (*texts, None, None)[:2]
    return start, stop


def _are_digits(e: Emitter, string: Value, arguments: Sequence[Value]) -> Value:
    _arguments(e, arguments, 0, 0)
    call = e.call(byte_strings.are_digits, e.like("u1"), *as_bytes(e, string))
    return Value(PLAIN, (e.bind(call),))


def _strip(left: bool, right: bool) -> Any:
    def strip(e: Emitter, string: Value, arguments: Sequence[Value]) -> Value:
        _arguments(e, arguments, 0, 1)
        before: Callable[..., Any] = byte_strings.space_before
        after: Callable[..., Any] = byte_strings.space_after
        among: tuple[str, ...] = ()
        if arguments and arguments[0].kind != NOTHING:
            before, after = byte_strings.bytes_before, byte_strings.bytes_after
            among = as_bytes(e, arguments[0])
        address, length = as_bytes(e, string)
        begin = "0"
        if left:
            begin = e.bind(e.call(before, e.like("u1"), address, length, *among))
        stripped = _cut(e, address, begin, e.bind(f"{length} - {begin}"))
        if right:
            call = e.call(after, e.like("u1"), *stripped.parts, *among)
            stripped = Value(BYTES, (stripped.parts[0], e.bind(f"{stripped.parts[1]} - {call}")))
        return stripped

    return strip


def _arguments(e: Emitter, arguments: Sequence[Value], least: int, most: int) -> None:
    if not least <= len(arguments) <= most:
        raise e.failure(f"expected {most or 'no'} argument{'s' * (most > 1)}, got {len(arguments)}")


_METHODS = {
    "startswith": _affix(byte_strings.starts),
    "endswith": _affix(byte_strings.ends),
    "find": _search(byte_strings.find_bytes, "-1"),
    "rfind": _search(byte_strings.find_last_bytes, "-1"),
    "count": _search(byte_strings.count_bytes, "0"),
    "isdigit": _are_digits,
    "strip": _strip(True, True),
    "lstrip": _strip(True, False),
    "rstrip": _strip(False, True),
}


def method(e: Emitter, string: Value, name: str, arguments: Sequence[Value]) -> Value:
    """`string.name(…)`."""
    if name not in _METHODS:
        raise e.failure(f"a byte string has no {name!r} in a kernel")
    found: Value = _METHODS[name](e, string, arguments)
    return found


def length(e: Emitter, string: Value) -> Value:
    """`len(string)`."""
    if isinstance(string.kind, Literal):
        return Value(INTEGER, (str(len(string.kind.value)),))
    return Value(PLAIN, (as_bytes(e, string)[1],))
