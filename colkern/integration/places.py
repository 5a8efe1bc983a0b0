"""Errors that name their file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError


@contextmanager
def placed(name: str) -> Iterator[None]:
    """Put the name of a file before the messages of errors in its data."""
    try:
        yield
    except InvalidArrowError as error:
        raise error.at(name) from None
    except (UnsupportedError, LimitExceededError) as error:
        raise type(error)(f"{name}: {error}") from None
