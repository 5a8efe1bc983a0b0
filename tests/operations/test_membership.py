"""Values that are among others, against pyarrow."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from operations.device_checks import no_kernels_on_the_host
from operations.samples import sample

import colkern as ck
from colkern.cuda.stand_in import StandIn
from colkern.operations.moving import to_device, to_host

FLAT = ("bool", "int8", "float16", "decimal128", "timestamp", "utf8", "large_binary")
ENCODED = ("dictionary", "run-end encoded")


@pytest.mark.parametrize("name", [*FLAT, *ENCODED])
@pytest.mark.parametrize("skip_nulls", [False, True])
def test_sets_of_any_size_with_nulls_and_repeats(name: str, skip_nulls: bool) -> None:
    array = sample(name)
    plain = pa.array(array.to_pylist())
    values = [value for value in array.to_pylist() if value is not None]
    members: list[Any]
    mixed = [values[1], None, values[0]]
    for members in ([], values[:1], [None], [None, values[0]], mixed, values[1:] * 2):
        wanted = pa.array(members, plain.type)
        actual = ck.is_in(array, members, skip_nulls=skip_nulls)
        assert actual.to_pylist() == pc.is_in(plain, wanted, skip_nulls=skip_nulls).to_pylist()
        places = ck.index_in(array, members, skip_nulls=skip_nulls)
        assert places.equals(from_pyarrow(pc.index_in(plain, wanted, skip_nulls=skip_nulls)))


def test_members_are_looked_up_where_the_values_are(device: StandIn) -> None:
    values, members = to_device(ck.array([5, 3, None, 9])), to_device(ck.array([1, 2, 3, 4, 5, 6]))
    with no_kernels_on_the_host():
        result, places = ck.is_in(values, members), ck.index_in(values, members)
    assert to_host(result).to_pylist() == [True, True, False, False]
    assert to_host(places).to_pylist() == [4, 2, None, None]


def test_a_set_has_the_type_of_the_values() -> None:
    with pytest.raises(TypeError, match="value_set: int64, values is string"):
        ck.is_in(ck.array(["a"]), ck.array([1]))
    for first, second in ((ck.json_(), "string"), ("string", ck.json_())):
        with pytest.raises(TypeError, match=r"value_set: .*json.*; cast one"):
            ck.is_in(ck.dictionary_encode(ck.array(["1"], first)), ck.array(["1"], second))


@pytest.mark.parametrize(
    ("values", "members"),
    [
        (pa.array(["a", None, "b"]), pa.array(["b", "c"], pa.string_view())),
        (pa.array(["a", None, "b"], pa.large_string()), pa.array(list("bcdefg"))),
        (
            pa.array(["a", None, "b"]).dictionary_encode(),
            pa.array(list("bcdefg"), pa.string_view()),
        ),
        (pa.array([1, 2, None], pa.int8()), pa.array([2, 300])),
        (pa.array([1, 2, None]), pa.array([2, 3, 4, 5, 6], pa.int8())),
        (pa.array([1, 2, None]), pa.array([2.0, 2.5])),
        (pa.array([1, 2, None]), pa.array([Decimal("2.00"), Decimal("2.50")])),
    ],
)
def test_a_set_of_other_text_or_numbers_is_compared_by_value(
    values: pa.Array, members: pa.Array
) -> None:
    wanted = members.to_pylist()
    matches = [value is not None and value in wanted for value in values.to_pylist()]
    assert ck.is_in(values, members).to_pylist() == matches
    places = [
        wanted.index(v) if f else None for v, f in zip(values.to_pylist(), matches, strict=True)
    ]
    assert ck.index_in(values, members).to_pylist() == places


@pytest.mark.parametrize(
    ("inclusive", "expected"),
    [
        ("both", [True, True, True, None]),
        ("left", [True, True, False, None]),
        ("right", [False, True, True, None]),
        ("neither", [False, True, False, None]),
    ],
)
def test_bounds_are_between_themselves_as_asked(inclusive: Any, expected: list[object]) -> None:
    assert ck.between(ck.array([1, 2, 3, None]), 1, 3, inclusive).to_pylist() == expected


def test_bounds_of_each_slot() -> None:
    low, high = ck.array(["a", "b"]), ck.array(["c", "c"])
    assert ck.between(ck.array(["b", "a"]), low, high).to_pylist() == [True, False]
    with pytest.raises(ValueError, match="inclusive: expected one of"):
        ck.between(low, low, high, "all")  # type: ignore[call-overload]


@pytest.mark.parametrize("skip_nulls", [False, True])
@pytest.mark.parametrize("members", [0, 1, 6])
def test_nulls_without_a_type_are_looked_up_as_pyarrow_does(members: int, skip_nulls: bool) -> None:
    values, others = pa.nulls(2), pa.nulls(members)
    for name in ("is_in", "index_in"):
        expected = getattr(pc, name)(values, value_set=others, skip_nulls=skip_nulls)
        actual = getattr(ck, name)(ck.nulls(2, ck.null()), [None] * members, skip_nulls=skip_nulls)
        assert actual.to_pylist() == expected.to_pylist()
        assert str(actual.type) in ("bool", str(expected.type))
