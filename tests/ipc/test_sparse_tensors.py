"""Sparse tensors: messages of Arrow C++, index arrays of pyarrow, and what must be refused."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from flatbuf import MessageHeader, SparseTensorIndex, Type
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from ipc import tensor_messages as cpp
from ipc.tensor_messages import by_colkern, framed

import colkern as ck
from colkern import ColkernError, InvalidArrowError, LimitExceededError
from colkern.ipc import (
    Limits,
    SparseCOOTensor,
    SparseCSCMatrix,
    SparseCSFTensor,
    SparseCSRMatrix,
    Tensor,
    read_tensor,
    read_tensors,
)
from colkern.ipc.flatbuffer.decoding import decode
from colkern.ipc.wire import MESSAGE

Sparse: TypeAlias = SparseCOOTensor | SparseCSRMatrix | SparseCSCMatrix | SparseCSFTensor

PEERS = {
    SparseCOOTensor: pa.SparseCOOTensor,
    SparseCSRMatrix: pa.SparseCSRMatrix,
    SparseCSCMatrix: pa.SparseCSCMatrix,
    SparseCSFTensor: pa.SparseCSFTensor,
}
CASES = [
    (cpp.COO, SparseCOOTensor, cpp.TENSOR, ck.int32(), ("x", "y", "z")),
    (cpp.CSR, SparseCSRMatrix, cpp.MATRIX, ck.float64(), None),
    (cpp.CSC, SparseCSCMatrix, cpp.MATRIX, ck.float64(), None),
    (cpp.CSF, SparseCSFTensor, cpp.TENSOR, ck.int32(), ("x", "y", "z")),
    (cpp.EMPTY_CSF, SparseCSFTensor, np.zeros((6, 4)), ck.float64(), None),
]
NAMES = ["COO", "CSR", "CSC", "CSF", "empty CSF"]


def read_sparse(data: bytes) -> Sparse:
    result = read_tensor(data)
    assert not isinstance(result, Tensor)
    return result


def flat(parts: Any) -> list[np.ndarray]:
    """The arrays of `to_numpy()`, in one list; pyarrow gives values as a matrix of one column."""
    values, *index = parts
    result = [values.ravel()]
    for part in index:
        result += part if isinstance(part, list | tuple) else [part]
    return result


def message(data: bytes) -> dict[str, Any]:
    """The decoded metadata of one message."""
    return decode(MESSAGE, data[8:], 100)


@pytest.mark.parametrize(("data", "kind", "expected", "type_", "names"), CASES, ids=NAMES)
def test_messages_of_arrow_cpp(
    data: bytes, kind: Any, expected: np.ndarray, type_: ck.DataType, names: Any
) -> None:
    tensor = read_sparse(data)
    assert type(tensor) is kind
    assert (tensor.shape, tensor.type, tensor.dim_names) == (expected.shape, type_, names)
    assert tensor.non_zero_length == np.count_nonzero(expected)
    dense = tensor.to_dense()
    assert dense.dtype == expected.dtype
    assert np.array_equal(dense, expected)


@pytest.mark.parametrize(("data", "kind", "expected", "type_", "names"), CASES, ids=NAMES)
def test_what_is_written_says_what_arrow_cpp_says(
    data: bytes, kind: Any, expected: np.ndarray, type_: ck.DataType, names: Any
) -> None:
    ours, theirs = message(by_colkern(read_tensor(data))), message(data)
    for record in (ours, theirs):
        # Where the buffers stand is the writer's own affair, and so is a name of no letters.
        record.pop("bodyLength")
        for dimension in record["header"]["shape"]:
            dimension["name"] = dimension["name"] or None
        record["header"].pop("data")
        for name, value in record["header"]["sparseIndex"].items():
            if name in ("indicesBuffer", "indptrBuffer"):
                record["header"]["sparseIndex"][name] = None
            elif name in ("indicesBuffers", "indptrBuffers"):
                record["header"]["sparseIndex"][name] = value["length"].tolist()
            elif isinstance(value, np.ndarray):
                record["header"]["sparseIndex"][name] = value.tolist()
    assert ours == theirs


@pytest.mark.parametrize(("data", "kind", "expected", "type_", "names"), CASES, ids=NAMES)
def test_round_trip(
    data: bytes, kind: Any, expected: np.ndarray, type_: ck.DataType, names: Any
) -> None:
    tensor = read_tensor(data)
    written = by_colkern(tensor)
    assert len(written) % 64 == 0
    assert read_tensor(written).equals(tensor)
    assert [t.shape for t in read_tensors(written + written)] == [tensor.shape] * 2


DENSE = arrays.arrays(
    st.sampled_from(["<i1", "<i8", "<u2", "<f4", "<f8"]),
    arrays.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4),
    elements=st.integers(0, 2),
)


@given(DENSE)
def test_index_arrays_are_those_of_pyarrow(array: np.ndarray) -> None:
    kinds: list[Any] = [SparseCOOTensor, SparseCSFTensor]
    if array.ndim == 2:
        kinds += [SparseCSRMatrix, SparseCSCMatrix]
    for kind in kinds:
        tensor = kind.from_dense(array)
        assert np.array_equal(tensor.to_dense(), array)
        back = read_sparse(by_colkern(tensor))
        assert back.equals(tensor)
        assert np.array_equal(back.to_dense(), array)
        assert set(map(tuple, tensor.coordinates())) == set(zip(*np.nonzero(array), strict=True))
        if array.size == 0 or (kind is SparseCSFTensor and array.ndim == 1):
            continue
        theirs = flat(PEERS[kind].from_dense_numpy(array).to_numpy())
        assert [part.tolist() for part in flat(tensor.to_numpy())] == [p.tolist() for p in theirs]


def test_canonical_coordinates_ascend_and_are_distinct() -> None:
    values, shape = np.array([1, 2]), (2, 3)
    ascending = np.array([[0, 2], [1, 0]])
    assert SparseCOOTensor(values, ascending, shape, None, True).has_canonical_format
    for coords in (ascending[::-1], ascending[[0, 0]], np.array([[1, 2], [1, 0]])):
        SparseCOOTensor(values, coords, shape)
        with pytest.raises(InvalidArrowError, match="canonical"):
            SparseCOOTensor(values, coords, shape, None, True)


def test_values_of_one_place_are_added_up() -> None:
    coords = np.array([[0, 1], [0, 1], [1, 0]])
    tensor = SparseCOOTensor(np.array([1, 2, 4]), coords, (2, 2))
    assert tensor.to_dense().tolist() == [[0, 3], [4, 0]]


def test_coordinates_in_column_major_order() -> None:
    coords = np.asfortranarray([[0, 1], [1, 0]])
    tensor = SparseCOOTensor(np.array([5, 6]), coords, (2, 2))
    data = by_colkern(tensor)
    assert message(data)["header"]["sparseIndex"]["indicesStrides"].tolist() == [8, 16]
    assert read_sparse(data).to_dense().tolist() == [[0, 5], [6, 0]]


@pytest.mark.parametrize("code", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_indices_of_every_integer_type(code: str) -> None:
    rows = SparseCSRMatrix.from_dense(cpp.MATRIX)
    narrow = dataclasses.replace(
        rows, indptr=rows.indptr.astype(code), indices=rows.indices.astype(code)
    )
    back = read_tensor(by_colkern(narrow))
    assert isinstance(back, SparseCSRMatrix)
    assert back.indices.dtype == np.dtype(code)
    assert np.array_equal(back.to_dense(), cpp.MATRIX)
    fibres = SparseCSFTensor.from_dense(cpp.TENSOR)
    narrow_fibres = dataclasses.replace(
        fibres,
        indptr=tuple(level.astype(code) for level in fibres.indptr),
        indices=tuple(level.astype(code) for level in fibres.indices),
    )
    assert np.array_equal(read_sparse(by_colkern(narrow_fibres)).to_dense(), cpp.TENSOR)


def test_fibres_whose_buffers_have_their_lengths_in_bytes() -> None:
    """As the format's text has it, and Arrow C++ has not."""
    lengths = decode(MESSAGE, cpp.CSF[8:], 100)["header"]["sparseIndex"]
    data = bytearray(cpp.CSF)
    for name in ("indptrBuffers", "indicesBuffers"):
        old = lengths[name].tobytes()
        new = lengths[name].copy()
        new["length"] *= 4
        place = cpp.CSF.index(old)
        data[place : place + len(old)] = new.tobytes()
    assert read_tensor(bytes(data)).equals(read_tensor(cpp.CSF))


def test_a_dense_array_has_a_limit() -> None:
    one = np.zeros((1, 2), np.int64)
    tensor = SparseCOOTensor(np.array([1.0]), one, (2**31, 2**31))
    assert tensor.size == 2**62
    with pytest.raises(LimitExceededError, match="max_bytes"):
        tensor.to_dense()
    with pytest.raises(LimitExceededError, match="max_bytes"):
        tensor.to_dense(max_bytes=2**80)
    small = SparseCOOTensor(np.array([1.0]), one, (10, 10))
    with pytest.raises(LimitExceededError, match="over the limit of 799"):
        small.to_dense(max_bytes=799)
    assert small.to_dense(max_bytes=800).sum() == 1


def test_repr_says_what_it_is() -> None:
    text = repr(read_tensor(cpp.COO))
    assert text == (
        "<colkern.ipc.SparseCOOTensor of int32, shape (2, 3, 4), dimensions 'x', 'y', 'z': "
        "6 values>\n[1 2 3 4 5 6]"
    )


# What must be refused

INT64 = {"bitWidth": 64, "is_signed": True}
COO = {"indicesType": INT64, "indicesBuffer": (0, 32)}
CSX = {
    "indptrType": INT64,
    "indptrBuffer": (64, 24),
    "indicesType": INT64,
    "indicesBuffer": (0, 16),
}
CSF = {
    "indptrType": INT64,
    "indptrBuffers": [(64, 3)],
    "indicesType": INT64,
    "indicesBuffers": [(0, 2), (0, 2)],
    "axisOrder": [0, 1],
}
# Two coordinates (0, 0) and (0, 1) at 0; pointers 0, 1, 2 at 64; values at 128.
BODY = np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 7, 8], "<i8").tobytes()


def sparse(
    number: int,
    index: dict[str, Any],
    shape: tuple[int, ...] = (2, 2),
    count: int = 2,
    data: tuple[int, int] = (128, 16),
    body: bytes = BODY,
    **changes: Any,
) -> bytes:
    """A sparse tensor's message, with changes to its index."""
    header = {
        "type_type": Type.Int,
        "type": INT64,
        "shape": [{"size": size} for size in shape],
        "non_zero_length": count,
        "sparseIndex_type": number,
        "sparseIndex": index | changes,
        "data": data,
    }
    return framed(MessageHeader.SparseTensor, header, body)


def coo(**changes: Any) -> bytes:
    return sparse(SparseTensorIndex.SparseTensorIndexCOO, COO, **changes)


def csx(**changes: Any) -> bytes:
    return sparse(SparseTensorIndex.SparseMatrixIndexCSX, CSX, **changes)


def csf(**changes: Any) -> bytes:
    return sparse(SparseTensorIndex.SparseTensorIndexCSF, CSF, **changes)


def test_the_samples_are_good_before_they_are_changed() -> None:
    assert read_sparse(coo()).to_dense().tolist() == [[7, 8], [0, 0]]
    assert read_sparse(csx()).to_dense().tolist() == [[7, 0], [8, 0]]
    assert read_sparse(csx(compressedAxis=1)).to_dense().tolist() == [[7, 8], [0, 0]]
    assert read_sparse(csf()).coordinates().tolist() == [[0, 0], [0, 0]]


def refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        read_tensor(data)


def test_gh_50054_coordinates_are_too_short() -> None:
    refused(coo(indicesBuffer=(0, 31)), "coordinates: .* reaches over 32 bytes; there are 31")
    refused(coo(indicesBuffer=(0, 24), indicesStrides=[16, 8]), "there are 24")
    refused(coo(count=3), "values: 3 of int64 in a buffer of 16 bytes")


def test_gh_50077_pointers_of_a_matrix_whose_rows_overflow() -> None:
    for rows in (2**63 - 1, 2**60, 2**61 - 1):
        refused(csx(shape=(rows, 2)), "indptr: .* in a buffer of 24 bytes")


def test_gh_50161_fibres_have_other_counts_than_dimensions() -> None:
    refused(csf(indptrBuffers=[(64, 3)] * 2), "2 index and 2 pointer buffers for 2 dimensions")
    refused(csf(indptrBuffers=[]), "pointer buffers")
    refused(csf(indicesBuffers=[(0, 2)] * 5), "5 index and 1 pointer buffers")
    refused(csf(indicesBuffers=[]), "0 index and 1 pointer buffers")
    refused(csf(axisOrder=[0, 1, 2]), "axis order")
    refused(csf(axisOrder=[0, 0]), "axis order")
    refused(csf(axisOrder=[0, -1]), "axis order")
    refused(csf(shape=()), "needs a dimension|axis order")


@pytest.mark.parametrize("make", [coo, csx, csf])
def test_gh_50304_a_size_is_negative(make: Any) -> None:
    refused(make(shape=(2, -2)), "negative")
    refused(make(count=-1), "-1 values")


@pytest.mark.parametrize("make", [coo, csx, csf])
def test_values_lie_outside_of_the_body(make: Any) -> None:
    refused(make(data=(136, 16)), "buffer of 16 bytes at 136 in a body of 144 bytes")
    refused(make(count=2**62, data=(128, 16)), "values")


def test_coordinates_lie_outside_of_the_tensor() -> None:
    refused(coo(shape=(2, 1)), "coordinates of dimension 1: position 1 in a dimension of 1")
    refused(coo(body=b"\xff" * 8 + BODY[8:]), "dimension 0: position -1 in a dimension of 2")
    unsigned = {"bitWidth": 64, "is_signed": False}
    refused(coo(body=b"\xff" * 8 + BODY[8:], indicesType=unsigned), f"position {2**64 - 1}")
    refused(coo(indicesStrides=[-16, 8]), "not negative")
    refused(coo(indicesStrides=[16]), "1 strides for 2 dimensions")
    refused(coo(isCanonical=True, indicesStrides=[0, 8]), "canonical")


def test_few_bytes_may_not_claim_any_number_of_coordinates() -> None:
    data = coo(indicesStrides=[0, 0], indicesBuffer=(0, 8), shape=(2,) * 60)
    read_tensor(data)
    with pytest.raises(LimitExceededError, match="unbacked_length"):
        read_tensor(data, limits=Limits(unbacked_length=119))


def test_pointers_do_not_ascend_from_zero_to_the_end() -> None:
    def pointers(*numbers: int) -> bytes:
        return BODY[:64] + np.array(numbers, "<i8").tobytes() + BODY[88:]

    for make in (csx, csf):
        refused(make(body=pointers(1, 1, 2)), "from 1 to 2, not from 0 to 2")
        refused(make(body=pointers(0, 1, 3)), "from 0 to 3")
        refused(make(body=pointers(0, 3, 2)), "range 1 goes from 3 to 2")
        refused(make(body=pointers(0, -1, 2)), "range 0 goes from 0 to -1")
    refused(csf(indptrBuffers=[(64, 2)]), "indptr of level 0")
    refused(csf(indptrBuffers=[(136, 3)]), "body of 144 bytes")
    refused(csx(indicesBuffer=(0, 8)), "indices: 2 of int64 in a buffer of 8 bytes")


def test_matrices_have_two_dimensions_and_two_axes() -> None:
    refused(csx(shape=(2, 2, 2)), "a sparse matrix of shape")
    refused(csx(compressedAxis=2), "compressed axis 2")
    # The tag of the index, behind the tag of the type, which is 2 for integers.
    assert cpp.COO[74:76] == b"\2\1"
    refused(cpp.COO[:75] + b"\7" + cpp.COO[76:], "sparse index of type 7")


def test_leaves_are_as_many_as_values() -> None:
    refused(csf(indicesBuffers=[(0, 16), (0, 8)], indptrBuffers=[(64, 24)]), "not from 0 to 1")
    refused(csf(count=1), "level|leaves")


def test_what_callers_put_together_is_checked_too() -> None:
    rows = SparseCSRMatrix.from_dense(cpp.MATRIX)
    for name, value, error in [
        ("indptr", rows.indptr[:-1], InvalidArrowError),
        ("indices", rows.indices[:-1], InvalidArrowError),
        ("indices", rows.indices + 2, InvalidArrowError),
        ("indices", rows.indices.astype(float), TypeError),
        ("data", rows.data.astype(bool), TypeError),
        ("data", rows.data.tolist(), TypeError),
        ("dim_names", ("a",), ValueError),
    ]:
        with pytest.raises(error):
            dataclasses.replace(rows, **{name: value})
    fibres = SparseCSFTensor.from_dense(cpp.TENSOR)
    levels = (fibres.indices[0].astype(np.int8), *fibres.indices[1:])
    with pytest.raises(TypeError, match="different types"):
        dataclasses.replace(fibres, indices=levels)
    with pytest.raises(ValueError, match="two dimensions"):
        SparseCSRMatrix.from_dense(cpp.TENSOR)
    with pytest.raises(ValueError, match="at least one dimension"):
        SparseCSFTensor.from_dense(np.array(1))


@given(st.sampled_from([case[0] for case in CASES]), st.data())
def test_changed_bytes_end_cleanly(original: bytes, data: st.DataObject) -> None:
    changed = bytearray(original)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.sampled_from([0, 1, 2, 4, 8, 16, 64, 127, 128, 255]))
    with contextlib.suppress(ColkernError):
        for tensor in read_tensors(io.BytesIO(changed)):
            repr(tensor)
            tensor.to_dense(max_bytes=1 << 20) if hasattr(tensor, "to_dense") else None


# SciPy


def test_scipy_both_ways() -> None:
    import scipy.sparse as sparse_

    kinds: list[tuple[Any, Any]] = [
        (SparseCOOTensor, sparse_.coo_array),
        (SparseCSRMatrix, sparse_.csr_array),
        (SparseCSCMatrix, sparse_.csc_array),
    ]
    for kind, make in kinds:
        tensor = kind.from_scipy(make(cpp.MATRIX), ("row", "column"))
        assert type(tensor) is kind
        assert np.array_equal(tensor.to_dense(), cpp.MATRIX)
        back = read_sparse(by_colkern(tensor))
        assert not isinstance(back, SparseCSFTensor)
        result = back.to_scipy()
        assert isinstance(result, make)
        assert np.array_equal(result.toarray(), cpp.MATRIX)
        assert kind.from_scipy(sparse_.lil_matrix(cpp.MATRIX)).equals(kind.from_scipy(result))
    with pytest.raises(TypeError, match="matrix: expected"):
        SparseCSRMatrix.from_scipy(cpp.MATRIX)
    three = read_tensor(cpp.COO)
    assert isinstance(three, SparseCOOTensor)
    with pytest.raises(ValueError, match="two dimensions"):
        three.to_scipy()


def test_without_scipy_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    tensor = read_tensor(cpp.CSR)
    assert isinstance(tensor, SparseCSRMatrix)
    with pytest.raises(ImportError, match="pip install scipy"):
        tensor.to_scipy()
