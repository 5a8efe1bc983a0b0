"""Every exception that colkern raises on purpose.

Wrong use of the API raises a plain `TypeError` or `ValueError` that names the argument. The classes
here report faulty data, exceeded limits and missing parts of a machine.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from contextlib import contextmanager


class ColkernError(Exception):
    """The root of colkern's own exceptions."""


class InvalidArrowError(ColkernError, ValueError):
    """The data breaks a rule of the Arrow format.

    Args:
        message: The content that is wrong, and the rule of the format.
        place: The message number, column path or slot; printed before the message.
    """

    def __init__(self, message: str, *, place: str = "") -> None:
        self.message = message
        self.place = place
        super().__init__(f"{place}: {message}" if place else message)

    def at(self, place: str) -> InvalidArrowError:
        """The same error, with `place` (one level further out) put before its own place."""
        inner = f"{place}, {self.place}" if self.place else place
        return InvalidArrowError(self.message, place=inner)


class UnsupportedError(ColkernError, NotImplementedError):
    """The data or the request is valid, but colkern does not support it; the message says which part."""


class LimitExceededError(ColkernError, MemoryError):
    """A size or a depth is over a limit; the message names the limit and how to raise it."""


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Errors in the data that are raised within the block get `place` (a file, a message, a column)."""
    try:
        yield
    except InvalidArrowError as error:
        raise error.at(place) from None
    except (UnsupportedError, LimitExceededError) as error:
        raise type(error)(f"{place}: {error}") from None


class DeviceUnavailableError(ColkernError, RuntimeError):
    """A device was asked for that this process cannot use; the message says what is missing."""


class StreamError(ColkernError, OSError):
    """The producer of an Arrow stream reports an error: its `errno`, and its text as `strerror`."""


class CompileError(ColkernError, TypeError):
    """A user's function does not compile; the message names the line and the construct."""


class DifferenceError(ColkernError, AssertionError):
    """Two sets of data that should be equal are not; the message says where, and what both hold."""


def without_addresses(text: str) -> str:
    """A text without the memory addresses of objects, which mean nothing to a reader."""
    text = re.sub(r"<(?:[\w.<>]+\.)?(\w+) object at 0x[0-9a-fA-F]+>", r"\1", text)
    text = re.sub(r"<function (?:[\w.<>]+\.)?([\w<>]+) at 0x[0-9a-fA-F]+>", r"\1", text)
    return re.sub(r" at 0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{6,}", "", text)


def with_line(message: str, path: str, line: int) -> str:
    """A message with a line of the user's source, as tracebacks show one."""
    source = linecache.getline(path, line).strip()
    return f'{message}\n  File "{path}", line {line}' + (f"\n    {source}" if source else "")


def shown(value: object) -> str:
    """A value within a message: its `repr` on one line, without addresses, at most 60 characters."""
    text = repr(value)
    if not isinstance(value, str | bytes):
        text = " ".join(without_addresses(text).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
