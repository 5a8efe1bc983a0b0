"""Operations on arrays in device memory, for the simulator and for a GPU: as on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from operations.samples import ints, sample, samples

from colkern import operations as ops
from colkern.arrays import Array
from colkern.cuda.memory import to_device, to_host
from colkern.errors import InvalidArrowError
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations import (
    and_,
    and_kleene,
    and_not_kleene,
    compact_validity,
    concat,
    filter,
    find_runs,
    gather_union,
    invert,
    null_count,
    offsets_to_views,
    or_kleene,
    require_valid,
    run_end_decode,
    run_end_encode,
    select_child,
    take,
    trim,
    unpack_bits,
    validate,
    views_to_offsets,
    xor,
)
from colkern.operations.run_selection import filter_runs

Operation = Callable[..., Any]

BOOLEANS: dict[str, Callable[[Array, Array], Array]] = {
    "and_": and_,
    "xor": xor,
    "and_kleene": and_kleene,
    "or_kleene": or_kleene,
    "and_not_kleene": and_not_kleene,
}


def where(array: Array, made: Array) -> Array:
    """What was made on the host, where the array is."""
    return made if array.device.kind == "cpu" else to_device(made)


def with_null(picks: Array) -> Array:
    """The picks and a null, where they are."""
    return where(picks, ints([*to_host(picks).to_pylist(), None]))


def mask_like(array: Array) -> Array:
    """A mask for an array, where it is."""
    return where(array, sample("bool").slice(12 - array.length))


EVERY: dict[str, Operation] = {
    "null_count": lambda array, picks: null_count(array),
    "require_valid": lambda array, picks: require_valid(array),
    "validate": lambda array, picks: validate(array, full=True),
    "compact_validity": lambda array, picks: compact_validity(array),
    "take": lambda array, picks: take(array, picks),
    "take with nulls": lambda array, picks: take(array, with_null(picks)),
    "filter": lambda array, picks: filter(array, mask_like(array)),
    "filter with nulls": lambda array, picks: filter(
        array, mask_like(array), null_selection="emit_null"
    ),
    "trim": lambda array, picks: trim(array),
    "concat": lambda array, picks: concat([array, array.slice(2, 3), array.slice(0, 0), array]),
}


def _arithmetic() -> dict[str, tuple[str, Operation]]:
    """With numbers on either side, with another array, and without."""
    made: dict[str, tuple[str, Operation]] = {}
    for name in ("int8", "int64, no nulls", "run-end encoded"):
        for op in (ops.add, ops.subtract, ops.multiply):
            made[f"{op.__name__} to {name}"] = (name, _plus(op))
        made[f"divide {name}"] = (name, lambda array, picks: ops.divide(array, 3))
        made[f"negate {name}"] = (name, lambda array, picks: ops.negate(array))
        made[f"abs {name}"] = (name, lambda array, picks: ops.abs(array))
    doubled = lambda array: ops.add(ops.abs(array), 1)  # noqa: E731
    made["divide arrays"] = ("int8", lambda array, picks: ops.divide(array, doubled(array)))
    return made


def _plus(op: Operation) -> Operation:
    return lambda array, picks: [op(array, 3), op(3, array), op(array, op(array, 1))]


SOME: dict[str, tuple[str, Operation]] = {
    "run_end_decode": ("run-end encoded", lambda array, picks: run_end_decode(array)),
    "run_end_decode of strings": (
        "run-end encoded, int64 ends",
        lambda array, picks: run_end_decode(array),
    ),
    **{
        f"run_end_encode of {name}": (name, lambda array, picks: run_end_encode(array))
        for name in ("bool", "int8", "decimal128", "utf8", "utf8_view", "struct", "dictionary")
    },
    "filter_runs": ("run-end encoded", lambda array, picks: filter_runs(array, _bits(picks), 3)),
    **_arithmetic(),
    "find_runs": ("run-end encoded", find_runs),
    "invert": ("bool", lambda array, picks: invert(array)),
    "unpack_bits": ("bool", lambda array, picks: unpack_bits(array.buffers[0], 1, 5).tolist()),
    **{
        name: ("bool", lambda array, picks, run=run: run(array, mask_like(array)))
        for name, run in BOOLEANS.items()
    },
    "select_child of a dense union": ("dense union", lambda array, picks: select_child(array, 1)),
    "select_child of a sparse union": ("sparse union", lambda array, picks: select_child(array, 0)),
    "to_sparse_union": ("dense union", lambda array, picks: ops.to_sparse_union(array)),
    "to_dense_union": ("sparse union", lambda array, picks: ops.to_dense_union(array)),
    "offsets_to_views": ("utf8", lambda array, picks: offsets_to_views(array)),
    "offsets_to_views, large": ("large_binary", lambda array, picks: offsets_to_views(array)),
    "views_to_offsets": ("utf8_view", lambda array, picks: views_to_offsets(array)),
    "views_to_offsets, large": (
        "binary_view",
        lambda array, picks: views_to_offsets(array, large=True),
    ),
}


def _bits(picks: Array) -> Buffer:
    """Some bits, where the picks are."""
    bits = picks.buffer(Role.DATA)
    assert bits is not None
    return bits


def operations() -> dict[str, tuple[str, Operation]]:
    """What is done, and to which sample."""
    every = {f"{op} of {name}": (name, run) for op, run in EVERY.items() for name in samples()}
    return every | SOME


def failures(what: str) -> Iterator[str]:
    """How the result in device memory differs from that on the host."""
    name, run = operations()[what]
    for offset, length in ((0, 12), (3, 7)):
        array, picks = sample(name).slice(offset, length), ints([length - 1, 0, 3, 3])
        expected = plain(run(array, picks))
        made = run(to_device(array), to_device(picks))
        if isinstance(made, Array) and any(made.buffers) and made.device.kind != "cuda":
            yield f"the result is on {made.device}"
        found = plain(made)
        if found != expected:
            yield f"{offset}, {length}: expected {expected}, found {found}"


def plain(value: Any) -> Any:
    """A result as Python objects, wherever it is."""
    if isinstance(value, Array):
        return to_host(value).to_pylist()
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "array"):
        return list(bytes(value.array.get() if hasattr(value.array, "get") else value.array))
    return value


def union_failures() -> Iterator[str]:
    """`gather_union`, whose samples are unions of samples."""
    from operations.test_unions import dense_of, sparse_of

    for name in ("int8", "decimal128", "utf8", "bool", "list"):
        children = [sample(name), sample(name).slice(2), sample(name)]
        ids = [0, 1, 2, 1, 1, 0, 2, 0, 1, 0]
        for array in (
            dense_of(children, ids, [11, 0, 4, 9, 9, 0, 3, 1, 2, 2]),
            sparse_of(children, ids).slice(2),
        ):
            expected = gather_union(array).to_pylist()
            found = to_host(gather_union(to_device(array))).to_pylist()
            if found != expected:
                yield f"{array.type}: expected {expected}, found {found}"


def validation_failures() -> Iterator[str]:
    """What `validate` says of broken arrays: the same as on the host."""
    from operations.test_validation import BAD

    for what, (array, message) in BAD.items():
        try:
            validate(to_device(array), full=True)
            yield f"{what}: not found"
        except InvalidArrowError as error:
            if message not in str(error):
                yield f"{what}: {error}"
