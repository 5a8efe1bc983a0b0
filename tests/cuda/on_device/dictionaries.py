"""Dictionaries, hashes and orders."""

from __future__ import annotations

from cuda.on_device.operation import Operation, mirrored

from colkern import operations as ops
from colkern import schema as s
from colkern.arrays import Array, RecordBatch


def over(values: Array, picks: Array) -> Array:
    """A dictionary-encoded array."""
    assert isinstance(picks.type, s.Int)
    kind = s.dictionary(picks.type, values.type)
    return Array(kind, picks.length, picks.buffers, dictionary=values)


def encoded(array: Array, picks: Array) -> list[Array | None]:
    """Dictionary-encoded in both ways, and what the dictionaries are."""
    ways = [ops.dictionary_encode(array), ops.dictionary_encode(array, null_encoding="encode")]
    return [part for way in ways for part in (way, way.dictionary)]


def decoded(array: Array, picks: Array) -> Array:
    return ops.dictionary_decode(over(array, picks))


def unified(array: Array, picks: Array) -> list[Array | None]:
    twice = ops.concat([array, array])
    parts = ops.unify_dictionaries([over(twice, picks), over(array, picks)])
    return [*parts, parts[0].dictionary]


def sorted_both_ways(array: Array, picks: Array) -> list[Array]:
    descending = ops.sort_indices(array, order="descending", null_placement="at_start")
    return [ops.sort_indices(array), descending]


def partitioned(array: Array, picks: Array) -> tuple[Array, Array]:
    return ops.partition_indices(ops.hash_columns([array]), 3)


def grouped(array: Array, picks: Array) -> list[Array]:
    batch = RecordBatch.from_arrays([array, mirrored(array)], ["k", "v"])
    functions = ("sum", "mean", "min", "last", "count", "count_distinct", "stddev", "median")
    result = ops.group_by(batch, "k").aggregate([("v", f) for f in functions] + [("k", "max")])
    return [*result.columns, ops.unique(array), ops.value_counts(array), ops.rank(array)]


def grouped_by_structs(array: Array, picks: Array) -> list[Array]:
    pairs = ops.make_struct([array, mirrored(array)], ["a", "b"])
    batch = RecordBatch.from_arrays([pairs, array], ["k", "v"])
    return ops.group_by(batch, "k").aggregate([("v", "count")]).columns


def joined(array: Array, picks: Array) -> list[Array]:
    left = RecordBatch.from_arrays([array, mirrored(array)], ["k", "v"])
    columns = []
    for other in (left, ops.take(left, picks)):
        for how in ("inner", "outer", "anti"):
            columns += ops.join(left, other, "k", how=how).columns
    return columns


FLAT = ("bool", "int8", "float16", "decimal128", "fixed_size_binary", "utf8", "utf8_view")
DICTIONARIES: dict[str, Operation] = {"encode": encoded, "decode": decoded, "unify": unified}

OPERATIONS: dict[str, tuple[str, Operation]] = {
    **{f"{what} {name}": (name, run) for what, run in DICTIONARIES.items() for name in FLAT},
    **{f"sort_indices of {name}": (name, sorted_both_ways) for name in FLAT[:4]},
    "sort_indices of dictionary": ("dictionary", sorted_both_ways),
    "sort_indices of utf8": ("utf8", sorted_both_ways),
    **{f"group_by {name}": (name, grouped) for name in ("int8", "utf8", "dictionary")},
    "group_by struct of int8": ("int8", grouped_by_structs),
    **{f"join of {name}": (name, joined) for name in ("int8", "utf8")},
    "partition_indices": ("utf8", partitioned),
}
