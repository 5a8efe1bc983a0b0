"""Why a user's function does not compile, and which line of it, in a few words."""

from __future__ import annotations

import os
import re
import traceback
import types
from collections.abc import Iterator
from pathlib import Path

import numba
from numba.core.ir import Loc
from numba.core.registry import CPUDispatcher

from colkern.errors import CompileError, with_line, without_addresses
from colkern.jit.compiling.names import global_names, is_empty
from colkern.rows.front import plain_function

_LIBRARIES = (str(Path(numba.__file__).parent), str(Path(__file__).parents[1]))
_PLACE = re.compile(r"(?:at|Raised from) (\S.*?) \((\d+)\)")
_RETURN_PLACE = re.compile(r"location:\s*File \"(.+?)\", line (\d+)")
_BOUND = re.compile(r"BoundFunction\(.*?, '(\w+)'\)")

_BUILDER_METHODS = "append|append_nulls|end_list|end_map|end_row|extend|field|reserve"

_OUTSIDE = re.compile(
    r"Untyped global name '(?P<untyped>\w+)':\s*Cannot determine"
    r"|assigned to variable '(?P<assigned>\w+)' in globals"
    r"|OverloadSelector object at \w+>, \("
)
"""Numba's words for a value from outside of a function that is no constant to it."""

_IN_ITS_PLACE: dict[type, str] = {
    list: "; a tuple of its items can be used",
    set: "; a tuple of its items can be used",
    frozenset: "; a tuple of its items can be used",
    dict: "; write conditions, or find the place in a tuple of keys and take it from one of values",
}

_MAY_BE_NONE = (
    "{0} may be None to the compiler, also where that was asked before: add int(x) or float(x) of a "
    "number, x[:] of a byte string"
)

_EXPLANATIONS: list[tuple[re.Pattern[str], str]] = [
    (
        re.compile(r"setitem\((?:DictType\[|Dict\().*?, OptionalType\("),
        _MAY_BE_NONE.format("the key of a dict"),
    ),
    (re.compile(r"set of OptionalType\("), _MAY_BE_NONE.format("what is added to a set")),
    (re.compile("(a slice of bytes is .+ step of 1)"), "{0}"),
    (re.compile(rf"TypingError: ((?:{_BUILDER_METHODS}): .+)"), "{0}"),
    (re.compile(r"(\w+\(.+\) cannot be written to: .+)"), "{0}"),
    (re.compile(r"Unknown attribute '(\w+)' of type (.+)"), "{1} has no {0!r} in compiled code"),
    (
        re.compile(r"imprecise type: (list|DictType)[(\[]undefined"),
        "a {0} to which nothing is ever added; items such as x have [x][:0] as the empty list",
    ),
    (re.compile(r"NameError: (name '\w+' is not defined)"), "{0}"),
    (
        re.compile(r"Can't unify return type from the following types: (.+)"),
        "it returns values of different types: {0}",
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


def explained(dispatcher: CPUDispatcher, error: Exception) -> CompileError:
    """The error for a function that does not compile: the line, and the construct."""
    text = str(error) or _reason(error)
    name = dispatcher.py_func.__name__
    words = _value_from_outside(dispatcher.py_func, text) or _construct(text)
    message = f"{name} does not compile: {without_addresses(words)}"
    return CompileError(with_line(message, *_place(dispatcher, error, text)))


def _reason(error: Exception) -> str:
    """The words for an error that says nothing itself: that of a set's items."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if isinstance(frame.f_locals.get("self"), numba.types.Set):
            return f"no compiled form of a set of {frame.f_locals.get('dtype')}"
    return f"Numba fails with {type(error).__name__}"


def _value_from_outside(function: types.FunctionType, text: str) -> str | None:
    """The words for a global or a variable of an outer function that compiled code cannot use."""
    match = _OUTSIDE.search(text)
    if match is None:
        return None
    wanted = match["untyped"] or match["assigned"]
    for name, value, is_global in _values_from_outside(function, set()):
        if name == wanted or (wanted is None and isinstance(value, tuple(_IN_ITS_PLACE))):
            where = "" if is_global else " of an outer function"
            kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
            instead = _IN_ITS_PLACE.get(type(value), "")
            word = "global" if is_global else "variable"
            return f"compiled code cannot use the {word} {name!r} of type {kind}{where}{instead}"
    return f"compiled code has no {wanted!r}" if wanted else None


def _values_from_outside(
    function: types.FunctionType, seen: set[types.FunctionType]
) -> Iterator[tuple[str, object, bool]]:
    """The names, values, and whether these are globals, that a function and its helpers use."""
    seen.add(function)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    values = [(name, cell.cell_contents, False) for name, cell in cells if not is_empty(cell)]
    names = function.__globals__
    values += [(n, names[n], True) for n in global_names(function.__code__) if n in names]
    for name, value, is_global in values:
        yield name, value, is_global
        plain = plain_function(value)
        if isinstance(plain, types.FunctionType) and plain not in seen:
            yield from _values_from_outside(plain, seen)


def _construct(text: str) -> str:
    for pattern, sentence in _EXPLANATIONS:
        if match := pattern.search(text):
            parts = [plain_types(part) for part in match.groups()]
            if "different types" in sentence and "(" not in parts[0]:
                parts = [", ".join(sorted(set(parts[0].split(", "))))]
            words = sentence.format(*parts)
            break
    else:
        meaningful = [line for line in text.splitlines() if not _NOISE.match(line)]
        words = meaningful[0].split(". Raised from")[0].strip(" .") if meaningful else text.strip()
    if bound := _BOUND.search(text):
        words = re.sub(r"\b_ol_\w+", bound[1], words)
    return words


_PLAIN: list[tuple[str, str]] = [
    (r"\bBuilder\(((?:[^()]|\([^()]*\))*)\)", r"builder of \1"),
    (r"Literal\[(\w+)\]\([^()]*\)", r"\1"),
    (r"Module\(<module '([\w.]+)'.*?>\)", r"module \1"),
    (r"Function\(<(?:built-in )?(?:function|class) '?([\w.]+).*?>\)", r"\1"),
    (r"OptionalType\((\w+)\) i\.e\. the type '.*?'", r"\1 or None"),
    (r"unicode_type", "str"),
    (r"readonly bytes\(.*?\)", "bytes"),
    (r"\bnone\b", "None"),
    (r"\bDictType\b", "dict"),
    (r"\bint64\b", "int"),
    (r"\bfloat64\b", "float"),
]


def plain_types(text: str) -> str:
    """Numba's names of types in the words of this package's documentation."""
    for pattern, replacement in _PLAIN:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def _locations(error: Exception) -> Iterator[Loc]:
    """The places of the types that Numba was about to infer, the innermost first."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        location = getattr(frame.f_locals.get("constraint"), "loc", None)
        if location is not None:
            yield location


def _place(dispatcher: CPUDispatcher, error: Exception, text: str) -> tuple[str, int]:
    """File and line of the innermost place that is the user's."""
    places = [(path, int(line)) for path, line in _PLACE.findall(text)]
    # The only places that Numba gives relative to the working directory.
    returns = [(os.path.abspath(path), int(line)) for path, line in _RETURN_PLACE.findall(text)]
    places += sorted(returns, reverse=True)
    locations = [getattr(error, "loc", None), *_locations(error)]
    places += [(loc.filename, loc.line) for loc in locations if loc is not None]
    for path, line in places:
        if not path.startswith(_LIBRARIES) and not path.startswith("<colkern"):
            return path, line
    code = dispatcher.py_func.__code__
    return code.co_filename, code.co_firstlineno
