"""The type of a column of results: as declared, or what holds all that a function returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from colkern import schema as s
from colkern.errors import CompileError, UnsupportedError
from colkern.jit.results.kinds import Kind, ListKind, MapKind, RowKind
from colkern.jit.results.writers import INFERRED, NUMBER, TEXT, kinds_of
from colkern.jit.results.written_types import require_result_type, written_type

_LISTS = (s.List, s.LargeList, s.FixedSizeList)


def result_type(name: str, kinds: Set[Kind], declared: s.DataType | None) -> s.DataType:
    """The type of results of those kinds.

    Args:
        name: The function's name, for messages.
        kinds: What it returns for each combination of nulls.
        declared: What it is declared to return, if it is.

    Raises:
        CompileError: If there is no such type, or it is not what was declared.
    """
    found = frozenset(kinds - {"none"})
    results = _Results(name, found, "returns")
    if declared is not None:
        _require(results, written_type(declared))
        return declared
    made = _inferred(results)
    try:
        require_result_type(made)
    except UnsupportedError as error:
        raise CompileError(f"{name}: {error}; declare returns=") from None
    return made


@dataclass(frozen=True, slots=True)
class _Results:
    """What a function returns, or a part of it.

    Args:
        name: What messages call it.
        kinds: What it may be besides None.
        verb: What messages say that it does.
    """

    name: str
    kinds: frozenset[Kind]
    verb: str

    def part(self, words: str, kinds: Set[Kind]) -> _Results:
        """A part of it, called so."""
        return _Results(f"{self.name}: {words}", frozenset(kinds - {"none"}), "is")

    def error(self, words: str) -> CompileError:
        """The error that it does something."""
        return CompileError(f"{self.name} {self.verb} {words}")

    @property
    def rows(self) -> list[RowKind]:
        """The tuples and rows among it."""
        return [kind for kind in self.kinds if isinstance(kind, RowKind)]

    @property
    def lists(self) -> list[ListKind]:
        """The lists among it."""
        return [kind for kind in self.kinds if isinstance(kind, ListKind)]


# As declared


def _require(results: _Results, declared: s.DataType) -> None:
    """CompileError for results that cannot be written as a type."""
    if not results.kinds:
        return
    if isinstance(declared, s.Struct):
        _require_struct(results, declared)
    elif isinstance(declared, s.Union):
        _require_union(results, declared)
    elif isinstance(declared, s.Map):
        _require_map(results, declared)
    elif isinstance(declared, _LISTS):
        _require_only(results, results.lists, declared, "; return a list, an array or a column")
        items = results.part("an item", {kind.item for kind in results.lists})
        _require(items, declared.value_type)
    elif isinstance(declared, s.Decimal) and _are_decimals(results.kinds):
        _require_scale(results, declared)
    else:
        _require_only(results, results.kinds & kinds_of(declared), declared)


def _require_only(
    results: _Results, accepted: Sequence[Kind] | Set[Kind], declared: s.DataType, hint: str = ""
) -> None:
    wrong = results.kinds - set(accepted)
    if wrong:
        raise results.error(f"{_words(wrong)} where {declared} is declared{hint}")


def _require_struct(results: _Results, declared: s.Struct) -> None:
    _require_only(
        results, results.rows, declared, ": one of its fields; return tuples with all fields"
    )
    names = [field.name for field in declared.fields]
    _require_fields(results, names, "declared")
    for k, field in enumerate(declared.fields):
        _require(_field(results, k, field.name), field.type)


def _require_union(results: _Results, declared: s.Union) -> None:
    hint = "; return tuples with a place for each child, of which one is not None"
    _require_only(results, results.rows, declared, hint)
    count = len(declared.fields)
    for row in results.rows:
        if len(row.kinds) != count:
            raise results.error(f"a tuple of {len(row.kinds)} values for {count} children{hint}")
    for k, field in enumerate(declared.fields):
        _require(_field(results, k, field.name), field.type)


def _require_map(results: _Results, declared: s.Map) -> None:
    keys: set[Kind] = set()
    items: set[Kind] = set()
    for kind in results.kinds:
        pair = _entry(kind)
        if pair is None:
            raise results.error(
                f"{_word(kind)} where {declared} is declared; "
                f"return a list of tuples of a key and its item, or a dictionary"
            )
        keys.add(pair[0])
        items.add(pair[1])
    _require(results.part("a key", keys), declared.key_field.type)
    _require(results.part("an item", items), declared.item_field.type)


def _entry(kind: Kind) -> tuple[Kind, ...] | None:
    """What the keys and items of a map are; None for what is no map."""
    if isinstance(kind, MapKind):
        return kind.key, kind.item
    item = kind.item if isinstance(kind, ListKind) else None
    return item.kinds if isinstance(item, RowKind) and len(item.kinds) == 2 else None


def _require_scale(results: _Results, declared: s.Decimal) -> None:
    scale = max(kind.scale for kind in results.kinds if isinstance(kind, s.Decimal))
    if scale > declared.scale:
        raise results.error(
            f"a decimal with the scale {scale} where {declared} is declared; "
            f"x.rescale({declared.scale}) has its scale"
        )


# Inferred


def _inferred(results: _Results) -> s.DataType:
    """The type that holds results of all kinds."""
    if results.rows:
        _require_alike(results, results.rows, "return tuples with all fields")
        return _known_type(results.rows) or _inferred_struct(results)
    if results.lists:
        _require_alike(results, results.lists, "return a list in each place")
        items = results.part("an item", {kind.item for kind in results.lists})
        return s.list_(_known_type(results.lists) or _inferred(items))
    maps = [kind for kind in results.kinds if isinstance(kind, MapKind)]
    if maps:
        _require_alike(results, maps, "return a dictionary in each place")
        keys = results.part("a key", {kind.key for kind in maps})
        items = results.part("an item", {kind.item for kind in maps})
        return _known_type(maps) or s.map_(_inferred(keys), _inferred(items))
    return _common_type(results)


def _known_type(slots: Sequence[RowKind | ListKind | MapKind]) -> s.DataType | None:
    """The type that all have from their columns, if it is one."""
    types = {slot.type for slot in slots}
    return types.pop() if len(types) == 1 else None


def _require_alike(results: _Results, alike: Sequence[Kind], hint: str) -> None:
    others = results.kinds - set(alike)
    if others:
        raise results.error(f"{_words(results.kinds)} in different places; {hint}")


def _inferred_struct(results: _Results) -> s.DataType:
    row = results.rows[0]
    names = [f"f{k}" for k in range(len(row.kinds))] if row.names is None else list(row.names)
    _require_fields(results, names, "in another")
    return s.struct(
        [(field, _inferred(_field(results, k, field))) for k, field in enumerate(names)]
    )


def _require_fields(results: _Results, names: list[str], where: str) -> None:
    """CompileError for tuples that do not have fields of those names."""
    for row in results.rows:
        if len(row.kinds) != len(names):
            raise results.error(
                f"a tuple of {len(row.kinds)} values where {len(names)} are {where}"
            )
        if row.names is not None and list(row.names) != names:
            raise results.error(
                f"the fields {', '.join(row.names)} where {', '.join(names)} are {where}"
            )


def _field(results: _Results, k: int, name: str) -> _Results:
    return results.part(f"field {name!r}", {row.kinds[k] for row in results.rows})


def _common_type(results: _Results) -> s.DataType:
    kinds = results.kinds
    if not kinds:
        raise results.error("None for every row")
    if len(kinds) == 1:
        (kind,) = kinds
        return kind if isinstance(kind, s.DataType) else INFERRED[str(kind)]
    if _are_decimals(kinds):
        return _common_decimal(kinds)
    if kinds <= TEXT:
        return s.utf8()
    if kinds <= NUMBER - {"boolean", "uint64"}:
        return s.int64()
    if kinds <= {*NUMBER, "float32", "float64"} and "boolean" not in kinds:
        return s.float64()
    raise results.error(f"values of different types: {_words(kinds)}; declare returns=")


def _are_decimals(kinds: frozenset[Kind]) -> bool:
    return all(isinstance(kind, s.Decimal) for kind in kinds)


def _common_decimal(kinds: frozenset[Kind]) -> s.DataType:
    decimals = [kind for kind in kinds if isinstance(kind, s.Decimal)]
    scale = max(kind.scale for kind in decimals)
    widest = max(decimals, key=lambda kind: kind.bit_width)
    return s.Decimal(widest.bit_width, widest.precision, scale)


# In words

_WORDS: dict[type, Callable[[Kind], str]] = {
    RowKind: lambda _: "a tuple",
    ListKind: lambda _: "a list",
    MapKind: lambda _: "a dictionary",
    str: lambda kind: str(INFERRED[str(kind)]),
}


def _words(kinds: frozenset[Kind]) -> str:
    return ", ".join(sorted(map(_word, kinds)))


def _word(kind: Kind) -> str:
    return _WORDS.get(type(kind), str)(kind)
