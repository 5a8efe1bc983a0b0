"""`max_element_wise` and `min_element_wise` against pyarrow."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from operations.device_checks import no_kernels_on_the_host

import colkern as ck
from colkern.cuda.stand_in import StandIn
from colkern.operations.moving import to_device, to_host

DAY = datetime.date(2024, 2, 28)
SIDES: dict[str, tuple[list[Any], list[Any], Any]] = {
    "integers": ([3, None, 1, 4], [0, 9, None, 4], 2),
    "floats": ([1.5, math.nan, None, -2.0, None], [math.nan, math.nan, 0.5, 1.0, None], math.nan),
    "text": (["b", None, "a", ""], ["a", "z", None, "c"], "b"),
    "decimals": ([Decimal("1.5"), None, Decimal("-2.0")], [Decimal("1.0"), None, None], None),
    "dates": ([DAY, None], [DAY.replace(year=2020), None], DAY.replace(year=2022)),
}


@pytest.mark.parametrize("skip_nulls", [True, False])
@pytest.mark.parametrize("name", ["max_element_wise", "min_element_wise"])
@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)
def test_the_extreme_of_each_slot(sides: tuple[Any, Any, Any], name: str, skip_nulls: bool) -> None:
    left, right = map(pa.array, sides[:2])
    value = pa.scalar(sides[2], left.type)
    expected = getattr(pc, name)(left, value, right, skip_nulls=skip_nulls)
    arrays = from_pyarrow(left), sides[2], from_pyarrow(right)
    result = getattr(ck, name)(*arrays, skip_nulls=skip_nulls)
    result.validate(full=True)
    assert repr(result.to_pylist()) == repr(expected.to_pylist())
    assert pa.array(result).type == left.type


def with_null_values(array: ck.Array) -> ck.Array:
    return ck.dictionary_encode(array, null_encoding="encode")


@pytest.mark.parametrize("encode", [ck.run_end_encode, with_null_values])
@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)
def test_nulls_of_encoded_values_are_ignored(sides: tuple[Any, Any, Any], encode: Any) -> None:
    left, right = map(pa.array, sides[:2])
    result = ck.max_element_wise(encode(from_pyarrow(left)), encode(from_pyarrow(right)))
    expected = pc.max_element_wise(left, right)
    assert repr(result.to_pylist()) == repr(expected.to_pylist())


def test_numbers_of_two_types_are_of_one() -> None:
    result = ck.max_element_wise(ck.array([1, 5], "int32"), ck.array([2.5, 2.5]))
    assert (result.type, result.to_pylist()) == (ck.float64(), [2.5, 5.0])
    assert ck.min_element_wise(ck.chunked_array([[1], [7]]), 3).to_pylist() == [1, 3]


def test_what_has_no_extreme_is_refused() -> None:
    with pytest.raises(TypeError, match="values: expected an Array"):
        ck.max_element_wise(1, 2)
    with pytest.raises(TypeError, match="string"):
        ck.max_element_wise(ck.array(["a"]), ck.array([1]))


def test_extremes_are_found_where_the_bytes_are(device: StandIn) -> None:
    left, right = ck.array([3, None, 1]), ck.array([0, 9, 5])
    with no_kernels_on_the_host():
        result = ck.max_element_wise(to_device(left), to_device(right), 2)
    assert to_host(result).to_pylist() == [3, 9, 5]
