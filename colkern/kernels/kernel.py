"""What a kernel is: a plain Python function over a strided range, with its arguments declared.

    @kernel("run_ends: R[], values: T[], out: T[w]", R="i2 i4 i8", T="u1 u2 u4 u8")
    def decode_runs(start, stop, step, run_ends, values, out): ...

The declaration says what the targets compile: `T[]` an array that is read, `T[w]` one that is written,
`T` a number; capitals stand for the types listed after it. `T` names are NumPy's (`u8` is uint64).
What a body returns is its share of a result; `combine` says how shares become one.
A body may use NumPy scalar types, `colkern.kernels.primitives`, other functions marked `@helper`, and
what else Numba compiles for both targets. Indices are unsigned: a signed one makes Numba wrap
negative indices around in every access, which stops vectorisation.

The function itself stays what it is: calling a kernel runs its body as plain Python.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

RANGE = ("start", "stop", "step")


@dataclass(frozen=True, slots=True)
class Argument:
    """One declared argument.

    Args:
        name: The parameter's name.
        item: A NumPy type code, or a capital that stands for several.
        array: Whether it is a one-dimensional array (else a number).
        written: Whether the kernel writes to the array.
    """

    name: str
    item: str
    array: bool
    written: bool


@dataclass(frozen=True, eq=False)
class Kernel:
    """A body with its declaration; made by `@kernel`.

    Args:
        body: The plain Python function.
        arguments: What follows `start, stop, step`.
        generics: What each capital stands for.
        returns: The type code of what the body returns: a partial result that a target combines.
            Empty for a body that only writes.
        combine: How partial results become one: `add`, `min` or `max`.
        sequential: Whether one thread runs the whole range, as each item builds on those before.
        grouped: Whether, on a GPU, a group of threads works on each item together: all of them run
            the body, and `copy_bytes` has each of them copy a part. What such a body writes does not
            depend on what it wrote, but through `repeat_bytes`; what it returns is the same for all
            of them, and no sum.
        within_warp: Whether such a group is of one warp, as `repeat_bytes` has its threads wait for
            each other.
        unsigned: Which arguments are numbers that may be larger than int64; found by itself.
        inputs: Which arguments are arrays that are read; found by itself.
    """

    body: Callable[..., Any]
    arguments: tuple[Argument, ...]
    generics: dict[str, tuple[str, ...]]
    returns: str = ""
    combine: str = "min"
    sequential: bool = False
    grouped: bool = False
    within_warp: bool = False
    unsigned: tuple[int, ...] = field(init=False)
    inputs: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        numbers = [a.item == "u8" and not a.array for a in self.arguments]
        places = tuple(place for place, found in enumerate(numbers) if found)
        object.__setattr__(self, "unsigned", places)
        read = (place for place, a in enumerate(self.arguments) if a.array and not a.written)
        object.__setattr__(self, "inputs", tuple(read))

    @property
    def name(self) -> str:
        """The body's name."""
        return self.body.__name__

    def __call__(self, *args: Any) -> Any:
        """Run the body as plain Python."""
        return self.body(*args)

    def require_types(self, args: Sequence[Any]) -> None:
        """Raise `TypeError` if an array (NumPy's or CuPy's) among the arguments is of another type."""
        chosen: dict[str, str] = {}
        for argument, value in zip(self.arguments, args, strict=False):
            if not argument.array:
                continue
            code = value.dtype.str[1:]
            choice = chosen.setdefault(argument.item, code)
            if code != choice or code not in self.generics.get(argument.item, (argument.item,)):
                raise TypeError(f"{self.name}: {argument.name} is {argument.item}[], got {code}[]")

    def variants(self) -> Iterator[tuple[Argument, ...]]:
        """The arguments once for each combination of the types that the capitals stand for."""
        capitals = list(self.generics)
        for chosen in itertools.product(*self.generics.values()):
            binding = dict(zip(capitals, chosen, strict=True))
            yield tuple(
                Argument(a.name, binding.get(a.item, a.item), a.array, a.written)
                for a in self.arguments
            )


KERNELS: dict[str, Kernel] = {}
HELPERS: set[Callable[..., Any]] = set()


def kernel(
    declaration: str,
    returns: str = "",
    combine: str = "min",
    *,
    sequential: bool = False,
    grouped: bool = False,
    within_warp: bool = False,
    **generics: str,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Register a body; see the module's text for the declaration, and `Kernel` for the rest.

    Raises:
        TypeError: If the declaration and the parameters differ, or another kernel has the name.
    """

    def register(body: Callable[..., Any]) -> Kernel:
        arguments = tuple(_argument(part) for part in declaration.split(","))
        declared = (*RANGE, *(argument.name for argument in arguments))
        if declared != tuple(inspect.signature(body).parameters):
            raise TypeError(f"{body.__name__}: declared {declared}")
        if body.__name__ in KERNELS:
            raise TypeError(f"{body.__name__}: another kernel has the name")
        choices = {capital: tuple(types.split()) for capital, types in generics.items()}
        made = Kernel(body, arguments, choices, returns, combine, sequential, grouped, within_warp)
        KERNELS[made.name] = made
        return made

    return register


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a plain function that bodies call; targets compile it with them."""
    HELPERS.add(function)
    return function


def _argument(part: str) -> Argument:
    name, _, spec = part.partition(":")
    item, bracket, access = spec.strip().partition("[")
    return Argument(name.strip(), item, bool(bracket), access == "w]")
