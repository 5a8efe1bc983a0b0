"""Integration JSON that is not what the format says: an error with its place, and never another."""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from integration.generate import CASES, generate

import colkern as ck
from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.integration import documents
from colkern.integration.documents import JsonDocument, document_of, read_json, write_json

Json = dict[str, Any]


def column(type_: Json, members: Json, children: list[Json] | None = None, **field: Any) -> Json:
    """A document with one column of two rows."""
    entry = {"name": "c", "nullable": True, "type": type_, "children": children or [], **field}
    return {
        "schema": {"fields": [entry]},
        "batches": [{"count": 2, "columns": [{"name": "c", "count": 2, **members}]}],
    }


VALID = {"VALIDITY": [1, 1]}
INT8 = {"name": "int", "bitWidth": 8, "isSigned": True}
INT64 = {"name": "int", "bitWidth": 64, "isSigned": True}
ITEM = {"name": "item", "nullable": True, "type": INT8, "children": []}
ITEMS = {"name": "item", "count": 2, "VALIDITY": [1, 1], "DATA": [1, 2]}
LIST = {"name": "list"}
TEXT = {"name": "utf8"}
VIEW = {"name": "utf8view"}
UNION = {"name": "union", "mode": "DENSE", "typeIds": [5]}
INDEX = {"id": 0, "indexType": INT8, "isOrdered": False}
RUNS = [ITEM | {"name": "run_ends", "type": INT8 | {"bitWidth": 16}}, ITEM | {"name": "values"}]
LONG = {"SIZE": 13, "PREFIX_HEX": "61626364", "BUFFER_INDEX": 0, "OFFSET": 0}


def views(view: Json) -> Json:
    views = [{"SIZE": 0, "INLINED": ""}, view]
    return column(VIEW, VALID | {"VIEWS": views, "VARIADIC_DATA_BUFFERS": ["6162636465"]})


def runs(*ends: int) -> Json:
    count = len(ends)
    parts = {"run_ends": list(ends), "values": [0] * count}
    children = [
        {"name": name, "count": count, "VALIDITY": [1] * count, "DATA": data}
        for name, data in parts.items()
    ]
    return column({"name": "runendencoded"}, {"children": children}, RUNS)


MALFORMED: dict[str, tuple[Json, str]] = {
    "no schema": ({"batches": []}, "document: no 'schema'"),
    "no type": ({"schema": {"fields": [{"name": "c"}]}, "batches": []}, "schema, field 'c': "),
    "unknown type": (column({"name": "x"}, VALID), "field 'c': unknown type 'x'"),
    "bit width": (column(INT8 | {"bitWidth": 7}, VALID), "expected 8, 16, 32 or 64, got 7"),
    "a string for a number": (column(INT8 | {"bitWidth": "8"}, VALID), "'bitWidth': expected an"),
    "precision": (
        column({"name": "decimal", "precision": 39, "scale": 0}, VALID),
        "field 'c': decimal: precision: decimal128 has 1 to 38 digits",
    ),
    "unit": (column({"name": "duration", "unit": "HOUR"}, VALID), "'HOUR'; there are SECOND"),
    "byte width": (
        column({"name": "fixedsizebinary", "byteWidth": 2**31}, VALID),
        "field 'c': fixedsizebinary: byte_width: must not be over 2147483647",
    ),
    "list size": (
        column({"name": "fixedsizelist", "listSize": 2**31}, VALID, [ITEM]),
        "field 'c': fixedsizelist: list_size: must not be over 2147483647",
    ),
    "scale": (
        column({"name": "decimal", "precision": 5, "scale": 2**31}, VALID),
        "field 'c': decimal: scale: must fit 32 bits",
    ),
    "half a character in a name": (
        {"schema": {"fields": [ITEM, ITEM | {"name": "\ud800"}]}, "batches": []},
        r"schema, field 1: fields: 'name': '\ud800': surrogates not allowed",
    ),
    "half a character in a time zone": (
        column({"name": "timestamp", "unit": "SECOND", "timezone": "\ud800"}, VALID),
        r"schema, field 'c': type: 'timezone': '\ud800': surrogates not allowed",
    ),
    "dictionary id": (
        column(TEXT, VALID, dictionary=INDEX | {"id": 2**63}),
        "field 'c': dictionary id 9223372036854775808; it has 64 bits",
    ),
    "a boolean for a number": (
        column(INT8, VALID | {"DATA": [1, True]}),
        "DATA value 1: True: expected an integer",
    ),
    "children of a leaf": (column(INT8, VALID, [ITEM]), "int: expected no children, got 1"),
    "list without child": (column(LIST, VALID), "list: |expected 1 child, got 0"),
    "union codes": (column(UNION | {"typeIds": [5, 5]}, {}, [ITEM, ITEM]), "distinct codes"),
    "columns": (
        {"schema": {"fields": []}, "batches": [{"count": 0, "columns": [{}]}]},
        "batch 0: 1 columns for 0 fields",
    ),
    "column name": (
        {
            "schema": {"fields": [ITEM]},
            "batches": [{"count": 0, "columns": [{"name": "b", "count": 0}]}],
        },
        "batch 0, column 'item': found the column 'b' instead",
    ),
    "row count": (
        {
            "schema": {"fields": [ITEM]},
            "batches": [{"count": 3, "columns": [ITEMS]}],
        },
        "2 values in 3 rows",
    ),
    "no validity": (column(INT8, {"DATA": [1, 2]}), "batch 0, column 'c': columns: no 'VALIDITY'"),
    "validity": (
        column(INT8, {"VALIDITY": [1, 2], "DATA": [1, 2]}),
        "batch 0, column 'c', VALIDITY slot 1: 2: expected 0 or 1",
    ),
    "short": (column(INT8, VALID | {"DATA": [1]}), "DATA: expected 2 items, got 1"),
    "a count without values": (
        {
            "schema": {"fields": [{"name": "c", "nullable": True, "type": INT8, "children": []}]},
            "batches": [
                {
                    "count": 1 << 60,
                    "columns": [{"name": "c", "count": 1 << 60, "VALIDITY": [1], "DATA": [1]}],
                }
            ],
        },
        f"VALIDITY: expected {1 << 60} items, got 1",
    ),
    "range": (column(INT8, VALID | {"DATA": [1, 128]}), "DATA value 1: 128: does not fit int8"),
    "fraction": (column(INT8, VALID | {"DATA": [1, 1.5]}), "DATA value 1: 1.5: expected an int"),
    "digits": (column(INT64, VALID | {"DATA": ["1", "1_0"]}), "'1_0': expected an integer"),
    "hexadecimal": (
        column({"name": "binary"}, VALID | {"OFFSET": [0, 1, 2], "DATA": ["00", "0x"]}),
        "DATA slot 1: '0x'",
    ),
    "half a character": (
        column(TEXT, VALID | {"OFFSET": [0, 0, 3], "DATA": ["", "\ud800"]}),
        "DATA slot 1: ",
    ),
    "offsets of text": (
        column(TEXT, VALID | {"OFFSET": [0, 0, 3], "DATA": ["", "ab"]}),
        "DATA slot 1: 2 bytes between the offsets 0 and 3",
    ),
    "width": (
        column({"name": "fixedsizebinary", "byteWidth": 2}, VALID | {"DATA": ["0000", "00"]}),
        "1 bytes, not 2",
    ),
    "float": (
        column({"name": "floatingpoint", "precision": "HALF"}, VALID | {"DATA": [0, 1e6]}),
        "does not fit halffloat",
    ),
    "offsets of lists": (
        column(LIST, VALID | {"OFFSET": [0, 1, 3], "children": [ITEMS]}, [ITEM]),
        "column 'c', slot 1: offsets 1 to 3 into a child of 2 values",
    ),
    "inside": (
        column(
            LIST, VALID | {"OFFSET": [0, 1, 2], "children": [ITEMS | {"DATA": [1, 999]}]}, [ITEM]
        ),
        "batch 0, column 'c', column 'item', valid DATA value 1",
    ),
    "list view": (
        column(
            {"name": "listview"},
            VALID | {"OFFSET": [0, 1], "SIZE": [0, 2], "children": [ITEMS]},
            [ITEM],
        ),
        "slot 1: offset 1 and size 2",
    ),
    "fixed-size list": (
        column({"name": "fixedsizelist", "listSize": 2}, VALID | {"children": [ITEMS]}, [ITEM]),
        "lists of 2 need 4 values",
    ),
    "type id": (
        column(UNION, {"TYPE_ID": [5, 6], "OFFSET": [0, 1], "children": [ITEMS]}, [ITEM]),
        "slot 1: type id 6",
    ),
    "union offset": (
        column(UNION, {"TYPE_ID": [5, 5], "OFFSET": [0, 2], "children": [ITEMS]}, [ITEM]),
        "slot 1: index 2 into child 0",
    ),
    "no dictionary": (
        column(TEXT, VALID | {"DATA": [0, 0]}, dictionary=INDEX),
        "dictionary 0 is missing",
    ),
    "index": (
        column(TEXT, VALID | {"DATA": [0, 1]}, dictionary=INDEX)
        | {
            "dictionaries": [
                {
                    "id": 0,
                    "data": {
                        "count": 1,
                        "columns": [{"count": 1, "VALIDITY": [1], "OFFSET": [0, 1], "DATA": ["a"]}],
                    },
                }
            ]
        },
        "slot 1: index 1 into a dictionary of 1 values",
    ),
    "run ends": (runs(1), "stop before 2 slots"),
    "descending run ends": (runs(1, 1, 3), "run ends must be positive and increase"),
    "inlined": (views({"SIZE": 2, "INLINED": "a"}), "1 bytes INLINED, not 2"),
    "long and inlined": (views({"SIZE": 13, "INLINED": "a" * 13}), "no 'PREFIX_HEX'"),
    "data buffer": (views(LONG | {"BUFFER_INDEX": 1}), "slot 1: data buffer 1 of 1"),
    "behind a data buffer": (views(LONG), "slot 1: 13 bytes from 0 on in a data buffer of 5"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(case: str) -> None:
    document, message = MALFORMED[case]
    with pytest.raises(InvalidArrowError) as error:
        list(JsonDocument(document))
    assert any(part in str(error.value) for part in message.split("|"))


def test_what_stands_under_a_null_is_not_looked_at() -> None:
    document = column(INT8, {"VALIDITY": [1, 0], "DATA": [1, "anything"]})
    (batch,) = JsonDocument(document)
    assert batch["c"].to_pylist() == [1, None]


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    result = [path]
    for key, inner in items if isinstance(value, dict | list) else ():
        result += (
            paths_in(inner, (*path, key)) if isinstance(inner, dict | list) else [(*path, key)]
        )
    return result


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.integers(-3, 12),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["0", "-1", "int", "utf8", "list", "SECOND", "AB"]),
    st.lists(st.integers(-2, 20), max_size=20),
    st.just({}),
)


@given(st.sampled_from(sorted(CASES)), st.data())
def test_one_wrong_member_is_an_error_or_a_document_that_can_be_written(
    case: str, data: st.DataObject
) -> None:
    document: Any = copy.deepcopy(generate(case, 0))
    for batch in document["batches"]:
        if batch["count"] > 20:
            batch.update(count=0, columns=[])
    *path, last = data.draw(st.sampled_from(paths_in(document)[1:]))
    parent = document
    for key in path:
        parent = parent[key]
    parent[last] = data.draw(ANYTHING)
    with contextlib.suppress(ColkernError):
        read = JsonDocument(document)
        json.dumps(document_of(read.schema, list(read)), allow_nan=False)


# Files


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"\xff", b'"text"', b'{"schema": 1}', b"9" * 5000]
)
def test_no_json_document(raw: bytes) -> None:
    with pytest.raises(InvalidArrowError):
        read_json(io.BytesIO(raw))


def test_json_that_nests_without_end() -> None:
    with pytest.raises(LimitExceededError):
        read_json(io.BytesIO(b"[" * 100_000))
    entry: Json = ITEM
    for _ in range(100):
        entry = {"name": "l", "nullable": True, "type": LIST, "children": [entry]}
    with pytest.raises(LimitExceededError, match="MAX_NESTING"):
        JsonDocument({"schema": {"fields": [entry]}, "batches": []})


@pytest.mark.parametrize("cut", [lambda raw: raw[:-1], lambda raw: raw[:12] + b"\xff" * 9])
def test_malformed_gzip(cut: Callable[[bytes], bytes]) -> None:
    with pytest.raises(InvalidArrowError, match="gzip"):
        read_json(io.BytesIO(cut(gzip.compress(json.dumps(column(INT8, VALID)).encode()))))


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_BYTES", 1000)
    for raw in (b" " * 1001, gzip.compress(b" " * 100_000)):
        with pytest.raises(LimitExceededError, match="MAX_BYTES"):
            read_json(io.BytesIO(raw))


def test_paths_with_gz_are_compressed(tmp_path: Any) -> None:
    batch = RecordBatch.from_arrays([ck.array([1, None])], ["n"])
    for name, start in (("a.json", b"{"), ("a.json.gz", b"\x1f\x8b")):
        path = tmp_path / name
        write_json(path, batch.schema, [batch])
        assert path.read_bytes().startswith(start)
        assert list(read_json(path)) == [batch]


# What the JSON cannot hold


def written(*batches: pa.RecordBatch) -> Json:
    ours = [batch_from_pyarrow(batch) for batch in batches]
    return document_of(ours[0].schema, ours)


def test_numbers_that_json_has_no_digits_for() -> None:
    batch = pa.record_batch({"f": [float("nan"), float("inf"), float("-inf"), -0.0]})
    document = json.loads(json.dumps(written(batch), allow_nan=False))
    assert document["batches"][0]["columns"][0]["DATA"] == ["NaN", "Infinity", "-Infinity", -0.0]
    nan, inf, low, _ = JsonDocument(document)[0]["f"].to_pylist()
    assert (nan != nan, inf, low) == (True, float("inf"), float("-inf"))


def test_a_dictionary_that_grows_is_written_whole() -> None:
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(i, pa.int8()), pa.array(d))
        for i, d in (([0], ["a"]), ([1, 0], ["a", "b"]), ([0], ["a"]))
    ]
    document = written(*(pa.record_batch({"d": column}) for column in columns))
    (dictionary,) = document["dictionaries"]
    assert dictionary["data"]["columns"][0]["DATA"] == ["a", "b"]
    assert [b["d"].to_pylist() for b in JsonDocument(document)] == [["a"], ["b", "a"], ["a"]]


def test_a_dictionary_that_is_replaced_is_refused() -> None:
    batches = [pa.record_batch({"d": pa.array([v]).dictionary_encode()}) for v in ("a", "b")]
    with pytest.raises(UnsupportedError, match="'d' is replaced"):
        written(*batches)


def test_metadata_that_is_no_text_is_refused() -> None:
    schema = s.Schema([s.field("n", s.int8(), metadata={b"k": b"\xff"})])
    with pytest.raises(UnsupportedError, match="not UTF-8"):
        document_of(schema, [])


def test_text_that_is_not_utf8_is_an_error_with_its_slot() -> None:
    raw = pa.array([b"a", b"\xff"])
    text = pa.Array.from_buffers(pa.utf8(), 2, raw.buffers())
    with pytest.raises(InvalidArrowError, match=r"batch 0, column 't', slot 1: not UTF-8"):
        written(pa.record_batch({"t": text}))


def test_nulls_that_nothing_spells_have_a_limit() -> None:
    """A width of two thousand million costs ten digits, and a null nothing at all."""
    type_ = {"name": "fixedsizebinary", "byteWidth": 2**31 - 1}
    document = JsonDocument(column(type_, {"VALIDITY": [0, 0], "DATA": ["", ""]}))
    with pytest.raises(LimitExceededError, match="MAX_UNSPELLED_BYTES"):
        document[0]
    type_["byteWidth"] = 2**19
    nulls = JsonDocument(column(type_, {"VALIDITY": [0, 0], "DATA": ["", ""]}))
    assert nulls[0]["c"].to_pylist() == [None, None]
    # What is spelled has none but that of the document.
    type_["byteWidth"] = 2**20
    members = {"VALIDITY": [0, 1], "DATA": ["", "00" * 2**20]}
    assert JsonDocument(column(type_, members))[0]["c"].null_count == 1
