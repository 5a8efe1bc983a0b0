"""The table of layouts against the format's buffer listing, and against pyarrow's buffers."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow, type_of
from arrow_strategies import arrays
from hypothesis import given

from colkern import schema as s
from colkern.layouts import ChildLength, Role, layout

V, D, O, B = Role.VALIDITY, Role.DATA, Role.OFFSETS, Role.BYTES  # noqa: E741 - the format's letters

# The table "Buffer Listing for Each Layout", one row a layout, and more types of the same layout.
LISTING: list[tuple[str, list[Role], bool, list[s.DataType]]] = [
    (
        "fixed-size primitive",
        [V, D],
        False,
        [
            s.bool_(),
            s.int8(),
            s.uint64(),
            s.float16(),
            s.decimal32(5),
            s.decimal256(5),
            s.date64(),
            s.time32("s"),
            s.timestamp("us", "UTC"),
            s.duration("s"),
            s.month_interval(),
            s.month_day_nano_interval(),
            s.fixed_size_binary(3),
        ],
    ),
    ("variable-size binary", [V, O, B], False, [s.binary(), s.utf8(), s.large_utf8()]),
    ("variable-size binary view", [V, Role.VIEWS], True, [s.binary_view(), s.utf8_view()]),
    ("variable-size list", [V, O], False, [s.list_(s.int8()), s.large_list(s.int8())]),
    ("variable-size list", [V, O], False, [s.map_(s.utf8(), s.int8())]),
    (
        "variable-size list-view",
        [V, O, Role.SIZES],
        False,
        [s.list_view(s.int8()), s.large_list_view(s.int8())],
    ),
    ("fixed-size list", [V], False, [s.fixed_size_list(s.int8(), 2)]),
    ("struct", [V], False, [s.struct([])]),
    ("sparse union", [Role.TYPE_IDS], False, [s.sparse_union([])]),
    ("dense union", [Role.TYPE_IDS, O], False, [s.dense_union([])]),
    ("null", [], False, [s.null()]),
    ("dictionary-encoded", [V, D], False, [s.dictionary(s.int8(), s.utf8())]),
    ("run-end encoded", [], False, [s.run_end_encoded(s.int16(), s.int8())]),
]
ROWS = [(name, roles, more, type_) for name, roles, more, types in LISTING for type_ in types]


@pytest.mark.parametrize(("name", "roles", "variadic", "type_"), ROWS, ids=lambda row: str(row))
def test_buffers_are_those_of_the_format(
    name: str, roles: list[Role], variadic: bool, type_: s.DataType
) -> None:
    row = layout(type_)
    assert row.name == name
    assert [spec.role for spec in row.buffers] == roles
    assert row.variadic is variadic
    assert row.has_dictionary is isinstance(type_, s.Dictionary)
    assert row.has_validity is (V in roles)


def test_an_extension_has_the_layout_of_its_storage() -> None:
    assert layout(s.extension("x", s.utf8_view())).buffers == layout(s.utf8_view()).buffers


@pytest.mark.parametrize(
    ("type_", "role", "item_bytes"),
    [
        (s.int16(), D, 2),
        (s.float64(), D, 8),
        (s.decimal32(1), D, 4),
        (s.decimal64(1), D, 8),
        (s.decimal128(1), D, 16),
        (s.decimal256(1), D, 32),
        (s.date32(), D, 4),
        (s.date64(), D, 8),
        (s.time32("ms"), D, 4),
        (s.time64("ns"), D, 8),
        (s.month_interval(), D, 4),
        (s.day_time_interval(), D, 8),
        (s.month_day_nano_interval(), D, 16),
        (s.fixed_size_binary(7), D, 7),
        (s.utf8(), O, 4),
        (s.large_utf8(), O, 8),
        (s.utf8_view(), Role.VIEWS, 16),
        (s.large_list(s.int8()), O, 8),
        (s.list_view(s.int8()), Role.SIZES, 4),
        (s.large_list_view(s.int8()), Role.SIZES, 8),
        (s.dense_union([]), Role.TYPE_IDS, 1),
        (s.dense_union([]), O, 4),
        (s.dictionary(s.uint16(), s.utf8()), D, 2),
    ],
    ids=str,
)
def test_items_have_the_formats_width(type_: s.DataType, role: Role, item_bytes: int) -> None:
    assert layout(type_).spec(role).dtype.itemsize == item_bytes


def test_least_sizes_count_slots_bits_and_one_offset_more() -> None:
    assert [layout(s.bool_()).spec(D).min_bytes(n) for n in (0, 1, 8, 9)] == [0, 1, 1, 2]
    assert [layout(s.int32()).spec(D).min_bytes(n) for n in (0, 1, 9)] == [0, 4, 36]
    assert [layout(s.utf8()).spec(O).min_bytes(n) for n in (0, 1, 9)] == [0, 8, 40]
    assert [layout(s.dense_union([])).spec(O).min_bytes(n) for n in (0, 1, 9)] == [0, 4, 36]
    assert layout(s.utf8()).spec(B).min_bytes(9) == 0


def test_a_layout_knows_no_other_roles() -> None:
    with pytest.raises(KeyError, match="struct layout has no data buffer"):
        layout(s.struct([])).spec(D)


def test_bytes_of_multi_byte_items_swap_within_their_parts() -> None:
    swaps = {
        s.int8(): (),
        s.int64(): (8,),
        s.decimal128(5): (16,),
        s.day_time_interval(): (4, 4),
        s.month_day_nano_interval(): (4, 4, 8),
        s.fixed_size_binary(4): (),
        s.bool_(): (),
    }
    assert {type_: layout(type_).spec(D).swap_bytes for type_ in swaps} == swaps


def test_children_follow_the_rule_of_their_layout() -> None:
    rules = {
        s.null(): ChildLength.NONE,
        s.list_(s.int8()): ChildLength.LAST_OFFSET,
        s.list_view(s.int8()): ChildLength.OFFSET_AND_SIZE,
        s.fixed_size_list(s.int8(), 1): ChildLength.LIST_SIZE,
        s.struct([]): ChildLength.SAME,
        s.sparse_union([]): ChildLength.SAME,
        s.dense_union([]): ChildLength.SLOT_OFFSETS,
        s.run_end_encoded(s.int16(), s.int8()): ChildLength.RUNS,
    }
    assert {type_: layout(type_).child_length for type_ in rules} == rules


@given(arrays())
def test_pyarrow_has_as_many_buffers_and_each_is_large_enough(array: pa.Array) -> None:
    """Building the array checks it: counts and least sizes come from the table alone."""
    ours = from_pyarrow(array)
    assert ours.type == type_of(array.type)
    assert ours.length == len(array)
