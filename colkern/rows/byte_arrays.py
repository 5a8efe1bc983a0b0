"""`bytearray`, as a class in plain Python that is compiled with the user's function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from colkern.rows.text_library import Uncovered


def _byte(item: Any) -> int:
    if not isinstance(item, int):
        raise Uncovered
    if not 0 <= item < 256:
        raise ValueError("byte must be in range(0, 256)")
    return int(item)


def _bytes(other: Any) -> bytes:
    if not isinstance(other, bytes | bytearray):
        raise Uncovered
    return bytes(other)


def _place(items: list[int], place: int) -> int:
    if not -len(items) <= place < len(items):
        # The text of the exception differs from that of lists.
        raise Uncovered
    return place


class ByteArray:
    """A `bytearray`, which has the methods that people call on one; others have no compiled form."""

    _python_class_ = bytearray

    def __init__(self, source: Any = b"") -> None:
        if isinstance(source, int):
            self._items = [0] * source
            if source < 0:
                raise ValueError("negative count")
        else:
            self._items = [_byte(item) for item in source]

    def __add__(self, other: Any) -> ByteArray:
        return ByteArray([*self._items, *_bytes(other)])

    def __radd__(self, other: Any) -> bytes:
        return _bytes(other) + bytes(self._items)

    def __eq__(self, other: object) -> bool:
        return bytes(self._items) == _bytes(other)

    def __bytes__(self) -> bytes:
        return bytes(self._items)

    def __contains__(self, item: int) -> bool:
        return _byte(item) in self._items

    def __copy__(self) -> ByteArray:
        return ByteArray(self._items)

    def __delitem__(self, place: int) -> None:
        del self._items[_place(self._items, place)]

    def __getitem__(self, place: int) -> int:
        return self._items[_place(self._items, place)]

    def __iadd__(self, items: Any) -> ByteArray:
        self.extend(_bytes(items))
        return self

    def __iter__(self) -> Iterator[int]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __setitem__(self, place: int, item: int) -> None:
        known = _place(self._items, place)
        self._items[known] = _byte(item)

    def _slice_(self, start: int | None, stop: int | None, step: int | None) -> ByteArray:
        return ByteArray(self._items[start:stop:step])

    def _set_slice_(self, start: int | None, stop: int | None, items: Any) -> None:
        self._items[start:stop] = [_byte(item) for item in items]

    def append(self, item: int) -> None:
        """Add a byte."""
        self._items.append(_byte(item))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Returns the bytes as text."""
        return bytes(self._items).decode(encoding, errors)

    def extend(self, iterable_of_ints: Any) -> None:
        """Add bytes."""
        self._items.extend([_byte(item) for item in iterable_of_ints])

    def pop(self, index: int = -1) -> int:
        """Remove a byte, and return it."""
        return self._items.pop(_place(self._items, index))
