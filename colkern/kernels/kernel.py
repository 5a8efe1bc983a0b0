"""A kernel is a plain Python function over a strided range; its annotations declare its arguments::

    @kernel()
    def decode_runs(start, stop, step, run_ends: In[R], values: In[T], offset: uint64, out: Out[T]):
        ...

The targets compile a body for each choice of types that its capitals stand for, see
`colkern.kernels.arguments`. What a body returns, of the type that its annotation names, is its share of a
result; `combine` says how shares become one. A body may use NumPy scalar types, functions of
`colkern.kernels.primitives`, other functions marked `@helper`, and what Numba compiles for both targets.
Indices are unsigned: a signed one makes Numba wrap negative indices around in every access, which stops
vectorisation.

Calling a kernel runs its body as plain Python.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from colkern.kernels.arguments import (
    CHOICES,
    Argument,
    Parameter,
    flat,
    in_groups,
    parameter,
    type_code,
)

WARP = 32
"""The most threads that can wait for each other alone, or show each other numbers."""

RANGE = ("start", "stop", "step")

Helper = TypeVar("Helper", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Kernel:
    """A body with its declaration; `@kernel` makes it."""

    body: Callable[..., Any]  #: The plain Python function.
    #: What follows `start, stop, step`, with arguments in groups.
    parameters: tuple[Parameter, ...]
    generics: dict[str, tuple[str, ...]]  #: What each capital stands for.
    #: The type code of what the body returns: a partial result that a target combines. Empty for a
    #: body that only writes.
    returns: str = ""
    combine: str = "min"  #: How partial results become one: `add`, `min` or `max`.
    #: Whether one thread runs the whole range, as each item builds on those before.
    sequential: bool = False
    #: Whether, on a GPU, a group of threads works on each item together: all of them run the body,
    #: and `copy_bytes` has each of them copy a part. What such a body writes does not depend on
    #: what it wrote, but through `repeat_bytes`; what it returns is the same for all of them, and
    #: no sum. Those that go over slots side by side share them, see `colkern.kernels.lanes`.
    grouped: bool = False
    #: The most threads of a group: `WARP` at most where they wait for each other. 0: as a block has.
    most_lanes: int = 0
    #: Whether it writes item `i` of one array for slot `i`, and never reads what it wrote: the CPU may then
    #: write past its caches.
    streams: bool = False
    #: What callers pass after the range, derived from `parameters`.
    arguments: tuple[Argument, ...] = field(init=False)
    #: Which arguments are numbers that may be larger than int64; derived.
    unsigned: tuple[int, ...] = field(init=False)
    #: The first array of each capital's type; derived.
    choosing: tuple[int, ...] = field(init=False)
    chooser: int | None = field(init=False)  #: That array, where there is one capital; derived.

    def __post_init__(self) -> None:
        arguments = tuple(flat(self.parameters))
        unsigned = (k for k, a in enumerate(arguments) if a.item == "u8" and not a.array)
        arrays = {a.item: k for k, a in reversed([*enumerate(arguments)]) if a.array}
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "unsigned", tuple(unsigned))
        choosing = tuple(arrays[c] for c in self.generics)
        object.__setattr__(self, "choosing", choosing)
        object.__setattr__(self, "chooser", choosing[0] if len(choosing) == 1 else None)

    @property
    def name(self) -> str:
        """The body's name."""
        return self.body.__name__

    def __call__(self, start: Any, stop: Any, step: Any, *args: Any) -> Any:
        """Run the body as plain Python."""
        return self.body(start, stop, step, *in_groups(self.parameters, iter(args)))

    def require_types(self, args: Sequence[Any]) -> dict[str, str]:
        """Make sure that arrays (NumPy's or CuPy's) among the arguments are of the types declared.

        Returns:
            What each capital stands for.

        Raises:
            TypeError: If an array is of another type, or not contiguous.
        """
        chosen: dict[str, str] = {}
        for argument, value in zip(self.arguments, args, strict=False):
            if not argument.array:
                continue
            code = value.dtype.str[1:]
            choice = chosen.setdefault(argument.item, code)
            if code != choice or code not in self.generics.get(argument.item, (argument.item,)):
                raise TypeError(f"{self.name}: {argument.name} is {argument.item}[], got {code}[]")
            if not value.flags.c_contiguous:
                raise TypeError(f"{self.name}: {argument.name} is not contiguous")
        return chosen

    def variant(self, chosen: Mapping[str, str]) -> tuple[Argument, ...]:
        """The arguments, where capitals stand for those types."""
        return tuple(replace(a, item=chosen.get(a.item, a.item)) for a in self.arguments)

    def variants(self) -> Iterator[tuple[Argument, ...]]:
        """The arguments once for each combination of the types that the capitals stand for."""
        for chosen in itertools.product(*self.generics.values()):
            yield self.variant(dict(zip(self.generics, chosen, strict=True)))


KERNELS: dict[str, Kernel] = {}
HELPERS: set[Callable[..., Any]] = set()


def kernel(
    *,
    combine: str = "min",
    sequential: bool = False,
    grouped: bool = False,
    most_lanes: int = 0,
    streams: bool = False,
    **generics: str,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Register a body; see `Kernel` for the options.

    Args:
        combine, sequential, grouped, most_lanes: As in `Kernel`.
        generics: The type codes that a capital stands for, if they are not those of `CHOICES`.

    Raises:
        TypeError: If a parameter is of no type for kernels, another kernel has the name, or a name in the
            body is one that compilers give to members of groups.
    """

    def register(body: Callable[..., Any]) -> Kernel:
        names = body.__code__.co_varnames[: body.__code__.co_argcount]
        if names[:3] != RANGE:
            raise TypeError(f"{body.__name__}: begins with {names[:3]}, expected {RANGE}")
        if body.__name__ in KERNELS:
            raise TypeError(f"{body.__name__}: another kernel has the name")
        _require_no_flat_names(body)
        parameters = tuple(
            parameter(name, body.__annotations__.get(name, "uint64"), body.__globals__, {})
            for name in names[3:]
        )
        capitals = dict.fromkeys(a.item for a in flat(parameters) if a.item in CHOICES)
        result = Kernel(
            body,
            parameters,
            {
                capital: tuple(generics.get(capital, CHOICES[capital]).split())
                for capital in capitals
            },
            type_code(body.__annotations__["return"]) if "return" in body.__annotations__ else "",
            combine,
            sequential,
            grouped,
            most_lanes,
            streams,
        )
        KERNELS[result.name] = result
        return result

    return register


def helper(function: Helper) -> Helper:
    """Mark a plain function that bodies call; targets compile it with them."""
    _require_no_flat_names(function)
    HELPERS.add(function)
    return function


APART: set[Callable[..., Any]] = set()
"""Helpers that the CPU's code calls, while others become part of their callers."""


def apart(function: Helper) -> Helper:
    """Mark a helper as one for rare cases, whose code would be in the way of that for common ones."""
    APART.add(function)
    return function


def _require_no_flat_names(body: Callable[..., Any]) -> None:
    # A compiler that gets `x.y` as `x__y` would mix it up with a variable of that name.
    flat_names = [name for name in body.__code__.co_varnames if "__" in name]
    if flat_names:
        raise TypeError(
            f"{body.__name__}: rename `{flat_names[0]}`: two underscores in a name stand for the dot of a "
            "group's member"
        )
