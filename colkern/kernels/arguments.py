"""The types of kernels' arguments: arrays, numbers, and groups of both.

A parameter of a body is annotated with one of these:

- `In[uint64]` is a one-dimensional array that is read, `Out[uint64]` one that is written. A capital in the
  place of the data type stands for several: see `CHOICES`.
- `uint64`, `int64`, `float64` and so on (NumPy's) are numbers; so is a parameter without an annotation,
  a uint64.
- A group, a `NamedTuple` of these, is a value that takes several arguments, such as `Bitmap`. Callers of a
  kernel pass its members one after the other. A group costs nothing at run time: compiled code has its
  members in registers.

What holds unless a body says otherwise:

- The range is over slots, which are values. Arrays have an item for each of them, offsets one more; views
  are two uint64 or four int32. Arguments have been checked: offsets do not decrease, run ends increase.
- Nothing that is written overlaps another argument, or bytes at an address.
- `out` has as many items as are written; bits past the last one become zero.
- A search returns the first slot of the range that it is after, or the largest uint64.
- `length` is the number of slots, `width` how many items make one value, `base` the address of the data
  that offsets count from, `starts` the running sum of the counts of blocks, `like` an array that only says
  of what type items are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numpy import int64, uint8, uint64

T = TypeVar("T", bound=Any)
F = TypeVar("F", bound=Any)
S = TypeVar("S", bound=Any)
I = TypeVar("I", bound=Any)  # noqa: E741
J = TypeVar("J", bound=Any)
O = TypeVar("O", bound=Any)  # noqa: E741
P = TypeVar("P", bound=Any)
R = TypeVar("R", bound=Any)

_WORDS = "u1 u2 u4 u8"

CHOICES = {
    "T": _WORDS,
    "F": _WORDS,
    "S": _WORDS,
    "I": _WORDS,
    "J": _WORDS,
    "O": "i4 i8",
    "P": "i4 i8",
    "R": "i2 i4 i8",
}
"""The data types that each capital stands for, unless the kernel names others.

`T` are values, taken as words, `F` and `S` those that others are made from, `I` and `J` indices, `O` and
`P` offsets, `R` run ends.
"""

In: TypeAlias = npt.NDArray[T]
Out: TypeAlias = npt.NDArray[T]


Index: TypeAlias = int | uint64
"""A loop variable: an int in plain Python, a uint64 in compiled code."""

Truth: TypeAlias = bool | np.bool
"""The result of a comparison."""


class Bitmap(NamedTuple):
    """Bits from bit `offset` on. Of a validity, no bytes at all stand for ones only: no slot is null."""

    bits: In[uint8]
    offset: uint64


class Buffers(NamedTuple):
    """The address of each data buffer of views, and its size in bytes."""

    addresses: In[uint64]
    sizes: In[int64]


class RunSpan(NamedTuple, Generic[R]):
    """Run ends, the run of the first slot, and the slot's logical position."""

    ends: In[R]
    first: uint64
    offset: uint64


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument that a caller passes."""

    name: str  #: The parameter's name; that of a group's member has it behind a dot.
    item: str  #: A NumPy type code, or a capital that stands for several.
    array: bool  #: Whether it is a one-dimensional array (else a number).
    written: bool  #: Whether the kernel writes to the array.


@dataclass(frozen=True, slots=True)
class Group:
    """A parameter that takes several arguments: a `NamedTuple`, and its members."""

    type: Callable[..., Any]
    members: tuple[Parameter, ...]


Parameter: TypeAlias = Argument | Group

_ARRAY = re.compile(r"(In|Out)\[(\w+)\]")
_GROUP = re.compile(r"(\w+)(?:\[(\w+)\])?")


def parameter(
    name: str, annotation: str, namespace: Mapping[str, Any], bound: Mapping[str, str]
) -> Parameter:
    """The parameter that an annotation declares.

    Args:
        annotation: The annotation's source.
        namespace: The globals of the function or group that has it.
        bound: What the capitals of a group stand for where it is used.

    Raises:
        TypeError: If the annotation is none of those that the module's text lists.
    """
    if match := _ARRAY.fullmatch(annotation):
        item = bound.get(match[2], match[2])
        return Argument(name, type_code(item), array=True, written=match[1] == "Out")
    if kind := group_of(annotation, namespace):
        capitals = [capital.__name__ for capital in getattr(kind, "__parameters__", ())]
        chosen = re.findall(r"\[(\w+)\]", annotation)
        inner = {c: bound.get(t, t) for c, t in zip(capitals, chosen, strict=True)}
        return Group(kind, tuple(_members(name, kind, inner)))
    if not isinstance(namespace.get(annotation), type):
        raise TypeError(f"{name}: {annotation!r} is no type of a kernel's argument")
    return Argument(name, type_code(annotation), array=False, written=False)


def group_of(annotation: str, namespace: Mapping[str, Any]) -> Any:
    """The `NamedTuple` that an annotation names, if it is one."""
    match = _GROUP.fullmatch(annotation)
    kind = namespace.get(match[1]) if match else None
    return kind if isinstance(kind, type) and issubclass(kind, tuple) else None


def annotations_of(kind: Any) -> dict[str, str]:
    """The members of a group and the source of their annotations."""
    return {
        name: getattr(annotation, "__forward_arg__", annotation)
        for name, annotation in kind.__annotations__.items()
    }


def namespace_of(kind: Any) -> dict[str, Any]:
    """The globals of the module that defines a group."""
    return vars(sys.modules[kind.__module__])


def flat(parameters: tuple[Parameter, ...]) -> Iterator[Argument]:
    """The arguments that callers pass for parameters."""
    for each in parameters:
        if isinstance(each, Group):
            yield from flat(each.members)
        else:
            yield each


def in_groups(parameters: tuple[Parameter, ...], values: Iterator[Any]) -> Iterator[Any]:
    """The arguments of a body: those that callers pass, in groups."""
    for each in parameters:
        if isinstance(each, Group):
            yield each.type(*in_groups(each.members, values))
        else:
            yield next(values)


def expression(each: Parameter, names: Iterator[str]) -> str:
    """The source of what a body gets for a parameter, of arguments that have these names."""
    if isinstance(each, Group):
        return f"{each.type.__name__}({', '.join(expression(m, names) for m in each.members)})"
    return next(names) if each.array else f"{each.item}({next(names)})"


def groups_in(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The groups that parameters consist of, by their names."""
    kinds: dict[str, Any] = {}
    for each in parameters:
        if isinstance(each, Group):
            kinds |= {each.type.__name__: each.type} | groups_in(each.members)
    return kinds


def members_of(path: str, annotation: str, namespace: Mapping[str, Any]) -> dict[str, list[str]]:
    """The paths of a parameter and of all groups in it, and those of the arguments that each stands for."""
    kind = group_of(annotation, namespace)
    if kind is None:
        return {path: [path]}
    below: dict[str, list[str]] = {path: []}
    for member, inner in annotations_of(kind).items():
        deeper = members_of(f"{path}.{member}", inner, namespace_of(kind))
        below[path] += deeper[f"{path}.{member}"]
        below |= deeper
    return below


def _members(name: str, kind: Any, bound: Mapping[str, str]) -> Iterator[Parameter]:
    namespace = namespace_of(kind)
    for member, annotation in annotations_of(kind).items():
        yield parameter(f"{name}.{member}", annotation, namespace, bound)


def type_code(item: str) -> str:
    """A type code; capitals are those that they are."""
    return item if item in CHOICES else np.dtype(item).str[1:]
