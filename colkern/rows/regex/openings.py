"""The characters that can come next: if these decide, a matcher never has to go back.

A run that took all it could need not give anything back if what follows cannot begin with a character of
the run; a choice needs one look if its branches begin differently; and nothing is tried again if nothing
after it can fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from colkern.rows.regex.parsing import (
    Again,
    Choice,
    Close,
    Literal,
    Node,
    Nodes,
    Open,
    Place,
    Repeat,
    Run,
)
from colkern.rows.regex.sets import NOTHING, Characters, of_byte


@dataclass(frozen=True)
class Opening:
    """The possible beginnings of a match.

    Args:
        characters: The next character is in this set, or
        any: it may be any character, as none is taken.
        end: Whether there may be no next character.
    """

    characters: Characters
    any: bool = False
    end: bool = False

    def __or__(self, other: Opening) -> Opening:
        return Opening(
            self.characters | other.characters, self.any or other.any, self.end or other.end
        )

    def meets(self, characters: Characters) -> bool:
        """Whether the next character may be one of these."""
        return self.any or self.characters.meets(characters)


@dataclass(frozen=True)
class Stop:
    """The end of a part that is written before the part that follows.

    Args:
        opening: The possible beginnings of what follows.
        can_fail: Whether what follows can fail.
    """

    opening: Opening
    can_fail: bool


Chain: TypeAlias = "tuple[Node | Stop, Chain] | None"
"""Nodes, and what follows them."""

_EMPTY = Opening(NOTHING, any=True, end=True)


def chain_of(nodes: Nodes, rest: Chain) -> Chain:
    """Returns nodes followed by a chain."""
    for node in reversed(nodes):
        rest = (node, rest)
    return rest


def opening(chain: Chain) -> Opening:
    """Returns the possible beginnings of a match of a chain."""
    if chain is None:
        return _EMPTY
    node, rest = chain
    match node:
        case Stop():
            return node.opening
        case Literal(data):
            return Opening(of_byte(data[0]))
        case Run(characters, least):
            first = Opening(characters)
            return first | opening(rest) if least == 0 else first
        case Choice(branches):
            result = Opening(NOTHING)
            for branch in branches:
                result |= opening(chain_of(branch, rest))
            return result
        case Repeat(body, least):
            first = opening(chain_of(body, None))
            return first | opening(rest) if least == 0 else first
        case Again():
            return _EMPTY
        case Place(name="END"):
            return Opening(NOTHING, end=True)
        case Place(name="LAST_LINE" | "LINE_END"):
            return Opening(of_byte(10), end=True)
    return opening(rest)


def can_fail(chain: Chain, at_end: bool) -> bool:
    """Whether a chain may not match; `at_end` tells whether the end of the pattern can fail."""
    if chain is None:
        return at_end
    node, rest = chain
    match node:
        case Stop():
            return node.can_fail
        case Open() | Close():
            return can_fail(rest, at_end)
        case Run(least=0) | Repeat(least=0):
            return can_fail(rest, at_end)
        case Choice(branches):
            return all(can_fail(chain_of(branch, rest), at_end) for branch in branches)
    return True


def is_settled(chain: Chain, at_end: bool) -> bool:
    """Whether a part, up to its `Stop`, matches in one way at most, or only the first way counts."""
    while chain is not None:
        node, rest = chain
        if isinstance(node, Stop):
            return True
        if isinstance(node, Run) and not is_settled_run(node, rest, at_end):
            return False
        if isinstance(node, Choice) and not is_settled_choice(node, rest, at_end):
            return False
        if isinstance(node, Repeat) and not is_settled_repeat(node, rest, at_end):
            return False
        chain = rest
    return True


def is_settled_run(node: Run, rest: Chain, at_end: bool) -> bool:
    """Whether only one length of a run has to be tried."""
    if node.possessive or node.least == node.most or not can_fail(rest, at_end):
        return True
    following = opening(rest)
    return not (following.any or node.characters.shares(following.characters))


def is_settled_choice(node: Choice, rest: Chain, at_end: bool) -> bool:
    """Whether the next character decides between the branches, and the branches are settled."""
    openings = [opening(chain_of(branch, rest)) for branch in node.branches]
    if sum(one.end for one in openings) > 1:
        return False
    for k, one in enumerate(openings):
        if one.any or any(one.meets(other.characters) for other in openings[:k]):
            return False
    return are_settled(node.branches, rest, at_end)


def are_settled(branches: tuple[Nodes, ...], rest: Chain, at_end: bool) -> bool:
    """Whether each branch is settled."""
    stop = (Stop(opening(rest), can_fail(rest, at_end)), None)
    return all(is_settled(chain_of(branch, stop), at_end) for branch in branches)


def around(node: Repeat, rest: Chain, at_end: bool) -> Chain:
    """Returns the body of a repetition, followed by itself or the rest."""
    again = opening(chain_of(node.body, None)) | opening(rest)
    # After the first of several necessary rounds, the next one can fail, whatever follows.
    bound = node.least > 1 or can_fail(rest, at_end)
    return chain_of(node.body, (Stop(again, bound), None))


def is_settled_body(node: Repeat, rest: Chain, at_end: bool) -> bool:
    """Whether each round of a repetition is settled."""
    return is_settled(around(node, rest, at_end), at_end)


def is_settled_repeat(node: Repeat, rest: Chain, at_end: bool) -> bool:
    """Whether only one number of rounds has to be tried."""
    if not is_settled_body(node, rest, at_end):
        return False
    if node.least == node.most:
        return True
    if not can_fail(rest, at_end):
        return node.greedy
    first = opening(chain_of(node.body, None))
    following = opening(rest)
    return not following.any and not first.any and not following.meets(first.characters)
