"""Bodies of row functions' methods, run over Python values as plain Python and compiled.

    assert run(text_characters.length, "ab") == 2
    assert run(numbers.parse_int, "x") is ValueError

`run` gives what a body returns, as a Python value; the exception's class for a code that stands for one;
`LEFT` where it leaves the row to Python.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import InvalidOperation
from functools import cache
from typing import Any

import numba
import numpy as np

from colkern.cpu.compiler import compiled
from colkern.generated import function_of_text
from colkern.kernels import row_values
from colkern.kernels.primitives import get_byte
from colkern.kernels.row_values import Bytes, Text
from colkern.rows.unicode_tables import characters

LEFT = "left to Python"
CHARACTERS = np.frombuffer(characters(), np.uint8)
EXCEPTIONS = {
    row_values.OVERFLOW_ERROR: OverflowError,
    row_values.ZERO_DIVISION_ERROR: ZeroDivisionError,
    row_values.INDEX_ERROR: IndexError,
    row_values.KEY_ERROR: KeyError,
    row_values.TYPE_ERROR: TypeError,
    row_values.VALUE_ERROR: ValueError,
    row_values.UNICODE_DECODE_ERROR: UnicodeDecodeError,
    row_values.INVALID_OPERATION: InvalidOperation,
}
EPOCH = datetime(1970, 1, 1)


class Memory:
    """Memory that values of row functions lie in, and an arena."""

    def __init__(self, size: int = 1 << 16) -> None:
        self._kept: list[np.ndarray[Any, Any]] = []
        room = self._keep(np.zeros(size // 8 + 2, np.int64))
        self.arena = room.ctypes.data
        room[0], room[1] = self.arena + 16, self.arena + room.nbytes

    def _keep(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        self._kept.append(array)
        return array

    def bytes(self, value: bytes) -> int:
        """The address of bytes, at an odd place and with nothing of theirs behind them."""
        array = self._keep(np.frombuffer(b"\xff" + value + b"\xff" * 8, np.uint8).copy())
        return array.ctypes.data + 1

    def argument(self, value: Any) -> Any:
        """A Python value as a body takes it."""
        if isinstance(value, str):
            data = value.encode()
            return Text(self.bytes(data), len(data), value.isascii())
        if isinstance(value, bytes):
            return Bytes(self.bytes(value), len(value))
        if isinstance(value, datetime):
            return (value.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)
        if isinstance(value, date):
            return (value - EPOCH.date()).days
        if isinstance(value, time):
            return timedelta(
                hours=value.hour,
                minutes=value.minute,
                seconds=value.second,
                microseconds=value.microsecond,
            ) // timedelta(microseconds=1)
        if isinstance(value, timedelta):
            return value // timedelta(microseconds=1)
        return value

    def result(self, value: Any) -> Any:
        """A body's result, as a Python value; times stay numbers."""
        if type(value).__name__ == "Text":
            data = self.read(value)
            assert not value.ascii or data.isascii()
            return data.decode()
        if type(value).__name__ == "Bytes":
            return self.read(value)
        if isinstance(value, tuple):
            return tuple(map(self.result, value))
        return value.item() if isinstance(value, np.generic) else value

    @staticmethod
    def read(value: Text | Bytes) -> builtins.bytes:
        """The bytes of a text or byte string."""
        return bytes(get_byte(value.address + k) for k in range(value.size))


def run(body: Callable[..., Any], *values: Any, by: str = "plain", room: int = 1 << 16) -> Any:
    """A body's result for Python values.

    Args:
        body: The body.
        values: Its arguments, without the arena.
        by: "plain" for plain Python, "compiled" for the CPU.
        room: The bytes of the arena.
    """
    return run_in(Memory(room), body, *values, by=by)


def run_in(memory: Memory, body: Callable[..., Any], *values: Any, by: str = "plain") -> Any:
    """As `run`, in memory of the caller's: for results that are handles of what lies there."""
    arguments = [*leading(memory, body), *(memory.argument(value) for value in values)]
    function = body if by == "plain" else _compiled(body)
    with np.errstate(over="ignore"):
        returned = function(*arguments)
    if "Code" in str(inspect.signature(body).return_annotation):
        returned, code = returned
        if code:
            return LEFT if code == row_values.LEFT else EXCEPTIONS.get(code, code)
    return memory.result(returned)


def leading(memory: Memory, body: Callable[..., Any]) -> list[int]:
    """The arguments of a body before those of its method."""
    places = {"arena": memory.arena, "unicode": CHARACTERS.ctypes.data}
    return [places[name] for name in inspect.signature(body).parameters if name in places]


@cache
def _compiled(body: Callable[..., Any]) -> Any:
    names = ", ".join(inspect.signature(body).parameters)
    source = f"def call({names}):\n    return body({names})\n"
    namespace = {"__name__": __name__, "body": compiled(body)}
    return numba.njit(function_of_text("call", source, namespace, "test of a body"))
