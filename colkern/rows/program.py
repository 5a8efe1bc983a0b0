"""The generated source of a row function: lines, calls of methods, and the state its functions share."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

from colkern.errors import CompileError
from colkern.kernels import row_decimals
from colkern.kernels.row_values import CODES, LEFT
from colkern.rows import kinds as k
from colkern.rows.constants import Block as ConstantBlock
from colkern.rows.constants import identity
from colkern.rows.front import WRITTEN, Definition
from colkern.rows.kinds import Kind
from colkern.rows.text_library import Uncovered
from colkern.rows.values import Value, zeros

MOST_SITES = 250

MOST_CODES = 255

_PARTICULAR = (
    UnicodeDecodeError,
    UnicodeEncodeError,
    UnicodeTranslateError,
    BaseExceptionGroup,
    Uncovered,
)
"""Exceptions that need certain arguments, or that no handler of the user's may catch."""


TOO_DEEP = "so many branches or operators within each other have no compiled form"

_DEEPEST = 94
"""The levels of a function's blocks; the loop around it may have some, too. An `elif` is one of them."""


@dataclass
class Block:
    """Lines of source, and nested blocks."""

    lines: list[str | Block] = field(default_factory=list)

    def text(self, depth: int) -> Iterator[tuple[int, str]]:
        """Yields the lines, each with its depth; raises `CompileError` if they are too deep."""
        if depth > _DEEPEST:
            raise CompileError(TOO_DEEP)
        for line in self.lines:
            if isinstance(line, Block):
                yield from line.text(depth + 1)
            else:
                yield depth, line
        if not self.lines:
            yield depth, "pass"

    def reached(self) -> tuple[Block, bool]:
        """Returns the block without lines that no row reaches, and whether any row comes to its end."""
        kept: list[str | Block] = []
        then = is_reached = True
        for line, inside in pairwise([*self.lines, ""]):
            if isinstance(line, Block):
                continue
            if line == "else:" and kept[-2:-1] == [ALWAYS]:
                continue
            if line != "else:" and not is_reached:
                break
            kept.append(line)
            is_reached = not isinstance(line, Exit | Return) and line not in ("break", "continue")
            if isinstance(inside, Block):
                inside, ends = inside.reached()
                kept.append(inside)
                if line == "else:":
                    is_reached = then or ends
                elif line == ALWAYS:
                    is_reached = ends
                elif line.startswith("if "):
                    then = ends
        return Block(kept), is_reached


ALWAYS = "if True:"
"""The head of a block that each row runs."""


@dataclass(frozen=True)
class Operation:
    """A call of a method of the table.

    Args:
        signature: Its parameters and result.
        takes: The kinds of its parameters, as in the signature.
        may_leave: Whether it raises, or leaves the row, for some arguments.
    """

    name: str
    signature: str
    takes: tuple[str, ...]
    arguments: tuple[Value, ...]
    kind: Kind
    line: int
    may_leave: bool


@dataclass(frozen=True)
class Written:
    """A generated function.

    Args:
        operations: For each variable that has a part of an operation's result, the operation and
            the number of the part; `NO_PART` for failure codes.
        path: The file of the user's function.
    """

    block: Block
    parameters: tuple[str, ...]
    operations: dict[str, tuple[Operation, int]]
    kind: Kind
    path: str

    @property
    def returns(self) -> bool:
        """Whether it may return, and does not leave each row."""
        return any(isinstance(line, Return) for _, line in self.block.text(0))

    def source(self, name: str, branches: bool = False) -> str:
        """Returns the function's text.

        Args:
            branches: Whether failed checks return at once. Otherwise the code continues, so that a compiler
                can vectorise a loop over rows; where it does not, a branch is faster.
        """
        nothing = zeros(self.kind)
        lines = [f"def {name}({', '.join(('arena', 'pool', *self.parameters))}):", "    bad = 0"]
        for depth, line in self.block.text(1):
            indent = "    " * depth
            if isinstance(line, Check) and (branches or line.ends):
                status, _, test = line.partition(" if ")
                lines.append(f"{indent}if {test}:")
                line, indent = Exit(status), indent + "    "
            if isinstance(line, Check):
                line = f"bad = max(bad, {line} else 0)"
            elif isinstance(line, Exit):
                line = f"return {_tuple(line, *nothing)}"
            elif isinstance(line, Return):
                line = f"return {_tuple('bad', *([line] if line else []))}"
            lines.append(indent + line)
        return _with_names("\n".join(lines) + "\n")


@dataclass(frozen=True)
class Site:
    """A place in the user's source where a row may be left to Python.

    Args:
        text: The constant text of the exception that is raised there; None if there is none.
    """

    function: str
    path: str
    line: int
    reason: str
    text: str | None = None


def any_kind(kind: Kind) -> bool:
    """Whether results of a kind may be values where no type is declared."""
    return True


def are_true(assumptions: Iterable[tuple[Callable[..., Any], Any, Hashable]]) -> bool:
    """Whether functions have the results of before; see `Program.assumed`."""
    return all(identity(function(*given)) == result for function, given, result in assumptions)


@dataclass
class Program:
    """The state that the functions of one row function share.

    Args:
        wraps: Whether arithmetic is the machine's: integers wrap around, and nothing raises.
        has_numpy: Whether numbers may be NumPy's, which raise nothing, and are no `int` or `bool`.
        changes_rows: Whether dictionaries whose constant keys are assigned later are rows.
        may_change_rows: Whether there may be such dictionaries.
        mixes: Whether a variable may have values of several of Python's own types.
        may_mix: Whether there may be such variables.
        pool: The constants that compiled code reads from memory.
        sites: The places where a row may be left to Python.
        bodies: The functions that the source calls, by name.
        sources: The generated functions, in the order of their definition.
        functions: The functions generated from users' functions, by function and kinds of arguments.
        places: The positions of plain constants in the pool.
        blocks: The constants that contain addresses, by position in the pool.
        stack: The functions that are being written, the outermost first, with the keys of `functions`.
        count: The number of functions whose writing has begun.
        recurs: Whether a function calls itself.
        gaps: The reasons for which parts without a compiled form leave the row.
        calls_left: Those of them that are calls of library functions.
        assumptions: Functions, with the arguments and results on which its rows depend.
        objects: Objects that calls return, on whose fields its rows depend.
        classes: The classes that stand for functions with values of the row.
        definers: The definitions of the functions in which local ones are defined.
        live: The code of the functions that are being written, each called by the one before.
        definitions: The definitions of users' functions that are called, so that each has one syntax tree.
        trees: The users' functions, by the function and the kinds of its arguments.
        settled: The kinds that turned out to be too narrow, with the keys of `functions`: a function
            that is written again together with its caller begins with these.
        recursive: The kinds of the results of functions that call themselves, with the keys of `functions`:
            a function that is written again together with its caller begins with these.
        owners: The entries of `settled` for functions that make a container, by its site.
        stored: Constants that have been laid out, by constant and layout.
        written: The functions of `sources` in a form for translation to terms.
        codes: The codes of the exceptions that its functions raise or may meet.
        raised: The plain fields of exceptions whose constructors are Python functions, by class.
        holds: Whether results of a kind may be values of the declared type.
        has_rows: Whether dictionaries with constant keys may be rows; if not, all are dictionaries.
        returns_signed: Whether results may be negative integers; None if their kind is given.
        has_objects: Whether it may make instances of the classes that stand for the library's; if not, the
            rows that would are left. `makes_objects` tells whether it did.
        has_words: Whether of some variables only the lowest 64 bits are computed.
    """

    wraps: bool = False
    has_numpy: bool = False
    changes_rows: bool = False
    may_change_rows: bool = False
    mixes: bool = False
    may_mix: bool = False
    pool: bytearray = field(default_factory=bytearray)
    sites: list[Site] = field(default_factory=list)
    bodies: dict[str, Callable[..., Any]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    functions: dict[Any, Called] = field(default_factory=dict)
    places: dict[bytes, int] = field(default_factory=dict)
    blocks: dict[int, ConstantBlock] = field(default_factory=dict)
    stack: dict[Any, Called] = field(default_factory=dict)
    count: int = 0
    recurs: bool = False
    gaps: set[str] = field(default_factory=set)
    calls_left: set[str] = field(default_factory=set)
    assumptions: list[tuple[Callable[..., Any], Any, Hashable]] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    live: list[CodeType] = field(default_factory=list)
    classes: dict[Any, type] = field(default_factory=dict)
    definers: dict[ast.AST, Any] = field(default_factory=dict)
    definitions: dict[Any, Definition] = field(default_factory=dict)
    trees: dict[tuple[int, Any], Definition] = field(default_factory=dict)
    settled: dict[Any, dict[Any, Kind]] = field(default_factory=dict)
    recursive: dict[Any, Kind | None] = field(default_factory=dict)
    owners: dict[int, list[dict[Any, Kind]]] = field(default_factory=dict)
    stored: dict[Any, tuple[Any, Kind, ConstantBlock]] = field(default_factory=dict)
    written: dict[str, Written] = field(default_factory=dict)
    codes: dict[Any, int] = field(default_factory=lambda: dict(CODES))
    raised: dict[type, Kind] = field(default_factory=dict)
    holds: Callable[[Kind], bool] = any_kind
    has_rows: bool = True
    returns_signed: bool | None = False
    has_objects: bool = True
    makes_objects: bool = False
    has_words: bool = True

    def state(self) -> tuple[Any, ...]:
        """Returns a record of the present state, for `restore`."""
        return len(self.sites), len(self.pool), {*self.sources}, dict(self.functions)

    def restore(self, state: tuple[Any, ...]) -> None:
        """Discard everything after `state` but functions that would be written alike again."""
        sites, pool, names, functions = state
        kept = dict(functions)
        # Those that a function calls come before it.
        for variant, called in self.functions.items():
            is_settled = not called.is_recursive and called.kinds == self.kinds_of(variant)
            if is_settled and called.calls <= kept.keys():
                kept[variant] = called
        if len(kept) == len(functions):
            del self.sites[sites:], self.pool[pool:]
            self.places = {data: place for data, place in self.places.items() if place < pool}
            self.blocks = {place: block for place, block in self.blocks.items() if place < pool}
        names = names.union(called.name for called in kept.values())
        self.sources = {name: text for name, text in self.sources.items() if name in names}
        self.written = {name: own for name, own in self.written.items() if name in names}
        self.functions = kept

    def kinds_of(self, variant: Any) -> tuple[object, ...]:
        """Returns what `settled` has for a function, with the facts that equal kinds may differ in."""
        settled = self.settled.get(variant, {})
        return tuple((key, kind, k.origins(kind)) for key, kind in settled.items())

    def drop_uncalled(self, name: str) -> None:
        """Discard the functions that `name` does not call, nor any function that it calls."""
        called, waiting = {name}, [name]
        while waiting:
            new = {*CALLED.findall(self.sources[waiting.pop()])} & self.sources.keys() - called
            called |= new
            waiting += new
        self.sources = {name: text for name, text in self.sources.items() if name in called}

    def leave_at_once(self, name: str) -> None:
        """Reduce a function that no row comes through to the last part that only Python can compute."""
        statuses = _LEFT_BY_EACH.findall("".join(self.sources.values()))
        left = [status for status in statuses if int(status) & 255 == LEFT]
        if left and not self.written[name].returns:
            written = replace(self.written[name], block=Block([Exit(left[-1])]))
            self.written[name], self.sources = written, {name: written.source(name)}

    def assumed(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns a function's present result; the program must be written again once that is another."""
        result = function(*arguments)
        self.assumptions.append((function, arguments, identity(result)))
        return result

    def joined(self, left: Kind, right: Kind) -> Kind | None:
        """Returns the kind of a value that has one kind or the other; None if there is none."""
        joined, mixed = k.joined(left, right), k.mixed(left, right)
        self.may_mix |= mixed not in (None, joined)
        return mixed or joined if self.mixes else joined

    def same_function(self, name: str, text: str, returns: Kind) -> str | None:
        """Returns the name of a function of which this is a copy; None if there is none.

        The kinds of lists and their places in the source differ more often than the code that they need.
        """
        if any(f"{name}(" in source for source in self.sources.values()):
            # A function that it calls calls it.
            return None
        _, _, own = text.partition("(")
        return next(
            (
                other
                for other, written in self.written.items()
                if written.kind == returns and self.sources[other].partition("(")[2] == own
            ),
            None,
        )

    def code_of(self, kind: object) -> int:
        """Returns the code of a class of exceptions; users' classes get theirs in the order of use."""
        is_plain = type(kind) is type and issubclass(kind, Exception)
        if kind is json.JSONDecodeError or (
            is_plain
            and not issubclass(kind, _PARTICULAR)  # type: ignore[arg-type]
            and all(_is_compiled(*item) for item in _written_attributes(kind))
        ):
            free = max(self.codes.values()) + 1
            return self.codes.setdefault(kind, free) if free < MOST_CODES else LEFT
        return LEFT

    def place(self, data: bytes) -> int:
        """Returns the position of bytes in the pool, a multiple of 8."""
        if data not in self.places:
            # Not within a block, whose bytes change when addresses are filled in.
            self.pool += bytes(-len(self.pool) % 8)
            self.places[data] = len(self.pool)
            self.pool += data
        return self.places[data]

    def block(self, block: ConstantBlock) -> int:
        """Returns the position in the pool of a constant that contains addresses."""
        if block not in self.blocks.values():
            self.pool += bytes(-len(self.pool) % 8)
            self.blocks[len(self.pool)] = block
            self.pool += block.words
        return next(place for place, known in self.blocks.items() if known == block)

    def site(self, site: Site) -> int:
        """Returns the number of a site, from 255 downwards in the order of the source."""
        if site not in self.sites and len(self.sites) < MOST_SITES:
            self.sites.append(site)
        return 255 - self.sites.index(site) if site in self.sites else 255 - MOST_SITES

    @property
    def computes_decimals(self) -> bool:
        """Whether a function that the source calls is one of decimals."""
        return any(body.__module__ == row_decimals.__name__ for body in self.bodies.values())

    @property
    def texts(self) -> dict[int, str]:
        """The constant texts of exceptions, by the numbers of their sites."""
        sites = enumerate(self.sites)
        return {255 - place: site.text for place, site in sites if site.text is not None}

    def site_of(self, number: int) -> Site | None:
        """Returns the site with a number; None for the number that all further sites share."""
        return self.sites[255 - number] if 255 - number < len(self.sites) else None


def _written_attributes(kind: Any) -> Iterator[tuple[str, object]]:
    """Yields the attributes of a class that Python code has defined, and their names."""
    for each in kind.__mro__:
        if each.__flags__ & WRITTEN:
            yield from vars(each).items()


def _is_compiled(name: str, attribute: object) -> bool:
    """Whether an attribute of a class of exceptions is compiled, or plays no part in what is."""
    is_special = name.startswith("__") and (callable(attribute) or hasattr(attribute, "__get__"))
    if not is_special or name in ("__dict__", "__weakref__", "__init_subclass__", "__reduce__"):
        return True
    return name in ("__init__", "__str__", "__repr__") and isinstance(attribute, FunctionType)


@dataclass
class Called:
    """A function of the user's, written for certain kinds of arguments.

    Args:
        key: Identifies it, as part of its key in `Program.functions`.
        name: Its name in the generated source.
        returns: The kind of its result.
        kind: The kind of its result as far as it is known to its calls of itself; None if it has none.
        is_recursive: Whether it calls itself, or a function that calls it.
        calls: The keys in `Program.functions` of the functions that it calls.
        kinds: The kinds with which it was written, as `Program.kinds_of` returns them.
        is_read: Whether a caller's handler reads the exceptions that it raises.
    """

    key: Any = None
    name: str = ""
    returns: Kind = k.NEVER
    kind: Kind | None = None
    is_recursive: bool = False
    calls: set[Any] = field(default_factory=set)
    kinds: tuple[object, ...] = ()
    is_read: bool = False


class Again(Exception):
    """The program must be written again with other options, which are arguments of `Program`."""

    def __init__(self, **options: bool) -> None:
        super().__init__()
        self.options = options


class Wider(Exception):
    """A kind turned out to be too narrow, so the function must be written again.

    Args:
        widened: The widened kinds of that function; None for the outermost function.
        key: The key of the kind.
    """

    def __init__(self, widened: dict[Any, Kind] | None, key: Any, kind: Kind) -> None:
        super().__init__()
        self.widened = widened
        self.key = key
        self.kind = kind


class Unsettled(Exception):
    """A function calls itself before the kind of its result is known from another place.

    It is no `CompileError`: what has a compiled form in another way does not try that.

    Args:
        recursion: The recursive calls of that function.
    """

    def __init__(self, recursion: Called) -> None:
        super().__init__()
        self.recursion = recursion


class Check(str):
    """A status and a test, `status if test`: if it is true, the row is left when the function ends."""

    __slots__ = ()
    ends = False
    """Whether the function ends at once."""


class Branch(Check):
    """A check that ends the function at once."""

    __slots__ = ()
    ends = True


class Tried(str):
    """The head of a block that runs once, and that exceptions end."""

    __slots__ = ()


class Exit(str):
    """A line that ends the function with a status and no result."""

    __slots__ = ()


class Return(str):
    """A line that ends the function with the parts of its result."""

    __slots__ = ()


CALLED = re.compile(r"\b\w+_\d+f\b")
"""The names of generated functions."""

_LEFT_BY_EACH = re.compile(rf"{ALWAYS}\n +return (\d+),")

_CONSTANT = re.compile(r"\b(?:Text|Bytes|Decimal)\((?:pool \+ )?\d+, \d+(?:, \w+)?\)")


def _with_names(source: str) -> str:
    """Returns a function in which the texts that it has in several places stand once, under names.

    Numba takes some milliseconds for each text, and a function ends with texts wherever a row is left.
    """
    counts = Counter(_CONSTANT.findall(source))
    names = {code: f"text_{at}c" for at, code in enumerate(counts) if counts[code] > 1}
    if not names:
        return source
    head, _, body = source.partition("\n")
    lines = [f"    {name} = {code}" for code, name in names.items()]
    body = _CONSTANT.sub(lambda match: names.get(match[0], match[0]), body)
    return "\n".join([head, *lines, body])


def _tuple(*items: str) -> str:
    return ", ".join(items) + ("," if len(items) == 1 else "")
