"""Matches of regular expressions: the results of the functions of `re`, and the methods of a match.

A match is a tuple of the searched text and, for the match and each group, its begin and end: bytes of the
text, -1 if the group does not take part.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from colkern.errors import CompileError
from colkern.kernels import row_values, text_scanning, text_search
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked
from colkern.rows.emitter import Emitter, Unsettled
from colkern.rows.expressions import expression, needed_arguments
from colkern.rows.folding import constant
from colkern.rows.iteration import Source
from colkern.rows.regex.every import find_tuples, findall
from colkern.rows.regex.matching import matcher as from_position
from colkern.rows.regex.matching import needs_barring
from colkern.rows.regex.parsing import parse
from colkern.rows.regex.search import Matcher, find
from colkern.rows.statements import repeated
from colkern.rows.values import Value, inner, tuple_of_values, zeros

_REPLACING = ("sub", "subn")
_FINDING = {re.search: "search", re.match: "match", re.fullmatch: "fullmatch"}
_OTHERS = {re.findall: "findall", re.split: "split", re.sub: "sub", re.subn: "subn"}


@dataclass(frozen=True)
class Match(k.Compound):
    """The kind of a match.

    Args:
        matcher: The function that finds it; None for a match of one of several patterns with other groups.
    """

    matcher: Matcher | None = None

    def joined_with(self, other: Match) -> Match:
        """Returns the kind of a match of either pattern."""
        a, b = self.matcher, other.matcher
        if a is None or b is None or (a.groups, a.group_names) != (b.groups, b.group_names):
            return Match("match", 4, items=self.items[:3], form=re.Match)
        always = tuple(map(all, zip(a.always, b.always, strict=True)))
        return match_kind(
            replace(a, always=always, closing=a.closing if a.closing == b.closing else ())
        )


def match_kind(matcher: Matcher) -> Match:
    """Returns the kind of a matcher's matches."""
    count = 2 * (matcher.groups + 1)
    items = (k.TEXT, *[k.INT] * count)
    return Match("match", 2 + count, items=items, form=re.Match, matcher=matcher)


def function_of_re(
    emitter: Emitter, function: Any, arguments: Sequence[Value], named: dict[str, Value]
) -> Value | None:
    """Compiles a call of a function of `re`; returns None for other functions."""
    name = _FINDING.get(function) or _OTHERS.get(function)
    if name is None:
        return None
    by_name = _given(emitter, name, ["pattern", *_taken(name), "flags"], arguments, named)
    pattern, flags = by_name.pop("pattern"), by_name.pop("flags", constant(0))
    if not pattern.is_constant or not flags.is_constant:
        error = CompileError("a pattern that depends on the row")
        if name in ("findall", "split"):
            emitter.refuse(f"{error} has no compiled form here")
        return _left(emitter, re.compile(""), name, error)
    return pattern_method(emitter, re.compile(pattern.constant, flags.constant), name, by_name)


def method_of_pattern(
    emitter: Emitter,
    pattern: re.Pattern[str],
    name: str,
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> Value:
    """Compiles a call of a compiled pattern's method."""
    given = _given(emitter, name, _taken(name), arguments, named)
    return pattern_method(emitter, pattern, name, given)


def _taken(name: str) -> list[str]:
    """Returns the names of the arguments of a pattern's method."""
    if name in _REPLACING:
        return ["repl", "string", "count"]
    return ["string", "maxsplit"] if name == "split" else ["string"]


def _given(
    emitter: Emitter,
    name: str,
    names: Sequence[str],
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> dict[str, Value]:
    """Returns arguments by the names of the parameters; refuses others, such as `pos`."""
    by_name = dict(zip(names, arguments, strict=False)) | named
    if len(by_name) != len(arguments) + len(named) or not by_name.keys() <= {*names}:
        emitter.refuse(f"{name}() from a position on has no compiled form")
    return by_name


def pattern_method(
    emitter: Emitter, pattern: re.Pattern[str], name: str, by_name: dict[str, Value]
) -> Value:
    """Compiles a method of a pattern for arguments by name."""
    if name == "subn":
        return _counted(emitter, pattern, by_name)
    text = emitter.numbers(emitter.plain(by_name.pop("string")))
    if text.kind != k.TEXT:
        emitter.refuse(f"{name}() in {text.kind} has no compiled form")
    try:
        if name in _FINDING.values():
            return _search(emitter, find(name, pattern), text, name)
        if name == "findall":
            count = pattern.groups
            if count > 1:
                kind = k.list_of(k.tuple_of((k.TEXT,) * count))
                return invoked(emitter, find_tuples(pattern, 0), [text], kind, "re.findall")
            return invoked(emitter, findall(pattern), [text], k.list_of(k.TEXT), "re.findall")
        if name == "sub" and callable(by_name["repl"].constant) | (
            by_name["repl"].kind.name == "function"
        ):
            return _replaced(emitter, pattern, by_name, text)
        rest = {word: value for word, value in by_name.items() if word != "repl"}
        arguments = [constant(pattern), *([by_name["repl"]] if name == "sub" else []), text]
        return call(emitter, f"pattern.{name}", arguments, rest)
    except Unsettled:
        raise
    except CompileError as error:
        return _left(emitter, pattern, name, error)


def _counted(emitter: Emitter, pattern: re.Pattern[str], by_name: dict[str, Value]) -> Value:
    """`subn`: returns the text with replacements, and their number."""
    count = by_name.get("count", constant(0))
    matches = pattern_method(emitter, pattern, "findall", {"string": by_name["string"]})
    number = call(emitter, "len", [matches])
    if count.constant != 0:
        if not count.is_constant:
            emitter.refuse("subn() with a count that depends on the row has no compiled form")
        number = call(emitter, "min", [number, count])
    replaced = pattern_method(emitter, pattern, "sub", by_name)
    return tuple_of_values([emitter.numbers(replaced), number])


def _left(emitter: Emitter, pattern: re.Pattern[str], name: str, error: CompileError) -> Value:
    """Leave the row at an unsupported pattern; returns a placeholder of the result's kind."""
    reason = str(error).split("\n")[0]
    kind: k.Kind = k.TEXT
    if name in _FINDING.values():
        kind = k.optional(match_kind(_never_asked(pattern)))
    elif name == "findall" and pattern.groups > 1:
        kind = k.list_of(k.tuple_of((k.TEXT,) * pattern.groups))
    elif name != "sub":
        kind = k.list_of(k.optional(k.TEXT) if name == "split" and pattern.groups else k.TEXT)
    return emitter.left(kind, reason.partition(" does not compile: ")[2] or reason)


def _search(emitter: Emitter, matcher: Matcher, text: Value, name: str) -> Value:
    kind = match_kind(matcher)
    count = 2 * matcher.groups + 3
    kinds = k.tuple_of((k.INT,) * count)
    spans = invoked(emitter, matcher.body, [text], kinds, f"re.{name}")
    is_match, *bounds = spans.items
    items = (text, *bounds)
    none = emitter.bind(f"{is_match.code} == 0")
    return Value(k.optional(kind), none=none, items=items)


@cache
def _never_asked(pattern: re.Pattern[str]) -> Matcher:
    """Returns a matcher for the kind of matches of a pattern that only Python can match."""
    always = (True, *[False] * pattern.groups)
    groups = range(1, pattern.groups + 1)
    return Matcher(find, pattern.groups, dict(pattern.groupindex), always, (*groups,))


def matches_of(emitter: Emitter, node: ast.Call) -> Source:
    """Returns the matches of `finditer`, one after the other."""
    assert isinstance(node.func, ast.Attribute)
    owner = expression(emitter, node.func.value)
    names = ["pattern", "string", "flags"] if owner.constant is re else ["string"]
    by_name = _given(emitter, "finditer", names, *needed_arguments(emitter, node))
    pattern, flags = by_name.get("pattern", owner), by_name.get("flags", constant(0))
    if not isinstance(pattern.constant, str | re.Pattern) or not flags.is_constant:
        emitter.refuse("finditer() has a compiled form with a constant pattern only")
    compiled = re.compile(pattern.constant, flags.constant)
    return _matches_in(emitter, compiled, emitter.numbers(by_name["string"]))


def _matches_in(emitter: Emitter, compiled: re.Pattern[str], text: Value) -> Source:
    try:
        barring = needs_barring(parse(compiled, 0))
        body = emitter.use(from_position(parse(compiled, 0), "search", onwards=True))
    except CompileError as error:
        match = _left(emitter, compiled, "search", error)
        return Source("False", lambda: inner(match))
    matcher = find("search", compiled)
    kind = match_kind(matcher)
    start = emitter.copy("0")
    # Behind an empty match, there is no other one.
    barred = emitter.copy("-1") if barring else ""
    places = f"{start}, {barred}" if barring else start
    status = emitter.fresh("code")
    count = 2 * matcher.groups + 3
    spans = [emitter.copy("0") for _ in range(count)]

    def search() -> None:
        result = emitter.fresh()
        emitter.write(f"{result}, {status} = {body}({text.code}, {places})")
        emitter.fail_if(f"{status} != 0", status, "re.finditer")
        emitter.write(f"{', '.join(spans)} = {result}")

    search()

    def item() -> Value:
        bounds = tuple(Value(k.INT, emitter.copy(span)) for span in spans[1:])
        if barring:
            emitter.write(f"{barred} = {spans[2]} if {spans[1]} == {spans[2]} else -1")
        emitter.write(f"{start} = {spans[2]}")
        search()
        return Value(kind, items=(text, *bounds))

    return Source(f"{spans[0]} != 0", item)


def _replaced(
    emitter: Emitter, pattern: re.Pattern[str], by_name: dict[str, Value], text: Value
) -> Value:
    """`sub` with a function: joins the texts between the matches, and the function's results."""
    from colkern.rows.containers import add, new_container
    from colkern.rows.functions import local_function, users_function

    function = by_name.pop("repl").constant
    users = ast.FunctionDef | ast.Lambda | types.FunctionType
    if by_name or not isinstance(function, users):
        emitter.refuse(
            "re.sub() with a function has a compiled form for functions of Python's alone"
        )
    source = _matches_in(emitter, pattern, text)
    pieces = new_container(emitter, emitter.node, "list", 0)
    end = emitter.copy("0")

    def add_up_to(stop: str) -> None:
        bounds = [Value(k.INT, end), Value(k.INT, stop)]
        add(
            emitter, pieces, (invoked(emitter, text_scanning.part, [text, *bounds], k.TEXT, "sub"),)
        )

    def round_() -> None:
        with emitter.within(f"if not {source.more}:"):
            emitter.write("break")
        match = source.item()
        add_up_to(match.items[1].code)
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            replacement = local_function(emitter, function, [match], {})
        else:
            replacement = users_function(emitter, function, [match], {})
        # Python treats None as an empty text.
        add(emitter, pieces, (emitter.plain(replacement, row_values.LEFT),))
        emitter.write(f"{end} = {match.items[2].code}")

    repeated(emitter, emitter.node, set(), round_)
    add_up_to(f"{text.code}.size")
    return call(emitter, "str.join", [constant(""), pieces])


# Methods of matches


def method_of_match(
    emitter: Emitter,
    match: Value,
    name: str,
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> Value:
    """Compiles a call of a match's method."""
    if name not in _METHODS:
        emitter.refuse(f"match.{name}() has no compiled form")
    if not named.keys() <= ({"default"} if name in ("groups", "groupdict") else set()):
        emitter.refuse(f"match.{name}() takes no {', '.join(named)}")
    return _METHODS[name](emitter, match, [*arguments, *named.values()])


def group(emitter: Emitter, match: Value, which: Value) -> Value:
    """Returns a group: a text, or None if it did not take part in the match."""
    if not which.is_constant:
        matcher, which = _matcher(emitter, match), emitter.plain(which, row_values.LEFT)
        names = list(matcher.group_names) if which.kind == k.TEXT else [*range(matcher.groups + 1)]
        return _one_of(emitter, match, which, names)
    number = _number(emitter, match, which)
    start, stop = match.items[1 + 2 * number], match.items[2 + 2 * number]
    part = invoked(
        emitter, text_scanning.part, [match.items[0], start, stop], k.TEXT, "match.group"
    )
    if number == 0 or _matcher(emitter, match).always[number]:
        return part
    return Value(k.optional(k.TEXT), part.code, f"({start.code} < 0)")


def _one_of(
    emitter: Emitter, match: Value, which: Value, names: Sequence[int] | Sequence[str]
) -> Value:
    """Returns the group that a value names; the row is left where it names none."""
    if not names:
        emitter.fail(row_values.LEFT, "match.group")
        return Value(k.NEVER)
    own = constant(names[0])
    test = emitter.numbers(call(emitter, "==", [which, own])).code
    return emitter.chosen(
        test,
        lambda: group(emitter, match, own),
        lambda: _one_of(emitter, match, which, names[1:]),
    )


def _matcher(emitter: Emitter, match: Value) -> Matcher:
    assert isinstance(match.kind, Match)
    if match.kind.matcher is None:
        emitter.refuse("a group of a match of one of several patterns has no compiled form")
    return match.kind.matcher


def _number(emitter: Emitter, match: Value, which: Value) -> int:
    if not which.is_constant:
        emitter.refuse("a group that depends on the row has no compiled form")
    if which.constant == 0:
        return 0
    matcher = _matcher(emitter, match)
    try:
        return matcher.number(which.constant)
    except (IndexError, TypeError, ValueError):
        emitter.refuse(f"the pattern has no group {which.constant!r}")


def attribute_of_match(emitter: Emitter, match: Value, name: str) -> Value:
    """Compiles an attribute of a match: its text, or the last group that ended, by number or by name."""
    if name == "string":
        return match.items[0]
    matcher = _matcher(emitter, match)
    if name not in ("lastindex", "lastgroup") or len(matcher.closing) < matcher.groups:
        emitter.refuse(f"match.{name} of this pattern has no compiled form")
    last = emitter.copy("0")
    for group in matcher.closing:
        with emitter.within(f"if {match.items[1 + 2 * group].code} >= 0:"):
            emitter.write(f"{last} = {group}")
    if name == "lastindex":
        return Value(k.optional(k.INT), last, f"({last} == 0)")
    named = emitter.copy(zeros(k.TEXT)[0])
    for own, group in matcher.group_names.items():
        with emitter.within(f"if {last} == {group}:"):
            emitter.write(f"{named} = {emitter.text(own)}")
    return Value(k.optional(k.TEXT), named, f"({named}.size == 0)")


def _group(emitter: Emitter, match: Value, arguments: Sequence[Value]) -> Value:
    groups = [group(emitter, match, which) for which in arguments or [constant(0)]]
    return groups[0] if len(groups) == 1 else tuple_of_values(groups)


def _groups(emitter: Emitter, match: Value, arguments: Sequence[Value]) -> Value:
    numbers = range(1, _matcher(emitter, match).groups + 1)
    return tuple_of_values([_group_or(emitter, match, number, arguments) for number in numbers])


def _group_or(emitter: Emitter, match: Value, which: int | str, default: Sequence[Value]) -> Value:
    """Returns a group, or the default value, if there is one, where it did not take part in the match."""
    part = group(emitter, match, constant(which))
    if not default or not isinstance(part.kind, k.Optional):
        return part
    return emitter.chosen(part.none, lambda: default[0], lambda: Value(k.TEXT, part.code))


def _group_dict(emitter: Emitter, match: Value, arguments: Sequence[Value]) -> Value:
    names = tuple(_matcher(emitter, match).group_names)
    groups = [_group_or(emitter, match, name, arguments) for name in names]
    return tuple_of_values(groups, names, dict)


def _bound(places: tuple[int, ...]) -> Callable[[Emitter, Value, Sequence[Value]], Value]:
    def write(emitter: Emitter, match: Value, arguments: Sequence[Value]) -> Value:
        number = _number(emitter, match, arguments[0] if arguments else constant(0))
        bounds = tuple(
            invoked(
                emitter,
                text_search.index_at,
                [match.items[0], match.items[1 + 2 * number + place]],
                k.INT,
                "match.span",
            )
            for place in places
        )
        return bounds[0] if len(bounds) == 1 else tuple_of_values(bounds)

    return write


_METHODS: dict[str, Callable[[Emitter, Value, Sequence[Value]], Value]] = {
    "group": _group,
    "groups": _groups,
    "groupdict": _group_dict,
    "start": _bound((0,)),
    "end": _bound((1,)),
    "span": _bound((0, 1)),
}
