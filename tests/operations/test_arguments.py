"""Errors of operations that get a list, None or another library's array instead of an array."""

from __future__ import annotations

import datetime as dt
import inspect
import pickle
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pytest

import colkern as ck
from colkern import operations
from colkern.arrays import Array, Column, RecordBatch, Tabular
from colkern.memory import Buffer

NUMBERS = ck.array([1, 2, 3])
BATCH = ck.record_batch({"numbers": NUMBERS})
MIXED = ck.record_batch({"numbers": NUMBERS, "text": ["a", "b", "c"]})

RIGHT: dict[Any, Any] = {
    Array: NUMBERS,
    Array | RecordBatch: NUMBERS,
    Array | Buffer: NUMBERS,
    Array | int | float: NUMBERS,
    Sequence[Array]: [NUMBERS],
    Sequence[Column] | Sequence[Tabular]: [NUMBERS],
    RecordBatch: BATCH,
}
"""Something that each parameter of arrays takes, by its annotation."""

OTHERS: dict[str, Any] = {
    "type": ck.int64(),
    "pattern": "a",
    "column": 0,
    "key": 0,
    "right": 1,
    "names": ["numbers"],
}
"""Other parameters; what is not here is a small number."""

# What operations themselves call for each array: no call more than is needed.
BUILDING_BLOCKS = ("combine_validity", "compact_validity", "count_set_bits", "require_valid")


def parameters(function: Any) -> dict[str, Any]:
    """The parameters that have to be given, and their annotations."""
    hints = get_type_hints(function)
    given = inspect.signature(function).parameters.values()
    return {p.name: hints[p.name] for p in given if p.default is p.empty}


PUBLIC = [
    (name, getattr(operations, name))
    for name in operations.__all__
    if inspect.isfunction(getattr(operations, name)) and name not in BUILDING_BLOCKS
]
PLACES = [
    (name, parameter)
    for name, function in PUBLIC
    for parameter, hint in parameters(function).items()
    if hint in RIGHT
]

WRONG: dict[str, tuple[Any, str]] = {
    "a list": ([True, None], "list"),
    "None": (None, "None"),
    "a matrix": (np.array([[1, 2]]), "numpy.ndarray"),
    "a type of pyarrow": (pa.int64(), "pyarrow.DataType"),
}


def called_with(name: str, wrong: dict[str, Any]) -> Any:
    function = getattr(operations, name)
    given = {p: RIGHT.get(hint, OTHERS.get(p, 1)) for p, hint in parameters(function).items()}
    return function(**(given | wrong))


@pytest.mark.parametrize(("value", "called"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(("name", "parameter"), PLACES, ids=map(".".join, PLACES))
def test_what_is_no_array_is_named_with_its_parameter(
    name: str, parameter: str, value: Any, called: str
) -> None:
    first, *_ = parameters(getattr(operations, name))
    with pytest.raises((TypeError, ValueError)) as caught:
        called_with(name, {parameter: value})
    text = str(caught.value)
    if isinstance(value, list) and parameter != first and "got list" not in text:
        # Beside the first argument, a list stands for an array, here one of booleans.
        return
    assert isinstance(caught.value, TypeError)
    several = parameter == "arrays"
    if several and isinstance(value, list):
        # A list is what is asked for, but of arrays.
        assert text.startswith(f"{parameter}[0]: expected an Array, got bool; make one with")
        return
    expected = r"(a|an|a list of) \w+( or an? \w+)?"
    assert re.match(rf"{parameter}: expected {expected}, got {called}(;|$)", text)
    if value is not None:
        assert "with colkern.array(...)" in text or "with colkern.record_batch(...)" in text
    assert caught.value.__context__ is None


LISTS = ck.array([[1], [2, 3]])
UNION = ck.nulls(2, ck.dense_union([ck.field("i", ck.int64())]))
STRUCTS = ck.array([{"x": 1}])
TEXT = ck.array(["2", "1"])
FLAGS = ck.array([True])
HALVES = ck.array([1.5], "float16")
CENTS = ck.array([Decimal("1.50")])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ck.nulls(3, dict), r"type: expected a data type such as .*, got <class 'dict'>"),
        (lambda: ck.nulls(3, ck.int64), r"type: int64 is a function .* call it: int64\(\)"),
        (lambda: ck.nulls("3", ck.int64()), "length: expected an integer, got str"),
        (lambda: ck.nulls(3, ck.int64(), "cuda"), r"device: expected a Device, got str; .*'cuda'"),
        (lambda: ck.select_child(UNION, "i"), "child: expected an integer, got str"),
        (lambda: ck.list_element(LISTS, "a"), "index: expected an integer, got str"),
        (lambda: ck.list_to_fixed_size_list(LISTS, "a"), "list_size: expected an integer, got str"),
        (lambda: ck.struct_field(STRUCTS, 1.5), "key: expected a position, a name or a path of th"),
        (lambda: ck.struct_field(STRUCTS, [1.5]), "key: expected a position or a name, got float"),
        (lambda: ck.make_struct([NUMBERS], 3), "names: expected a list of str, got int"),
        (lambda: ck.make_struct([NUMBERS], [3]), "names: expected str, got 3"),
        (lambda: ck.explode(BATCH, 1.5), "column: expected a position or a name, got float"),
        (lambda: ck.explode(BATCH, "numbers"), "column: expected lists, 'numbers' has int64"),
        (lambda: ck.explode(LISTS, 0), r"batch: expected a RecordBatch, .*colkern.record_batch"),
        (lambda: ck.concat([[1]]), r"arrays\[0\]: expected an Array, got list; make one with"),
        (lambda: ck.concat(NUMBERS), "arrays: expected a list of Arrays, got Array"),
        (lambda: ck.concat(MIXED), "arrays: .*, got RecordBatch; its columns are batch.columns"),
        (lambda: ck.sum(BATCH), r"array: .*, got RecordBatch; take one of its columns: batch\['na"),
        (lambda: ck.add(NUMBERS, "1"), "right: expected an integer for int64, got str '1'"),
        (lambda: ck.add(1.5, NUMBERS), "left: .* got float 1.5; cast the array to double first"),
        (lambda: ck.unpack_bits(ck.array([True]), 0, 1.5), "length: expected an integer, got fl"),
        (lambda: ck.unpack_bits(ck.array([True]), length="1"), "length: expected an integer, got"),
        (lambda: ck.equal(TEXT, 1), "right: expected str, got int 1; the array is of string"),
        (lambda: ck.less(FLAGS, 1), "right: expected bool, got int 1; the array is of bool"),
        (lambda: ck.equal(HALVES, True), "right: expected a number, got bool True; .* halffloat"),
        (lambda: ck.equal(CENTS, 1.5), "right: expected a Decimal or an integer, got float 1.5"),
        (lambda: ck.quantile(NUMBERS, "a"), "q: expected a number from 0 to 1, got str 'a'"),
        (lambda: ck.quantile(NUMBERS, None), "q: expected a number .* got NoneType None"),
        (lambda: ck.quantile(NUMBERS, np.True_), "q: expected a number .* got bool"),
        (lambda: ck.quantile(NUMBERS, np.array(0.5)), "q: expected a number .* got ndarray"),
        (lambda: ck.quantile(NUMBERS, Decimal("0.5")), "q: expected a number .* got Decimal"),
        (lambda: ck.rolling_sum(NUMBERS, 2, "x"), "takes 2 positional arguments but 3 were given"),
        (lambda: ck.quantile(NUMBERS, [0.5, None]), "q: expected a number .* got NoneType None"),
        (lambda: ck.local_timestamp(NUMBERS), "local_timestamp: expected timestamps, got int64"),
        (lambda: ck.validate(BATCH, skip=3), "skip: expected a collection of rules, got 3"),
    ],
)
def test_other_wrong_arguments_are_named_too(call: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call()


def test_a_missing_argument_is_left_to_python() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'type'"):
        ck.nulls(3)


def test_errors_of_right_arguments_are_those_of_the_operation() -> None:
    with pytest.raises(IndexError, match="indices: slot 0 has 7, there are 3 values"):
        ck.take(NUMBERS, ck.array([7]))


def test_an_operation_is_pickled_by_its_name() -> None:
    for name, function in PUBLIC:
        assert pickle.loads(pickle.dumps(function)) is function, name


DAYS = ck.array([dt.date(2026, 1, 1)])


@pytest.mark.parametrize(
    ("call", "text", "instead", "expected"),
    [
        (
            lambda: ck.sum(TEXT),
            r"sum: .* string; colkern.cast\(array, colkern.float64\(\)\)",
            lambda: ck.sum(ck.cast(TEXT, ck.float64())),
            3.0,
        ),
        (
            lambda: ck.mean(DAYS),
            r"mean: .* date32.*; colkern.cast\(array, colkern.int64\(\)\)",
            lambda: ck.mean(ck.cast(DAYS, ck.int64())),
            20454.0,
        ),
        (
            lambda: ck.sum(LISTS),
            r"sum: .* list.*; colkern.list_flatten\(array\)",
            lambda: ck.sum(ck.list_flatten(LISTS)),
            6,
        ),
        (
            lambda: ck.max(STRUCTS),
            r"struct.*; colkern.struct_field\(array, name\)",
            lambda: ck.max(ck.struct_field(STRUCTS, "x")),
            1,
        ),
        (
            lambda: ck.sort_indices(STRUCTS),
            r"sort_indices: .* struct.*; colkern.struct_field\(array, name\)",
            lambda: ck.sort_indices(ck.struct_field(STRUCTS, "x")).to_pylist(),
            [0],
        ),
        (
            lambda: ck.count(UNION),
            r"count: .* no nulls of its own; .* colkern.select_child\(array, child\)\[1\]",
            lambda: ck.count(ck.select_child(UNION, 0)[1], "only_null"),
            2,
        ),
        (
            lambda: ck.run_end_encode(LISTS),
            "cannot be run-end encoded; encode its children",
            lambda: ck.run_end_encode(ck.list_flatten(LISTS)).to_pylist(),
            [1, 2, 3],
        ),
    ],
)
def test_what_is_not_supported_has_a_way_out_that_works(
    call: Any, text: str, instead: Any, expected: Any
) -> None:
    with pytest.raises(ck.UnsupportedError, match=text):
        call()
    assert instead() == expected


@pytest.mark.parametrize("type_", [ck.timestamp("us"), ck.decimal128(3, 1), ck.date32()])
def test_a_value_of_another_class_is_called_by_its_parameter(type_: Any) -> None:
    with pytest.raises(TypeError, match=r"^right: expected"):
        ck.equal(ck.nulls(1, type_), "x")
