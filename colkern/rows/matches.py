"""Matches of regular expressions: the results of the functions of `re`, and the methods of a match.

A match is a tuple of the searched text and, for the match and each group, its begin and end: bytes of the
text, -1 if the group does not take part.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from colkern import rows
from colkern.errors import CompileError
from colkern.kernels import pattern_tables, row_values, text_scanning, text_search
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked, leading_codes
from colkern.rows.constants import kind_of
from colkern.rows.emitter import Emitter, derived
from colkern.rows.expressions import expression, needed_arguments
from colkern.rows.folding import constant
from colkern.rows.iteration import MOST_ROUNDS_APART, Source, choices_of, known_object
from colkern.rows.iteration import integer as as_integer
from colkern.rows.literals import stored_constant
from colkern.rows.regex.every import find_tuples, findall
from colkern.rows.regex.matching import matcher as from_position
from colkern.rows.regex.matching import needs_barring
from colkern.rows.regex.parsing import parse
from colkern.rows.regex.search import Matcher, find
from colkern.rows.regex.tables import is_table, table_of
from colkern.rows.scopes import named_in
from colkern.rows.several import by_number
from colkern.rows.statements import repeated
from colkern.rows.values import NONE, Value, inner, picked, tuple_of_values, zeros

_REPLACING = ("sub", "subn")
_FINDING = {re.search: "search", re.match: "match", re.fullmatch: "fullmatch"}
_OTHERS = {re.findall: "findall", re.split: "split", re.sub: "sub", re.subn: "subn"}


@dataclass(frozen=True)
class Match(k.Compound):
    """The kind of a match.

    Args:
        matchers: The function that finds it; or several, if it is a match of one of several patterns with
            other groups. Then its last part is the number of the pattern.
    """

    matchers: tuple[Matcher, ...] = ()

    def joined_with(self, other: Match) -> Match:
        """Returns the kind of a match of either pattern."""
        joined = list(self.matchers)
        for new in other.matchers:
            places = [place for place, own in enumerate(joined) if _are_alike(own, new)]
            if places:
                joined[places[0]] = _either(joined[places[0]], new)
            else:
                joined.append(new)
        return match_kind(*joined)

    def of_this(self, value: Value) -> Value:
        """Returns a match of some of these patterns as one of this kind."""
        assert isinstance(value.kind, Match)
        places = [self.place_of(matcher) for matcher in value.kind.matchers]
        spans = value.items if len(places) == 1 else value.items[:-1]
        if len(self.matchers) == 1:
            return Value(self, items=spans)
        code = picked([*map(str, places)], value.items[-1].code)
        nowhere = [Value(k.INT, "-1")] * (len(self.items) - 1 - len(spans))
        return Value(self, items=(*spans, *nowhere, Value(k.INT, code)))

    def place_of(self, matcher: Matcher) -> int:
        """Returns the number of the pattern with the groups that a matcher has."""
        return next(n for n, own in enumerate(self.matchers) if _are_alike(own, matcher))


def _are_alike(left: Matcher, right: Matcher) -> bool:
    """Whether two patterns have the same groups."""
    return (left.groups, left.group_names) == (right.groups, right.group_names)


@cache
def _either(left: Matcher, right: Matcher) -> Matcher:
    """Returns what is known of the matches of one of two patterns with the same groups; the first itself,
    if that is no less, so that kinds settle."""
    always = tuple(map(all, zip(left.always, right.always, strict=True)))
    closing = left.closing if left.closing == right.closing else ()
    is_known = (always, closing) == (left.always, left.closing)
    return left if is_known else replace(left, always=always, closing=closing)


def match_kind(*matchers: Matcher) -> Match:
    """Returns the kind of the matches of one of several patterns."""
    count = 2 * (max(matcher.groups for matcher in matchers) + 1) + (len(matchers) > 1)
    items = (k.TEXT, *[k.INT] * count)
    return Match("match", 2 + count, items=items, form=re.Match, matchers=matchers)


def of_each_pattern(emitter: Emitter, match: Value, make: Callable[[Value], Value]) -> Value:
    """Compiles a use of a match: for each of the patterns that it may be of."""
    assert isinstance(match.kind, Match)
    if len(match.kind.matchers) == 1:
        return make(match)
    kinds = map(match_kind, match.kind.matchers)
    each = [Value(kind, items=match.items[: len(kind.items)]) for kind in kinds]
    return by_number(emitter, emitter.bind(match.items[-1].code), each, make)


def function_of_re(
    emitter: Emitter, function: Any, arguments: Sequence[Value], named: dict[str, Value]
) -> Value | None:
    """Compiles a call of a function of `re`; returns None for other functions."""
    name = _FINDING.get(function) or _OTHERS.get(function)
    if name is None:
        return None
    by_name = _given(emitter, name, ["pattern", *_taken(name), "flags"], arguments, named)
    pattern, flags = by_name.pop("pattern"), by_name.pop("flags", constant(0))
    among = getattr(pattern.kind, "among", (pattern.constant,))
    reason = "a pattern that depends on the row"
    if flags.is_constant and all(isinstance(each, _PATTERNS) for each in among):
        try:
            compiled = [re.compile(getattr(one, "text", one), flags.constant) for one in among]
        except (re.error, ValueError):
            reason = "a pattern that Python refuses"
        else:
            return _of_patterns(emitter, tuple(compiled), pattern.code, name, by_name)
    elif pattern.is_constant and flags.is_constant:
        whole = re.compile(pattern.constant, flags.constant)
        return pattern_method(emitter, whole, name, by_name)
    error = CompileError(reason)
    # What a match has is unknown.
    emitter.program.gaps.add(reason)
    if name in ("findall", "split"):
        emitter.refuse(f"{error} has no compiled form here")
    return _left(emitter, re.compile(""), name, error)


_OF_RE = (*_FINDING, *_OTHERS)
_PATTERNS = (str, re.Pattern, k.PatternText)


def with_patterns(emitter: Emitter, target: ast.expr, iterable: ast.expr) -> ast.expr:
    """Returns the expression of the items of a loop over many constants; texts in them that only functions
    of `re` take are marked as patterns."""
    nodes = emitter.definition.nodes
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    asked = Counter(
        getattr(call.args[0], "id", "")
        for call in calls
        if known_object(emitter, call.func) in _OF_RE
    )
    # The target is the only other mention.
    names = {n for n in named_in([target]) if asked[n] == emitter.definition.mentions[n] - 1 > 0}
    if not names:
        return iterable
    with emitter.looking():
        items = choices_of(emitter, iterable) or []
    if len(items) <= MOST_ROUNDS_APART or not all(item.is_constant for item in items):
        return iterable
    marked: Any = [_marked(target, item.constant, names) for item in items]
    constants: ast.expr = derived(iterable, "of patterns", lambda: ast.Constant(marked))
    return constants


def _marked(target: ast.expr, item: Any, names: Set[str]) -> Any:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(item, tuple | list):
        pairs = zip(target.elts, item, strict=False)
        marked = tuple(_marked(*pair, names) for pair in pairs)
        return marked if len(marked) == len(item) else item
    is_one = getattr(target, "id", "") in names and isinstance(item, str)
    return k.PatternText(item) if is_one else item


def method_of_pattern(
    emitter: Emitter, pattern: Value, name: str, arguments: Sequence[Value], named: dict[str, Value]
) -> Value:
    """Compiles a call of a method of a compiled pattern, or of one of several."""
    among = getattr(pattern.kind, "among", (pattern.constant,))
    places = ["pos"] if name in _FINDING.values() else []
    given = _given(emitter, name, [*_taken(name), *places], arguments, named)
    return _of_patterns(emitter, among, pattern.code, name, given)


FEW = 8
"""Up to this number, each of several patterns is compiled; more are tables, which one body reads."""


def _of_patterns(
    emitter: Emitter,
    patterns: tuple[re.Pattern[str], ...],
    number: str,
    name: str,
    by_name: dict[str, Value],
) -> Value:
    """Compiles a method of one of several patterns, of which the row has the number."""
    if len(patterns) == 1:
        return pattern_method(emitter, patterns[0], name, by_name)
    if len(patterns) > FEW:
        result = _by_table(emitter, patterns, number, name, dict(by_name))
        if result is not None:
            return result
    if len(patterns) > 2 * FEW:
        emitter.refuse(f"{name}() of one of so many patterns has no compiled form")
    return by_number(
        emitter, number, patterns, lambda each: pattern_method(emitter, each, name, dict(by_name))
    )


def _by_table(
    emitter: Emitter,
    patterns: tuple[re.Pattern[str], ...],
    number: str,
    name: str,
    by_name: dict[str, Value],
) -> Value | None:
    """Compiles a method of one of many patterns with a table of them; returns None where that cannot be."""
    text, repl = (emitter.numbers(by_name.pop(word, NONE)) for word in ("string", "repl"))
    text = emitter.plain(text)
    is_replaced = name == "sub" and repl.kind == k.TEXT
    if by_name or text.kind != k.TEXT or not (is_replaced or name in _FINDING.values()):
        return None
    if len(patterns) <= 2 * FEW and not all(map(is_table, patterns)):
        return None
    table = stored_constant(emitter, table_of(patterns, name == "fullmatch"), kind_of)
    arguments = [table, Value(k.INT, number), text]
    if is_replaced:
        return invoked(
            emitter, pattern_tables.replace_matches, [*arguments, repl], k.TEXT, "re.sub"
        )
    how = pattern_tables.SEARCH if name == "search" else pattern_tables.MATCH
    place = invoked(
        emitter,
        pattern_tables.find_match,
        [*arguments, Value(k.INT, str(how))],
        k.INT,
        f"re.{name}",
    ).code
    matchers = [_facts_of(pattern) for pattern in patterns]
    kind = match_kind(matchers[0])
    for matcher in matchers[1:]:
        kind = kind.joined_with(match_kind(matcher))
    count = len(kind.items) - (len(kind.matchers) > 1)
    codes = [emitter.bind(f"get_word({place} + {8 * word})") for word in range(count)]
    items = [text, *(Value(k.INT, code) for code in codes[1:])]
    if len(kind.matchers) > 1:
        places = [kind.place_of(matcher) for matcher in matchers]
        numbers = stored_constant(emitter, _kept(tuple(places)), kind_of)
        items.append(call(emitter, "[]", [numbers, Value(k.INT, number)]))
    return Value(k.optional(kind), none=f"({codes[0]} == 0)", items=tuple(items))


@cache
def _kept(numbers: tuple[int, ...]) -> list[int]:
    """Returns one list for equal numbers, as the program knows a constant by the object."""
    return list(numbers)


@cache
def _facts_of(pattern: re.Pattern[str]) -> Matcher:
    """Returns what is known of the matches of a pattern, without a function that finds them."""
    try:
        parsed = parse(pattern)
    except CompileError:
        return _never_asked(pattern)
    return Matcher(find, parsed.groups, parsed.group_names, parsed.always, parsed.closing)


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
    """Returns arguments by the names of the parameters; refuses others, such as `endpos`."""
    by_name = dict(zip(names, arguments, strict=False)) | named
    if len(by_name) != len(arguments) + len(named) or not by_name.keys() <= {*names}:
        emitter.refuse(f"{name}() with such arguments has no compiled form")
    return by_name


def pattern_method(
    emitter: Emitter, pattern: re.Pattern[str], name: str, by_name: dict[str, Value]
) -> Value:
    """Compiles a method of a pattern for arguments by name."""
    if name == "subn":
        return _counted(emitter, pattern, by_name)
    given = dict(by_name)
    if not by_name.get("repl", NONE).is_constant:
        result = _by_table(emitter, (pattern,), "0", name, dict(given))
        if result is not None:
            return result
    text = emitter.numbers(emitter.plain(by_name.pop("string")))
    if text.kind != k.TEXT:
        emitter.refuse(f"{name}() in {text.kind} has no compiled form")
    try:
        if name in _FINDING.values():
            return _search(emitter, pattern, text, name, by_name.get("pos"))
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
    except CompileError as error:
        given["string"] = text
        by_table = _by_table(emitter, (pattern,), "0", name, given)
        return by_table or _left(emitter, pattern, name, error)


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


def _search(
    emitter: Emitter, pattern: re.Pattern[str], text: Value, name: str, pos: Value | None
) -> Value:
    """`search`, `match` or `fullmatch`; from a character on, which in ASCII is a byte."""
    arguments = [text]
    if pos is None:
        matcher = find(name, pattern)
    else:
        parsed = parse(pattern)
        matcher = replace(_facts_of(pattern), body=from_position(parsed, name, onwards=True))
        emitter.fail_if(f"not {text.code}.ascii", row_values.LEFT, f"{name}() from a position on")
        start = as_integer(emitter, emitter.plain(pos), "pos is")
        codes = [f"min(max({start}, 0), {text.code}.size)", *["-1"] * needs_barring(parsed)]
        arguments += [Value(k.INT, code) for code in codes]
    kind = match_kind(matcher)
    kinds = k.tuple_of((k.INT,) * (2 * matcher.groups + 3))
    is_match, *bounds = invoked(emitter, matcher.body, arguments, kinds, f"re.{name}").items
    none = emitter.bind(f"{is_match.code} == 0")
    return Value(k.optional(kind), none=none, items=(text, *bounds))


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
        body = from_position(parse(compiled, 0), "search", onwards=True)
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
        codes = ", ".join([*leading_codes(emitter, body), text.code, places])
        emitter.write(f"{result}, {status} = {emitter.use(body)}({codes})")
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
    function = by_name.pop("repl")
    if by_name:
        emitter.refuse("re.sub() with a function and a count has no compiled form")
    part = ast.Name("<match>", ast.Load())
    node = derived(emitter.node, "of a match", lambda: ast.Call(ast.Constant(None), [part], []))
    source = _matches_in(emitter, pattern, text)
    pieces = rows.containers.new_container(emitter, emitter.node, "list", 0)
    end = emitter.copy("0")

    def add_up_to(stop: str) -> None:
        bounds = [Value(k.INT, end), Value(k.INT, stop)]
        rows.containers.add(
            emitter, pieces, (invoked(emitter, text_scanning.part, [text, *bounds], k.TEXT, "sub"),)
        )

    def round_() -> None:
        with emitter.within(f"if not {source.more}:"):
            emitter.write("break")
        match = source.item()
        add_up_to(match.items[1].code)
        emitter.env["<match>"] = match
        replacement = rows.invocations.call_of(emitter, node, function)
        # Python treats None as an empty text.
        rows.containers.add(emitter, pieces, (emitter.plain(replacement, row_values.LEFT),))
        emitter.write(f"{end} = {match.items[2].code}")

    repeated(emitter, emitter.node, set(), round_)
    add_up_to(f"{text.code}.size")
    return call(emitter, "str.join", [constant(""), pieces])


# Methods of matches


def method_of_match(
    emitter: Emitter, match: Value, name: str, arguments: Sequence[Value], named: dict[str, Value]
) -> Value:
    """Compiles a call of a match's method."""
    if name not in _METHODS:
        emitter.refuse(f"match.{name}() has no compiled form")
    if not named.keys() <= ({"default"} if name in ("groups", "groupdict") else set()):
        emitter.refuse(f"match.{name}() takes no {', '.join(named)}")
    values = [*arguments, *named.values()]
    is_of_whole = name == "group" or (not values and name not in ("groups", "groupdict"))
    if is_of_whole:
        return _METHODS[name](emitter, match, values)
    return of_each_pattern(emitter, match, lambda each: _METHODS[name](emitter, each, values))


def group(emitter: Emitter, match: Value, which: Value) -> Value:
    """Returns a group: a text, or None if it did not take part in the match."""
    if len(match.kind.matchers) > 1 and which.constant != 0:  # type: ignore[attr-defined]
        return of_each_pattern(emitter, match, lambda each: group(emitter, each, which))
    if not which.is_constant:
        matcher, which = _matcher(match), emitter.plain(which, row_values.LEFT)
        names = list(matcher.group_names) if which.kind == k.TEXT else [*range(matcher.groups + 1)]
        return _one_of(emitter, match, which, names)
    number = _number(emitter, match, which)
    if number is None:
        emitter.fail(row_values.INDEX_ERROR, "a group that the pattern lacks", "no such group")
        return Value(k.NEVER)
    start, stop = match.items[1 + 2 * number], match.items[2 + 2 * number]
    part = invoked(
        emitter, text_scanning.part, [match.items[0], start, stop], k.TEXT, "match.group"
    )
    if number == 0 or _matcher(match).always[number]:
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
        test, lambda: group(emitter, match, own), lambda: _one_of(emitter, match, which, names[1:])
    )


def _matcher(match: Value) -> Matcher:
    assert isinstance(match.kind, Match)
    return match.kind.matchers[0]


def _number(emitter: Emitter, match: Value, which: Value) -> int | None:
    """Returns the number of a group; None if there is no such group."""
    if not which.is_constant:
        emitter.refuse("a group that depends on the row has no compiled form")
    if which.constant == 0:
        return 0
    matcher = _matcher(match)
    try:
        return matcher.number(which.constant)
    except (IndexError, TypeError, ValueError):
        return None


def attribute_of_match(emitter: Emitter, match: Value, name: str) -> Value:
    """Compiles an attribute of a match: its text, or the last group that ended, by number or by name."""
    if name == "string":
        return match.items[0]
    if len(match.kind.matchers) > 1:  # type: ignore[attr-defined]
        return of_each_pattern(emitter, match, lambda each: attribute_of_match(emitter, each, name))
    matcher = _matcher(match)
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
    numbers = range(1, _matcher(match).groups + 1)
    return tuple_of_values([_group_or(emitter, match, number, arguments) for number in numbers])


def _group_or(emitter: Emitter, match: Value, which: int | str, default: Sequence[Value]) -> Value:
    """Returns a group, or the default value, if there is one, where it did not take part in the match."""
    part = group(emitter, match, constant(which))
    if not default or not isinstance(part.kind, k.Optional):
        return part
    return emitter.chosen(part.none, lambda: default[0], lambda: Value(k.TEXT, part.code))


def _group_dict(emitter: Emitter, match: Value, arguments: Sequence[Value]) -> Value:
    names = tuple(_matcher(match).group_names)
    groups = [_group_or(emitter, match, name, arguments) for name in names]
    return tuple_of_values(groups, names, dict)


def _bounds(emitter: Emitter, match: Value, arguments: Sequence[Value], *places: int) -> Value:
    number = _number(emitter, match, arguments[0] if arguments else constant(0))
    if number is None:
        emitter.refuse("a group that the pattern lacks")
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


_METHODS: dict[str, Callable[[Emitter, Value, Sequence[Value]], Value]] = {
    "group": _group,
    "groups": _groups,
    "groupdict": _group_dict,
    "start": lambda e, match, values: _bounds(e, match, values, 0),
    "end": lambda e, match, values: _bounds(e, match, values, 1),
    "span": lambda e, match, values: _bounds(e, match, values, 0, 1),
}
