"""Parses a pattern to a small tree, with the standard library's parser.

A tree is a chain: a node, and the chain of the following nodes; `None` is the end of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from colkern.errors import CompileError, shown
from colkern.rows.regex.sets import Characters, of_item, parser

_MOST_COPIES = 8
"""The largest number of copies of a repeated part, where a loop is not possible."""


@dataclass(frozen=True)
class Literal:
    """Bytes that a text must have at a place."""

    bytes: bytes


@dataclass(frozen=True)
class Run:
    """Characters of a set, one after the other.

    Args:
        least: The smallest number of characters.
        most: The largest number; None for any number.
        greedy: Whether larger numbers are tried first.
        possessive: Whether characters are never given back.
    """

    characters: Characters
    least: int = 1
    most: int | None = 1
    greedy: bool = True
    possessive: bool = False


@dataclass(frozen=True)
class Choice:
    """One of several chains of nodes, tried in order."""

    branches: tuple[Nodes, ...]


@dataclass(frozen=True)
class Repeat:
    """A chain of nodes that take at least one character, several times, as the characters of a `Run`."""

    body: Nodes
    least: int
    most: int | None
    greedy: bool


@dataclass(frozen=True)
class Place:
    """A condition on a place: `BEGINNING`, `LINE_START`, `END`, `LAST_LINE`, `LINE_END`, `BOUNDARY`, …

    Args:
        name: The name of the condition.
        flags: The flags of the pattern there.
    """

    name: str
    flags: int = 0


@dataclass(frozen=True)
class Look:
    """A look-ahead or look-behind: nodes that must match, or must not, and take no characters.

    Args:
        body: The nodes, without groups.
        before: The number of characters before the place at which they begin.
        wanted: Whether they must match, or must not.
    """

    body: Nodes
    before: int
    wanted: bool


@dataclass(frozen=True)
class Open:
    """The begin of a group."""

    group: int


@dataclass(frozen=True)
class Close:
    """The end of a group."""

    group: int


@dataclass(frozen=True)
class Again:
    """A reference to the text that a group has matched.

    Args:
        least: The smallest number of characters of that text.
    """

    group: int
    least: int


Node: TypeAlias = Literal | Run | Choice | Repeat | Place | Look | Open | Close | Again
Nodes: TypeAlias = tuple[Node, ...]


@dataclass(frozen=True)
class Pattern:
    """A parsed regular expression.

    Args:
        groups: The number of its groups, without the whole match.
        group_names: Their numbers by name.
        always: For each group, from 0 (the whole match) on, whether it takes part in every match.
        text: The pattern as written.
        flags: All flags.
    """

    nodes: Nodes
    groups: int
    group_names: dict[str, int]
    always: tuple[bool, ...]
    text: str
    flags: int

    @property
    def closing(self) -> tuple[int, ...]:
        """Its groups in the order in which they end; empty if a group is repeated."""
        order = list(_closing(self.nodes))
        return () if 0 in order else tuple(order)


def _closing(nodes: Nodes) -> Iterator[int]:
    """Yields the groups in the order in which they end, 0 for groups that are repeated."""
    for node in nodes:
        match node:
            case Close(group):
                yield group
            case Choice(branches):
                for branch in branches:
                    yield from _closing(branch)
            case Repeat(body) if _has_groups(body):
                yield 0


def parse(pattern: str | re.Pattern[str], flags: int = 0) -> Pattern:
    """Returns the tree of a pattern.

    Raises:
        CompileError: If it has parts that generated code does not support.
        re.error: If it is no regular expression.
    """
    text: Any = pattern
    if isinstance(pattern, re.Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        text, flags = pattern.pattern, pattern.flags
    if not isinstance(text, str):
        raise CompileError(f"the pattern {shown(pattern)} is no text")
    return _parsed(text, int(flags))


@lru_cache(maxsize=1 << 6)
def _parsed(pattern: str, flags: int) -> Pattern:
    reference = re.compile(pattern, flags)
    flags = reference.flags
    if flags & re.LOCALE:
        raise _unsupported("the flag LOCALE")
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    nodes = tuple(_merged(_nodes(tree, flags)))
    always = frozenset(_certain(nodes))
    return Pattern(
        nodes,
        reference.groups,
        dict(reference.groupindex),
        (True, *(group in always for group in range(1, reference.groups + 1))),
        pattern,
        flags,
    )


def _unsupported(what: str) -> CompileError:
    return CompileError(f"regular expressions with {what} are left to Python")


def _nodes(tree: Iterable[Any], flags: int) -> Iterator[Node]:
    for operation, value in tree:
        if str(operation) == "GROUPREF" and not flags & re.IGNORECASE:
            yield Again(value, tree.state.groupwidths[value][0])  # type: ignore[attr-defined]
        else:
            yield from _node(str(operation), value, flags)


def _node(name: str, value: Any, flags: int) -> Iterator[Node]:
    """Yields the nodes for one operation of the parser."""
    if name == "LITERAL" and not (flags & re.IGNORECASE and _has_case(value, flags)):
        try:
            yield Literal(chr(value).encode())
        except UnicodeEncodeError:
            raise _unsupported("half a surrogate pair") from None
    elif name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        yield Run(of_item(name, value, flags))
    elif name == "SUBPATTERN":
        group, added, removed, inner = value
        nodes = tuple(_nodes(inner, (flags | added) & ~removed))
        yield from (nodes if group is None else (Open(group), *nodes, Close(group)))
    elif name == "BRANCH":
        yield from _choice([tuple(_merged(_nodes(branch, flags))) for branch in value[1]])
    elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = value
        nodes = tuple(_merged(_nodes(inner, flags)))
        bound = None if most is parser.MAXREPEAT else int(most)
        yield from _repeat(nodes, int(least), bound, name)
    elif name in ("ASSERT", "ASSERT_NOT"):
        direction, inner = value
        nodes = tuple(_merged(_nodes(inner, flags)))
        if _has_groups(nodes):
            raise _unsupported("groups in look-around")
        yield Look(nodes, 0 if direction > 0 else inner.getwidth()[0], name == "ASSERT")
    elif name == "AT":
        yield Place(_place(str(value), flags), flags)
    else:
        raise _unsupported(_NAMES.get(name, name.lower().replace("_", " ")))


_NAMES = {
    "GROUPREF": "references to groups in any case",
    "GROUPREF_EXISTS": "conditions on groups",
    "ATOMIC_GROUP": "atomic groups",
}


def _has_case(code: int, flags: int) -> bool:
    """Whether a character has other forms when case is ignored."""
    characters = of_item("LITERAL", code, flags)
    return characters != of_item("LITERAL", code, 0) or (code >= 128 and not flags & re.ASCII)


def _place(name: str, flags: int) -> str:
    if name == "AT_BEGINNING":
        return "LINE_START" if flags & re.MULTILINE else "BEGINNING"
    if name == "AT_END":
        return "LINE_END" if flags & re.MULTILINE else "LAST_LINE"
    return {
        "AT_BEGINNING_STRING": "BEGINNING",
        "AT_END_STRING": "END",
        "AT_BOUNDARY": "BOUNDARY",
        "AT_NON_BOUNDARY": "NO_BOUNDARY",
    }[name]


def _choice(branches: list[Nodes]) -> Iterator[Node]:
    """Yields a choice; a set, if each branch is one character."""
    characters = [_one_character(branch) for branch in branches]
    merged = None
    for one in characters:
        merged = one if merged is None or one is None else merged | one
        if one is None:
            merged = None
            break
    yield Choice(tuple(branches)) if merged is None else Run(merged)


def _one_character(nodes: Nodes) -> Characters | None:
    """Returns the set if nodes are one character of it; else None."""
    match nodes:
        case (Run(characters, 1, 1),):
            return characters
        case (Literal(bytes=data),) if len(data) == 1:
            return Characters(1 << data[0])
    return None


def _repeat(nodes: Nodes, least: int, most: int | None, name: str) -> Iterator[Node]:
    greedy = name != "MIN_REPEAT"
    characters = _one_character(nodes)
    if characters is not None:
        yield Run(characters, least, most, greedy, name == "POSSESSIVE_REPEAT")
    elif name == "POSSESSIVE_REPEAT":
        raise _unsupported("possessive repetition of groups")
    elif (least, most) == (1, 1):
        yield from nodes
    elif (least, most) == (0, 1):
        yield Choice((nodes, ()) if greedy else ((), nodes))
    elif most == 0:
        return
    elif can_be_empty(nodes):
        raise _unsupported("repetition of a part that may be empty")
    else:
        yield Repeat(nodes, least, most, greedy)


def written_out(node: Repeat, copies: int = _MOST_COPIES) -> Nodes | None:
    """Returns a repetition of up to `copies` rounds as separate nodes; None if there may be more."""
    if node.most is None or node.most > copies:
        return None
    rest: Nodes = ()
    for _ in range(node.most - node.least):
        more = (*node.body, *rest)
        rest = (Choice((more, ()) if node.greedy else ((), more)),)
    return (*node.body * node.least, *rest)


def can_be_empty(nodes: Nodes) -> bool:
    """Whether nodes may match without taking a character."""
    for node in nodes:
        match node:
            case Literal():
                return False
            case Run() | Repeat() | Again():
                if node.least > 0:
                    return False
            case Choice(branches) if not any(map(can_be_empty, branches)):
                return False
    return True


def _merged(nodes: Iterator[Node]) -> Iterator[Node]:
    """Yields the nodes, with neighbouring literals merged."""
    last: Literal | None = None
    for node in nodes:
        if isinstance(node, Literal):
            last = node if last is None else Literal(last.bytes + node.bytes)
            continue
        if last is not None:
            yield last
            last = None
        yield node
    if last is not None:
        yield last


def _certain(nodes: Nodes) -> Iterator[int]:
    """Yields the groups that take part whenever nodes match."""
    for node in nodes:
        match node:
            case Close(group):
                yield group
            case Repeat(body, least) if least > 0:
                yield from _certain(body)
            case Choice(branches):
                yield from set.intersection(*(set(_certain(branch)) for branch in branches))


def _has_groups(nodes: Nodes) -> bool:
    """Whether nodes contain groups, or refer to groups."""
    for node in nodes:
        parts = node.branches if isinstance(node, Choice) else (getattr(node, "body", ()),)
        if isinstance(node, Open | Again) or any(map(_has_groups, parts)):
            return True
    return False


def groups_in(nodes: Nodes) -> frozenset[int]:
    """Returns the groups within nodes."""
    groups: set[int] = set()
    for node in nodes:
        match node:
            case Close(group):
                groups.add(group)
            case Repeat(body):
                groups |= groups_in(body)
            case Choice(branches):
                groups = groups.union(*map(groups_in, branches))
    return frozenset(groups)
