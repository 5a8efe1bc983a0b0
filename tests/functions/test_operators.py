"""Python's operators on columns: one rule of promotion, and what each stands for by type."""

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow

import colkern as ck

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("left", [*INTEGERS, "float32", "float64"])
@pytest.mark.parametrize("right", ["int8", "int64", "uint32", "uint64", "float32", "float64"])
def test_numbers_of_two_types_are_promoted_as_numpy_does_or_refused(left: str, right: str) -> None:
    columns = [ck.array([1, 2], left), ck.array([3, None], right)]
    promoted = np.result_type(np.dtype(left), np.dtype(right))
    if promoted.kind == "f" and "float" not in left + right:
        with pytest.raises(TypeError, match="cast one of them first"):
            columns[0] + columns[1]
        return
    actual = columns[0] + columns[1]
    assert actual.type == ck.array(np.array([1], promoted)).type
    assert actual.to_pylist() == [4, None]


def test_an_integer_of_numpy_has_the_type_of_the_column_where_numpy_would_go_to_floats() -> None:
    for column, value in (
        (ck.array([2**53 + 1]), np.uint64(3)),
        (ck.array([3], "uint64"), np.int8(2)),
    ):
        actual = column + value
        assert actual.type == column.type
        assert actual.to_pylist() == [column[0] + int(value)]
    for refused in (np.uint64(2**63), 2**63):
        with pytest.raises(ValueError, match="does not fit int64"):
            ck.array([8]) + refused
    assert (ck.array([Decimal("1.5")]) * np.int8(3)).to_pylist() == [Decimal("4.5")]


def test_a_truth_beside_integers_is_0_or_1() -> None:
    column = ck.array([2, 3])
    assert (column & True).to_pylist() == [0, 1]
    assert (column**np.True_).to_pylist() == [2, 3]


@pytest.mark.parametrize("other", [1.5, np.float64(1.5), np.array([1.5, 1.5])])
def test_integers_beside_floats_are_float64(other: Any) -> None:
    column = ck.array([1, 2])
    assert (column + other).equals(ck.array([2.5, 3.5]))
    assert (other + column).equals(ck.array([2.5, 3.5]))
    assert (column < other).to_pylist() == [True, False]


def test_a_number_that_float64_does_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"9007199254740993"):
        ck.array([2**53 + 1]) + 0.5


def test_a_number_of_python_takes_the_type_of_the_column() -> None:
    assert (ck.array([1, 2], "int8") + 1).type == ck.int8()
    assert (ck.array([1.5], "float32") * 2).type == ck.float32()


@pytest.mark.parametrize(
    "apply", [operator.floordiv, operator.mod, operator.pow, operator.sub, operator.truediv]
)
@pytest.mark.parametrize("chunked", [False, True])
def test_either_side_may_be_a_number(apply: Callable[..., Any], chunked: bool) -> None:
    values = [3, 2, 5, 7]
    parts = [ck.array(values[:2]), ck.array(values[2:])]
    column = ck.chunked_array(parts) if chunked else ck.array(values)
    assert apply(column, 2).to_pylist() == [apply(value, 2) for value in values]
    assert apply(11, column).to_pylist() == [apply(11, value) for value in values]


def test_text_is_put_together() -> None:
    column = ck.array(["a", None])
    assert (column + "x").to_pylist() == ["ax", None]
    assert ("x" + column + column).to_pylist() == ["xaa", None]


def test_and_or_not_are_logical_on_booleans_and_bitwise_on_integers() -> None:
    true, unknown = ck.array([True, None]), ck.array([False, True])
    assert (true | unknown).to_pylist() == [True, True]
    assert (true & unknown).to_pylist() == [False, None]
    assert (~true).to_pylist() == [False, None]
    assert (ck.array([6, 5]) & 3).to_pylist() == [2, 1]
    assert (~ck.array([6, 5])).to_pylist() == [-7, -6]


@pytest.mark.parametrize("chunked", [False, True])
def test_operators_that_take_a_number_on_the_left(chunked: bool) -> None:
    values = [6, 5, None, -7]
    column: Any = ck.chunked_array([values[:1], values[1:]]) if chunked else ck.array(values)

    def each(function: Callable[[int], Any]) -> list[Any]:
        return [None if value is None else function(value) for value in values]

    assert (3 & column).to_pylist() == each(lambda x: 3 & x)
    assert (3 | column).to_pylist() == each(lambda x: 3 | x)
    assert (3 ^ column).to_pylist() == each(lambda x: 3 ^ x)
    assert (np.int64(3) & column).to_pylist() == each(lambda x: 3 & x)
    assert (+column).to_pylist() == values
    for pair, expected in (
        (divmod(column, 4), each(lambda x: divmod(x, 4))),
        (divmod(40, column), each(lambda x: divmod(40, x))),
    ):
        parts = zip(*[part.to_pylist() for part in pair], strict=True)
        assert [None if None in part else part for part in parts] == expected
    assert (True | ck.array([True, None])).to_pylist() == [True, True]


def test_one_truth_stands_beside_each_of_a_column() -> None:
    mask = ck.array([True, None, False])
    assert (mask & True).to_pylist() == [True, None, False]
    assert (True | mask).to_pylist() == [True, True, True]
    assert (mask ^ True).to_pylist() == [False, None, True]


def test_nulls_without_a_type_are_of_that_of_the_other_side() -> None:
    none, numbers = ck.array([None, None]), ck.array([1, 2])
    pairs: list[tuple[Any, pa.Array]] = [
        (none + 1, pc.add(pa.nulls(2), 1)),
        (numbers * none, pc.multiply(pa.array([1, 2]), pa.nulls(2))),
        (none * 1.5, pc.multiply(pa.nulls(2), 1.5)),
        (ck.chunked_array([[None], [None]]) - 1, pc.subtract(pa.nulls(2), 1)),
        (ck.array([]) + 1, pc.add(pa.nulls(0), 1)),
        (none.utf8_upper(), pa.nulls(2)),
        (none.sqrt(), pa.nulls(2, pa.float64())),
    ]
    for item, theirs in pairs:
        assert (item.type, item.to_pylist()) == (ck.array(theirs).type, theirs.to_pylist())
    assert (none & ck.array([True, False])).to_pylist() == [None, False]
    assert (none | True).to_pylist() == [True, True]
    assert (none + ck.array(["a", "b"])).type == ck.schema.utf8()


def test_a_set_is_not_cut_where_the_column_is() -> None:
    column = ck.chunked_array([ck.array([1, 2]), ck.array([3])])
    assert ck.is_in(column, ck.array([3, 1, 9])).to_pylist() == [True, False, True]
    assert ck.index_in(column, ck.array([3, 1, 9])).to_pylist() == [1, None, 0]


def test_functions_of_rows_are_methods_of_columns_and_keep_their_chunks() -> None:
    column = ck.chunked_array([ck.array(["a"]), ck.array(["b", None])])
    assert [each.to_pylist() for each in column.utf8_upper().chunks] == [["A"], ["B", None]]
    assert ck.utf8_lpad(column, 3, "*").to_pylist() == ["**a", "**b", None]
    assert column.cast("string").equals(column)


def test_groups_and_joins_of_a_table_are_tables() -> None:
    table = ck.concat([ck.table({"k": ["a", "b"], "n": [1, 2]}), ck.table({"k": ["a"], "n": [3]})])
    sums = table.group_by("k").aggregate([("n", "sum")])
    assert isinstance(sums, ck.Table)
    assert sums.to_pydict() == {"k": ["a", "b"], "n_sum": [4, 2]}
    joined = table.join(ck.table({"k": ["b"], "m": [9]}), "k", how="left")
    assert sorted(joined.to_pylist(), key=lambda row: row["n"]) == [
        {"k": "a", "n": 1, "m": None},
        {"k": "b", "n": 2, "m": 9},
        {"k": "a", "n": 3, "m": None},
    ]
    assert table.sort_by([("k", "descending"), ("n", "ascending")])["n"].to_pylist() == [2, 1, 3]


PRICES = pa.array([Decimal("1.10"), None, Decimal("-2.25")], pa.decimal128(5, 2))


@pytest.mark.parametrize("type_", [pa.int8(), pa.int64(), pa.uint64()], ids=str)
def test_integers_beside_decimals_become_decimals(type_: pa.DataType) -> None:
    whole = pa.array([2, 3, 0], type_)
    prices, counts = from_pyarrow(PRICES), from_pyarrow(whole)
    for name, item in (("multiply", prices * counts), ("subtract", counts - prices)):
        sides = (PRICES, whole) if name == "multiply" else (whole, PRICES)
        assert pa.array(item).equals(getattr(pc, name)(*sides))
    for name, mask in (("greater", prices > counts), ("equal", prices == counts)):
        assert pa.array(mask).equals(getattr(pc, name)(PRICES, whole))
    finer = PRICES.cast(pa.decimal128(8, 4))
    assert (prices == from_pyarrow(finer)).to_pylist() == [True, None, True]


def test_columns_are_rounded_by_the_function_of_python() -> None:
    numbers = ck.chunked_array([[1.25], [2.5]])
    assert round(numbers).to_pylist() == [1.0, 2.0]
    assert round(numbers, 1).to_pylist() == [1.2, 2.5]


@pytest.mark.parametrize("column", [pa.array([1, None, -3]), PRICES], ids=["integers", "decimals"])
@pytest.mark.parametrize("value", [Decimal("1.10"), Decimal("-2.2505"), Decimal(10) ** 15])
def test_a_decimal_beside_a_column_is_compared_by_what_it_is(
    column: pa.Array, value: Decimal
) -> None:
    mine = from_pyarrow(column)
    compared = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    for apply in (*compared, operator.add, operator.sub, operator.mul):
        given = [None if each is None else apply(each, value) for each in column.to_pylist()]
        assert apply(mine, value).to_pylist() == given
    assert (value > mine).to_pylist() == (mine < value).to_pylist()


def test_bits_are_moved_by_operators() -> None:
    numbers = pa.array([1, None, -4], pa.int16())
    mine = from_pyarrow(numbers)
    assert pa.array(mine << 2).equals(pc.shift_left(numbers, pa.scalar(2, pa.int16())))
    assert pa.array(mine >> mine).equals(pc.shift_right(numbers, numbers))
    assert (1 << mine).to_pylist() == [2, None, 1]


def test_numpys_functions_of_columns_keep_nulls() -> None:
    numpy: Any = np
    column = ck.array([4.0, None, -1.0, np.nan])
    chunked = ck.chunked_array([column, column])
    with np.errstate(invalid="ignore"):
        assert numpy.sqrt(column)[:2].to_pylist() == [2.0, None]
        assert numpy.isnan(numpy.sqrt(chunked)).to_pylist() == [False, None, True, True] * 2
    assert numpy.maximum(ck.array([1, None, 3], "int8"), 2).to_pylist() == [2, None, 3]
    mantissas, exponents = numpy.frexp(column[:2])
    assert (mantissas.to_pylist(), exponents.to_pylist()) == ([0.5, None], [3, None])
    assert exponents.type == ck.int32()


def test_numpys_functions_that_stand_for_operators_are_those_of_columns() -> None:
    numpy: Any = np
    prices = ck.array([Decimal("1.50"), None])
    assert numpy.add(prices, prices).to_pylist() == [Decimal("3.00"), None]
    assert numpy.add(np.array([1.0, 2.0]), ck.array([1, None])).to_pylist() == [2.0, None]
    assert numpy.bitwise_and(6, ck.array([3, None])).to_pylist() == [2, None]
    assert numpy.remainder(ck.array([-7, None]), 3).to_pylist() == [2, None]
    assert numpy.equal(ck.array(["a", None]), "a").to_pylist() == [True, None]
    assert numpy.add.reduce(ck.array([1, 2])) == 3
    for column in (ck.array([4, None, 1]), ck.ChunkedArray([ck.array([4, None]), ck.array([1])])):
        assert (numpy.sum(column), numpy.min(column, axis=0), numpy.mean(column)) == (5, 1, 2.5)
    assert numpy.any(ck.array([None, True]))
    with pytest.raises(TypeError, match="'axis'; its parameters are"):
        numpy.max(ck.array([1]), axis=1)
    out = np.zeros(2)
    assert numpy.sqrt(ck.array([4.0, 9.0]), out=out) is out
