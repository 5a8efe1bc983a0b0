"""Functions of every match of a pattern: `findall`, `split`, `sub`.

Their bodies are generated: a loop that calls the pattern's matcher, and a few statements for each match. As
in Python, an empty match is not taken where the last match was empty too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from textwrap import indent
from typing import Any

from numpy import int64

from colkern.errors import CompileError
from colkern.generated import function_of_text
from colkern.kernels import row_lists, row_values, text_building, text_scanning
from colkern.kernels.kernel import helper
from colkern.kernels.text_building import MARGIN
from colkern.rows.regex.matching import matcher, needs_barring, needs_unicode, piece_of
from colkern.rows.regex.parsing import Pattern, parse
from colkern.rows.regex.sets import parser, signed

_NAMESPACE: dict[str, object] = {
    name: value
    for module in (row_lists, row_values, text_building, text_scanning)
    for name, value in vars(module).items()
    if not name.startswith("__")
}

_LOOP = """\
    at = int64(0)
    barred = int64(-1)
    count = int64(0)
    while at <= text.size{more}:
        spans, code = match({arguments})
        if code != 0:
            return {nothing}, code
        if spans[0] == 0:
            break
{each}
        at = spans[2]
        barred = at if at == spans[1] else int64(-1)
        count += 1
"""


_NO_PLACE = "if place == 0:\n    return int64(0), NO_ROOM"


def _body(
    name: str,
    pattern: Pattern,
    most: int,
    result: str,
    nothing: str,
    parts: tuple[str, str, str],
    **more: object,
) -> Callable[..., Any]:
    """Returns a body that walks over matches, of code before, for each and after. `most` is 0 for all."""
    match = matcher(pattern, "search", onwards=True)
    unicode = needs_unicode(match)
    given = "unicode, text" if unicode else "text"
    before, each, after = parts
    loop = _LOOP.format(
        more=f" and count < {most}" if most else "",
        arguments=f"{given}, at, barred" if needs_barring(pattern) else f"{given}, at",
        nothing=nothing,
        each=indent(each, "        "),
    )
    parameters = (
        "arena: Arena, unicode: int64, text: Text" if unicode else "arena: Arena, text: Text"
    )
    source = (
        f"def {name}({parameters}) -> tuple[{result}, Code]:\n"
        f"{indent(before, '    ')}\n{loop}{indent(after, '    ')}\n"
    )
    namespace = {
        **_NAMESPACE,
        "__name__": __name__,
        "match": match,
        **more,
    }
    return helper(function_of_text(name, source, namespace, "regular expression"))


def findall(pattern: str | re.Pattern[str], flags: int = 0) -> Callable[..., Any]:
    """Returns the body of `re.findall`, for a list of texts.

    Raises:
        CompileError: As `parse`; or if there are several groups, so that it is a list of tuples.
    """
    if parse(pattern, int(flags)).groups > 1:
        raise CompileError("re.findall with several groups is left to Python")
    return find_tuples(pattern, int(flags))


@cache
def find_tuples(pattern: str | re.Pattern[str], flags: int) -> Callable[..., Any]:
    """Like `findall`; if there are several groups, returns the body for a list of tuples of texts."""
    parsed = parse(pattern, flags)
    groups = range(1, parsed.groups + 1) if parsed.groups else range(1)
    words = 2 * len(groups)
    each = _new_place(words)
    for k, group in enumerate(groups):
        value = f"part(text, spans[{2 * group + 1}], spans[{2 * group + 2}])"
        each += f"\nset_text(place + {16 * k}, {value})"
    return _body(
        "findall", parsed, 0, "int64", "int64(0)", (_new_list(words), each, "return found, DONE")
    )


@cache
def split(pattern: str | re.Pattern[str], maxsplit: int = 0, flags: int = 0) -> Callable[..., Any]:
    """Returns the body of `re.split`, for a list of texts.

    Raises:
        CompileError: As `parse`; or if the list may have items that are None.
    """
    parsed = parse(pattern, int(flags))
    if not all(parsed.always):
        raise CompileError("re.split with a group that may take no part is left to Python")
    each = _appended("part(text, last, spans[1])")
    for group in range(1, parsed.groups + 1):
        each += "\n" + _appended(f"part(text, spans[{2 * group + 1}], spans[{2 * group + 2}])")
    return _body(
        "split",
        parsed,
        # For a negative number of splits, Python splits nothing.
        int(maxsplit) if maxsplit >= 0 else -1,
        "int64",
        "int64(0)",
        (
            _new_list(2) + "\nlast = int64(0)",
            each + "\nlast = spans[2]",
            _appended("part(text, last, text.size)") + "\nreturn found, DONE",
        ),
    )


def _whole(words: int) -> str:
    # For each literal in a call, Numba would compile the helper again.
    return f"int64({words})"


def _new_list(words: int) -> str:
    return f"found = place = new_list(arena, {_whole(words)}, int64(4))\n{_NO_PLACE}"


def _appended(value: str) -> str:
    return f"{_new_place(2)}\nset_text(place, {value})"


def _new_place(words: int) -> str:
    return f"place = append_place(arena, {_whole(words)}, found)\n{_NO_PLACE}"


def sub(
    pattern: str | re.Pattern[str], repl: str, count: int = 0, flags: int = 0
) -> Callable[..., Any]:
    """Returns the body of `re.sub` with a text as replacement.

    Raises:
        CompileError: As `parse`; or if the replacement is no text.
        re.error: If the replacement is malformed.
    """
    if not isinstance(repl, str):
        raise CompileError("re.sub with a function as replacement is left to Python")
    return _sub(pattern, repl, int(count), int(flags))


@cache
def _sub(pattern: str | re.Pattern[str], repl: str, count: int, flags: int) -> Callable[..., Any]:
    parsed = parse(pattern, flags)
    pieces = _template(repl, parsed)
    each = "target = put_part(target, limit, text.address, last, spans[1])"
    namespace: dict[str, object] = {}
    ascii = True
    for k, piece in enumerate(pieces):
        if isinstance(piece, int):
            start, stop = f"spans[{2 * piece + 1}]", f"spans[{2 * piece + 2}]"
            each += f"\ntarget = put_part(target, limit, text.address, {start}, {stop})"
        else:
            ascii &= piece.isascii()
            data = piece.encode()
            for begin in range(0, len(data), 8):
                some = data[begin : begin + 8]
                name = f"piece_{k}_{begin}"
                namespace[name] = text_scanning.Piece(*map(int64, map(signed, piece_of(some))))
                each += f"\ntarget = put_piece(target, limit, {name})"
    after = f"""\
if count == 0:
    return Text(text.address, text.size, text.ascii), DONE
target = put_part(target, limit, text.address, last, text.size)
if target == 0:
    return Text(text.address, int64(0), True), NO_ROOM
set_word(arena, end_behind(target))
return Text(begin, target - begin, {"text.ascii" if ascii else "False"}), DONE"""
    return _body(
        "sub",
        parsed,
        count if count >= 0 else -1,
        "Text",
        "Text(text.address, int64(0), True)",
        (
            f"target = begin = text_place(arena)\nlimit = get_word(arena + 8) - {MARGIN}\nlast = int64(0)",
            each + "\nlast = spans[2]",
            after,
        ),
        put_piece=text_scanning.put_piece,
        **namespace,
    )


def _template(repl: str, pattern: Pattern) -> list[str | int]:
    """Returns the literals and groups of a replacement."""
    compiled = re.compile(pattern.text, pattern.flags)
    parsed = parser.parse_template(repl, compiled)
    if isinstance(parsed, tuple):
        # Python 3.11 returns the places of groups, and literals with None in these places.
        groups, literals = parsed
        pieces: list[str | int] = list(literals)
        for place, group in groups:
            pieces[place] = group
    else:
        pieces = list(parsed)
    return [piece for piece in pieces if piece != ""]
