"""Dense tensors: messages of pyarrow's, messages by hand, and what must be refused."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flatbuf import MessageHeader, Type
from golden import golden_files
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from ipc.tensor_messages import by_colkern, framed

import colkern as ck
import colkern.ipc
from colkern import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.ipc import Limits, Tensor, read_tensor, read_tensors, write_tensor

INT32 = {"type_type": Type.Int, "type": {"bitWidth": 32, "is_signed": True}}
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def dense(
    shape: list[int],
    strides: list[int] | None = None,
    body: bytes = bytes(64),
    place: tuple[int, int] | None = None,
    **type_: Any,
) -> bytes:
    """A tensor's message; of int32, unless another type is given."""
    header = {
        **(type_ or INT32),
        "shape": [{"size": size} for size in shape],
        "strides": strides,
        "data": (0, len(body)) if place is None else place,
    }
    return framed(MessageHeader.Tensor, header, body)


def by_pyarrow(array: np.ndarray, names: list[str] | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(array, dim_names=names), sink)
    result: bytes = sink.getvalue().to_pybytes()
    return result


def read_dense(source: Any) -> Tensor:
    result = read_tensor(source)
    assert isinstance(result, Tensor)
    return result


def all_dense(source: Any) -> list[np.ndarray]:
    results = []
    for tensor in read_tensors(source):
        assert isinstance(tensor, Tensor)
        results.append(tensor.to_numpy())
    return results


def read_by_pyarrow(data: bytes) -> pa.Tensor:
    return pa.ipc.read_tensor(pa.BufferReader(data))


TENSORS = arrays.arrays(
    st.sampled_from([f"<{code}" for code in NUMBERS]),
    arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    elements={"allow_nan": False},
)


@given(TENSORS, st.data())
def test_both_ways_with_pyarrow(array: np.ndarray, data: st.DataObject) -> None:
    array = array.transpose(data.draw(st.permutations(range(array.ndim))))
    actual = read_dense(by_pyarrow(array)).to_numpy()
    assert actual.dtype == array.dtype
    assert actual.shape == array.shape
    assert np.array_equal(actual, array)
    back = read_by_pyarrow(by_colkern(array))
    assert back.to_numpy().dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back.to_numpy(), array)


def test_dimension_names_travel() -> None:
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert read_tensor(by_pyarrow(array, ["row", "column"])).dim_names == ("row", "column")
    assert read_tensor(by_pyarrow(array)).dim_names is None
    written = by_colkern(Tensor(array, ("row", "column")))
    assert list(read_by_pyarrow(written).dim_names) == ["row", "column"]


def test_column_major_order_is_kept_and_gaps_are_not() -> None:
    column_major = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert read_by_pyarrow(by_colkern(column_major)).strides == (8, 16)
    with_gaps = np.arange(24).reshape(4, 6)[::2, ::-3]
    read = read_by_pyarrow(by_colkern(with_gaps))
    assert read.strides == (16, 8)
    assert np.array_equal(read.to_numpy(), with_gaps)


def test_big_endian_numbers_are_written_as_little_endian_ones() -> None:
    assert read_by_pyarrow(by_colkern(np.array([1, 256], ">i4"))).to_numpy().tolist() == [1, 256]


def test_strides_may_leave_gaps_and_stand_still() -> None:
    numbers = struct.pack("<8i", *range(8))
    assert read_dense(dense([2, 2], [16, 8], numbers)).to_numpy().tolist() == [[0, 2], [4, 6]]
    assert read_dense(dense([2, 3], [0, 4], numbers)).to_numpy().tolist() == [[0, 1, 2]] * 2
    assert read_dense(dense([4, 2], None, numbers)).to_numpy()[3].tolist() == [6, 7]


def test_numbers_are_not_copied() -> None:
    data = by_colkern(np.arange(1000))
    values = read_dense(data).to_numpy()
    assert np.shares_memory(values, np.frombuffer(data, np.uint8))
    assert not values.flags.writeable


def test_misaligned_numbers_are_copied() -> None:
    data = np.frombuffer(b"\0" + by_colkern(np.arange(1000)), np.uint8)[1:]
    values = read_dense(data).to_numpy()
    assert values.flags.aligned
    assert values.tolist() == list(range(1000))


def test_the_body_starts_at_64_bytes_and_the_message_ends_at_a_multiple() -> None:
    for count in range(20):
        data = by_colkern(np.full(count, 7, np.uint8))
        assert len(data) % 64 == 0
        metadata_size = struct.unpack_from("<i", data, 4)[0]
        assert (8 + metadata_size) % 64 == 0
        assert data[8 + metadata_size :].rstrip(b"\0") == bytes([7]) * count


def test_messages_follow_each_other() -> None:
    parts: list[np.ndarray] = [
        np.arange(3, dtype=np.uint8),
        np.array([1.5], np.float32),
        np.zeros((0, 2)),
    ]
    writers: tuple[Callable[[Any], bytes], ...] = (by_pyarrow, by_colkern)
    for write in writers:
        stream = b"".join(map(write, parts))
        read = all_dense(stream)
        assert [(a.dtype, a.tolist()) for a in read] == [(a.dtype, a.tolist()) for a in parts]
        file = io.BytesIO(stream)
        assert [read_dense(file).to_numpy().tolist() for _ in parts] == [a.tolist() for a in parts]
        with pytest.raises(InvalidArrowError, match="ends before a tensor"):
            read_tensor(file)


@pytest.mark.parametrize("before", [0, 1, 5, 8, 63, 64, 65])
def test_a_message_begins_at_a_multiple_of_64_bytes_of_its_file(before: int) -> None:
    # The format has a message on its own begin at a multiple of 8, behind padding.
    file = io.BytesIO()
    file.write(b"x" * before)
    assert write_tensor(np.arange(3), file) == len(file.getvalue()) - before
    assert file.getvalue()[before:].index(b"\xff\xff\xff\xff") == -before % 64
    assert set(file.getvalue()[before : before + -before % 64]) <= {0}
    write_tensor(np.arange(5), file)
    file.seek(before)
    assert [array.tolist() for array in all_dense(file)] == [
        [0, 1, 2],
        [0, 1, 2, 3, 4],
    ]
    theirs = pa.BufferReader(file.getvalue())
    theirs.seek(before + -before % 64)
    assert pa.ipc.read_tensor(theirs).to_numpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("padding", [1, 3, 4, 7, 63])
@pytest.mark.parametrize("marker", [4, 0])
def test_zeros_in_front_of_a_message_are_passed_by(padding: int, marker: int) -> None:
    # Without the marker, as before 0.15: the size of the metadata comes first.
    data = bytes(padding) + by_colkern(np.arange(3))[4 - marker :]
    for source in (data, io.BytesIO(data)):
        assert read_dense(source).to_numpy().tolist() == [0, 1, 2]
    assert list(read_tensors(bytes(padding))) == []


def test_a_body_may_be_of_any_size() -> None:
    # Arrow C++ does not pad the body: here it has four bytes.
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.arange(1, dtype=np.int32)), sink)
    assert sink.tell() % 8 == 4
    assert read_dense(sink.getvalue()).to_numpy().tolist() == [0]


def test_messages_before_0_15_have_no_marker() -> None:
    data = by_colkern(np.arange(5))
    assert read_dense(data[4:]).to_numpy().tolist() == list(range(5))


def test_paths_and_pipes(tmp_path: Path) -> None:
    path = tmp_path / "tensor"
    write_tensor(np.arange(5), path)
    assert read_dense(path).to_numpy().tolist() == list(range(5))
    assert read_dense(str(path)).to_numpy().tolist() == list(range(5))
    assert pa.ipc.read_tensor(pa.memory_map(str(path))).to_numpy().tolist() == list(range(5))
    reading, writing = os.pipe()
    with open(reading, "rb", 0) as source, open(writing, "wb", 0) as sink:
        write_tensor(np.arange(3), sink)
        assert read_dense(source).to_numpy().tolist() == [0, 1, 2]


def test_a_tensor_is_an_array() -> None:
    tensor = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3), ("a", "b"))
    assert np.asarray(tensor) is tensor.to_numpy()
    assert np.asarray(tensor, np.float64).dtype == np.float64
    assert (tensor.type, tensor.shape, tensor.strides) == (ck.int32(), (2, 3), (12, 4))
    assert (tensor.ndim, tensor.size) == (2, 6)
    assert tensor.equals(Tensor(tensor.values.copy(), ("a", "b")))
    assert not tensor.equals(Tensor(tensor.values))
    assert repr(tensor) == (
        "<colkern.ipc.Tensor of int32, shape (2, 3), dimensions 'a', 'b'>\n[[0 1 2]\n [3 4 5]]"
    )


# What must be refused


def test_gh_50304_a_size_is_negative() -> None:
    with pytest.raises(InvalidArrowError, match="negative"):
        read_tensor(dense([2, -1]))


def test_gh_50063_the_shape_is_larger_than_the_body() -> None:
    with pytest.raises(InvalidArrowError, match="reaches over 68 bytes; there are 64"):
        read_tensor(dense([17]))


@pytest.mark.parametrize("shape", [[2**62, 4], [2**32, 2**32], [2**63 - 1], [0, 2**62, 4]])
def test_the_product_of_the_shape_overflows(shape: list[int]) -> None:
    with pytest.raises(InvalidArrowError, match="64 bits"):
        read_tensor(dense(shape))


@pytest.mark.parametrize(
    ("shape", "strides", "message"),
    [
        ([2, 2], [4], "1 strides for 2 dimensions"),
        ([2], [-4], "not negative"),
        ([2], [64], "reaches over 68 bytes"),
        ([2, 2], [2**63 - 1, 2**63 - 1], "reaches over"),
        ([3], [2**62], "reaches over"),
    ],
)
def test_strides_lead_out_of_the_body(shape: list[int], strides: list[int], message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        read_tensor(dense(shape, strides))


def test_one_number_may_have_any_stride() -> None:
    assert read_dense(dense([1, 1], [2**63 - 1, 0])).to_numpy().tolist() == [[0]]


@pytest.mark.parametrize("place", [(-8, 8), (0, -1), (0, 65), (2**63 - 1, 8), (64, 8)])
def test_data_lies_outside_of_the_body(place: tuple[int, int]) -> None:
    with pytest.raises(InvalidArrowError, match=r"buffer of .* in a body of 64 bytes"):
        read_tensor(dense([2], place=place))


def test_few_bytes_may_not_claim_any_number_of_slots() -> None:
    data = dense([1000, 1000], [0, 0], bytes(4))
    assert read_tensor(data).size == 1_000_000
    with pytest.raises(LimitExceededError, match="unbacked_length"):
        read_tensor(data, limits=Limits(unbacked_length=999_999))
    # Nothing is allocated for numbers that share bytes.
    assert read_tensor(dense([2**40], [0], bytes(4))).size == 2**40


def test_only_numbers_and_64_dimensions_are_supported() -> None:
    with pytest.raises(UnsupportedError, match="tensors of string"):
        read_tensor(dense([1], type_type=Type.Utf8, type={}))
    with pytest.raises(UnsupportedError, match="tensors of bool"):
        read_tensor(dense([1], type_type=Type.Bool, type={}))
    assert read_tensor(dense([1] * 64)).ndim == 64
    with pytest.raises(UnsupportedError, match="65 dimensions"):
        read_tensor(dense([1] * 65))


def test_types_are_checked() -> None:
    with pytest.raises(InvalidArrowError, match="bitWidth: expected 8, 16, 32 or 64, got 12"):
        read_tensor(dense([1], type_type=Type.Int, type={"bitWidth": 12}))
    with pytest.raises(InvalidArrowError, match="precision"):
        read_tensor(dense([1], type_type=Type.FloatingPoint, type={"precision": 3}))


def test_other_messages_are_no_tensors() -> None:
    schema = pa.schema({"a": pa.int32()}).serialize().to_pybytes()
    with pytest.raises(InvalidArrowError, match="found a schema, expected a tensor"):
        read_tensor(schema)
    with pytest.raises(InvalidArrowError, match="message 0 at byte 0"):
        read_tensor(by_colkern(np.arange(5))[:-65])
    with pytest.raises(InvalidArrowError, match="ends before a tensor"):
        read_tensor(b"")


def test_wrong_use() -> None:
    with pytest.raises(TypeError, match="tensor: expected"):
        write_tensor([1, 2], io.BytesIO())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="integers or floats"):
        write_tensor(np.array(["a"]), io.BytesIO())
    with pytest.raises(TypeError, match="integers or floats"):
        Tensor(np.array([True]))
    with pytest.raises(TypeError, match="sink: expected"):
        write_tensor(np.arange(2), 5)
    with pytest.raises(ValueError, match="dim_names: 1 names for 2 dimensions"):
        Tensor(np.zeros((2, 2)), ("a",))
    with pytest.raises(TypeError, match="source: expected"):
        read_tensor(5)


@pytest.mark.parametrize("path", golden_files("arrow-ipc-tensor-stream/c*"))
def test_the_fuzzers_finds_end_cleanly(path: Path) -> None:
    with pytest.raises((InvalidArrowError, UnsupportedError)):
        list(read_tensors(path))


def test_tensors_of_different_kinds_are_not_equal() -> None:
    values = np.eye(2)
    dense, sparse = Tensor(values), colkern.ipc.SparseCOOTensor.from_dense(values)
    assert not dense.equals(sparse)
    assert not sparse.equals(dense)
    assert not dense.equals(values)
    assert not sparse.equals(None)


@pytest.mark.parametrize(
    "kind", ["SparseCOOTensor", "SparseCSRMatrix", "SparseCSCMatrix", "SparseCSFTensor"]
)
def test_classes_of_arguments_are_checked(kind: str) -> None:
    make = getattr(colkern.ipc, kind).from_dense
    with pytest.raises(TypeError, match="values: expected a NumPy array, got list"):
        make([[1, 0]])
    names: Any
    for names in ("ab", [b"a", b"b"], 2):
        with pytest.raises(TypeError, match="dim_names: expected a sequence of str"):
            make(np.eye(2), names)
        with pytest.raises(TypeError, match="dim_names: expected a sequence of str"):
            Tensor(np.eye(2), names)
    with pytest.raises(TypeError, match=r"dim_names: .*, got object$"):
        make(np.eye(2), object())
    assert make(np.eye(2), np.array(["a", "b"])).dim_names == ("a", "b")


def test_sizes_are_integers() -> None:
    index = np.zeros((0, 2), np.int64)
    with pytest.raises(TypeError, match="shape: expected integers"):
        colkern.ipc.SparseCOOTensor(np.zeros(0), index, (2.5, 2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"shape: expected integers, got \[object\]$"):
        colkern.ipc.SparseCOOTensor(np.zeros(0), index, [object()])  # type: ignore[arg-type]
