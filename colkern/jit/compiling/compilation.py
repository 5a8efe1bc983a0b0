"""Compiling a user's function: what it returns, or which line of it cannot be compiled and why."""

from __future__ import annotations

import itertools
import linecache
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit.results.kinds import Kind, ListKind, MapKind, RowKind
from colkern.jit.rows.arguments import Value
from colkern.jit.rows.loops import numba_type
from colkern.jit.values.decimal_numbers import DecimalType
from colkern.jit.values.strings import ByteStringType
from colkern.jit.views.columns import ColumnType, EntriesType, RowType
from colkern.jit.views.elements import value_type


def returned_kinds(
    dispatcher: Any, values: Sequence[Value], nullable: Sequence[bool], verb: str = "returns"
) -> frozenset[Kind]:
    """What a function returns, compiling it if it has to.

    Args:
        dispatcher: The function.
        values: What it gets: names as in `Reader.value`.
        nullable: Which of them it also gets as None.
        verb: What messages say that it does with its results.

    Returns:
        What it returns for each combination of nulls.

    Raises:
        CompileError: If it does not compile, or returns something that no column holds.
    """
    return frozenset(
        returned_kind(dispatcher, signature, verb) for signature in signatures(values, nullable)
    )


def signatures(values: Sequence[Value], nullable: Sequence[bool]) -> list[tuple[Any, ...]]:
    """The Numba types of a function's arguments: one signature for each combination of nulls."""
    choices = [
        (numba_type(value), types.none) if may else (numba_type(value),)
        for value, may in zip(values, nullable, strict=True)
    ]
    return list(itertools.product(*choices))


def returned_kind(dispatcher: Any, signature: tuple[Any, ...], verb: str = "returns") -> Kind:
    """As `returned_kinds`, for arguments of given Numba types."""
    returned = returned_type(dispatcher, signature, verb)
    kind = _kind(returned)
    if kind is None:
        inner = returned.type if isinstance(returned, types.Optional) else returned
        words = plain_types(str(inner))
        raise CompileError(f"{dispatcher.__name__} {verb} {words}, which no column holds")
    return kind


def returned_type(dispatcher: Any, signature: tuple[Any, ...], verb: str = "returns") -> Any:
    """The Numba type of what a function returns for arguments of given Numba types.

    Raises:
        CompileError: If it does not compile.
    """
    compile_or_explain(dispatcher, signature, verb)
    return dispatcher.overloads[signature].signature.return_type


def compile_or_explain(dispatcher: Any, signature: tuple[Any, ...], verb: str = "returns") -> None:
    """Compile a function for argument types.

    Args:
        dispatcher: The function.
        signature: The Numba types.
        verb: What messages say that it does with its results.

    Raises:
        CompileError: With the line and the construct that stand in the way.
    """
    try:
        dispatcher.compile(signature)
    except CompileError:
        raise
    except NumbaError as error:
        raise _explained(dispatcher, error, verb) from None
    except Exception as error:  # Code of any kind may lead Numba into exceptions of any kind.
        raise _explained(dispatcher, error, verb) from error


def _kind(returned: Any) -> Kind | None:
    plain = types.unliteral(returned)
    if isinstance(plain, types.Optional):
        plain = types.unliteral(plain.type)
    if isinstance(plain, types.UnicodeType):
        return "unicode"
    if isinstance(plain, types.Bytes):
        return "binary"
    if isinstance(plain, ByteStringType):
        return "text" if plain.kind == "utf8" else "binary"
    if isinstance(plain, types.Boolean):
        return "boolean"
    if isinstance(plain, types.NoneType | types.Integer | types.Float):
        return str(plain)
    if isinstance(plain, DecimalType):
        return _widest_decimal(plain)
    if isinstance(plain, EntriesType):
        found = _kinds([value_type(plain.part(k)) for k in range(2)])
        map_type = s.Map(s.field("entries", plain.data_type, nullable=False))
        return None if found is None else MapKind(found[0], found[1], map_type)
    if isinstance(plain, ColumnType):
        item = _kind(value_type(plain))
        return None if item is None else ListKind(item, plain.data_type)
    if isinstance(plain, types.List | types.ListType | types.Array):
        return _list_kind(plain)
    if isinstance(plain, types.DictType):
        pair = _kinds((plain.key_type, plain.value_type))
        return None if pair is None else MapKind(pair[0], pair[1])
    if isinstance(plain, types.BaseTuple):
        found = _kinds(plain.types)
        return None if found is None else RowKind(getattr(plain, "fields", None), found)
    if isinstance(plain, RowType):
        return _slot_kind(plain.column)
    return None


def _kinds(returned: Sequence[Any]) -> tuple[Kind, ...] | None:
    """The kinds of several values; None if no column holds one of them."""
    kinds = tuple(map(_kind, returned))
    found = tuple(kind for kind in kinds if kind is not None)
    return found if found == kinds else None


def _list_kind(returned: Any) -> Kind | None:
    kind = _kind(returned.dtype)
    for _ in range(getattr(returned, "ndim", 1)):
        kind = None if kind is None else ListKind(kind)
    return kind


def _slot_kind(column: ColumnType) -> Kind | None:
    """The kind of a row of a struct column, or of a union's slot."""
    fields = column.data_type.fields
    found = _kinds([value_type(column.part(k)) for k in range(len(fields))])
    if found is None:
        return None
    is_struct = isinstance(column.data_type, s.Struct)
    names = tuple(field.name for field in fields) if is_struct else None
    return RowKind(names, found, column.data_type)


def _widest_decimal(kind: DecimalType) -> s.DataType | None:
    made = s.decimal128 if kind.words <= 2 else s.decimal256
    bits = 128 if kind.words <= 2 else 256
    precision = s.MAX_DECIMAL_PRECISION[bits]
    return made(precision, kind.scale)


# What went wrong, in a few lines

_LIBRARIES = (str(Path(numba.__file__).parent), str(Path(__file__).parents[1]))
_PLACE = re.compile(r"(?:at|Raised from) (\S.*?) \((\d+)\)")
_RETURN_PLACE = re.compile(r"location:\s*File \"(.+?)\", line (\d+)")
_BOUND = re.compile(r"BoundFunction\(.*?, '(\w+)'\)")

_BYTE_STRING_HINT = "; str(s) gives Python's text with its methods"

_BUILDER_METHODS = "append|append_nulls|end_list|end_map|end_row|extend|field|reserve"

_EXPLANATIONS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(rf"TypingError: ((?:{_BUILDER_METHODS}): .+)"), "{0}"),
    (
        re.compile(r"Unknown attribute '(\w+)' of type (.+)"),
        "{1} has no {0!r} in compiled code",
    ),
    (
        re.compile(
            r"Untyped global name '(\w+)':\s*Cannot determine Numba type of <class '(.+?)'>"
        ),
        "compiled code cannot use the global {0!r} of type {1}",
    ),
    (re.compile(r"NameError: (name '\w+' is not defined)"), "{0}"),
    (
        re.compile(r"Can't unify return type from the following types: (.+)"),
        "it {verb} values of different types: {0}",
    ),
    (
        re.compile(r"Cannot unify (.+?) and (.+?) for '"),
        "a variable is {0} in one place and {1} in another",
    ),
    (re.compile(r"Use of unsupported opcode \(IMPORT_NAME\)"), "import inside a function"),
    (
        re.compile(r"Use of unsupported opcode \((?:GET_YIELD_FROM_ITER|SEND|YIELD_FROM)\)"),
        "yield from; loop over it, and yield each item",
    ),
    (re.compile(r"Use of unsupported opcode \((\w+)\)"), "the construct behind {0}"),
    (
        re.compile(
            r"No implementation of function Function\(.+?\) found for signature:\s*>>> (.+)"
        ),
        "no compiled form of {0}",
    ),
]

_NOISE = re.compile(r"Failed in nopython mode|During:|- Resolution failure|\s*$|Cannot determine")


def _explained(dispatcher: Any, error: Exception, verb: str) -> CompileError:
    text = str(error)
    name = dispatcher.__name__
    lines = [f"{name} does not compile: {_construct(text, verb)}"]
    place = _place(dispatcher, error, text)
    if place is not None:
        path, line = place
        lines.append(f'  File "{path}", line {line}')
        if source := linecache.getline(path, line).strip():
            lines.append(f"    {source}")
    return CompileError("\n".join(lines))


def _construct(text: str, verb: str) -> str:
    for pattern, sentence in _EXPLANATIONS:
        if match := pattern.search(text):
            parts = [plain_types(part) for part in match.groups()]
            if "different types" in sentence and "(" not in parts[0]:
                # What a generator function ends with is no item.
                found = set(parts[0].split(", ")) - ({"None"} if verb == "yields" else set())
                parts = [", ".join(sorted(found))]
            words = sentence.format(*parts, verb=verb)
            break
    else:
        meaningful = [line for line in text.splitlines() if not _NOISE.match(line)]
        words = meaningful[0].split(". Raised from")[0].strip(" .") if meaningful else text.strip()
    if bound := _BOUND.search(text):
        words = re.sub(r"\b_ol_\w+", bound[1], words)
    return words + (_BYTE_STRING_HINT if "byte string has no" in words else "")


_PLAIN: list[tuple[str, str]] = [
    (r"ByteString\(\w+\)", "byte string"),
    (r"Builder\((.+?), (?:measure|write)\)", r"builder of \1"),
    (r"Literal\[(\w+)\]\([^()]*\)", r"\1"),
    (r"Module\(<module '([\w.]+)'.*?>\)", r"module \1"),
    (r"Function\(<(?:built-in )?(?:function|class) '?([\w.]+).*?>\)", r"\1"),
    (r"OptionalType\((\w+)\) i\.e\. the type '.*?'", r"\1 or None"),
    (r"unicode_type", "str"),
    (r"readonly bytes\(.*?\)", "bytes"),
    (r"\bnone\b", "None"),
    (r"\bint64\b", "int"),
    (r"\bfloat64\b", "float"),
]


def plain_types(text: str) -> str:
    """Numba's names of types in the words of this package's documentation."""
    for pattern, replacement in _PLAIN:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def _place(dispatcher: Any, error: Exception, text: str) -> tuple[str, int] | None:
    """File and line of the innermost place that is the user's."""
    places = [(path, int(line)) for path, line in _PLACE.findall(text)]
    # The only places that Numba gives relative to the working directory.
    returns = [(os.path.abspath(path), int(line)) for path, line in _RETURN_PLACE.findall(text)]
    places += sorted(returns, reverse=True)
    location = getattr(error, "loc", None)
    if location is not None:
        places.append((location.filename, location.line))
    for path, line in places:
        if not path.startswith(_LIBRARIES) and not path.startswith("<colkern"):
            return path, line
    code = dispatcher.py_func.__code__
    return code.co_filename, code.co_firstlineno
