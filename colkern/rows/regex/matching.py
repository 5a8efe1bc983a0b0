"""Makes matchers, plain Python functions, from the trees of regular expressions.

A matcher tries what Python's does, in the same order. Where several ways must be tried, they are the rounds
of a loop whose body contains all that follows: a failure continues with the next way (`continue`), and the
end of the pattern returns. Most patterns that people write have few such loops, or none.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy import int64

from colkern.errors import CompileError
from colkern.generated import function_of_text
from colkern.kernels import text_scanning
from colkern.kernels.kernel import helper
from colkern.kernels.row_values import DONE, LEFT, Code, Text
from colkern.kernels.text_scanning import UNKNOWN
from colkern.kernels.text_words import ONES
from colkern.rows.regex.openings import (
    Chain,
    Opening,
    Stop,
    are_settled,
    around,
    can_fail,
    chain_of,
    is_settled,
    is_settled_body,
    is_settled_choice,
    is_settled_repeat,
    is_settled_run,
    opening,
)
from colkern.rows.regex.parsing import (
    Again,
    Choice,
    Close,
    Literal,
    Look,
    Nodes,
    Open,
    Pattern,
    Place,
    Repeat,
    Run,
    can_be_empty,
    groups_in,
    written_out,
)
from colkern.rows.regex.sets import ASCII, EVERYTHING, LEADS, Characters, signed, word_characters

_MOST_LINES = 1500
_MOST_DEPTH = 16

EMPTY_HAS_INSIDE = re.search(r"\B", "") is not None
"""Whether `\\B` matches the empty text, as since Python 3.14."""

_SCANNING: dict[str, Any] = {
    name: function
    for name, function in vars(text_scanning).items()
    if getattr(function, "__module__", "") == text_scanning.__name__
}


def matcher(pattern: Pattern, how: str, onwards: bool = False) -> Callable[..., Any]:
    """Returns a function that finds a match in a text.

    It returns `(spans, code)`. `spans` has whether there is a match, and the begin and end of the match and
    of each group: bytes of the text, -1 for a group that takes no part.

    Args:
        how: "search", "match" or "fullmatch".
        onwards: Whether the function has a second parameter, the byte where the search begins; and, if
            `needs_barring(pattern)`, a third, a byte at which it must not find an empty match.
    """
    return _Writer(pattern, how, onwards).function()


def needs_barring(pattern: Pattern) -> bool:
    """Whether a matcher needs the parameter for a place without an empty match."""
    return can_be_empty(pattern.nodes)


def needs_unicode(matcher: Callable[..., Any]) -> bool:
    """Whether a matcher has a first parameter for the address of the table of characters."""
    return "unicode" in inspect.signature(matcher).parameters


@dataclass(frozen=True)
class _Spot:
    """An address: a variable plus a number of bytes."""

    name: str
    more: int = 0

    def __str__(self) -> str:
        return f"{self.name} + {self.more}" if self.more else self.name

    def behind(self, count: int) -> _Spot:
        """Returns the address some bytes further on."""
        return _Spot(self.name, self.more + count)


_Spans: TypeAlias = dict[int, tuple[_Spot, _Spot]]
"""The spans of the groups that have taken part so far."""

_Fail: TypeAlias = tuple[str, ...]
"""Lines for the case without a match; the last one jumps."""

_NOWHERE = _Spot("-1")


class _Writer:
    """Writes the source of a matcher.

    `s` is the begin of the match. `left` is `UNKNOWN` once the row is left to Python: then no loop
    continues.
    """

    def __init__(self, pattern: Pattern, how: str, onwards: bool) -> None:
        self.pattern = pattern
        self.how = how
        self.onwards = onwards
        # The end of the pattern can fail, if an empty match is not allowed there.
        self.again = onwards and needs_barring(pattern)
        self.lines: list[str] = []
        self.depth = 1
        self.numbers = 0
        self.constants: dict[object, str] = {}
        self.looks: dict[str, Callable[..., Any]] = {}
        # The code of the address of the table of characters, if the matcher has that parameter.
        self.unicode = "int64(0)"

    # Lines.

    def write(self, *lines: str) -> None:
        """Add lines."""
        if len(self.lines) > _MOST_LINES or self.depth > _MOST_DEPTH:
            raise CompileError("a regular expression with so many alternatives is left to Python")
        self.lines.extend(f"{'    ' * self.depth}{line}" for line in lines)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines that are written within are indented under `head`."""
        self.write(head)
        self.depth += 1
        yield
        self.depth -= 1

    def when(self, condition: str, lines: Iterable[str]) -> None:
        """Write lines that run if a condition is true."""
        with self.block(f"if {condition}:"):
            self.write(*lines)

    def number(self) -> int:
        """Returns a new number for names."""
        self.numbers += 1
        return self.numbers

    def set(self, kind: str, characters: Characters, *words: int) -> str:
        """Returns the name of a named tuple that begins with a set."""
        if characters.uses_properties:
            self.unicode = "unicode"
        members = _SCANNING["Set"](*map(signed, characters.words))
        return self.constant(kind, members, *map(signed, words))

    def constant(self, kind: str, *words: object) -> str:
        """Returns the name of a named tuple; Numba compiles a helper again for each plain tuple."""
        value: object = _SCANNING[kind](*words)
        return self.constants.setdefault(value, f"{kind}_{len(self.constants)}")

    # The function.

    def function(self) -> Callable[..., Any]:
        """Returns the matcher."""
        nodes = self.pattern.nodes
        if self.how == "fullmatch":
            nodes = (*nodes, Place("END"))
        chain = chain_of(nodes, None)
        self.write("left = 0")
        if self.how != "search" or _first_place(nodes) == "BEGINNING":
            self.write("s = start" if self.onwards else "s = 0")
            with self.block("while True:"):
                self.chain(chain, _Spot("s"), {}, ("break",))
        else:
            self.search(chain, nodes)
        self.when(f"left == {UNKNOWN}", ("return LEAVE",))
        self.write("return FAILED")
        count = 2 * self.pattern.groups + 3
        nothing = (0, *(-1 for _ in range(count - 1)))
        parameters = ("unicode: int64, " if self.unicode == "unicode" else "") + "text: Text"
        if self.onwards:
            parameters += ", start: int64" + (", barred: int64" if self.again else "")
        source = "\n".join([f"def matcher({parameters}) -> tuple[Spans, Code]:", *self.lines, ""])
        namespace: dict[str, object] = {
            "__name__": __name__,
            "Text": Text,
            "Code": Code,
            "Spans": tuple.__class_getitem__((int64,) * count),
            "int64": int64,
            "FAILED": (nothing, DONE),
            "LEAVE": (nothing, LEFT),
            **_SCANNING,
            **{name: value for value, name in self.constants.items()},
            **self.looks,
        }
        return helper(function_of_text("matcher", source, namespace, "regular expression"))

    def search(self, chain: Chain, nodes: Nodes) -> None:
        """Search the first place with a match."""
        first = opening(chain)
        self.write("s = start - 1" if self.onwards else "s = -1")
        with self.block(f"while (s < text.size) & (left != {UNKNOWN}):"):
            if _first_place(nodes) == "LINE_START":
                self.write("s = find_line(text, s + 1)")
                self.when("s > text.size", ("break",))
            elif first.any or first.characters.ascii == ASCII:
                self.write("s = find_character(text, s + 1)")
            else:
                self.find(first.characters)
                if not first.end:
                    self.when("s >= text.size", ("break",))
            self.chain(chain, _Spot("s"), {}, ("continue",))

    def find(self, characters: Characters) -> None:
        """Go to the next character of a set."""
        members = characters.members()
        if len(members) == 1 and not characters.leads:
            byte = self.constant("Byte", signed(members[0] * ONES))
            self.write(f"s = find_byte(text, s + 1, {byte})")
        else:
            run = self.set("Run", characters, 0, 0, 0, 0, -1)
            self.write(f"s = find_opening(text, s + 1, {run})")

    def succeed(self, at: _Spot, spans: _Spans, fail: _Fail) -> None:
        """Write the end of the pattern."""
        if self.again:
            self.when(f"({at} == s) & (s == barred)", fail)
        values = ["1", "s", str(at)]
        for group in range(1, self.pattern.groups + 1):
            values.extend(map(str, spans.get(group, (_NOWHERE, _NOWHERE))))
        self.write(f"return ({', '.join(values)}), 0")

    # Nodes.

    def chain(self, chain: Chain, at: _Spot, spans: _Spans, fail: _Fail) -> tuple[_Spot, _Spans]:
        """Match a chain and return; run `fail` if it does not match.

        A chain that ends with a `Stop` does not return: this method gives the place after it, and its
        groups.
        """
        matched: Chain = None
        while chain is not None:
            node, rest = chain
            match node:
                case Stop():
                    return at, spans
                case Literal(data):
                    at = at.behind(1) if chain is matched else self.literal(data, at, fail)
                case Open(group):
                    # An open group is in `spans` under its negative number, as its parts may be a chain of
                    # their own.
                    spans = spans | {-group: (at, at)}
                case Close(group):
                    spans = spans | {group: (spans[-group][0], at)}
                case Again(group):
                    at = self.again_at(group, at, spans, fail)
                case Place(name, flags):
                    self.place(name, flags, at, fail)
                case Look():
                    self.look(node, at, fail)
                case Run() if is_settled_run(node, rest, self.again):
                    matched = _byte_behind(rest)
                    at = self.settled_run(node, rest, at, fail, matched)
                case Run():
                    self.run(node, rest, at, spans, fail)
                    return at, spans
                case Choice(branches):
                    if not is_settled_choice(node, rest, self.again):
                        self.choice(branches, rest, at, spans, fail)
                        return at, spans
                    at, spans = self.settled_choice(branches, rest, at, spans, fail)
                case Repeat() if is_settled_repeat(node, rest, self.again):
                    at, spans = self.settled_repeat(node, rest, at, spans, fail)
                case Repeat() if is_settled_body(node, rest, self.again):
                    self.repeat(node, rest, at, spans, fail)
                    return at, spans
                case Repeat():
                    copies = written_out(node)
                    if copies is None:
                        raise CompileError(
                            "regular expressions with a repetition whose rounds can match in several "
                            "ways are left to Python"
                        )
                    rest = chain_of(copies, rest)
            chain = rest
        self.succeed(at, spans, fail)
        return at, spans

    def again_at(self, group: int, at: _Spot, spans: _Spans, fail: _Fail) -> _Spot:
        """Match the text that a group has matched."""
        variable = f"q{self.number()}"
        start, stop = spans.get(group, (_NOWHERE, _NOWHERE))
        self.write(f"{variable} = match_again(text, {at}, {start}, {stop})")
        self.when(f"{variable} < 0", fail)
        return _Spot(variable)

    def literal(self, data: bytes, at: _Spot, fail: _Fail) -> _Spot:
        """Match bytes."""
        for k in range(0, len(data), 8):
            piece = self.constant("Piece", *map(signed, piece_of(data[k : k + 8], at.more + k)))
            self.when(f"not has(text, {at.name}, {piece})", fail)
        return at.behind(len(data))

    def skip(
        self, at: _Spot, node: Run, most: int | None, fail: _Fail, following: Chain = None
    ) -> str:
        """Returns a variable with the end of a run of at least `node.least` characters.

        Args:
            most: The largest number of characters; None for any number.
            fail: Lines for the case of fewer characters.
            following: A chain that begins with the byte that must follow, if any.
        """
        characters, least = node.characters, node.least
        variable = f"q{self.number()}"
        byte = following[0].bytes[0] if following and isinstance(following[0], Literal) else -1
        limits = _limits(characters) if most is None and least < 2 else None
        if limits is None:
            # A run of one character does not use ranges.
            ranges = 0 if most == 1 else characters.ranges
            most = 1 << 62 if most is None else most
            run = self.set("Run", characters, ranges, least, most, at.more, byte)
            self.write(f"{variable} = skip_run({self.unicode}, text, {at.name}, {run})")
        else:
            run = self.set("LongRun", characters, *limits, least, at.more, byte)
            self.write(f"{variable} = skip_most({self.unicode}, text, {at.name}, {run})")
        if not characters.known:
            self.when(f"{variable} < 0", (f"left = {variable}", *fail))
        elif least > 0 or byte >= 0:
            self.when(f"{variable} < 0", fail)
        return variable

    def settled_run(
        self, node: Run, rest: Chain, at: _Spot, fail: _Fail, following: Chain = None
    ) -> _Spot:
        """Match a run of which one length is tried."""
        most = node.most
        # Only a run that is not greedy may stop earlier than it must.
        if not node.greedy and not can_fail(rest, self.again):
            most = node.least
        return _Spot(self.skip(at, node, most, fail, following))

    def run(self, node: Run, rest: Chain, at: _Spot, spans: _Spans, fail: _Fail) -> None:
        """Match a run of which several lengths are tried."""
        k = self.number()
        few = at
        if node.least > 0:
            least = Run(node.characters, node.least, node.least)
            few = self.settled_run(least, rest, at, fail)
        if not node.greedy:
            self.lazy_run(node, k, rest, few, spans, fail)
            return
        most = None if node.most is None else node.most - node.least
        more = self.skip(few, Run(node.characters, 0, most), most, fail)
        with self.block(f"while ({more} >= {few}) & (left != {UNKNOWN}):"):
            back = f"step_back(text, {more}, {few})" if node.characters.leads else f"{more} - 1"
            self.write(f"p{k} = {more}", f"{more} = {back}")
            self.chain(rest, _Spot(f"p{k}"), spans, ("continue",))
        self.write(*fail)

    def lazy_run(
        self, node: Run, k: int, rest: Chain, few: _Spot, spans: _Spans, fail: _Fail
    ) -> None:
        """Match a run of which longer and longer lengths are tried."""
        self.write(f"p{k} = {few}", f"n{k} = -1")
        at = _Spot(f"p{k}")
        with self.block(f"while left != {UNKNOWN}:"):
            self.write(f"n{k} += 1")
            with self.block(f"if n{k} > 0:"):
                if node.most is not None:
                    self.when(f"n{k} > {node.most - node.least}", ("break",))
                one = self.settled_run(Run(node.characters), rest, at, ("break",))
                self.write(f"p{k} = {one}")
            self.chain(rest, at, spans, ("continue",))
        self.write(*fail)

    def kept(self, k: int, groups: frozenset[int], spans: _Spans) -> _Spans:
        """Returns variables for groups in parts that end with a `Stop`, with their present spans."""
        names: _Spans = {}
        for group in sorted(groups):
            names[group] = (_Spot(f"b{k}_{group}"), _Spot(f"e{k}_{group}"))
            for name, spot in zip(
                names[group], spans.get(group, (_NOWHERE, _NOWHERE)), strict=True
            ):
                self.write(f"{name} = {spot}")
        return names

    def keep(self, names: _Spans, spans: _Spans) -> None:
        """Assign the present spans of groups to variables."""
        for group, variables in names.items():
            for name, spot in zip(variables, spans[group], strict=True):
                if name != spot:
                    self.write(f"{name} = {spot}")

    def settled_choice(
        self, branches: tuple[Nodes, ...], rest: Chain, at: _Spot, spans: _Spans, fail: _Fail
    ) -> tuple[_Spot, _Spans]:
        """Match a choice that the next character decides; the last branch is the default."""
        k = self.number()
        self.write(f"c{k} = byte_at(text, {at})")
        names = self.kept(k, frozenset().union(*map(groups_in, branches)), spans)
        tests = [_begins(opening(chain_of(branch, rest)), f"c{k}") for branch in branches]
        return self.branches(branches, rest, tests, k, at, spans | names, names, fail)

    def branches(
        self,
        branches: tuple[Nodes, ...],
        rest: Chain,
        tests: list[str],
        k: int,
        at: _Spot,
        spans: _Spans,
        names: _Spans,
        fail: _Fail,
    ) -> tuple[_Spot, _Spans]:
        """Match the first branch whose test is true, or else the last."""
        stop = (Stop(opening(rest), can_fail(rest, self.again)), None)
        for number, branch in enumerate(branches):
            word = "if" if number == 0 else "elif"
            last = number == len(branches) - 1
            with self.block("else:" if last else f"{word} {tests[number]}:"):
                behind, ends = self.chain(chain_of(branch, stop), at, spans, fail)
                self.write(f"p{k} = {behind}")
                self.keep(names, ends)
        return _Spot(f"p{k}"), spans

    def choice(
        self, branches: tuple[Nodes, ...], rest: Chain, at: _Spot, spans: _Spans, fail: _Fail
    ) -> None:
        """Match a choice whose branches are tried in turn."""
        if are_settled(branches, rest, self.again):
            k = self.number()
            self.write(f"k{k} = -1")
            with self.block(f"while (k{k} < {len(branches) - 1}) & (left != {UNKNOWN}):"):
                self.write(f"k{k} += 1")
                names = self.kept(k, frozenset().union(*map(groups_in, branches)), spans)
                tests = [f"k{k} == {number}" for number in range(len(branches))]
                at, spans = self.branches(
                    branches, rest, tests, k, at, spans | names, names, ("continue",)
                )
                self.chain(rest, at, spans, ("continue",))
        else:
            for branch in branches:
                with self.block("while True:"):
                    self.chain(chain_of(branch, rest), at, spans, ("break",))
                self.when(f"left == {UNKNOWN}", fail)
        self.write(*fail)

    def settled_repeat(
        self, node: Repeat, rest: Chain, at: _Spot, spans: _Spans, fail: _Fail
    ) -> tuple[_Spot, _Spans]:
        """Match a repetition of which one number of rounds is tried."""
        k = self.number()
        names = self.kept(k, groups_in(node.body), spans)
        self.rounds(k, node, rest, at, spans | names, names, str(node.most))
        self.when(f"(n{k} < {node.least}) | (left == {UNKNOWN})", fail)
        return _Spot(f"p{k}"), spans | names

    def rounds(
        self, k: int, node: Repeat, rest: Chain, at: _Spot, spans: _Spans, names: _Spans, most: str
    ) -> None:
        """Match as many rounds of a repetition as possible."""
        self.write(f"p{k} = {at}", f"n{k} = 0")
        with self.block("while True:" if most == "None" else f"while n{k} < {most}:"):
            behind, ends = self.chain(
                around(node, rest, self.again), _Spot(f"p{k}"), spans, ("break",)
            )
            self.keep(names, ends)
            self.write(f"p{k} = {behind}", f"n{k} += 1")

    def repeat(self, node: Repeat, rest: Chain, at: _Spot, spans: _Spans, fail: _Fail) -> None:
        """Match a repetition of which several numbers of rounds are tried, each from the beginning."""
        k = self.number()
        if not node.greedy:
            self.lazy_repeat(k, node, rest, at, spans, fail)
            return
        self.write(f"m{k} = {1 << 62 if node.most is None else node.most}")
        with self.block(f"while (m{k} >= {node.least}) & (left != {UNKNOWN}):"):
            names = self.kept(k, groups_in(node.body), spans)
            spans = spans | names
            self.rounds(k, node, rest, at, spans, names, f"m{k}")
            self.write(f"m{k} = n{k} - 1")
            self.when(f"(n{k} < {node.least}) | (left == {UNKNOWN})", ("break",))
            self.chain(rest, _Spot(f"p{k}"), spans, ("continue",))
        self.write(*fail)

    def lazy_repeat(
        self, k: int, node: Repeat, rest: Chain, at: _Spot, spans: _Spans, fail: _Fail
    ) -> None:
        """Match a repetition of which more and more rounds are tried."""
        names = self.kept(k, groups_in(node.body), spans)
        spans = spans | names
        self.write(f"p{k} = {at}", f"n{k} = -1")
        with self.block(f"while left != {UNKNOWN}:"):
            self.write(f"n{k} += 1")
            with self.block(f"if n{k} > 0:"):
                if node.most is not None:
                    self.when(f"n{k} > {node.most}", ("break",))
                behind, ends = self.chain(
                    around(node, rest, self.again), _Spot(f"p{k}"), spans, ("break",)
                )
                self.keep(names, ends)
                self.write(f"p{k} = {behind}")
            if node.least > 0:
                self.when(f"n{k} < {node.least}", ("continue",))
            self.chain(rest, _Spot(f"p{k}"), spans, ("continue",))
        self.write(*fail)

    def look(self, node: Look, at: _Spot, fail: _Fail) -> None:
        """Match a look-ahead or look-behind, of which only the first way counts."""
        match node.body:
            case (Choice(branches),):
                bodies = branches
            case _:
                bodies = (node.body,)
        stop = (Stop(Opening(EVERYTHING, True, True), False), None)
        k = self.number()
        self.write(f"n{k} = 0")
        condition = f"(n{k} == 0) & (left != {UNKNOWN})"
        if node.before:
            self.write(f"p{k} = go_back(text, {at}, int64({node.before}))")
            at = _Spot(f"p{k}")
            condition = f"({at} >= 0) & {condition}"
        for nodes in bodies:
            body = chain_of(nodes, stop)
            with self.block(f"while {condition}:"):
                if is_settled(body, self.again):
                    self.chain(body, at, {}, ("break",))
                    self.write(f"n{k} = 1")
                else:
                    self.apart(nodes, k, at)
                    self.write("break")
        self.when(f"(n{k} != {int(node.wanted)}) | (left == {UNKNOWN})", fail)

    def apart(self, nodes: Nodes, k: int, at: _Spot) -> None:
        """Match nodes in any of several ways, by a function of its own."""
        pattern = Pattern(nodes, 0, {}, (True,), self.pattern.text, self.pattern.flags)
        name = f"look_{self.number()}"
        self.looks[name] = look = matcher(pattern, "match", onwards=True)
        text = "text"
        if needs_unicode(look):
            self.unicode, text = "unicode", "unicode, text"
        barred = ", int64(-1)" if needs_barring(pattern) else ""
        self.write(f"f{k}, c{k} = {name}({text}, {at}{barred})", f"n{k} = f{k}[0]")
        self.when(f"c{k} != 0", (f"left = {UNKNOWN}",))

    def place(self, name: str, flags: int, at: _Spot, fail: _Fail) -> None:
        """Match a condition on an address."""
        if name in _CONDITIONS:
            self.when(_CONDITIONS[name].format(at), fail)
            return
        word = word_characters(flags & re.ASCII)
        w = f"w{self.number()}"
        run = self.set("Run", word, 0, 0, 1, 0, -1)
        self.write(f"{w} = is_boundary({self.unicode}, text, {at}, {run})")
        wrong = f"{w} <= 0" if name == "BOUNDARY" else f"{w} != 0"
        if name != "BOUNDARY" and not EMPTY_HAS_INSIDE:
            wrong = f"({wrong}) | (text.size == 0)"
        self.when(wrong, fail if word.known else (f"left = {w}", *fail))


_CONDITIONS = {
    "BEGINNING": "{} != 0",
    "LINE_START": "not begins_line(text, {})",
    "END": "{} != text.size",
    "LINE_END": "not ends_line(text, {})",
    "LAST_LINE": "not ends_last_line(text, {})",
}


def _byte_behind(chain: Chain) -> Chain:
    """Returns a chain from a one-byte literal on, if only ends of groups come before; else None."""
    while chain is not None and isinstance(chain[0], Open | Close):
        chain = chain[1]
    if chain is not None and isinstance(chain[0], Literal) and len(chain[0].bytes) == 1:
        return chain
    return None


def piece_of(data: bytes, behind: int = 0) -> tuple[int, int, int, int]:
    """Returns the members of a `Piece` for up to eight bytes."""
    size = len(data)
    return size, int.from_bytes(data, "little"), (1 << 8 * size) - 1, behind


def _limits(characters: Characters) -> tuple[int, ...] | None:
    """Returns the characters that end a run of almost any character, for `LongRun`; None for other sets."""
    lacking = (~characters).members()
    # Bytes of the set below a bound also interrupt a run: few texts have any of these.
    bound = max(lacking, default=0) + 1 if len(lacking) > 2 and lacking[-1] <= 32 else 0
    while lacking and (lacking[0] < bound or (len(lacking) > 2 and lacking[0] <= 32)):
        bound = max(bound, lacking.pop(0) + 1)
    if len(lacking) > 2:
        return None
    if characters.yes != LEADS:
        # With a bound, bytes beyond ASCII interrupt a run, too.
        bound = bound or 1
    first, second = (lacking * 2)[:2] or (0, 0)
    return len(lacking), first * ONES, second * ONES, bound * ONES


def _first_place(nodes: Nodes) -> str:
    """Returns the condition on a place with which a match begins, if any."""
    for node in nodes:
        if isinstance(node, Place):
            return node.name
        if not isinstance(node, Open):
            break
    return ""


def _begins(first: Opening, name: str) -> str:
    """Returns an expression for whether a byte, or 256 for the end, may begin a match."""
    tests = [first.characters.test(name)]
    if first.characters.leads == LEADS:
        tests.append(f"(({name} >= 128) & ({name} < 256))")
    elif first.characters.leads:
        leads = signed(first.characters.leads)
        tests.append(
            f"(({name} >= 128) & ({name} < 256) & ((int64({leads}) >> ({name} & 63)) & 1 != 0))"
        )
    if first.end:
        tests.append(f"({name} == 256)")
    return " | ".join(f"({test})" for test in tests)
