"""Hashes of rows: stable, the same in every layout, evenly spread; rows by partition."""

from __future__ import annotations

import struct
import subprocess
import sys
from typing import Any

import hash_oracle as oracle
import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import LISTS, TEXTS, ints, sample, samples

import colkern as ck
import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer

# Their bits are no Python value's, or not those of its integer.
NOT_PLAIN = ("float", "decimal", "month_day")


def hashes(array: Array, seed: int = 0) -> list[int]:
    actual = ck.hash_columns([array], seed=seed)
    assert actual.type == s.uint64()
    assert actual.null_count == 0
    return actual.to_pylist()


@pytest.mark.parametrize("name", samples())
def test_equal_values_have_equal_hashes(name: str) -> None:
    array = sample(name)
    whole = hashes(array)
    by_value = dict(zip(map(repr, array.to_pylist()), whole, strict=True))
    assert [by_value[repr(v)] for v in array.to_pylist()] == whole
    assert len(set(by_value.values())) == len(by_value)
    for offset, length in ((0, 5), (3, 7), (9, 1), (4, 0)):
        assert hashes(array.slice(offset, length)) == whole[offset : offset + length]
    assert hashes(ck.take(array, ints([11, 0, 5]))) == [whole[11], whole[0], whole[5]]
    assert set(hashes(array, 1)).isdisjoint(whole)


@pytest.mark.parametrize("name", sorted(n for n in samples() if not n.startswith(NOT_PLAIN)))
@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_hashes_are_what_is_written_down(name: str, seed: int) -> None:
    array = sample(name)
    state = oracle.state_of(seed)
    values = [_plain(v) for v in array.to_pylist()]
    assert hashes(array, seed) == [oracle.hash_value(v, state) for v in values]


def _plain(value: Any) -> Any:
    """Dates and times as the integers that are stored."""
    if hasattr(value, "timestamp"):
        return round(value.timestamp() * 1e6)
    if hasattr(value, "toordinal"):
        return value.toordinal() - 719163
    if isinstance(value, list):
        # The entries of a map are structs.
        return [_plain({"k": v[0], "v": v[1]} if isinstance(v, tuple) else v) for v in value]
    return value


def test_layouts_of_text_hash_alike() -> None:
    types = [pa.string(), pa.large_string(), pa.string_view()]
    texts = [hashes(from_pyarrow(pa.array(TEXTS, type_))) for type_ in types]
    raw = [None if t is None else t.encode() for t in TEXTS]
    binary = [pa.binary(), pa.large_binary(), pa.binary_view()]
    texts += [hashes(from_pyarrow(pa.array(raw, type_))) for type_ in binary]
    texts.append(hashes(from_pyarrow(pa.array(TEXTS).dictionary_encode())))
    texts.append(hashes(ck.dictionary_encode(sample("utf8_view"), null_encoding="encode")))
    assert all(item == texts[0] for item in texts)
    fixed = [b"1234567", b"abcdefg"]
    assert hashes(from_pyarrow(pa.array(fixed, pa.binary(7)))) == hashes(
        from_pyarrow(pa.array(fixed))
    )


def test_layouts_of_lists_hash_alike() -> None:
    types = [pa.list_(pa.int16()), pa.large_list(pa.int64()), pa.list_view(pa.int32())]
    actual = [hashes(from_pyarrow(pa.array(LISTS, type_))) for type_ in types]
    assert all(other == actual[0] for other in actual)
    pairs = [[1, 2], None, [3, None]]
    assert hashes(from_pyarrow(pa.array(pairs, pa.list_(pa.int8(), 2)))) == hashes(
        from_pyarrow(pa.array(pairs))
    )


def test_integers_of_any_width_hash_alike() -> None:
    values = [0, 1, 100, None, 127]
    kinds = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
    kinds += [pa.timestamp("ns"), pa.date32(), pa.duration("s"), pa.time64("us")]
    actual = [hashes(from_pyarrow(pa.array(values, pa.int64()).cast(kind))) for kind in kinds[:8]]
    actual += [
        hashes(
            from_pyarrow(pa.array(values, pa.int32() if k == pa.date32() else pa.int64()).view(k))
        )
        for k in kinds[8:]
    ]
    assert all(other == actual[0] for other in actual)
    negative = [hashes(from_pyarrow(pa.array([-1, -128], kind))) for kind in kinds[:4]]
    assert all(other == negative[0] for other in negative)
    truth = from_pyarrow(pa.array([False, True, None]))
    assert hashes(truth) == hashes(ints([0, 1, None]))


@pytest.mark.parametrize(
    ("type_", "code"), [(pa.float16(), "e"), (pa.float32(), "f"), (pa.float64(), "d")]
)
def test_zeros_are_alike_and_nans_are(type_: pa.DataType, code: str) -> None:
    width = struct.calcsize(code)
    quiet = struct.unpack("<" + code, struct.pack("<" + code, float("nan")))[0]
    values = np.array([0.0, -0.0, quiet, -quiet, 1.0, np.inf], code)
    raw = values.view(f"u{width}").copy()
    raw[3] |= 1
    array = Array(from_pyarrow(pa.array([], type_)).type, 6, [None, Buffer.from_object(raw)])
    actual = hashes(array)
    assert actual[0] == actual[1]
    assert actual[2] == actual[3]
    assert len(set(actual)) == 4
    state = oracle.state_of(0)
    assert actual == [oracle.hash_float(int(bits), 8 * width, state) for bits in raw]


def test_decimals() -> None:
    narrow = from_pyarrow(sample_decimals(pa.decimal32(5, 2)))
    assert hashes(narrow) == hashes(from_pyarrow(sample_decimals(pa.decimal64(9, 2))))
    wide = sample_decimals(pa.decimal128(30, 2))
    state = oracle.state_of(0)
    expected = [
        oracle.hash_value(
            None if v is None else int(v * 100).to_bytes(16, "little", signed=True), state
        )
        for v in wide.to_pylist()
    ]
    assert hashes(from_pyarrow(wide)) == expected


def sample_decimals(type_: pa.DataType) -> pa.Array:
    return pa.array([None, 1, -2, 250], pa.int32()).cast(pa.decimal64(12, 2)).cast(type_)


def test_unions_hash_what_they_show() -> None:
    for name in ("dense union", "sparse union"):
        state = oracle.state_of(0)
        expected = [oracle.hash_value(v, state) for v in sample(name).to_pylist()]
        assert hashes(sample(name)) == expected


def test_rows_combine_columns_in_order() -> None:
    columns = [sample(name) for name in ("utf8", "int8", "list", "dictionary")]
    state = oracle.state_of(5)
    for part in (columns, columns[::-1], columns[:2], [columns[0]] * 2):
        expected = []
        for row in zip(*(column.to_pylist() for column in part), strict=True):
            h = oracle.hash_value(row[0], state)
            for value in row[1:]:
                h = oracle.combined(h, oracle.hash_value(value, state))
            expected.append(h)
        assert ck.hash_columns(part, seed=5).to_pylist() == expected


def test_hashes_are_the_same_in_another_process() -> None:
    code = (
        "import colkern as ck; a = ck.array(['a', None, 'x' * 40]); "
        "print(ck.hash_columns([a, ck.array([1, 2, None])]).to_pylist())"
    )
    actual = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    expected = ck.hash_columns([ck.array(["a", None, "x" * 40]), ck.array([1, 2, None])])
    assert actual.stdout.strip() == str(expected.to_pylist())


def test_known_hashes() -> None:
    # A change of these breaks who keeps rows in partitions.
    assert hashes(ck.array([0, 1, None])) == [
        12764552835786019118,
        2107901167425696765,
        6067587465852844084,
    ]
    assert hashes(ck.array(["", "a", "seventeen letters"])) == [
        15406612504435631983,
        15842316493437819274,
        12849200356562928185,
    ]


def spread(numbers: Any, partitions: int) -> float:
    """The distance of the sizes of partitions from what chance gives, in its standard deviations."""
    sizes = np.bincount(numbers, minlength=partitions)
    mean = len(numbers) / partitions
    result: float = float(((sizes - mean) ** 2 / mean).sum() - partitions) / (2 * partitions) ** 0.5
    return result


@pytest.mark.parametrize(
    "kind", ["counting", "multiples", "floats", "short text", "long text", "pairs", "lists"]
)
def test_rows_spread_over_partitions(kind: str) -> None:
    counting = np.arange(100_000)
    columns = {
        "counting": [pa.array(counting)],
        "multiples": [pa.array(counting << 32)],
        "floats": [pa.array(counting / 8)],
        "short text": [pa.array([str(k) for k in counting])],
        "long text": [pa.array([f"https://example.org/things/{k}/and/more" for k in counting])],
        "pairs": [pa.array(counting // 300), pa.array(counting % 300)],
        "lists": [pa.array([[int(k) // 300, int(k) % 300] for k in counting])],
    }[kind]
    result = ck.hash_columns([from_pyarrow(column) for column in columns])
    values = np.array(result.to_pylist(), np.uint64)
    assert len(set(values.tolist())) == len(values)
    for partitions in (2, 7, 64, 1000):
        share = np.uint64(partitions)
        # By the upper bits, as `partition_indices` has it, and by the lower ones, as others do.
        assert abs(spread((values >> np.uint64(32)) * share >> np.uint64(32), partitions)) < 5
        assert abs(spread(values % share, partitions)) < 5


@pytest.mark.parametrize("kind", ["number", "text", "long text"])
def test_every_bit_of_a_value_changes_about_half_of_its_hash(kind: str) -> None:
    rng = np.random.default_rng(4)
    size = {"number": 8, "text": 11, "long text": 37}[kind]
    base = rng.integers(0, 256, (200, size), np.uint8)
    bits = size * 8
    flipped = np.repeat(base, bits, 0)
    places = np.tile(np.arange(bits), 200)
    flipped[np.arange(len(flipped)), places // 8] ^= (1 << places % 8).astype(np.uint8)

    def hashed(rows: Any) -> Any:
        if kind == "number":
            array = ck.array(rows.copy().view("<u8").reshape(-1))
        else:
            array = from_pyarrow(pa.array([bytes(row) for row in rows], pa.binary()))
        return np.array(hashes(array), np.uint64)

    changes = np.repeat(hashed(base), bits) ^ hashed(flipped)
    shares = [((changes >> np.uint64(bit)) & np.uint64(1)).mean() for bit in range(64)]
    assert min(shares) > 0.45
    assert max(shares) < 0.55
    by_place = np.bitwise_count(changes).reshape(200, bits).mean(0)
    assert by_place.min() > 28
    assert by_place.max() < 36


@given(st.lists(st.none() | st.binary(max_size=70), max_size=50), st.integers(0, 2**64 - 1))
def test_hash_any_bytes(values: list[bytes | None], seed: int) -> None:
    state = oracle.state_of(seed)
    expected = [oracle.hash_value(v, state) for v in values]
    for type_ in (pa.binary(), pa.large_binary(), pa.binary_view()):
        assert hashes(from_pyarrow(pa.array(values, type_)), seed) == expected


def test_wrong_use_of_hash_columns() -> None:
    with pytest.raises(ValueError, match="arrays: need at least one"):
        ck.hash_columns([])
    with pytest.raises(ValueError, match="number 1 has 2 values, not 1"):
        ck.hash_columns([ints([1]), ints([1, 2])])
    with pytest.raises(ValueError, match=r"seed: expected 0 to 2\*\*64 - 1, got -1"):
        ck.hash_columns([ints([1])], seed=-1)
    offsets = Buffer.from_object(np.array([0, 2**30], np.int32))
    broken = Array(s.utf8(), 1, [None, offsets, Buffer.from_object(b"abc")])
    with pytest.raises(InvalidArrowError):
        ck.hash_columns([broken])


@pytest.mark.parametrize("partitions", [1, 5, 1000, 2**20])
@pytest.mark.parametrize("count", [0, 1, 3000])
def test_partitions(partitions: int, count: int) -> None:
    values = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    positions, offsets = ck.partition_indices(ck.array(values), partitions)
    numbers = [(int(v) >> 32) * partitions >> 32 for v in values]
    expected = sorted(range(count), key=lambda i: numbers[i])
    assert positions.to_pylist() == expected
    actual = np.array(offsets.to_pylist())
    assert len(actual) == partitions + 1
    assert actual[-1] == count
    assert (np.diff(actual) == np.bincount(numbers, minlength=partitions)).all()


def test_wrong_use_of_partition_indices() -> None:
    with pytest.raises(TypeError, match="hashes: expected uint64, got int64"):
        ck.partition_indices(ints([1]), 3)
    with pytest.raises(ValueError, match="hashes: must not be null"):
        ck.partition_indices(ints([1, None], s.uint64()), 3)
    with pytest.raises(ValueError, match="partitions: expected 1 to"):
        ck.partition_indices(ints([1], s.uint64()), 0)
