"""Values in the generated source: a kind, and the code of each part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from colkern.rows import kinds as k
from colkern.rows.kinds import Kind

UNKNOWN = object()


@dataclass(frozen=True)
class Value:
    """The value of an expression.

    Args:
        kind: Its kind.
        code: A name or a number of the generated source; empty for None and tuples.
        none: For a value that may be None, the code of the test for it.
        items: The items of a tuple.
        constant: The Python object, if it is known when the function is compiled.
        unbound: The code that is true while a variable has no value; empty if it has one.
    """

    kind: Kind
    code: str = ""
    none: str = ""
    items: tuple[Value, ...] = ()
    constant: Any = UNKNOWN
    unbound: str = ""

    @property
    def is_constant(self) -> bool:
        """Whether the value is known when the function is compiled."""
        return self.constant is not UNKNOWN

    @property
    def parts(self) -> tuple[str, ...]:
        """The code of each number, text or handle of which it consists."""
        if self.kind in k.NODES:
            return (self.code,)
        if isinstance(self.kind, k.Optional):
            return (self.none, *_inner(self).parts)
        if isinstance(self.kind, k.Parted):
            return tuple(part for item in self.items for part in item.parts)
        return (self.code,) if self.kind not in (k.NONE, k.NEVER) else ()


NONE = Value(k.NONE, constant=None)


def _inner(value: Value) -> Value:
    """Returns a value that may be None as its value where it is not."""
    assert isinstance(value.kind, k.Optional)
    return Value(value.kind.of, value.code, items=value.items)


def inner(value: Value) -> Value:
    """Returns a value without the possibility that it is None."""
    return _inner(value) if isinstance(value.kind, k.Optional) else value


def of_parts(kind: Kind, parts: tuple[str, ...]) -> Value:
    """Returns a value of a kind, from the code of its parts."""
    if kind in k.NODES:
        return _of_node(kind, parts[0])
    if isinstance(kind, k.Optional):
        of = of_parts(kind.of, parts[1:])
        return Value(kind, of.code, parts[0], of.items)
    if isinstance(kind, k.Parted):
        items, at = [], 0
        for item in kind.items:
            count = len(zeros(item))
            items.append(of_parts(item, parts[at : at + count]))
            at += count
        return Value(kind, items=tuple(items))
    return Value(kind, parts[0] if parts else "") if kind != k.NONE else NONE


def _of_node(kind: Kind, node: str) -> Value:
    """Returns a value of a document, whose type and contents are read where they are used."""
    word = f"node_word({node}, 1)"
    codes = {
        k.BOOL: f"({word} != 0)",
        k.FLOAT: f"float_of_bits({word})",
        k.TEXT: f"node_text({node})",
    }
    _, *types = k.CONTENT.items
    number = Value(k.INT, f"node_word({node}, 0)")
    items = number, *(Value(each, codes.get(each, word)) for each in types)
    return Value(kind, node, f"({node} == 0)" if kind == k.DOCUMENT else "", items)


def tuple_of_values(
    items: Iterable[Value], names: tuple[str, ...] = (), form: type = tuple
) -> Value:
    """Returns a tuple of values, or an object of another form whose fields have names."""
    items = tuple(items)
    return Value(k.tuple_of(tuple(item.kind for item in items), names, form), items=items)


UNSET = tuple_of_values([Value(k.BOOL, "True"), Value(k.NEVER)], (), k.Unset)
"""A field without a value."""

LOWEST = "(-9223372036854775807 - 1)"
"""The lowest signed integer: with this bit flipped, unsigned words are in the order of signed ones."""

_WORDS = {
    "unsigned": ("0", f"set_word({{at}}, {{code}} ^ {LOWEST})", f"(get_word({{at}}) ^ {LOWEST})"),
    "float": ("0.0", "set_word({at}, bits_of_float({code}))", "float_of_bits(get_word({at}))"),
    "bool": ("False", "set_word({at}, 1 if {code} else 0)", "get_word({at}) != 0"),
    "str": ("Text(0, 0, True)", "set_text({at}, {code})", "get_text({at})"),
    "bytes": ("Bytes(0, 0)", "set_bytes({at}, {code})", "get_bytes({at})"),
    "Decimal": (
        "Decimal(0, 0)",
        "set_word({at}, {code}.coefficient)\nset_word({at} + 8, {code}.exponent)",
        "Decimal(get_word({at}), get_word({at} + 8))",
    ),
}
"""For kinds: code for a value that is never read, and how an item is written and read."""

_WORD = ("0", "set_word({at}, {code})", "get_word({at})")


def _is_parted(kind: Kind) -> bool:
    return isinstance(kind, k.Optional | k.Parted) and kind not in k.NODES


def zeros(kind: Kind) -> tuple[str, ...]:
    """Returns code for the parts of a value that is never read."""
    if not _is_parted(kind):
        return (_WORDS.get(kind.name, _WORD)[0],) if kind not in (k.NONE, k.NEVER) else ()
    if isinstance(kind, k.Optional):
        return ("True", *zeros(kind.of))
    return tuple(zero for item in kind.items for zero in zeros(item))  # type: ignore[attr-defined]


def _at(place: str, offset: int) -> str:
    return f"{place} + {8 * offset}" if offset else place


def stored(kind: Kind, place: str, value: Value, offset: int = 0) -> list[str]:
    """Returns statements that write a value as an item, `offset` words after a place."""
    at = _at(place, offset)
    if not _is_parted(kind):
        write = _WORDS.get(kind.name, _WORD)[1].format(at=at, code=value.code)
        return write.split("\n") if kind.words else []
    if isinstance(kind, k.Optional):
        none = f"set_word({at}, 1 if {value.none} else 0)"
        return [none, *stored(kind.of, place, _inner(value), offset + 1)]
    lines = []
    for item in value.items:
        lines += stored(item.kind, place, item, offset)
        offset += item.kind.words
    return lines


def loaded(kind: Kind, place: str, offset: int = 0) -> tuple[str, ...]:
    """Returns code for the parts of an item that `stored` wrote."""
    at = _at(place, offset)
    if not _is_parted(kind):
        return (_WORDS.get(kind.name, _WORD)[2].format(at=at),) if kind.words else ()
    if isinstance(kind, k.Optional):
        return (f"get_word({at}) != 0", *loaded(kind.of, place, offset + 1))
    parts: tuple[str, ...] = ()
    for item in kind.items:  # type: ignore[attr-defined]
        parts += loaded(item, place, offset)
        offset += item.words
    return parts


def picked(codes: Sequence[str], number: str, first: int = 0) -> str:
    """Returns code for one of several, by its number; brackets are nested as deep as halves are."""
    if len(codes) == 1:
        return codes[0]
    half = len(codes) // 2
    then = picked(codes[:half], number, first)
    otherwise = picked(codes[half:], number, first + half)
    return f"({then} if {number} < {first + half} else {otherwise})"
