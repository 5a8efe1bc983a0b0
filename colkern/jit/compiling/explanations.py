"""Why a user's function does not compile, and which line of it, in a few words."""

from __future__ import annotations

import linecache
import os
import re
from pathlib import Path
from typing import Any

import numba

from colkern.errors import CompileError

_LIBRARIES = (str(Path(numba.__file__).parent), str(Path(__file__).parents[1]))
_PLACE = re.compile(r"(?:at|Raised from) (\S.*?) \((\d+)\)")
_RETURN_PLACE = re.compile(r"location:\s*File \"(.+?)\", line (\d+)")
_BOUND = re.compile(r"BoundFunction\(.*?, '(\w+)'\)")

_BYTE_STRING_HINT = "; str(s) gives Python's text with its methods"

_MADE_OF_BYTE_STRINGS = re.compile(
    r"byte string has no|no compiled form of (add|mul|mod)\(.*byte string"
)
"""What is done with text in Python, and makes further text."""

_BUILDER_METHODS = "append|append_nulls|end_list|end_map|end_row|extend|field|reserve"

_EXPLANATIONS: list[tuple[re.Pattern[str], str]] = [
    (re.compile("(a slice of bytes is .+ step of 1)"), "{0}"),
    (re.compile(rf"TypingError: ((?:{_BUILDER_METHODS}): .+)"), "{0}"),
    (re.compile(r"(\w+\(.+\) cannot be written to: .+)"), "{0}"),
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
    (
        re.compile(r"imprecise type: (list|DictType)[(\[]undefined"),
        "a {0} to which nothing is ever added; items such as x have [x][:0] as the empty list",
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


def explained(dispatcher: Any, error: Exception, verb: str) -> CompileError:
    """What to raise for a function that does not compile: the line, and the construct.

    Args:
        dispatcher: The function.
        error: What Numba raised.
        verb: What the message says that the function does with its results.
    """
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
    return words + (_BYTE_STRING_HINT if _MADE_OF_BYTE_STRINGS.search(words) else "")


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
    (r"\bDictType\b", "dict"),
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
