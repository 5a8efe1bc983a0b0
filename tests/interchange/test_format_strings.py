"""C Data interface, "Data type description": the format string of every type, both ways."""

from __future__ import annotations

import pytest

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.interchange.schemas import format_of, type_of
from colkern.schema import (
    Field,
    Map,
    RunEndEncoded,
    Struct,
    binary,
    binary_view,
    bool_,
    date32,
    date64,
    day_time_interval,
    decimal32,
    decimal64,
    decimal128,
    decimal256,
    dense_union,
    dictionary,
    duration,
    extension,
    field,
    fixed_size_binary,
    fixed_size_list,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    large_binary,
    large_list,
    large_list_view,
    large_utf8,
    list_,
    list_view,
    month_day_nano_interval,
    month_interval,
    null,
    sparse_union,
    time32,
    time64,
    timestamp,
    uint8,
    uint16,
    uint32,
    uint64,
    utf8,
    utf8_view,
)

ITEM = field("item", int32())
PAIR = (field("a", int32()), field("b", utf8()))
ENTRIES = field("entries", Struct(PAIR), nullable=False)
RUNS = (field("run_ends", int16(), nullable=False), field("values", utf8()))

# Written down from the specification's tables.
FORMATS = {
    "n": null(),
    "b": bool_(),
    "c": int8(),
    "C": uint8(),
    "s": int16(),
    "S": uint16(),
    "i": int32(),
    "I": uint32(),
    "l": int64(),
    "L": uint64(),
    "e": float16(),
    "f": float32(),
    "g": float64(),
    "z": binary(),
    "Z": large_binary(),
    "vz": binary_view(),
    "u": utf8(),
    "U": large_utf8(),
    "vu": utf8_view(),
    "d:19,10": decimal128(19, 10),
    "d:19,-3": decimal128(19, -3),
    "d:9,2,32": decimal32(9, 2),
    "d:18,2,64": decimal64(18, 2),
    "d:76,2,256": decimal256(76, 2),
    "w:42": fixed_size_binary(42),
    "w:0": fixed_size_binary(0),
    "tdD": date32(),
    "tdm": date64(),
    "tts": time32("s"),
    "ttm": time32("ms"),
    "ttu": time64("us"),
    "ttn": time64("ns"),
    "tss:": timestamp("s"),
    "tsm:": timestamp("ms"),
    "tsu:Europe/Zürich": timestamp("us", "Europe/Zürich"),
    "tsn:+05:30": timestamp("ns", "+05:30"),
    "tDs": duration("s"),
    "tDm": duration("ms"),
    "tDu": duration("us"),
    "tDn": duration("ns"),
    "tiM": month_interval(),
    "tiD": day_time_interval(),
    "tin": month_day_nano_interval(),
    "+l": list_(ITEM),
    "+L": large_list(ITEM),
    "+vl": list_view(ITEM),
    "+vL": large_list_view(ITEM),
    "+w:3": fixed_size_list(ITEM, 3),
    "+s": Struct(PAIR),
    "+m": Map(ENTRIES),
    "+us:0,5": sparse_union(PAIR, (0, 5)),
    "+ud:7,1": dense_union(PAIR, (7, 1)),
    "+us:": sparse_union(()),
    "+r": RunEndEncoded(*RUNS),
}


@pytest.mark.parametrize("text", FORMATS)
def test_each_type_has_its_format_string(text: str) -> None:
    assert format_of(FORMATS[text]) == text
    assert type_of(text, FORMATS[text].fields) == FORMATS[text]


def test_decimals_of_128_bits_may_say_so() -> None:
    assert type_of("d:5,2,128") == decimal128(5, 2)


def test_a_dictionary_has_the_format_of_its_indices() -> None:
    assert format_of(dictionary(uint16(), utf8())) == "S"


def test_the_order_of_map_keys_comes_from_a_flag() -> None:
    assert type_of("+m", (ENTRIES,), keys_sorted=True) == Map(ENTRIES, keys_sorted=True)


@pytest.mark.parametrize("text", ["", "x", "tsq:", "ts", "+", "+z", "w", "d", "tss", "+vx"])
def test_unknown_formats_are_not_supported(text: str) -> None:
    with pytest.raises(UnsupportedError, match="unknown format string"):
        type_of(text)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("w:", ()),
        ("w:-1", ()),
        ("w:2147483648", ()),
        ("d:5,2147483648", ()),
        ("+w:2147483648", (ITEM,)),
        ("w: 1", ()),
        ("w:1_0", ()),
        ("w:" + "9" * 5000, ()),
        ("d:", ()),
        ("d:5", ()),
        ("d:5,2,128,1", ()),
        ("d:0,0", ()),
        ("d:39,0", ()),
        ("d:5,2,100", ()),
        ("l", (ITEM,)),
        ("tss:", (ITEM,)),
        ("+l", ()),
        ("+l", PAIR),
        ("+w:-1", (ITEM,)),
        ("+m", (ITEM,)),
        ("+us:0", PAIR),
        ("+us:0,0", PAIR),
        ("+ud:0,128", PAIR),
        ("+ud:0,-1", PAIR),
        ("+r", (ITEM,)),
        ("+r", (field("run_ends", int8()), ITEM)),
    ],
)
def test_malformed_parameters_are_invalid(text: str, fields: tuple[Field, ...]) -> None:
    with pytest.raises(InvalidArrowError, match="format string"):
        type_of(text, fields)


def test_what_has_no_format_string_is_said() -> None:
    with pytest.raises(UnsupportedError, match="no format string"):
        format_of(extension("a", int32()))
