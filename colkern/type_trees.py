"""Data types and fields as a tree, and functions of whole trees: equality, hash, text, pickles.

The types themselves are in `colkern.schema`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from colkern.names import PublicNames

if TYPE_CHECKING:
    from colkern import methods
    from colkern.schema import as_type


class _Immutable(PublicNames):
    """A base of values that never change: a copy is the object itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


@dataclass(frozen=True)
class DataType(_Immutable):
    """The root of the data types."""

    # Set by `colkern.layouts.layout`: making an array takes less time than finding a type in a
    # table.
    __slots__ = ("_layout",)

    if TYPE_CHECKING:
        of = staticmethod(as_type)
        __arrow_c_schema__ = methods.schema_capsule

    def __repr__(self) -> str:
        return f"<colkern.DataType {self}>"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the child arrays, in order; empty for a type without children."""
        return ()

    @property
    def storage(self) -> DataType:
        """The type that the values are stored as: an extension type's storage, else the type itself."""
        return self


@dataclass(frozen=True, slots=True)
class Field(_Immutable):
    """A named, possibly nullable, column or child of a nested type.

    Args:
        name: Any text; names need not be unique within a schema.
        nullable: Whether slots may be null. A declaration, not a promise about the data.
        metadata: Key-value pairs of bytes that travel with the field; not compared by `==`.
    """

    name: str
    type: DataType
    nullable: bool = True
    metadata: Mapping[bytes, bytes] | None = dataclasses.field(default=None, compare=False)

    if TYPE_CHECKING:
        from_arrow = staticmethod(methods.field_of_arrow)
        __arrow_c_schema__ = methods.schema_capsule

    def __post_init__(self) -> None:
        if not isinstance(self.type, DataType):
            object.__setattr__(self, "type", DataType.of(self.type, f"type of field {self.name!r}"))

    def __str__(self) -> str:
        return f"{self.name}: {self.type}{'' if self.nullable else ' not null'}"

    def __repr__(self) -> str:
        return f"<colkern.Field {self}>"

    def with_name(self, name: str) -> Field:
        """The same field under another name."""
        return Field(name, self.type, self.nullable, self.metadata)

    def with_metadata(self, metadata: Mapping[bytes, bytes] | None) -> Field:
        """The same field with other metadata."""
        return Field(self.name, self.type, self.nullable, metadata)


Spell = Callable[["DataType | Field"], str]
"""The text of a type or field inside another."""


class NestedType(DataType):
    """A type with others inside, perhaps deeper than Python's stack: it is walked without recursion."""

    __slots__ = ("_hash",)

    UNNAMED_LEVELS: ClassVar[int] = 0
    """The levels of fields whose names mean nothing: list elements, or entries, keys and items."""

    _hash: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((type(self), *_parameters(self, compared=True))))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return alike(self, other) if isinstance(other, DataType) else NotImplemented

    def _spelled(self, of: Spell) -> str:
        """The type as text; `of` gives the text of each type inside."""
        raise NotImplementedError

    def __str__(self) -> str:
        texts: dict[int, str] = {}

        def of(part: DataType | Field) -> str:
            if not isinstance(part, Field):
                return texts[id(part)]
            return f"{part.name}: {texts[id(part.type)]}{'' if part.nullable else ' not null'}"

        for part in inside_out(self):
            if isinstance(part, NestedType):
                texts[id(part)] = part._spelled(of)
            elif isinstance(part, DataType):
                texts[id(part)] = str(part)
        return texts[id(self)]

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (_flattened(self),)


_PARTS = (DataType, Field)
"""The parts of types and fields; a tuple, which `isinstance` checks faster than a union."""


@lru_cache
def _parameter_names(kind: type, compared: bool) -> tuple[str, ...]:
    parameters = dataclasses.fields(kind)
    return tuple(each.name for each in parameters if each.compare or not compared)


def _parameters(part: DataType | Field, *, compared: bool = False) -> list[object]:
    """The constructor's arguments of a type or field; with `compared`, only those that `==` compares."""
    kind: Any = type(part)
    return [getattr(part, name) for name in _parameter_names(kind, compared)]


def _parts(part: DataType | Field) -> list[DataType | Field]:
    """The types and fields directly inside a type or field."""
    if isinstance(part, Field):
        return [part.type]
    parts: list[DataType | Field] = []
    for parameter in _parameters(part):
        members = parameter if isinstance(parameter, tuple) else (parameter,)
        parts += [member for member in members if isinstance(member, _PARTS)]
    return parts


def inside_out(root: DataType) -> list[DataType | Field]:
    """All types and fields of a tree, each once, children before parents."""
    parts: dict[int, DataType | Field] = {}
    waiting: list[tuple[DataType | Field, bool]] = [(root, False)]
    while waiting:
        part, is_ready = waiting.pop()
        if is_ready:
            parts[id(part)] = part
        elif id(part) in parts:
            continue
        elif isinstance(part, (Field, NestedType)):
            waiting.append((part, True))
            waiting += [(inner, False) for inner in _parts(part)]
        else:
            parts[id(part)] = part
    return list(parts.values())


def alike(a: DataType, b: DataType, *, by_name: bool = True) -> bool:
    """Whether two types are equal; without `by_name`, names that carry no meaning may differ."""
    # Each pair with the number of levels from here on whose names have no meaning.
    pairs: list[tuple[Any, Any, int]] = [(a, b, 0)]
    while pairs:
        ours, theirs, unnamed = pairs.pop()
        if ours is theirs:
            continue
        if type(ours) is not type(theirs):
            return False
        if isinstance(ours, Field):
            if ours.nullable != theirs.nullable or not (unnamed or ours.name == theirs.name):
                return False
            if ours.type is not theirs.type:
                pairs.append((ours.type, theirs.type, max(unnamed - 1, 0)))
        elif isinstance(ours, tuple):
            if len(ours) != len(theirs):
                return False
            pairs += [(x, y, unnamed) for x, y in zip(ours, theirs, strict=True)]
        elif isinstance(ours, NestedType):
            if by_name and hash(ours) != hash(theirs):
                return False
            unnamed = unnamed if by_name else max(unnamed, ours.UNNAMED_LEVELS)
            parameters = (_parameters(each, compared=True) for each in (ours, theirs))
            pairs += [(x, y, unnamed) for x, y in zip(*parameters, strict=True)]
        elif ours != theirs:
            return False
    return True


class _At(NamedTuple):
    """A reference within a flattened type: to one earlier part, or to several."""

    positions: int | tuple[int, ...]


def _flattened(root: DataType) -> list[object]:
    """The types and fields of a tree as a list, each as its class and its constructor's arguments."""
    parts = inside_out(root)
    positions = {id(part): position for position, part in enumerate(parts)}

    def placed(value: object) -> object:
        if isinstance(value, DataType | Field):
            return _At(positions[id(value)])
        if isinstance(value, tuple) and any(isinstance(member, Field) for member in value):
            return _At(tuple(positions[id(member)] for member in value))
        return value

    return [(type(part), *map(placed, _parameters(part))) for part in parts]


def restored(flattened: Sequence[Any]) -> Any:
    """The type that was flattened by `_flattened`."""
    built: list[object] = []

    def resolved(value: object) -> object:
        if not isinstance(value, _At):
            return value
        if isinstance(value.positions, int):
            return built[value.positions]
        return tuple(built[position] for position in value.positions)

    for kind, *parameters in flattened:
        built.append(kind(*map(resolved, parameters)))
    return built[-1]
