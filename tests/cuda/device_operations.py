"""Operations on arrays in device memory, for the simulator and for a GPU: as on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from operations.samples import ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.cuda.memory import to_device, to_host
from colkern.errors import InvalidArrowError
from colkern.operations import (
    binary_length,
    compact_validity,
    compact_views,
    concat,
    dictionary_decode,
    dictionary_encode,
    ends_with,
    equal,
    find_runs,
    gather_union,
    hash_columns,
    is_ascii,
    not_equal,
    null_count,
    offsets_to_views,
    partition_indices,
    require_valid,
    run_end_decode,
    select_child,
    sort_indices,
    starts_with,
    string_is_ascii,
    take,
    trim,
    unify_dictionaries,
    utf8_length,
    validate,
    views_to_offsets,
)

Operation = Callable[..., Any]

VALUES: dict[str, Any] = {
    str(sample(name).type): sample(name).to_pylist()[3]
    for name in ("bool", "int8", "float16", "decimal128", "fixed_size_binary", "timestamp")
}


def mirrored(array: Array) -> Array:
    """The positions of an array's slots from the last to the first, where the array is."""
    positions = ints(list(range(len(array)))[::-1])
    return positions if array.device.kind == "cpu" else to_device(positions)


EVERY: dict[str, Operation] = {
    "null_count": lambda array, picks: null_count(array),
    "require_valid": lambda array, picks: require_valid(array),
    "validate": lambda array, picks: validate(array, full=True),
    "compact_validity": lambda array, picks: compact_validity(array),
    "take": lambda array, picks: take(array, picks),
    "trim": lambda array, picks: trim(array),
    "concat": lambda array, picks: concat([array, array.slice(2, 3), array.slice(0, 0), array]),
    "hash_columns": lambda array, picks: hash_columns([array.slice(0, 4), picks]),
}


def over(values: Array, picks: Array) -> Array:
    """A dictionary-encoded array."""
    assert isinstance(picks.type, s.Int)
    kind = s.dictionary(picks.type, values.type)
    return Array(kind, picks.length, picks.buffers, dictionary=values)


def encoded(array: Array, picks: Array) -> list[Array]:
    """Dictionary-encoded in both ways, and what the dictionaries are."""
    ways = [dictionary_encode(array), dictionary_encode(array, null_encoding="encode")]
    return [part for way in ways for part in (way, way.dictionary)]


def decoded(array: Array, picks: Array) -> Array:
    return dictionary_decode(over(array, picks))


def unified(array: Array, picks: Array) -> list[Array]:
    parts = unify_dictionaries([over(concat([array, array]), picks), over(array, picks)])
    return [*parts, parts[0].dictionary]


def sorted_both_ways(array: Array, picks: Array) -> list[Array]:
    return [
        sort_indices(array),
        sort_indices(array, order="descending", null_placement="at_start"),
    ]


def partitioned(array: Array, picks: Array) -> tuple[Array, Array]:
    return partition_indices(hash_columns([array]), 3)


FLAT = ("bool", "int8", "float16", "decimal128", "fixed_size_binary", "utf8", "utf8_view")

SOME: dict[str, tuple[str, Operation]] = {
    "run_end_decode": ("run-end encoded", lambda array, picks: run_end_decode(array)),
    "run_end_decode of strings": (
        "run-end encoded, int64 ends",
        lambda array, picks: run_end_decode(array),
    ),
    "find_runs": ("run-end encoded", find_runs),
    "partition_indices": ("utf8", partitioned),
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
SOME: dict[str, tuple[str, Operation]] = (
    {
        "run_end_decode": ("run-end encoded", lambda array, picks: run_end_decode(array)),
        "run_end_decode of strings": (
            "run-end encoded, int64 ends",
            lambda array, picks: run_end_decode(array),
        ),
        "find_runs": ("run-end encoded", find_runs),
        "select_child of a dense union": (
            "dense union",
            lambda array, picks: select_child(array, 1),
        ),
        "select_child of a sparse union": (
            "sparse union",
            lambda array, picks: select_child(array, 0),
        ),
        "offsets_to_views": ("utf8", lambda array, picks: offsets_to_views(array)),
        "offsets_to_views, large": ("large_binary", lambda array, picks: offsets_to_views(array)),
        "views_to_offsets": ("utf8_view", lambda array, picks: views_to_offsets(array)),
        "views_to_offsets, large": (
            "binary_view",
            lambda array, picks: views_to_offsets(array, large=True),
        ),
        "compact_views": ("utf8_view", lambda array, picks: compact_views(array.slice(3, 2))),
    }
    | {
        f"{label} of {name}": (name, run)
        for name in ("utf8", "utf8_view", "run-end encoded, int64 ends", "dictionary")
        for label, run in {
            "string_is_ascii": lambda array, picks: string_is_ascii(array),
            "is_ascii": lambda array, picks: is_ascii(array),
            "utf8_length": lambda array, picks: utf8_length(array),
            "binary_length": lambda array, picks: binary_length(array),
            "starts_with": lambda array, picks: starts_with(array, "t"),
            "ends_with": lambda array, picks: ends_with(array, "byte"),
            "equal to a string": lambda array, picks: equal(array, "zz"),
            "equal": lambda array, picks: equal(array, take(array, mirrored(array))),
        }.items()
    }
    | {
        f"{label} of {name}": (name, run)
        for name in ("bool", "int8", "float16", "decimal128", "fixed_size_binary", "timestamp")
        for label, run in {
            "equal": lambda array, picks: equal(array, take(array, mirrored(array))),
            "not_equal to a value": lambda array, picks: not_equal(array, VALUES[str(array.type)]),
        }.items()
    }
)


def operations() -> dict[str, tuple[str, Operation]]:
    """What is done, and to which sample."""
    every = {f"{op} of {name}": (name, run) for op, run in EVERY.items() for name in samples()}
    flat: dict[str, Operation] = {"encode": encoded, "decode": decoded, "unify": unified}
    of_flat = {f"{op} {name}": (name, run) for op, run in flat.items() for name in FLAT}
    of_numbers = {f"sort_indices of {name}": (name, sorted_both_ways) for name in FLAT[:4]}
    return every | of_flat | of_numbers | SOME


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
    if isinstance(value, tuple | list):
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
