"""The type of a column of results: as declared, or what holds all that a function returns."""

from __future__ import annotations

from collections.abc import Set

from colkern import schema as s
from colkern.errors import CompileError, UnsupportedError
from colkern.jit.results.kinds import Kind, ListKind, RowKind
from colkern.jit.results.writers import INFERRED, NUMBER, TEXT, writer_of


def require_result_type(data_type: s.DataType) -> None:
    """Check that results of a type can be written.

    Raises:
        UnsupportedError: If they cannot.
    """
    if isinstance(data_type, s.Struct):
        for field in data_type.fields:
            require_result_type(field.type)
    elif isinstance(data_type, s.List | s.LargeList):
        if not _has_fixed_size(data_type.value_type):
            raise UnsupportedError(
                f"{data_type} as the result of a udf; ck.generator yields items of any type"
            )
        require_result_type(data_type.value_type)
    else:
        writer_of(data_type)


def _has_fixed_size(data_type: s.DataType) -> bool:
    """Whether values have a place of their own size, so that they are written without a measure."""
    if isinstance(data_type, s.Struct):
        return all(_has_fixed_size(field.type) for field in data_type.fields)
    return not isinstance(
        data_type, s.List | s.LargeList | s.Utf8 | s.LargeUtf8 | s.Binary | s.LargeBinary
    )


def result_type(
    name: str, kinds: Set[Kind], declared: s.DataType | None, verb: str = "returns"
) -> s.DataType:
    """The type of results of those kinds.

    Args:
        name: The function's name, for messages.
        kinds: What it returns for each combination of nulls.
        declared: What it is declared to return, if it is.
        verb: What messages say that it does with them.

    Raises:
        CompileError: If there is no such type, or it is not what was declared.
    """
    found = frozenset(kinds - {"none"})
    rows = [kind for kind in found if isinstance(kind, RowKind)]
    if rows or isinstance(declared, s.Struct):
        return _struct_type(name, found, rows, declared, verb)
    lists = [kind for kind in found if isinstance(kind, ListKind)]
    if lists or isinstance(declared, s.List | s.LargeList):
        return _list_type(name, found, lists, declared, verb)
    if declared is None:
        return _common_type(name, found, verb)
    if found and isinstance(declared, s.Decimal) and _are_decimals(found):
        return _require_scale(name, found, declared, verb)
    wrong = found - writer_of(declared).kinds
    if wrong:
        raise CompileError(f"{name} {verb} {_words(wrong)} where {declared} is declared")
    return declared


def _struct_type(
    name: str,
    found: frozenset[Kind],
    rows: list[RowKind],
    declared: s.DataType | None,
    verb: str,
) -> s.DataType:
    if declared is not None and not isinstance(declared, s.Struct):
        raise CompileError(f"{name} {verb} a tuple where {declared} is declared")
    if len(rows) < len(found):
        others = _words(frozenset(found - set(rows)))
        wanted = f"where {declared} is declared: one of its fields" if declared else "and others"
        raise CompileError(f"{name} {verb} {others} {wanted}; return tuples with all fields")
    if not rows:
        assert declared is not None
        return declared
    names = [field.name for field in declared.fields] if declared else _names(rows[0])
    for row in rows:
        if len(row.kinds) != len(names):
            raise CompileError(
                f"{name} {verb} a tuple of {len(row.kinds)} values where {len(names)} are "
                f"{'declared' if declared else 'in another'}"
            )
        if row.names is not None and list(row.names) != names:
            raise CompileError(
                f"{name} {verb} the fields {', '.join(row.names)} where {', '.join(names)} are "
                f"{'declared' if declared else 'in another'}"
            )
    fields = []
    for k, field in enumerate(names):
        wanted_type = declared.fields[k].type if declared else None
        kinds = {row.kinds[k] for row in rows}
        fields.append((field, result_type(f"{name}: field {field!r}", kinds, wanted_type, "is")))
    return declared or s.struct(fields)


def _list_type(
    name: str,
    found: frozenset[Kind],
    lists: list[ListKind],
    declared: s.DataType | None,
    verb: str,
) -> s.DataType:
    if declared is not None and not isinstance(declared, s.List | s.LargeList):
        raise CompileError(f"{name} {verb} a list where {declared} is declared")
    if len(lists) < len(found):
        others = _words(frozenset(found - set(lists)))
        raise CompileError(f"{name} {verb} {others} where a list is expected")
    place = f"{name}: an item"
    if declared is not None:
        result_type(place, {kind.item for kind in lists}, declared.value_type, "is")
        return declared
    types = {kind.type for kind in lists}
    known = types.pop() if len(types) == 1 else None
    item = known or result_type(place, {kind.item for kind in lists}, None, "is")
    made = s.list_(item)
    try:
        require_result_type(made)
    except UnsupportedError as error:
        raise CompileError(f"{name}: {error}") from None
    return made


def _names(row: RowKind) -> list[str]:
    return [f"f{k}" for k in range(len(row.kinds))] if row.names is None else list(row.names)


def _are_decimals(kinds: frozenset[Kind]) -> bool:
    return all(isinstance(kind, s.Decimal) for kind in kinds)


def _require_scale(name: str, kinds: frozenset[Kind], declared: s.Decimal, verb: str) -> s.DataType:
    scale = max(kind.scale for kind in kinds if isinstance(kind, s.Decimal))
    if scale > declared.scale:
        raise CompileError(
            f"{name} {verb} a decimal with the scale {scale} where {declared} is declared; "
            f"x.rescale({declared.scale}) has its scale"
        )
    return declared


def _common_type(name: str, kinds: frozenset[Kind], verb: str) -> s.DataType:
    if not kinds:
        each = "item" if verb == "yields" else "row"
        raise CompileError(f"{name} {verb} None for every {each}")
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
    raise CompileError(
        f"{name} {verb} values of different types: {_words(kinds)}; declare returns="
    )


def _common_decimal(kinds: frozenset[Kind]) -> s.DataType:
    decimals = [kind for kind in kinds if isinstance(kind, s.Decimal)]
    scale = max(kind.scale for kind in decimals)
    widest = max(decimals, key=lambda kind: kind.bit_width)
    return s.Decimal(widest.precision, scale, widest.bit_width)


def _words(kinds: frozenset[Kind]) -> str:
    return ", ".join(sorted(map(_word, kinds)))


def _word(kind: Kind) -> str:
    if isinstance(kind, RowKind):
        return "a tuple"
    if isinstance(kind, ListKind):
        return "a list"
    return str(INFERRED[kind]) if isinstance(kind, str) else str(kind)
