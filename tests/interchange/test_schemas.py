"""C Data interface, "The ArrowSchema structure"; pyarrow and bytes by hand are the other side."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pyarrow as pa
import pytest
from present import present

from colkern import RecordBatch, array
from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.interchange import (
    export_schema,
    import_batch,
    import_field,
    import_schema,
    import_type,
)
from colkern.interchange.schemas import MAX_NESTING
from colkern.schema import (
    DataType,
    Field,
    Schema,
    dictionary,
    extension,
    field,
    fixed_size_binary,
    int8,
    int32,
    int64,
    list_,
    map_,
    timestamp,
    utf8,
)

PAIRS = {b"k": b"v", b"": b"\x00\xff", b"empty": b""}


def to_pyarrow(field: Field) -> pa.Field:
    return pa.Field._import_from_c_capsule(field.__arrow_c_schema__())


def test_a_type_is_a_nullable_field_without_a_name(c: Any) -> None:
    struct_ = c.struct_in(export_schema(utf8()), c.Schema)
    assert (struct_.format, struct_.name, struct_.flags) == (b"u", b"", 2)
    assert (struct_.metadata, struct_.n_children) == (None, 0)
    assert not struct_.children
    assert not struct_.dictionary


def test_a_schema_is_a_struct_without_a_name(c: Any) -> None:
    ours = Schema([("a", int32()), ("b", utf8())])
    struct_ = c.struct_in(ours.__arrow_c_schema__(), c.Schema)
    assert (struct_.format, struct_.name, struct_.n_children) == (b"+s", b"", 2)
    names = [struct_.children[i].contents.name for i in range(2)]
    assert names == [b"a", b"b"]


@pytest.mark.parametrize("nullable", [True, False])
def test_names_nullability_and_metadata_travel(nullable: bool) -> None:
    theirs = pa.field("ü", pa.int64(), nullable, PAIRS)
    ours = import_field(theirs)
    assert ours == field("ü", int64(), nullable)
    assert ours.metadata == PAIRS
    assert to_pyarrow(ours).equals(theirs, check_metadata=True)


def test_metadata_is_counted_and_length_prefixed(c: Any) -> None:
    ours = field("a", int32(), metadata={b"key": b"va"})
    at = c.Schema.metadata.offset
    capsule = ours.__arrow_c_schema__()
    address = ctypes.addressof(c.struct_in(capsule, c.Schema)) + at
    pairs = ctypes.string_at(
        present(ctypes.c_void_p.from_address(address).value), 4 + 4 + 3 + 4 + 2
    )
    assert pairs == struct.pack("=ii3si2s", 1, 3, b"key", 2, b"va")


def test_a_schema_travels_with_metadata_at_all_levels() -> None:
    inner = pa.field("x", pa.list_(pa.field("y", pa.int8(), False, {"deep": "1"})), metadata=PAIRS)
    theirs = pa.schema([inner, pa.field("z", pa.utf8())], metadata={"top": "2"})
    ours = import_schema(theirs)
    assert ours.metadata == {b"top": b"2"}
    assert ours.fields[0].metadata == PAIRS
    assert ours.fields[0].type.fields[0].metadata == {b"deep": b"1"}
    assert pa.schema(ours).equals(theirs, check_metadata=True)


def test_equal_fields_with_other_metadata_keep_their_own() -> None:
    # `==` does not compare metadata, so nothing may be cached by it.
    for value in (b"1", b"2"):
        ours = field("a", list_(field("b", int32(), metadata={b"k": value})))
        assert to_pyarrow(ours).type.value_field.metadata == {b"k": value}
        assert import_type(to_pyarrow(ours).type).fields[0].metadata == {b"k": value}


@pytest.mark.parametrize("ordered", [True, False])
def test_dictionaries_are_ordered_or_not(ordered: bool) -> None:
    theirs = pa.dictionary(pa.int8(), pa.utf8(), ordered)
    ours = import_type(theirs)
    assert ours == dictionary(int8(), utf8(), ordered)
    assert to_pyarrow(field("d", ours)).type == theirs


@pytest.mark.parametrize("keys_sorted", [True, False])
def test_maps_are_sorted_or_not(keys_sorted: bool) -> None:
    theirs = pa.map_(pa.utf8(), pa.int32(), keys_sorted)
    ours = import_type(theirs)
    assert ours == map_(utf8(), int32(), keys_sorted)
    assert to_pyarrow(field("m", ours)).type == theirs


def test_extension_types_travel_in_the_metadata() -> None:
    ours = import_field(pa.field("u", pa.uuid(), metadata={"k": "v"}))
    assert ours.type == extension("arrow.uuid", fixed_size_binary(16))
    assert ours.metadata == {b"k": b"v"}
    assert to_pyarrow(ours).type == pa.uuid()


def test_extension_types_in_lists_and_dictionaries() -> None:
    uuid = extension("arrow.uuid", fixed_size_binary(16))
    for ours in (list_(uuid), dictionary(int8(), uuid), extension("mine", list_(uuid))):
        assert import_type(ours) == ours


def test_a_capsule_is_taken_and_stays_good() -> None:
    capsule = pa.int32().__arrow_c_schema__()
    assert import_type(capsule) == int32()
    assert import_type(capsule) == int32()


def test_only_a_struct_is_a_schema() -> None:
    with pytest.raises(TypeError, match="int32"):
        import_schema(pa.int32())


@pytest.mark.parametrize("wrong", [3, "x", None, object()])
def test_other_objects_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="arrow_schema"):
        import_schema(wrong)


def test_other_capsules_are_refused() -> None:
    with pytest.raises(TypeError, match="arrow_schema"):
        import_type(pa.array([1]).__arrow_c_array__()[1])


def test_only_types_fields_and_schemas_are_exported() -> None:
    with pytest.raises(TypeError, match="item"):
        export_schema(pa.int32())


def test_a_type_without_a_form_on_the_wire_is_refused() -> None:
    twice = extension("outer", extension("inner", int32()))
    with pytest.raises(UnsupportedError, match="inner"):
        export_schema(twice)


# Structures that break the rules


def refused(producer: Any, struct_: Any, *words: str, error: type = InvalidArrowError) -> None:
    with pytest.raises(error) as caught:
        import_field(producer.capsule(struct_))
    for word in words:
        assert word in str(caught.value)


def test_a_name_may_be_missing(producer: Any) -> None:
    assert import_field(producer.capsule(producer.schema(name=None))).name == ""


def test_a_released_schema_is_invalid(producer: Any) -> None:
    struct_ = producer.schema()
    struct_.release = None
    refused(producer, struct_, "released")


def test_a_missing_format_is_invalid(producer: Any) -> None:
    refused(producer, producer.schema(None), "NULL")


def test_an_unknown_format_says_where(producer: Any) -> None:
    bad = producer.schema(b"?", b"deep")
    parent = producer.schema(b"+l", b"top", children=[bad])
    refused(producer, parent, "'top'", "'deep'", "'?'", error=UnsupportedError)


def test_a_malformed_format_says_where(producer: Any) -> None:
    bad = producer.schema(b"w:x", b"deep")
    refused(producer, producer.schema(b"+l", b"top", children=[bad]), "'top'", "'deep'", "w:x")


@pytest.mark.parametrize("text", [b"tss:\xff", b"\xff"])
def test_a_format_that_is_not_utf8_is_invalid(producer: Any, text: bytes) -> None:
    refused(producer, producer.schema(text), "UTF-8")


def test_a_name_that_is_not_utf8_is_invalid(producer: Any) -> None:
    refused(producer, producer.schema(name=b"\xff"), "UTF-8")


@pytest.mark.parametrize("number", [-1, 2**61])
def test_an_impossible_number_of_children_is_invalid(producer: Any, number: int) -> None:
    struct_ = producer.schema(b"+s", children=[producer.schema()])
    struct_.n_children = number
    refused(producer, struct_, f"{number} children")


def test_children_behind_no_pointer_are_invalid(producer: Any) -> None:
    struct_ = producer.schema(b"+s")
    struct_.n_children = 1
    refused(producer, struct_, "1 children")


def test_a_missing_child_is_invalid(producer: Any, c: Any) -> None:
    struct_ = producer.schema(b"+s", children=[producer.schema()])
    ctypes.memset(struct_.children, 0, 8)
    refused(producer, struct_, "child 0", "NULL")


def test_a_released_child_is_invalid(producer: Any) -> None:
    child = producer.schema(name=b"deep")
    child.release = None
    refused(producer, producer.schema(b"+s", children=[child]), "'deep'", "released")


def test_dictionary_indices_are_integers(producer: Any) -> None:
    refused(producer, producer.schema(b"u", dictionary=producer.schema()), "indices", "string")


@pytest.mark.parametrize("pairs", [(-1,), (1, -1), (1, 0, -5)])
def test_negative_metadata_lengths_are_invalid(producer: Any, pairs: tuple[int, ...]) -> None:
    buffer = producer.keep(ctypes.create_string_buffer(struct.pack(f"={len(pairs)}i", *pairs)))
    struct_ = producer.schema()
    ctypes.c_void_p.from_buffer(struct_, 16).value = ctypes.addressof(buffer)
    refused(producer, struct_, "metadata")


def test_a_schema_that_contains_itself_ends(producer: Any) -> None:
    struct_ = producer.schema(b"+s", children=[producer.schema(), producer.schema()])
    for i in range(2):
        struct_.children[i] = ctypes.pointer(struct_)
    refused(producer, struct_, str(MAX_NESTING), error=LimitExceededError)


def test_deep_nesting_below_the_limit_is_fine() -> None:
    deep: DataType = int8()
    for _ in range(MAX_NESTING):
        deep = list_(deep)
    assert import_type(deep) == deep


@pytest.mark.parametrize("item", [field("y\0z", int8()), timestamp("s", "UTC\0+1")])
def test_strings_end_with_a_nul_so_they_cannot_hold_one(item: Any) -> None:
    # A consumer would see another name, and take two columns for one.
    with pytest.raises(UnsupportedError, match=r"'.*\\x00.*'.* ends at its first NUL"):
        item.__arrow_c_schema__()


def test_the_keys_of_an_extension_type_are_plain_metadata_of_a_schema() -> None:
    # A file may have them there; taken for a type, the struct was none that carries a schema.
    metadata = {b"ARROW:extension:name": b"x", b"ARROW:extension:metadata": b"y", b"k": b"v"}
    ours = Schema([("a", int8())], metadata)
    assert import_schema(ours) == ours
    assert import_schema(ours).metadata == metadata
    batch = RecordBatch(ours, [array([1, 2], int8())])
    assert import_batch(batch).schema.metadata == metadata
    assert import_batch(batch).to_pydict() == {"a": [1, 2]}
