"""Dictionaries: decoding, encoding, one for several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from numpy import uint64
from operations.samples import ints, sample, samples
from present import present

import colkern as ck
import colkern.schema as s
from colkern.arrays import Array
from colkern.cpu.threads import set_num_threads
from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.kernels.hashing import P1, fold_pair, state_of
from colkern.operations import dictionaries
from colkern.operations.dictionaries import numbers_by_sorting
from colkern.operations.dictionary_tables import numbers_by_table

UNMARKED = ("dense union", "sparse union", "run-end encoded", "run-end encoded, int64 ends")
NESTED = ("list", "struct", "map", "union", "run-end")
FLAT = [name for name in samples() if not any(word in name for word in NESTED)]
ENCODED = [name for name in FLAT if name not in ("null", "dictionary")]
PICKS = [0, None, 3, 11, 3, 2, None, 7, 1]


def over(values: Array, picks: list[int | None], type_: pa.DataType | None = None) -> Array:
    """A dictionary-encoded array."""
    indices = from_pyarrow(pa.array(picks, type_ or pa.int8()))
    assert isinstance(indices.type, s.Int)
    kind = s.dictionary(indices.type, values.type)
    return Array(kind, len(picks), indices.buffers, dictionary=values)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("cut", [(0, 12), (3, 7)])
def test_decode_is_looking_up(name: str, cut: tuple[int, int]) -> None:
    values = sample(name).slice(*cut)
    known = values.to_pylist()
    picks = [p if p is None else p % cut[1] for p in PICKS]
    if name in UNMARKED:
        picks = [p for p in picks if p is not None]
    array = over(values, picks)
    for part in (array, array.slice(1), array.slice(2, 3), array.slice(4, 0)):
        decoded = ck.dictionary_decode(part)
        assert decoded.to_pylist() == part.to_pylist()
        assert decoded.type == values.type
        decoded.validate(full=True)
    expected = [None if p is None else known[p] for p in picks]
    assert ck.dictionary_decode(array).to_pylist() == expected


@pytest.mark.parametrize("name", UNMARKED)
def test_null_indices_into_values_without_nulls_of_their_own(name: str) -> None:
    decoded = ck.dictionary_decode(over(sample(name), [0, None]))
    assert decoded.to_pylist() == [*sample(name).slice(0, 1).to_pylist(), None]


@pytest.mark.parametrize(
    "type_", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.uint32(), pa.int64(), pa.uint64()]
)
@pytest.mark.parametrize("name", ["utf8", "large_binary", "int8", "decimal128", "bool"])
def test_indices_of_any_type(type_: pa.DataType, name: str) -> None:
    values = sample(name)
    array = over(values, [2, None, 5, 0], type_)
    known = values.to_pylist()
    assert ck.dictionary_decode(array).to_pylist() == [known[2], None, known[5], known[0]]


def test_what_stands_under_a_null_index_is_not_followed() -> None:
    indices = np.array([-100, 1, 99], np.int8)
    validity = ck.Buffer.from_object(b"\x02")
    for values in (sample("utf8"), sample("int8"), sample("bool"), sample("utf8_view")):
        type_ = s.dictionary(s.int8(), values.type)
        array = Array(type_, 3, [validity, ck.Buffer.from_object(indices)], dictionary=values)
        assert ck.dictionary_decode(array).to_pylist() == [None, values.to_pylist()[1], None]


def test_decode_with_an_empty_dictionary() -> None:
    array = over(sample("utf8").slice(0, 0), [None, None])
    assert ck.dictionary_decode(array).to_pylist() == [None, None]


def test_decode_strings_of_many_blocks() -> None:
    rng = np.random.default_rng(3)
    words = ["", "a", "twelve bytes", None, "x" * 40, "ü" * 9]
    picks = [None if p == 6 else int(p) for p in rng.integers(0, 7, 3000)]
    theirs = pa.DictionaryArray.from_arrays(pa.array(picks, pa.int32()), pa.array(words))
    for part in (theirs, theirs.slice(5, 2000)):
        decoded = ck.dictionary_decode(from_pyarrow(part))
        assert decoded.to_pylist() == part.to_pylist()
        decoded.validate(full=True)


def test_decoded_strings_that_do_not_fit_their_offsets() -> None:
    array = over(from_pyarrow(pa.array(["x" * (1 << 24)])), [0] * 128)
    with pytest.raises(LimitExceededError, match="offsets of int32"):
        ck.dictionary_decode(array)


def test_decode_needs_a_dictionary() -> None:
    with pytest.raises(TypeError, match="expected a dictionary-encoded array, got int64"):
        ck.dictionary_decode(ints([1]))


def test_indices_are_looked_at_before_they_are_followed() -> None:
    with pytest.raises(InvalidArrowError):
        ck.dictionary_decode(over(sample("utf8").slice(0, 3), [1, 3]))


# Encoding


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("nulls", ["mask", "encode"])
def test_encode_and_decode(name: str, nulls: Any) -> None:
    whole = sample(name)
    for array in (whole, whole.slice(3, 7), whole.slice(5, 0), ck.concat([whole, whole.slice(1)])):
        encoded = ck.dictionary_encode(array, null_encoding=nulls)
        encoded.validate(full=True)
        assert encoded.type == s.dictionary(s.int32(), array.type)
        assert encoded.to_pylist() == array.to_pylist()
        assert ck.dictionary_decode(encoded).to_pylist() == array.to_pylist()
        values = present(encoded.dictionary).to_pylist()
        distinct = list(dict.fromkeys(array.to_pylist()))
        assert values == [v for v in distinct if nulls == "encode" or v is not None]
        assert encoded.null_count == (array.null_count if nulls == "mask" else 0)


@pytest.mark.parametrize("name", sorted(set(ENCODED) - {"utf8_view", "binary_view", "extension"}))
@pytest.mark.parametrize("nulls", ["mask", "encode"])
def test_encode_agrees_with_pyarrow(name: str, nulls: Any) -> None:
    theirs = samples()[name]
    try:
        expected = theirs.dictionary_encode(nulls)
    except pa.ArrowNotImplementedError:
        pytest.skip("pyarrow does not")
    encoded = ck.dictionary_encode(from_pyarrow(theirs), null_encoding=nulls)
    assert present(encoded.dictionary).to_pylist() == expected.dictionary.to_pylist()
    plain = Array(s.int32(), 12, encoded.buffers, offset=encoded.offset)
    assert plain.to_pylist() == expected.indices.to_pylist()


def test_encode_nulls() -> None:
    array = sample("null")
    masked = ck.dictionary_encode(array)
    assert (masked.to_pylist(), len(present(masked.dictionary))) == ([None] * 12, 0)
    counted = ck.dictionary_encode(array, null_encoding="encode")
    assert (counted.to_pylist(), len(present(counted.dictionary))) == ([None] * 12, 1)
    assert counted.null_count == 0
    for item in (masked, counted, ck.dictionary_encode(array.slice(0, 0), null_encoding="encode")):
        item.validate(full=True)


def test_encoded_arrays_are_returned() -> None:
    array = sample("dictionary")
    assert ck.dictionary_encode(array) is array


@pytest.mark.parametrize("name", sorted(set(samples()) - set(FLAT)))
def test_nested_values_are_not_encoded(name: str) -> None:
    with pytest.raises(UnsupportedError, match="not looked up, only flat ones"):
        ck.dictionary_encode(sample(name))


def test_floats_are_their_bits() -> None:
    array = from_pyarrow(pa.array([0.0, -0.0, float("nan"), 0.0, float("nan"), -0.0]))
    encoded = ck.dictionary_encode(array)
    assert Array(s.int32(), 6, encoded.buffers).to_pylist() == [0, 1, 2, 0, 2, 1]


def index_type(array: Array) -> s.Int:
    assert isinstance(array.type, s.Dictionary)
    return array.type.index_type


def test_index_types() -> None:
    array = ints(list(range(129)))
    assert index_type(ck.dictionary_encode(array, index_type=s.uint8())) == s.uint8()
    with pytest.raises(LimitExceededError, match="129 distinct values do not fit indices of int8"):
        ck.dictionary_encode(array, index_type=s.int8())
    assert len(present(ck.dictionary_encode(array.slice(1), index_type=s.int8()).dictionary)) == 128
    with pytest.raises(TypeError, match="index_type"):
        ck.dictionary_encode(array, index_type=s.utf8())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null_encoding: expected 'mask' or 'encode', got 'drop'"):
        ck.dictionary_encode(array, null_encoding="drop")  # type: ignore[arg-type]


@cache
def many() -> dict[str, pa.Array]:
    """Arrays whose tables grow, several chunks long."""
    rng = np.random.default_rng(9)
    few = rng.integers(0, 40, 100_000)
    some = rng.integers(0, 20_000, 100_000)
    wide = some * 0x1_0001_0001
    nulls = rng.random(100_000) < 0.1
    return {
        "few": pa.array(few, mask=nulls),
        "negative": pa.array(few - 20, pa.int16()),
        "many": pa.array(some, pa.int32(), mask=nulls),
        "far apart": pa.array(wide, mask=nulls),
        "all different": pa.array(rng.permutation(100_000) * 0x1_0001_0001),
        "all different, late": pa.array(np.maximum(np.arange(100_000) - 50_000, 0) * 0x1_0001_0001),
        "floats": pa.array(wide / 7.0),
        "strings": pa.array([f"text {k:o}" * (k % 4) for k in some.tolist()], mask=nulls),
        "views": pa.array([f"text {k:o}" * (k % 4) for k in some.tolist()], pa.string_view()),
        "decimals": pa.array([Decimal(int(k)) for k in some[:40_000]], pa.decimal128(30)),
    }


@pytest.mark.parametrize("name", many())
def test_encode_many(name: str) -> None:
    theirs = many()[name]
    for part in (theirs, theirs.slice(7, 70_001)):
        array = from_pyarrow(part)
        values = part.to_pylist()
        for counted in (False, True):
            numbers, firsts = numbers_by_table(array, counted, np.uint32)
            seen: dict[Any, int] = {}
            expected = [
                0 if v is None and not counted else seen.setdefault(v, len(seen)) for v in values
            ]
            assert numbers.tolist() == expected
            assert [values[i] for i in firsts.tolist()] == list(seen)
            again = numbers_by_sorting(array, counted, np.uint32)
            assert again[0].tolist() == expected
            assert again[1].tolist() == firsts.tolist()


@cache
def colliding_texts() -> list[str]:
    """Texts of 32 bytes that have one hash: their last word makes a factor of `fold_pair` 0."""
    for k in range(10_000):
        head = f"{k:016d}".encode()
        words = (int.from_bytes(head[at : at + 8], "little") for at in (0, 8))
        last = int(fold_pair(uint64(state_of(0)), *map(uint64, words))).to_bytes(8, "little")
        if last.isascii():
            return [(head + b"%08d" % n + last).decode() for n in range(20)]
    raise AssertionError


def colliding_bytes(length: int) -> list[bytes]:
    """Values that have one hash: a first word of `P1` makes a factor 0, whatever the others are."""
    return [int(P1).to_bytes(8, "little") + n.to_bytes(length - 8, "little") for n in range(20)]


COLLIDING: dict[pa.DataType, list[Any]] = {
    pa.string(): colliding_texts(),
    pa.large_string(): colliding_texts(),
    pa.string_view(): colliding_texts(),
    pa.binary(): colliding_bytes(10),
    pa.binary_view(): colliding_bytes(12),
    pa.large_binary(): colliding_bytes(70),
    pa.binary(16): colliding_bytes(16),
    pa.decimal128(38): [
        Decimal(int.from_bytes(value, "little")) for value in colliding_bytes(16)[:3]
    ],
}
"""By the type, different values that have one hash."""


@pytest.mark.parametrize("type_", COLLIDING, ids=str)
def test_values_chosen_for_equal_hashes_are_told_apart(type_: pa.DataType) -> None:
    values = COLLIDING[type_] * 3
    array = from_pyarrow(pa.array(values, type_))
    assert len(set(ck.hash_columns([array]).to_pylist())) == 1
    assert ck.unique(array).to_pylist() == COLLIDING[type_]
    assert ck.value_counts(array).children[1].to_pylist() == [3] * len(COLLIDING[type_])
    encoded = ck.dictionary_encode(array, index_type=s.int64())
    assert encoded.to_pylist() == values
    counts = ck.group_by(ck.record_batch({"k": array}), "k").aggregate([("k", "count")])
    assert counts["k"].to_pylist() == COLLIDING[type_]
    joined = ck.join(ck.record_batch({"k": array}), ck.record_batch({"k": ck.unique(array)}), "k")
    assert joined["k"].to_pylist() == values


@pytest.mark.parametrize(
    "type_", [pa.int64(), pa.float64(), *COLLIDING], ids=lambda type_: f"{type_}"
)
def test_number_many_values_on_threads(type_: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "_RANGE", 100)
    set_num_threads(3)
    rng = np.random.default_rng(12)
    numbers = [int(n) for n in rng.integers(0, 40_000, 20_000) << 30]
    plain = pa.array(numbers)
    if pa.types.is_floating(type_):
        plain = pa.array([n / 7 for n in numbers])
    elif not pa.types.is_integer(type_) and not pa.types.is_decimal(type_):
        plain = pa.array([f"{n:016d}"[:16] for n in numbers]).cast(pa.binary()).cast(type_)
    try:
        for values in (plain.cast(type_), pa.array(COLLIDING.get(type_, []) * 500, type_)):
            array = from_pyarrow(pa.concat_arrays([plain.cast(type_), values]))
            seen: dict[Any, int] = {}
            expected = [seen.setdefault(value, len(seen)) for value in array.to_pylist()]
            for dtype in (np.uint32, np.uint64):
                actual = dictionaries.number_values(array, True, dtype)[0]
                assert actual.tolist() == expected
            assert ck.unique(array).to_pylist() == list(seen)
    finally:
        set_num_threads(0)


@given(st.data())
def test_number_any_values_of_equal_hashes(data: st.DataObject) -> None:
    type_ = data.draw(st.sampled_from(list(COLLIDING)))
    some = COLLIDING[type_]
    others = st.text(max_size=40) if isinstance(some[0], str) else st.binary(max_size=40)
    fixed = type_ in (pa.binary(16), pa.decimal128(38))
    chosen = st.none() | st.sampled_from(some) | (st.nothing() if fixed else others)
    values = data.draw(st.lists(chosen, min_size=1, max_size=200))
    skipped = data.draw(st.integers(0, len(values)))
    array = from_pyarrow(pa.array(values, type_)).slice(skipped)
    for counted in (False, True):
        seen: dict[Any, int] = {}
        expected = [
            0 if v is None and not counted else seen.setdefault(v, len(seen))
            for v in values[skipped:]
        ]
        for way in (numbers_by_table, numbers_by_sorting):
            for dtype in (np.uint8, np.uint64):
                numbers, firsts = way(array, counted, dtype)
                assert numbers.tolist() == expected
                assert [values[skipped + i] for i in firsts.tolist()] == list(seen)


@given(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=200),
    st.booleans(),
)
def test_encode_any_integers(values: list[int | None], counted: bool) -> None:
    array = from_pyarrow(pa.array(values, pa.int64()))
    encoded = ck.dictionary_encode(array, null_encoding="encode" if counted else "mask")
    assert encoded.to_pylist() == values
    distinct = [v for v in dict.fromkeys(values) if counted or v is not None]
    assert present(encoded.dictionary).to_pylist() == distinct


@given(st.lists(st.none() | st.text(max_size=20) | st.sampled_from("abc"), max_size=200))
def test_encode_any_text(values: list[str | None]) -> None:
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        encoded = ck.dictionary_encode(from_pyarrow(pa.array(values, type_)))
        assert encoded.to_pylist() == values
        assert present(encoded.dictionary).to_pylist() == [
            v for v in dict.fromkeys(values) if v is not None
        ]


# One dictionary for several arrays


def words(picks: list[int | None], values: Sequence[str | None], type_: pa.DataType) -> Array:
    return over(from_pyarrow(pa.array(values, pa.string())), picks, type_)


def test_unify_agrees_with_pyarrow() -> None:
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(picks, pa.int8()), pa.array(values))
        for picks, values in (
            ([0, 1, None, 2], ["a", "b", "c"]),
            ([2, 2, 0], ["c", "x", "a"]),
            ([], ["z"]),
            ([None], ["b"]),
        )
    ]
    theirs = pa.chunked_array(parts).unify_dictionaries()
    ours = ck.unify_dictionaries([from_pyarrow(part) for part in parts])
    for mine, chunk in zip(ours, theirs.chunks, strict=True):
        assert mine.to_pylist() == chunk.to_pylist()
        assert present(mine.dictionary).to_pylist() == chunk.dictionary.to_pylist()
        assert mine.dictionary is ours[0].dictionary
        mine.validate(full=True)
    assert ck.concat(ours).dictionary is ours[0].dictionary
    assert ck.concat(ours).to_pylist() == theirs.to_pylist()


@pytest.mark.parametrize("name", ENCODED)
def test_unify_values_of_any_type(name: str) -> None:
    values = sample(name)
    parts = [over(values.slice(3, 7), [0, None, 6, 2]), over(values, PICKS).slice(2, 4)]
    unified = ck.unify_dictionaries(parts)
    assert [part.to_pylist() for part in unified] == [part.to_pylist() for part in parts]
    common = present(unified[0].dictionary).to_pylist()
    assert common == list(dict.fromkeys([*values.slice(3, 7).to_pylist(), *values.to_pylist()]))
    for part in unified:
        part.validate(full=True)


def test_unified_arrays_are_returned() -> None:
    whole = sample("dictionary")
    parts = [whole, whole.slice(3)]
    unified = ck.unify_dictionaries(parts)
    assert all(a is b for a, b in zip(unified, parts, strict=True))
    assert ck.unify_dictionaries([]) == []


def test_one_dictionary_for_nested_values() -> None:
    values = sample("list")
    parts = [over(values, [0, 5]), over(values, [1], pa.int16())]
    unified = ck.unify_dictionaries(parts, index_type=s.int32())
    assert [part.to_pylist() for part in unified] == [part.to_pylist() for part in parts]
    assert {index_type(part) for part in unified} == {s.int32()}
    with pytest.raises(UnsupportedError, match="only flat ones"):
        ck.unify_dictionaries([over(values, [0]), over(ck.concat([values, values]), [0])])


def test_unify_empty_dictionaries() -> None:
    parts = [words([None], [], pa.int8()), words([], [], pa.int8())]
    assert [part.to_pylist() for part in ck.unify_dictionaries(parts)] == [[None], []]


def test_a_common_dictionary_that_is_too_long() -> None:
    texts = [str(k) for k in range(129)]
    parts = [words([0, 127], texts[:128], pa.int8()), words([1], texts[127:], pa.int8())]
    with pytest.raises(LimitExceededError, match="129 distinct values do not fit indices of int8"):
        ck.unify_dictionaries(parts)
    wider = ck.unify_dictionaries(parts, index_type=s.int16())
    assert [part.to_pylist() for part in wider] == [["0", "127"], ["128"]]


def test_what_cannot_be_unified() -> None:
    one = words([0], ["a"], pa.int8())
    with pytest.raises(TypeError, match="number 1 is not dictionary-encoded: int64"):
        ck.unify_dictionaries([one, ints([1])])
    with pytest.raises(TypeError, match="number 1 is dictionary<values=int64"):
        ck.unify_dictionaries([one, over(ints([1]), [0])])
    with pytest.raises(TypeError, match="indices of int16, not int8; pass an index_type"):
        ck.unify_dictionaries([one, words([0], ["a"], pa.int16())])


def test_nulls_that_no_slot_points_at_take_no_memory() -> None:
    many = ck.nulls(1 << 50, ck.null())
    codes = ck.array([1, None, 0], "int8")
    encoded = Array(ck.dictionary("int8", "null"), 3, codes.buffers, dictionary=many)
    assert ck.unique(encoded).to_pylist() == [None]
    assert ck.is_null(encoded).to_pylist() == [True, True, True]
    runs = ck.run_end_encode(ck.array([None, None]))
    assert ck.unique(runs).to_pylist() == [None]
