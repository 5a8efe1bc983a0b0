"""Cases of a kernel: arguments, and the result that an oracle expects.

A case knows no target. `arguments` puts its arrays where a target reads them, exactly as long as they
are declared, so that plain Python (where NumPy checks each index) proves that nothing lies beyond.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import add
from typing import Any

import numpy as np

from colkern.kernels import KERNELS, Argument, Kernel

LENGTHS = (0, 1, 7, 8, 9, 63, 64, 65)

BIT_LENGTHS = (*LENGTHS, 71, 127, 128, 129, 200, 320)
"""For what works on bits by words."""

NOWHERE = 2**64 - 1
"""The result of a search that finds nothing."""

POISON = 0xA5
"""Every byte of an output before a kernel runs, unless a case says otherwise."""


@dataclass(frozen=True)
class At:
    """The address of these bytes, `skip` bytes further; on whatever device they are put."""

    array: Any
    skip: int = 0


@dataclass(frozen=True)
class Addresses:
    """A table of the addresses of several arrays' bytes; None is address 0."""

    arrays: Sequence[Any]


@dataclass(frozen=True)
class Case:
    """One call of a kernel.

    Args:
        label: What is special about it.
        count: The range.
        args: The arguments in order, without the output: lists and arrays, numbers, `At`, `Addresses`.
        expected: The partial results combined, or the items of the output; a pair of both if the
            kernel returns and writes.
        before: The output before; None for poison in every byte.
    """

    label: str
    count: int
    args: tuple[Any, ...]
    expected: Any
    before: Any = field(default=None)


Maker = Callable[[dict[str, str]], Iterator[Case]]
_MAKERS: dict[str, Maker] = {}


def cases_of(kernel: Kernel) -> Callable[[Maker], Maker]:
    """Register a generator of cases: called with the type code of each argument by its name.

    A group's members go by their own names.
    """

    def register(maker: Maker) -> Maker:
        assert kernel.name not in _MAKERS
        _MAKERS[kernel.name] = maker
        return maker

    return register


def kernels_with_cases() -> set[str]:
    return set(_MAKERS)


def variant_id(kernel: Kernel, variant: tuple[Argument, ...]) -> str:
    """`decode_runs[i4-u1]`: the kernel's name, and the types that its capitals stand for."""
    declared = zip(kernel.arguments, variant, strict=True)
    chosen = {a.item: bound.item for a, bound in declared if a.item in kernel.generics}
    return f"{kernel.name}[{'-'.join(chosen.values())}]" if chosen else kernel.name


@cache
def variants() -> dict[str, tuple[Kernel, tuple[Argument, ...]]]:
    """Every kernel with every choice of its types."""
    return {variant_id(k, v): (k, v) for k in KERNELS.values() for v in k.variants()}


def cases(name: str) -> Iterator[Case]:
    """The cases of one variant."""
    kernel, variant = variants()[name]
    yield from _MAKERS[kernel.name]({a.name.rpartition(".")[2]: a.item for a in variant})


def combine(kernel: Kernel) -> Callable[[Any, Any], Any]:
    """The way the partial results of a kernel become one."""
    ways: dict[str, Callable[[Any, Any], Any]] = {"add": add, "min": min, "max": max}
    return ways[kernel.combine]


def arguments(
    case: Case, variant: tuple[Argument, ...], target: Any
) -> tuple[list[Any], list[Any]]:
    """The arguments where a target reads them, the output (if any) last; and what must stay alive."""
    alive: list[Any] = []
    inputs = [a for a in variant if not a.written]
    result = [_placed(v, a, target, alive) for v, a in zip(case.args, inputs, strict=True)]
    if len(inputs) < len(variant):
        result.append(put(target, output_before(case, variant), written=True))
    return result, alive


def output_before(case: Case, variant: tuple[Argument, ...]) -> Any:
    dtype = np.dtype(variant[-1].item)
    if case.before is not None:
        return np.asarray(case.before, dtype)
    # What is returned too stands before the items.
    items = case.expected[1] if isinstance(case.expected, tuple) else case.expected
    return np.full(len(items) * dtype.itemsize, POISON, np.uint8).view(dtype)


def _placed(value: Any, argument: Argument, target: Any, alive: list[Any]) -> Any:
    dtype = np.dtype(argument.item)
    if isinstance(value, At):
        alive.append(put(target, np.asarray(value.array)))
        return target.address(alive[-1]) + value.skip
    if isinstance(value, Addresses):
        results = []
        for array in value.arrays:
            alive.append(None if array is None else put(target, np.asarray(array)))
            results.append(0 if array is None or not len(array) else target.address(alive[-1]))
        return put(target, np.array(results, dtype))
    if argument.array:
        # Bytes start where no word starts, which is allowed for bytes alone.
        return put(target, np.array(value, dtype), skip=3 if dtype.itemsize == 1 else 0)
    return value


def put(target: Any, array: Any, *, written: bool = False, skip: int = 0) -> Any:
    """A copy where the target reads it, read-only unless `written`, after `skip` other items."""
    padded = np.concatenate([np.full(skip, 0x5A).astype(array.dtype), array])
    if target.device.kind == "cpu":
        padded.flags.writeable = written
    else:
        padded = target.table(padded, padded.dtype)
    return padded[skip:]


def fetched(array: Any) -> list[Any]:
    """The items of an array of any target."""
    result: list[Any] = (array.get() if hasattr(array, "get") else array).tolist()
    return result


# Material for cases.


def numbers(seed: object) -> random.Random:
    """Random numbers, the same in every run."""
    return random.Random(repr(seed))


def limits(code: str) -> tuple[int, int]:
    """The least and the largest value of an integer type."""
    info = np.iinfo(code)
    return int(info.min), int(info.max)


def bitmap(bits: Sequence[bool], offset: int, rng: random.Random) -> Any:
    """The bytes that hold `bits` from bit `offset` on; what is around them is random."""
    size = (offset + len(bits) + 7) // 8
    result = [rng.randrange(256) for _ in range(size)]
    for i, bit in enumerate(bits, offset):
        result[i // 8] = result[i // 8] & ~(1 << i % 8) | bit << i % 8
    return np.array(result, np.uint8)


def packed(bits: Sequence[bool]) -> list[int]:
    """Bits as bytes, the last one filled with zeros."""
    return [sum(bit << k for k, bit in enumerate(bits[b : b + 8])) for b in range(0, len(bits), 8)]


def words(bits: Sequence[bool]) -> list[int]:
    """Bits as 64-bit words, the last one filled with zeros."""
    return [
        sum(bit << k for k, bit in enumerate(bits[w : w + 64])) for w in range(0, len(bits), 64)
    ]


def random_bits(rng: random.Random, count: int) -> list[bool]:
    return [rng.random() < 0.5 for _ in range(count)]


def validities(rng: random.Random, count: int) -> Iterator[tuple[str, Any, int, list[bool]]]:
    """Bitmaps for `count` slots: what it is, the bytes, the first bit, and which slots are valid."""
    yield "no bitmap", [], 0, [True] * count
    for label, offset, valid in (
        ("some null", 3, random_bits(rng, count)),
        ("all null", 8, [False] * count),
        ("none null", 5, [True] * count),
    ):
        yield label, bitmap(valid, offset, rng), offset, valid
