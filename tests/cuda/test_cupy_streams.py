"""CuPy's current stream and allocator in other threads, and its page-locked memory; by its names."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from colkern.cuda.cupy_library import cupy_library


class Stream:
    """As `cupy.cuda.Stream`: equal to those of the same pointer, and current within a `with`."""

    ptds: Stream

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __enter__(self) -> Stream:
        CURRENT.append(self.ptr)
        return self

    def __exit__(self, *_: object) -> None:
        CURRENT.pop()

    @classmethod
    def from_external(cls, foreign: Any) -> Stream:
        version, handle = foreign.__cuda_stream__()
        assert (version, type(handle)) == (0, int)
        result = cls(handle)
        # As CuPy 14 does, which does not destroy such a stream.
        result.foreign = foreign  # type: ignore[attr-defined]
        return result


class ExternalStream:
    """As CuPy 13's: its only way to other streams, and no `Stream`."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        super().__init__(f"cudaError {status}")
        self.status = status


Stream.ptds = Stream(2)
CURRENT: list[Any] = []


@contextmanager
def using_allocator(allocator: Any) -> Iterator[None]:
    CURRENT.append(allocator)
    yield
    CURRENT.pop()


@pytest.fixture
def cuda() -> SimpleNamespace:
    return SimpleNamespace(
        Stream=Stream,
        ExternalStream=ExternalStream,
        get_current_stream=lambda: Stream(70),
        get_allocator=lambda: "pool",
        using_allocator=using_allocator,
        runtime=SimpleNamespace(CUDARuntimeError=CUDARuntimeError, errorMemoryAllocation=2),
    )


@pytest.fixture
def library(cuda: SimpleNamespace) -> Any:
    result = cupy_library()
    vars(result)["arrays"] = SimpleNamespace(cuda=cuda)
    return result


def test_another_thread_gets_the_callers_stream_and_allocator(library: Any) -> None:
    state = library.current_state()
    assert state == library.current_state()
    with library.in_state(state):
        assert CURRENT == [70, "pool"]
    assert CURRENT == []


def test_a_state_keeps_the_stream(library: Any, cuda: SimpleNamespace) -> None:
    # The pointer alone would not keep it from being destroyed.
    stream = Stream(71)
    cuda.get_current_stream = lambda: stream
    assert library.current_state()[0] is stream


def test_states_differ_by_stream_and_by_allocator(library: Any, cuda: SimpleNamespace) -> None:
    before = library.current_state()
    cuda.get_allocator = lambda: "other pool"
    assert library.current_state() != before
    cuda.get_allocator = lambda: "pool"
    cuda.get_current_stream = lambda: Stream(71)
    assert library.current_state() != before


def test_the_default_stream_of_a_thread_is_no_other_threads(
    library: Any, cuda: SimpleNamespace
) -> None:
    cuda.get_current_stream = lambda: Stream(2)
    assert library.current_state() is None


class CudaCore:
    """A stream of cuda.core, and of whoever has the protocol of streams."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 72


class Torch:
    """A stream of PyTorch before it had the protocol."""

    cuda_stream = 72


class Numba:
    """A stream of the compiler before it had the protocol."""

    def __int__(self) -> int:
        return 72


STREAMS = [CudaCore(), Torch(), Numba(), 72, np.uint64(72)]


def test_streams_of_cupy_are_taken_as_they_are(library: Any) -> None:
    stream = Stream(71)
    assert library.on_stream(stream) is stream


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: type(stream).__name__)
def test_streams_of_other_libraries(stream: Any, library: Any, cuda: SimpleNamespace) -> None:
    """ExternalStream is deprecated in CuPy 14, and the only way in CuPy 13."""
    with library.on_stream(stream) as result:
        assert CURRENT == [72]
    assert type(result) is Stream
    cuda.Stream = type("Stream", (), {})
    older = library.on_stream(stream)
    assert (type(older), older.ptr) == (ExternalStream, 72)


def test_a_stream_lives_as_long_as_its_stand_in(library: Any) -> None:
    stream = CudaCore()
    kept = weakref.ref(stream)
    result = library.on_stream(stream)
    del stream
    gc.collect()
    assert kept() is not None
    del result
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("stream", ["72", object(), 7.5j])
def test_what_is_no_stream_is_refused(stream: Any, library: Any) -> None:
    with pytest.raises(TypeError, match="stream: expected one of CuPy, PyTorch"):
        library.on_stream(stream)


@pytest.mark.parametrize(("status", "expected"), [(2, MemoryError), (700, CUDARuntimeError)])
def test_no_memory_to_lock_is_a_memory_error(
    status: int, expected: type[Exception], library: Any, cuda: SimpleNamespace
) -> None:
    def refuse(size: int) -> Any:
        raise CUDARuntimeError(status)

    cuda.alloc_pinned_memory = refuse
    with pytest.raises(expected, match=f"cudaError {status}"):
        library.page_locked(64)


def test_locked_memory_is_kept_by_its_array(library: Any, cuda: SimpleNamespace) -> None:
    cuda.alloc_pinned_memory = bytearray
    locked = library.page_locked(64)
    locked[:] = 7
    assert locked.dtype == np.uint8
    assert bytes(locked) == bytes([7] * 64)
