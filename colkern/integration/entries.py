"""Members of JSON objects from untrusted input: each is checked for its kind when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from colkern.errors import InvalidArrowError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that `json` writes."""

Choice = TypeVar("Choice")

_MISSING = object()
_CUT = 60


def shown(value: object) -> str:
    """A value as an error message shows it, cut."""
    text = repr(value)
    return text if len(text) <= _CUT else f"{text[:_CUT]}…"


class Entry:
    """A JSON object, called `what` in errors; `InvalidArrowError` if it, or a member, is wrong."""

    __slots__ = ("_members", "_what")

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, dict):
            raise InvalidArrowError(f"{what}: expected a JSON object, found {shown(value)}")
        self._members = value
        self._what = what

    def __contains__(self, key: str) -> bool:
        return self._members.get(key) is not None

    def value(self, key: str) -> object:
        """A member of any kind."""
        return self._take(key, object, "a value", _MISSING)

    def _take(self, key: str, kind: type | tuple[type, ...], name: str, default: object) -> Any:
        value = self._members.get(key, default)
        if value is None and default is not _MISSING:
            value = default
        if value is _MISSING:
            raise InvalidArrowError(f"{self._what}: no {key!r}")
        # Python's booleans are integers, JSON's are not.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise InvalidArrowError(f"{self._what}: {key!r}: expected {name}, found {shown(value)}")
        return value

    def text(self, key: str, default: object = _MISSING) -> str:
        """A string that UTF-8 can spell."""
        text: str = self._take(key, str, "a string", default)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidArrowError(
                f"{self._what}: {key!r}: {shown(text)}: {error.reason}"
            ) from None
        return text

    def integer(self, key: str, default: object = _MISSING) -> int:
        """An integer."""
        number: int = self._take(key, int, "an integer", default)
        return number

    def flag(self, key: str, default: object = _MISSING) -> bool:
        """A boolean."""
        flag: bool = self._take(key, bool, "a boolean", default)
        return flag

    def items(self, key: str, default: object = _MISSING) -> list[object]:
        """An array."""
        items: list[object] = self._take(key, list, "an array", default)
        return items

    def entry(self, key: str) -> Entry:
        """An object."""
        return Entry(self._take(key, dict, "an object", _MISSING), key)

    def entries(self, key: str, default: object = _MISSING) -> list[Entry]:
        """An array of objects."""
        return [Entry(item, key) for item in self.items(key, default)]

    def choice(self, key: str, choices: Mapping[str, Choice]) -> Choice:
        """The value that a string stands for."""
        text = self.text(key)
        if text not in choices:
            known = ", ".join(choices)
            raise InvalidArrowError(f"{self._what}: {key!r}: {shown(text)}; there are {known}")
        return choices[text]
