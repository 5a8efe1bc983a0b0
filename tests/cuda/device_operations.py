"""Operations on arrays in device memory, for the simulator and for a GPU: as on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from operations.samples import ints, sample, samples

from colkern import schema as s
from colkern.arrays import Array
from colkern.cuda.memory import to_device, to_host
from colkern.errors import InvalidArrowError
from colkern.operations import (
    cast,
    compact_validity,
    concat,
    count,
    find_runs,
    gather_union,
    max,
    mean,
    min_max,
    null_count,
    offsets_to_views,
    require_valid,
    run_end_decode,
    select_child,
    sum,
    take,
    trim,
    validate,
    views_to_offsets,
)

Operation = Callable[..., Any]

EVERY: dict[str, Operation] = {
    "null_count": lambda array, picks: null_count(array),
    "require_valid": lambda array, picks: require_valid(array),
    "validate": lambda array, picks: validate(array, full=True),
    "compact_validity": lambda array, picks: compact_validity(array),
    "take": lambda array, picks: take(array, picks),
    "trim": lambda array, picks: trim(array),
    "concat": lambda array, picks: concat([array, array.slice(2, 3), array.slice(0, 0), array]),
}

SOME: dict[str, tuple[str, Operation]] = {
    "run_end_decode": ("run-end encoded", lambda array, picks: run_end_decode(array)),
    "run_end_decode of strings": (
        "run-end encoded, int64 ends",
        lambda array, picks: run_end_decode(array),
    ),
    "find_runs": ("run-end encoded", find_runs),
    "select_child of a dense union": ("dense union", lambda array, picks: select_child(array, 1)),
    "select_child of a sparse union": ("sparse union", lambda array, picks: select_child(array, 0)),
    "offsets_to_views": ("utf8", lambda array, picks: offsets_to_views(array)),
    "offsets_to_views, large": ("large_binary", lambda array, picks: offsets_to_views(array)),
    "views_to_offsets": ("utf8_view", lambda array, picks: views_to_offsets(array)),
    "views_to_offsets, large": (
        "binary_view",
        lambda array, picks: views_to_offsets(array, large=True),
    ),
}


CASTS: dict[str, list[s.DataType]] = {
    "bool": [s.int8(), s.float16(), s.float64()],
    "int8": [s.int64(), s.bool_(), s.float32(), s.decimal128(20, 2), s.decimal32(9, 1)],
    "int64, no nulls": [s.int8(), s.uint32(), s.float64(), s.float16(), s.decimal256(40, 3)],
    "float16": [s.float32(), s.bool_()],
    "decimal128": [s.decimal64(18, 4), s.decimal128(20, 0), s.int32(), s.float64()],
    "decimal256": [s.decimal128(38, 0), s.decimal256(70, 8), s.float32()],
    "timestamp": [s.timestamp("ns"), s.date32(), s.date64(), s.time64("us"), s.int64()],
    "date32": [s.date64(), s.timestamp("ms"), s.int32()],
    "fixed_size_binary": [s.binary(), s.large_utf8(), s.utf8_view()],
    "utf8": [s.large_utf8(), s.binary(), s.binary_view()],
    "large_binary": [s.utf8(), s.binary_view()],
    "utf8_view": [s.large_utf8(), s.binary_view()],
    "list": [s.large_list(s.int64())],
    "list_view": [s.large_list_view(s.int8())],
    "fixed_size_list": [s.fixed_size_list(s.int64(), 2)],
    "map": [s.map_(s.large_utf8(), s.int64())],
    "struct": [s.struct([("y", s.large_utf8()), ("z", s.int8())])],
    "dictionary": [s.large_utf8(), s.dictionary(s.int32(), s.large_utf8())],
    "run-end encoded": [s.float32(), s.run_end_encoded(s.int64(), s.float32())],
    "extension": [s.int64()],
}

AGGREGATES: dict[str, tuple[Operation, tuple[str, ...]]] = {
    "sum": (
        sum,
        (
            "bool",
            "int8",
            "int64, no nulls",
            "float16",
            "decimal128",
            "decimal256",
            "run-end encoded",
        ),
    ),
    "mean": (mean, ("int64, no nulls", "decimal128")),
    "max": (max, ("uint16", "float16", "decimal256", "date32", "run-end encoded")),
    "min_max": (min_max, ("bool", "int8", "int64, no nulls", "timestamp")),
    "count": (count, ("int8", "dictionary", "run-end encoded", "null")),
}


def _cast_to(wanted: s.DataType) -> Operation:
    return lambda array, picks: cast(array, wanted)


def _aggregated(operation: Operation) -> Operation:
    return lambda array, picks: operation(array)


def operations() -> dict[str, tuple[str, Operation]]:
    """What is done, and to which sample."""
    every = {f"{op} of {name}": (name, run) for op, run in EVERY.items() for name in samples()}
    casts = {
        f"cast of {name} to {wanted}": (name, _cast_to(wanted))
        for name, types in CASTS.items()
        for wanted in types
    }
    aggregates = {
        f"{what} of {name}": (name, _aggregated(operation))
        for what, (operation, names) in AGGREGATES.items()
        for name in names
    }
    return every | SOME | casts | aggregates


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
    if isinstance(value, tuple):
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
