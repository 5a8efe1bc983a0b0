"""Patterns of `match`: rewrites them as tests, and as assignments to the names that they bind."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from colkern.rows import kinds as k
from colkern.rows.emitter import Emitter, derived
from colkern.rows.expressions import expression
from colkern.rows.folding import constant


def capture(emitter: Emitter, pattern: ast.pattern, subject: ast.expr) -> None:
    """Bind the names of a pattern that matches."""
    if isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name:
        load = ast.fix_missing_locations(ast.copy_location(subject, emitter.node))
        emitter.assign(pattern.name, expression(emitter, load))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        capture(emitter, pattern.pattern, subject)
    elif isinstance(pattern, ast.MatchSequence):
        for part, place in _places(pattern, subject):
            capture(emitter, part, place)
    elif isinstance(pattern, ast.MatchClass):
        for part, place in _attributes(emitter, pattern, subject):
            capture(emitter, part, place)
    elif isinstance(pattern, ast.MatchMapping):
        for part, place in _values(pattern, subject):
            capture(emitter, part, place)
        if pattern.rest:
            others = derived(pattern, "rest", partial(_others, pattern, subject))
            emitter.assign(pattern.rest, expression(emitter, others))


def _values(pattern: ast.MatchMapping, subject: ast.expr) -> list[tuple[ast.pattern, ast.expr]]:
    """Returns the parts of a dictionary pattern, each with the value that it matches."""
    places = [ast.Subscript(subject, key, ast.Load()) for key in pattern.keys]
    return list(zip(pattern.patterns, places, strict=True))


def _others(pattern: ast.MatchMapping, subject: ast.expr) -> ast.expr:
    """Returns an expression for the dictionary of the items whose keys a pattern does not name."""
    text = "{key: value for key, value in subject.items() if key not in ()}"
    display: ast.expr = ast.parse(text, mode="eval").body
    parts: Any = display
    parts.generators[0].iter.func.value = subject
    parts.generators[0].ifs[0].comparators[0].elts = pattern.keys
    return display


def _places(pattern: ast.MatchSequence, subject: ast.expr) -> list[tuple[ast.pattern, ast.expr]]:
    """Returns the parts of a sequence pattern, each with the item or slice that it matches."""
    parts = pattern.patterns
    star = next((n for n, part in enumerate(parts) if isinstance(part, ast.MatchStar)), len(parts))
    places: list[ast.expr] = []
    for position in range(len(parts)):
        behind = len(parts) - position - 1
        cut: ast.expr = ast.Constant(position if position < star else -behind - 1)
        if position == star:
            cut = ast.Slice(ast.Constant(position), ast.Constant(-behind) if behind else None)
        places.append(ast.Subscript(subject, cut, ast.Load()))
    return list(zip(parts, places, strict=True))


_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""The classes whose single positional pattern matches the value itself."""


def _attributes(
    emitter: Emitter, pattern: ast.MatchClass, subject: ast.expr
) -> list[tuple[ast.pattern, ast.expr]]:
    """Returns the parts of a class pattern, each with the attribute that it matches."""
    form = expression(emitter, pattern.cls).constant
    if form in _ITSELF and not pattern.kwd_patterns:
        return [(part, subject) for part in pattern.patterns]
    names = (*getattr(form, "__match_args__", ())[: len(pattern.patterns)], *pattern.kwd_attrs)
    parts = (*pattern.patterns, *pattern.kwd_patterns)
    if len(names) != len(parts):
        emitter.refuse(f"{form} has no such positional patterns")
    places = [ast.Attribute(subject, name, ast.Load()) for name in names]
    return list(zip(parts, places, strict=True))


def test_of(
    emitter: Emitter, pattern: ast.pattern, subject: ast.expr, kind: k.Kind
) -> ast.expr | None:
    """Returns a pattern as a test of the subject, whose kind is given; None if it matches everything."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchOr):
        choices = [test_of(emitter, part, subject, kind) for part in pattern.patterns]
        plain = [test for test in choices if test is not None]
        return ast.BoolOp(ast.Or(), plain) if len(plain) == len(choices) else None
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is None:
            return None
        return test_of(emitter, pattern.pattern, subject, kind)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(emitter, pattern, subject, kind)
    if isinstance(pattern, ast.MatchClass):
        return _of_class(emitter, pattern, subject, kind)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(emitter, pattern, subject, kind)
    return emitter.refuse(f"the pattern {type(pattern).__name__} has no compiled form")


def _all_of(tests: list[ast.expr | None]) -> ast.expr | None:
    """Returns a test that all tests hold; None if none of them is one."""
    present = [test for test in tests if test is not None]
    return ast.BoolOp(ast.And(), present) if len(present) > 1 else present[0] if present else None


def _of_class(
    emitter: Emitter, pattern: ast.MatchClass, subject: ast.expr, kind: k.Kind
) -> ast.expr | None:
    """Returns a class pattern as a test, like `test_of`."""
    function: Any = isinstance
    tests: list[ast.expr | None] = [ast.Call(ast.Constant(function), [subject, pattern.cls], [])]
    of = k.present(kind)
    of = k.classes_of(of).get(expression(emitter, pattern.cls).constant, of)
    # Of a base of several classes, the kinds of the fields are not one.
    names = getattr(of, "names", ())
    fields = dict(zip(names, getattr(of, "items", ()), strict=True)) if names else {}
    for part, place in _attributes(emitter, pattern, subject):
        tests.append(test_of(emitter, part, place, fields.get(getattr(place, "attr", ""), of)))
    return _all_of(tests)


def _as_one_of(kind: k.Kind, form: Any, subject: ast.expr, tests: list[ast.expr | None]) -> k.Kind:
    """Returns the kind of a subject that is not None, and is of a type if it may be one of several; adds
    the tests of that."""
    if isinstance(kind, k.Optional):
        tests.append(ast.Compare(subject, [ast.IsNot()], [ast.Constant(None)]))
        kind = kind.of
    if k.is_plain(kind) and form in k.classes_of(kind):
        function: Any = isinstance
        tests.append(ast.Call(ast.Constant(function), [subject, ast.Constant(form)], []))
        return k.classes_of(kind)[form]
    return kind


def _mapping(
    emitter: Emitter, pattern: ast.MatchMapping, subject: ast.expr, kind: k.Kind
) -> ast.expr | None:
    """A pattern of some keys, as `test_of` gives it."""
    tests: list[ast.expr | None] = []
    kind = _as_one_of(kind, dict, subject, tests)
    if not (k.is_row(kind) or isinstance(kind, k.Uneven) or kind.name == "dict"):
        return ast.Constant(False)
    for key, (part, place) in zip(pattern.keys, _values(pattern, subject), strict=True):
        tests.append(ast.Compare(key, [ast.In()], [subject]))
        of = kind.items[-1] if isinstance(kind, k.Container) else k.NEVER
        if isinstance(kind, k.Compound) and getattr(key, "value", None) in kind.names:
            of = kind.items[kind.names.index(key.value)]  # type: ignore[attr-defined]
            of = of.items[1] if k.is_unset(of) else of  # type: ignore[attr-defined]
        tests.append(test_of(emitter, part, place, of))
    return _all_of(tests)


def _sequence(
    emitter: Emitter, pattern: ast.MatchSequence, subject: ast.expr, kind: k.Kind
) -> ast.expr | None:
    """Returns a sequence pattern as a test, like `test_of`; texts are no sequences here."""
    has_star = any(isinstance(part, ast.MatchStar) for part in pattern.patterns)
    count = len(pattern.patterns) - has_star
    tests: list[ast.expr | None] = []
    kind = _as_one_of(kind, list, subject, tests)
    is_tuple = isinstance(kind, k.Tuple) and kind.form is not dict
    if is_tuple and (len(kind.items) == count or (has_star and len(kind.items) > count)):  # type: ignore[attr-defined]
        kinds = kind.items  # type: ignore[attr-defined]
    elif isinstance(kind, k.Container) and kind.name == "list":
        kinds = kind.items
        name = emitter.fresh("length")
        emitter.env[name] = constant(len)
        length = ast.Call(ast.Name(name, ast.Load()), [subject], [])
        enough = ast.GtE() if has_star else ast.Eq()
        tests.append(ast.Compare(length, [enough], [ast.Constant(count)]))
    else:
        return ast.Constant(False)
    for part, place in _places(pattern, subject):
        if isinstance(part, ast.MatchStar):
            continue
        position = place.slice.value  # type: ignore[attr-defined]
        tests.append(test_of(emitter, part, place, kinds[position if is_tuple else 0]))
    return _all_of(tests)
