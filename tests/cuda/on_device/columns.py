"""Operations that look at several slots of a column, or fill and choose slots."""

from __future__ import annotations

from typing import Any

from cuda.on_device.booleans import mask_like
from cuda.on_device.operation import Operation, beside, mirrored

import colkern as ck
from colkern import operations as ops
from colkern.arrays import Array


def other(array: Array) -> Array:
    return ops.take(array, mirrored(array))


def two(array: Array) -> Array:
    """The values of two slots, for sets."""
    return array.slice(1, 2)


def bound(array: Array) -> Any:
    """One value."""
    return ops.drop_null(array).slice(0, 1)


def described(array: Array) -> Any:
    return ops.describe(ck.record_batch({"a": array})).columns


def joined_asof(array: Array) -> Any:
    keys = beside(array, ck.array(list(range(len(array)))))
    left = ck.record_batch({"k": keys, "a": array})
    right = ck.record_batch({"k": keys, "b": other(array)})
    return ops.join_asof(left, right, "k").columns


ANY: dict[str, Operation] = {
    "is_valid": lambda array, picks: ops.is_valid(array),
    "is_null": lambda array, picks: ops.is_null(array),
    "drop_null": lambda array, picks: ops.drop_null(array),
    "coalesce": lambda array, picks: ops.coalesce(array, other(array)),
    "fill_null": lambda array, picks: ops.fill_null(array, other(array)),
    "fill_null_forward": lambda array, picks: ops.fill_null_forward(array),
    "fill_null_backward": lambda array, picks: ops.fill_null_backward(array),
    "case_when": lambda array, picks: ops.case_when([mask_like(array)], array, other(array)),
    "shift": lambda array, picks: ops.shift(array, 2),
    "is_in": lambda array, picks: ops.is_in(array, two(array)),
    "index_in": lambda array, picks: ops.index_in(array, two(array)),
}

ORDERED: dict[str, Operation] = {
    "mode": lambda array, picks: ops.mode(array),
    "greater_equal": lambda array, picks: ops.greater_equal(array, other(array)),
    "max_element_wise": lambda array, picks: ops.max_element_wise(array, other(array)),
    "min_element_wise": lambda array, picks: ops.min_element_wise(array, other(array)),
    "between": lambda array, picks: ops.between(array, array, other(array)),
    "select_k": lambda array, picks: ops.select_k(array, 3),
    "top_k": lambda array, picks: ops.top_k(array, 3),
    "range_partition_indices": lambda array, picks: ops.range_partition_indices(
        array, bound(array)
    ),
    "search_sorted": lambda array, picks: ops.search_sorted(bound(array), array),
    "index": lambda array, picks: ops.index(array, ck.to_host(bound(array))[0]),
    "join_asof": lambda array, picks: joined_asof(array),
    "describe": lambda array, picks: described(array),
}

NUMBERS: dict[str, Operation] = {
    "cumulative_sum": lambda array, picks: ops.cumulative_sum(array),
    "cumulative_prod": lambda array, picks: ops.cumulative_prod(array),
    "cumulative_min": lambda array, picks: ops.cumulative_min(array),
    "cumulative_max": lambda array, picks: ops.cumulative_max(array),
    "cumulative_mean": lambda array, picks: ops.cumulative_mean(array),
    "pairwise_diff": lambda array, picks: ops.pairwise_diff(array),
    "rolling_sum": lambda array, picks: ops.rolling_sum(array, 3),
    "rolling_mean": lambda array, picks: ops.rolling_mean(array, 3),
    "rolling_min": lambda array, picks: ops.rolling_min(array, 3),
    "rolling_max": lambda array, picks: ops.rolling_max(array, 3),
    "variance": lambda array, picks: ops.variance(array),
    "skew": lambda array, picks: ops.skew(array),
    "kurtosis": lambda array, picks: ops.kurtosis(array),
    "quantile": lambda array, picks: ops.quantile(array, 0.25),
    "tdigest": lambda array, picks: ops.tdigest(array, 0.25),
    "product": lambda array, picks: ops.product(array),
}

SAMPLES = {
    "int8": [ANY, ORDERED, NUMBERS],
    "int64, no nulls": [ANY, ORDERED],
    "utf8": [ANY, ORDERED],
}

OPERATIONS = {
    f"{what} of {name}": (name, run)
    for name, groups in SAMPLES.items()
    for group in groups
    for what, run in group.items()
}
OPERATIONS |= {
    "or_": ("bool", lambda array, picks: ops.or_(array, other(array))),
    "and_not": ("bool", lambda array, picks: ops.and_not(array, other(array))),
    "struct_field": ("struct", lambda array, picks: ops.struct_field(array, 0)),
}
