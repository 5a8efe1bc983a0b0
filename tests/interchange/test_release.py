"""C Data interface, "Memory management": every structure is released once, and never too early."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from present import present

from colkern import Array, Buffer, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.interchange import (
    export_array,
    export_batch,
    export_schema,
    import_array,
    import_batch,
)
from colkern.schema import Schema, dictionary, int8, int64, list_, struct, utf8

THREE = np.arange(3, dtype=np.int64).tobytes()


@pytest.fixture
def numbers(producer: Any, c: Any) -> Any:
    """An object with an array of three int64."""
    return producer.exporter(producer.schema(), producer.array(3, [None, THREE]))


# What colkern imports


def test_an_imported_array_is_released_when_it_dies(producer: Any, c: Any, numbers: Any) -> None:
    ours = import_array(numbers)
    assert producer.released[c.Array] == 0
    del ours
    assert producer.released[c.Array] == 1
    del numbers.capsules
    assert producer.released[c.Array] == 1
    assert producer.released[c.Schema] == 1


def test_every_user_of_the_bytes_keeps_them(producer: Any, c: Any, numbers: Any) -> None:
    ours = import_array(numbers)
    users = [
        ours.slice(1),
        ours.buffers[1],
        present(ours.buffers[1])[8:],
        present(ours.buffers[1]).array[:1],
    ]
    users.append(memoryview(present(ours.buffers[1]).array))
    users.append(pa.array(ours))
    users.append(ours.__arrow_c_array__())
    del ours
    while users:
        gc.collect()
        assert producer.released[c.Array] == 0
        users.pop()
    assert producer.released[c.Array] == 1


def test_a_column_keeps_its_batch(producer: Any, c: Any) -> None:
    child = producer.array(3, [None, THREE])
    rows = producer.array(3, [None], children=[child])
    fields = producer.schema(b"+s", children=[producer.schema(name=b"a")])
    batch = import_batch(producer.exporter(fields, rows))
    column = batch["a"]
    del batch
    gc.collect()
    assert producer.released[c.Array] == 0
    assert pa.array(column).to_pylist() == [0, 1, 2]
    del column
    # Children go with their parent, by its release function.
    assert producer.released[c.Array] == 1


def test_importing_marks_the_source_as_released(producer: Any, c: Any, numbers: Any) -> None:
    ours = import_array(numbers)
    with pytest.raises(InvalidArrowError, match="released"):
        import_array(numbers)
    with pytest.raises(pa.ArrowInvalid, match="released"):
        pa.array(numbers)
    assert pa.array(ours).to_pylist() == [0, 1, 2]
    del ours
    assert producer.released[c.Array] == 1


def test_a_refused_array_is_released(producer: Any, c: Any) -> None:
    bad = producer.exporter(producer.schema(), producer.array(3, [None]))
    with pytest.raises(InvalidArrowError, match="buffers"):
        import_array(bad)
    del bad
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 1, c.Stream: 0}


def test_a_refused_schema_leaves_the_array_to_its_capsule(producer: Any, c: Any) -> None:
    bad = producer.exporter(producer.schema(b"+l"), producer.array(3, [None, THREE]))
    with pytest.raises(InvalidArrowError, match="children"):
        import_array(bad)
    assert producer.released[c.Array] == 0
    del bad
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 1, c.Stream: 0}


def test_the_last_use_may_end_on_any_thread(producer: Any, c: Any, numbers: Any) -> None:
    held = [import_array(numbers)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert producer.released[c.Array] == 1


# What colkern exports


class Owned:
    """An array whose bytes say when they go."""

    def __init__(self) -> None:
        memory = np.arange(3, dtype=np.int64).view(np.uint8).view(Watched)
        self.array = Array(int64(), 3, [None, Buffer(memory)])
        self.alive = weakref.ref(memory)


class Watched(np.ndarray[Any, Any]):
    """NumPy's arrays take weak references; so that nothing else is meant by one."""


def test_a_capsule_that_nobody_takes_frees_what_it_holds() -> None:
    owned = Owned()
    capsules = export_array(owned.array)
    del owned.array
    gc.collect()
    assert owned.alive() is not None
    del capsules
    assert owned.alive() is None


def test_a_consumer_frees_by_release(c: Any) -> None:
    owned = Owned()
    schema_capsule, capsule = export_array(owned.array)
    del owned.array
    moved = c.move(c.struct_in(capsule, c.Array))
    del capsule, schema_capsule
    assert owned.alive() is not None
    values: Any = (ctypes.c_int64 * 3).from_address(moved.buffers[1])
    assert np.frombuffer(values).size == 3
    c.release(moved)
    assert moved.release is None
    assert owned.alive() is None


def test_release_in_place_leaves_nothing_to_the_capsule(c: Any) -> None:
    owned = Owned()
    schema_capsule, capsule = export_array(owned.array)
    del owned.array
    c.release(c.struct_in(capsule, c.Array))
    assert owned.alive() is None
    del capsule, schema_capsule


def test_a_consumer_like_pyarrow_frees() -> None:
    owned = Owned()
    theirs = pa.array(owned.array)
    part = theirs.slice(1)
    del owned.array, theirs
    assert part.to_pylist() == [1, 2]
    assert owned.alive() is not None
    del part
    assert owned.alive() is None


@pytest.mark.parametrize("parent_first", [True, False])
def test_a_child_that_was_moved_out_outlives_its_parent(c: Any, parent_first: bool) -> None:
    kept, dropped = Owned(), Owned()
    batch = RecordBatch.from_arrays([kept.array, dropped.array], ["kept", "dropped"])
    schema_capsule, capsule = export_batch(batch)
    del batch, kept.array, dropped.array
    parent = c.move(c.struct_in(capsule, c.Array))
    del capsule, schema_capsule
    child = c.move(parent.children[0].contents)
    if parent_first:
        c.release(parent)
        gc.collect()
        assert dropped.alive() is None
        assert kept.alive() is not None
        assert list((ctypes.c_int64 * 3).from_address(child.buffers[1])) == [0, 1, 2]
        c.release(child)
    else:
        c.release(child)
        assert dropped.alive() is not None
        c.release(parent)
    assert kept.alive() is None
    assert dropped.alive() is None


def test_a_dictionary_that_was_moved_out_outlives_its_indices(c: Any) -> None:
    owned = Owned()
    indices = Buffer.from_object(b"\x00\x02")
    array = Array(dictionary(int8(), int64()), 2, [None, indices], dictionary=owned.array)
    schema_capsule, capsule = export_array(array)
    del array, owned.array
    parent = c.move(c.struct_in(capsule, c.Array))
    values = c.move(parent.dictionary.contents)
    c.release(parent)
    del capsule, schema_capsule
    gc.collect()
    assert list((ctypes.c_int64 * 3).from_address(values.buffers[1])) == [0, 1, 2]
    assert owned.alive() is not None
    c.release(values)
    assert owned.alive() is None


def test_a_schema_s_child_that_was_moved_out_outlives_its_parent(c: Any) -> None:
    parent_type = struct([("a", list_(utf8())), ("b", dictionary(int8(), utf8()))])
    capsule = export_schema(Schema([("s", parent_type)]))
    parent = c.move(c.struct_in(capsule, c.Schema))
    child = c.move(parent.children[0].contents)
    grandchild = c.move(child.children[1].contents)
    c.release(parent)
    c.release(child)
    del capsule
    gc.collect()
    assert (grandchild.format, grandchild.name) == (b"c", b"b")
    assert grandchild.dictionary.contents.format == b"u"
    c.release(grandchild)


def test_exporting_again_and_again_leaves_nothing_behind(c: Any) -> None:
    owned = Owned()
    count = sys.getrefcount(owned.array)
    before = None
    for i in range(200):
        export_array(owned.array)
        moved = [
            c.move(c.struct_in(capsule, kind))
            for capsule, kind in zip(export_array(owned.array), (c.Schema, c.Array), strict=True)
        ]
        for one in moved:
            c.release(one)
        if i == 20:
            gc.collect()
            before = len(gc.get_objects())
    gc.collect()
    references = sys.getrefcount(owned.array)  # outside of assert, which holds one itself
    assert references == count
    assert before is not None
    assert len(gc.get_objects()) < before + 50


def test_release_from_a_thread_that_python_does_not_know(c: Any) -> None:
    owned = Owned()
    schema_capsule, capsule = export_array(owned.array)
    del owned.array
    moved = c.move(c.struct_in(capsule, c.Array))
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    # pthread_create calls release(&moved) itself, with no Python around it.
    assert (
        libc.pthread_create(
            ctypes.byref(thread), None, ctypes.c_void_p(moved.release), ctypes.byref(moved)
        )
        == 0
    )
    assert libc.pthread_join(thread, None) == 0
    assert owned.alive() is None
    del capsule, schema_capsule


def test_an_exception_on_its_way_up_is_not_lost() -> None:
    # pyarrow's object dies with the exception pending; release must not disturb it.
    def part() -> pa.Array:
        return pa.array(Owned().array)

    with pytest.raises(IndexError, match="non-negative"):
        part().slice(-5)
    with pytest.raises(ZeroDivisionError):
        print(part(), 1 / 0)
    with pytest.raises(ValueError, match="names"):
        pa.RecordBatch.from_arrays([part()], names=["x", "y"])


def test_an_exception_is_not_lost_when_a_capsule_dies() -> None:
    owned = Owned()
    with pytest.raises(ZeroDivisionError):
        print(export_array(owned.array), export_schema(int64()), 1 / 0)


def test_a_forked_child_frees_its_own_copy() -> None:
    owned = Owned()
    theirs = pa.array(owned.array)
    del owned.array
    child = os.fork()
    if child == 0:
        del theirs
        os._exit(0 if owned.alive() is None else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert owned.alive() is not None
    assert theirs.to_pylist() == [0, 1, 2]


AT_EXIT = """
import ctypes, sys
import duckdb, polars, pyarrow as pa
import colkern as ck
from colkern.interchange import import_array, import_batch, import_stream
batch = import_batch(pa.record_batch({"a": [1, 2, 3], "b": ["x", None, "y"]}))
stream = lambda: ck.RecordBatchStream(batch.schema, [batch])
class Held: pass
pa.held = pa.table(stream())
polars.held = polars.DataFrame(stream())
half = pa.RecordBatchReader.from_stream(stream())
import builtins
builtins.held = [import_stream(pa.table(batch)), import_array(pa.array([1])), half]
sys.held = batch["a"].__arrow_c_array__(), batch.__arrow_c_array__(), stream().__arrow_c_stream__()
con = duckdb.connect()
batches = stream()
rows = con.sql("select * from batches")
# A consumer that lets go when Python is gone.
schema, array = batch["a"].__arrow_c_array__()
get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
Words = ctypes.c_int64 * 10
source = Words.from_address(get(array, b"arrow_array"))
late = Words.from_buffer_copy(source)
source[8] = 0
ctypes.pythonapi.Py_IncRef(ctypes.py_object(late))
libc = ctypes.CDLL(None)
assert libc.__cxa_atexit(ctypes.c_void_p(late[8]), ctypes.byref(late), None) == 0
"""


def test_the_interpreter_ends_well_with_everything_alive() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
