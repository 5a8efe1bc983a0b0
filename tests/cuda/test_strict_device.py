"""Operations over a device that is strict and late, and what they ask of it: launches and waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from cuda import device_operations, strict_device
from cuda.on_device import OPERATIONS
from cuda.strict_device import StrictDevice
from operations.samples import ints, sample

import colkern as ck
from colkern.arrays import Array
from colkern.cuda.stand_in import FRESH
from colkern.errors import ColkernError
from colkern.kernels import arithmetic
from colkern.memory import Buffer, Device
from colkern.operations.position_checks import require_valid
from colkern.targets import target_of


@pytest.fixture
def device() -> Iterator[StrictDevice]:
    with strict_device.installed() as device:
        yield device


@pytest.mark.parametrize("what", OPERATIONS)
def test_operation(what: str, device: StrictDevice) -> None:
    # Work on a device that is not the current one.
    assert list(device_operations.failures(what, "cuda:1")) == []


def outcome(run: Callable[..., object], *arrays: Array) -> object:
    """The result as Python objects, or the error."""
    try:
        return device_operations.plain(run(*arrays))
    except (IndexError, TypeError, ValueError, ColkernError) as error:
        return str(error)


def test_operations_of_no_slots(device: StrictDevice) -> None:
    nothing = ints([])
    for what, (name, run) in OPERATIONS.items():
        array = sample(name).slice(0, 0)
        expected = outcome(run, array, nothing)
        there = ck.to_device(array, "cuda:1"), ck.to_device(nothing, "cuda:1")
        assert outcome(run, *there) == expected, what


def test_gather_union(device: StrictDevice) -> None:
    assert list(device_operations.union_failures("cuda:1")) == []


def test_validation(device: StrictDevice) -> None:
    assert list(device_operations.validation_failures("cuda:1")) == []


def test_writing(device: StrictDevice) -> None:
    assert list(device_operations.writing_failures("cuda:1")) == []


def test_a_missing_wait_shows(device: StrictDevice) -> None:
    """Memory of a kernel that nobody waited for has what it had before."""
    target = target_of(Device("cuda"))
    out: Any = target.output(3, np.uint8)
    target.map(arithmetic.add_words, 3, *2 * [target.table([1, 2, 3], np.uint8)], out)
    assert out.raw.tolist() == [FRESH] * 3
    assert out.get().tolist() == [2, 4, 6]


def test_a_stream_that_does_not_wait_for_another_shows(device: StrictDevice) -> None:
    target = target_of(Device("cuda"))
    out: Any = target.output(3, np.uint8)
    target.map(arithmetic.add_words, 3, *2 * [target.table([1, 2, 3], np.uint8)], out)
    event = device.record_current(0)
    with device.on_stream(7):
        assert out.get().tolist() == [FRESH] * 3
        event.hold_current()
        assert out.get().tolist() == [2, 4, 6]


def test_arrays_of_numpy_and_names_that_cupy_lacks_are_refused(device: StrictDevice) -> None:
    array: Any = target_of(Device("cuda")).table([1, 2], np.int64)
    with pytest.raises(TypeError, match="Unsupported type"):
        array + np.array([1, 2])
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(array)
    with pytest.raises(AttributeError, match="partition"):
        array.partition(1)


@pytest.mark.gpu
def test_the_names_are_those_of_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    assert [n for n in strict_device.NAMES if not hasattr(cupy.ndarray, n)] == []
    assert [n for n in strict_device.FUNCTIONS if not hasattr(cupy, n)] == []


NULLS = [None, *range(1, 100)]

TEXTS = [None if n % 7 == 0 else f"text {n}" for n in range(100)]

COUNTED: dict[str, tuple[Callable[..., object], tuple[int, int, int]]] = {
    "add": (lambda a: ck.add(a["ints"], a["others"]), (1, 0, 0)),
    "add, nulls of one bitmap": (lambda a: ck.add(a["ints"], a["ints"]), (1, 0, 0)),
    "add, no nulls": (lambda a: ck.add(a["plain"], a["plain"]), (1, 0, 0)),
    "multiply of floats": (lambda a: ck.multiply(a["floats"], a["floats"]), (1, 0, 0)),
    "equal": (lambda a: ck.equal(a["ints"], a["others"]), (1, 0, 0)),
    "less of text": (lambda a: ck.less(a["texts"], a["accents"]), (1, 0, 0)),
    "and": (lambda a: ck.and_(a["some"], a["marks"]), (1, 0, 0)),
    "if_else": (lambda a: ck.if_else(a["mask"], a["ints"], a["others"]), (1, 0, 0)),
    "if_else, nulls": (lambda a: ck.if_else(a["some"], a["ints"], a["others"]), (1, 0, 0)),
    "if_else, a number": (lambda a: ck.if_else(a["some"], a["ints"], 0), (1, 0, 0)),
    "if_else of booleans": (lambda a: ck.if_else(a["some"], a["marks"], a["mask"]), (1, 0, 0)),
    "fill_null": (lambda a: ck.fill_null(a["ints"], 0), (1, 0, 0)),
    # An error is raised where it arises, so there is one wait.
    "divide of ints": (lambda a: ck.divide(a["ints"], a["ints"]), (1, 0, 1)),
    "divide of ints, two bitmaps": (lambda a: ck.divide(a["ints"], a["others"]), (2, 0, 1)),
    "divide of ints by a number": (lambda a: ck.divide(a["ints"], 3), (1, 0, 0)),
    "divide of a number by ints": (lambda a: ck.divide(3, a["ints"]), (1, 0, 1)),
    "add of decimals": (lambda a: ck.add(a["prices"], a["rates"]), (1, 0, 0)),
    "divide of decimals": (lambda a: ck.divide(a["prices"], a["rates"]), (3, 0, 1)),
    "sum": (lambda a: ck.sum(a["ints"]), (1, 0, 1)),
    "sum of floats": (lambda a: ck.sum(a["floats"]), (1, 0, 1)),
    # The sums of its pieces are added on the host, in an order that is the same for every GPU.
    "sum of many floats": (lambda a: ck.sum(a["many"]), (1, 0, 1)),
    "filter of numbers": (lambda a: ck.filter(a["ints"], a["mask"]), (2, 2, 1)),
    "filter of text": (lambda a: ck.filter(a["texts"], a["mask"]), (3, 2, 1)),
    "take of numbers": (lambda a: ck.take(a["ints"], a["places"]), (2, 0, 1)),
    "take of text": (lambda a: ck.take(a["texts"], a["places"]), (3, 3, 1)),
    "concat of text": (lambda a: ck.concat([a["texts"], a["texts"]]), (3, 2, 0)),
    "full validation of text": (lambda a: fresh(a["texts"]).validate(full=True), (3, 0, 1)),
    # Which bytes begin a character is looked at once it is known that there are such.
    "full validation of accents": (lambda a: fresh(a["accents"]).validate(full=True), (4, 0, 2)),
    "full validation of views": (lambda a: fresh(a["views"]).validate(full=True), (3, 0, 1)),
    "full validation of bytes in views": (
        lambda a: fresh(a["blobs"]).validate(full=True),
        (2, 0, 1),
    ),
    # Which of the values is not ASCII is looked at once it is known that there are such.
    "full validation of accents in views": (
        lambda a: fresh(a["accented"]).validate(full=True),
        (4, 0, 2),
    ),
    "dictionary_encode": (lambda a: ck.dictionary_encode(a["texts"]), (11, 13, 2)),
}
"""Operation → launches of kernels, computations of the array library, waits of the host."""


def fresh(array: Array) -> Array:
    """The same bytes, which nobody has looked at."""
    return Array(array.type, array.length, array.buffers, null_count=array.known_null_count)


@pytest.mark.parametrize("what", COUNTED)
def test_launches_and_waits(what: str, device: StrictDevice) -> None:
    values = {
        "ints": NULLS,
        "others": [1, None, *range(2, 100)],
        "plain": list(range(100)),
        "floats": [None, *(n / 2 for n in range(99))],
        "many": [n / 2 for n in range(8193)],
        "texts": TEXTS,
        "accents": [*TEXTS[1:], "é"],
        "mask": [n % 3 == 0 for n in range(100)],
        "some": [None, *(n % 3 == 0 for n in range(99))],
        "marks": [True, None, *(n % 2 == 0 for n in range(98))],
        "places": [99, 0, 5],
        "prices": [None, *(Decimal(n) / 4 for n in range(1, 100))],
        "rates": [*(Decimal(n) / 4 for n in range(1, 100)), None],
    }
    columns = {name: ck.array(given) for name, given in values.items()}
    long = [text and f"{text}, which is longer" for text in TEXTS]
    columns["views"] = ck.array([*TEXTS, *long], type=ck.utf8_view())
    columns["accented"] = ck.array([*TEXTS, "one that is longer, é"], type=ck.utf8_view())
    columns["blobs"] = ck.array([b"\xff", None, b"\xff" * 13], type=ck.binary_view())
    arrays = {name: ck.to_device(column) for name, column in columns.items()}
    # The first operation on an array looks at its offsets, with a launch and a wait.
    for array in arrays.values():
        require_valid(array)
    run, expected = COUNTED[what]
    before = device.counts()
    run(arrays)
    assert tuple(b - a for a, b in zip(before, device.counts(), strict=True)) == expected


def test_text_is_checked_whose_bytes_are_not_all_of_a_buffer(device: StrictDevice) -> None:
    """All bytes are looked at before it is known which of them are the values'."""
    values = [b"\xff", b"one", b"\xc3\xa9", b"two"]
    array = ck.to_device(ck.array(values, type=ck.binary())).cast(ck.utf8(), safe=False)
    fresh(array).slice(1, 3).validate(full=True)
    for bad in (fresh(array), fresh(array).slice(0, 2)):
        with pytest.raises(ck.errors.InvalidArrowError, match="slot 0: not UTF-8"):
            bad.validate(full=True)


@pytest.mark.parametrize("size", [40, 400])
def test_views_are_checked_whose_bytes_are_not_all_of_a_buffer(
    size: int, device: StrictDevice
) -> None:
    """A large buffer is not looked at as a whole; what no value has may be no text."""
    data = b"\xff" * (size - 13) + b"thirteen byte"
    bad = data[:9] + "é".encode() + data[11:]
    for given, offset, fails in ((data, size - 13, False), (data, 0, True), (bad, 9, True)):
        view = np.frombuffer(
            (13).to_bytes(4, "little")
            + given[offset : offset + 4]
            + bytes(4)
            + offset.to_bytes(4, "little"),
            np.uint8,
        )
        buffers = [None, *map(Buffer.of_items, (view, np.frombuffer(given, np.uint8)))]
        array = ck.to_device(Array(ck.utf8_view(), 1, buffers, null_count=0))
        if fails:
            with pytest.raises(ck.errors.InvalidArrowError, match="slot 0: not UTF-8"):
                array.validate(full=True)
        else:
            array.validate(full=True)
