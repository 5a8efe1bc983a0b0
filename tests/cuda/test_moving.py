"""`to_device` and `to_host`: arrays of every layout there and back, over a stand-in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from operations.samples import sample, samples
from present import present

import colkern as ck
from colkern.cuda import stand_in
from colkern.memory import HOST, device_named


@pytest.mark.parametrize("name", samples())
def test_there_and_back(name: str, device: stand_in.StandIn) -> None:
    array = sample(name).slice(1)
    moved = ck.to_device(array)
    # Without bytes an array is nowhere.
    assert name == "null" or moved.device == ck.Device("cuda")
    moved.validate(full=True)
    back = ck.to_host(moved)
    assert back.device == HOST
    assert back.to_pylist() == array.to_pylist()


def test_all_buffers_stand_in_one_block_at_multiples_of_64(device: stand_in.StandIn) -> None:
    moved = ck.to_device(ck.array([["a", None], None, ["bcd"]]))
    assert device.allocations == 1
    base = present(moved.buffers[0]).array.base
    buffers = [moved.buffers[1], *moved.children[0].buffers]
    assert all(present(buffer).array.base is base for buffer in buffers)
    assert all((present(buffer).address - base.ctypes.data) % 64 == 0 for buffer in buffers)


def test_memory_is_freed_with_the_last_array(device: stand_in.StandIn) -> None:
    child = ck.to_device(ck.array([["a", None], None, ["bcd"]])).children[0]
    assert device.used_bytes > 0
    assert ck.to_host(child).to_pylist() == ["a", None, "bcd"]
    del child
    assert device.used_bytes == 0


def test_a_batch_and_the_dictionary_that_its_columns_share(device: stand_in.StandIn) -> None:
    column = ck.dictionary_encode(ck.array(["a", "b", "a"]))
    batch = ck.record_batch({"x": column, "y": column.slice(0)})
    moved = ck.to_device(batch)
    x, y = moved.columns
    assert x.dictionary is y.dictionary
    assert ck.to_host(moved).to_pylist() == batch.to_pylist()


def test_what_is_there_already_is_not_copied(device: stand_in.StandIn) -> None:
    moved = ck.to_device(ck.array([1, 2]))
    with ck.cuda.count_transfers() as counted:
        assert ck.to_device(moved).buffers[1] is moved.buffers[1]
        host = ck.array([1, 2])
        assert ck.to_host(host) is host
    assert counted == ck.cuda.Transfers()


def test_the_host_is_a_device_as_well(device: stand_in.StandIn) -> None:
    moved = ck.to_device(ck.array([1, None]))
    assert ck.to_device(moved, "cpu").to_pylist() == [1, None]
    host = ck.array([1])
    assert ck.to_device(host, "cpu") is host


def test_a_device_that_there_is_none_of() -> None:
    with pytest.raises(ValueError, match="device: expected 'cpu', 'cuda' or 'cuda:N', got 'gpu'"):
        device_named("gpu")
    # As PyTorch would take it.
    with pytest.raises(TypeError, match="device: expected a name or a Device, got int"):
        device_named(0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="device: expected 'cpu' or a CUDA device, got rocm:0"):
        ck.to_device(ck.array([1]), ck.Device("rocm"))
    assert device_named("cuda:3") == ck.Device("cuda", 3)


@pytest.mark.parametrize("ordinal", [-1, 1])
def test_an_ordinal_that_no_device_has(ordinal: int, device: stand_in.StandIn) -> None:
    with pytest.raises(ck.DeviceUnavailableError, match=f"no device cuda:{ordinal}: there are 1"):
        ck.to_device(ck.array([1]), ck.Device("cuda", ordinal))


COLUMNS = {
    "numbers": ck.array([None, *range(1000), None]),
    "text": ck.array([None, *map(str, range(1000)), None]),
    "views": ck.array([None, *(f"longer than that: {k}" for k in range(1000))], ck.utf8_view()),
    "dictionary": ck.dictionary_encode(ck.array(["b", *map(str, range(1000)), None])),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("find", [ck.first, ck.last, ck.min, ck.max, ck.min_max])
def test_a_value_comes_without_its_column(
    find: Callable[[ck.Array], object], name: str, device: stand_in.StandIn
) -> None:
    moved = ck.to_device(COLUMNS[name])
    with ck.cuda.count_transfers() as counted:
        assert find(moved) == find(COLUMNS[name])
    assert counted.bytes_to_host < 3000


@pytest.mark.parametrize("name", COLUMNS)
def test_sets_stay_on_their_device(name: str, device: stand_in.StandIn) -> None:
    column = COLUMNS[name]
    moved = ck.to_device(column)
    for find in (ck.is_in, ck.index_in):
        with ck.cuda.count_transfers() as counted:
            actual = find(moved, moved), find(moved, moved.slice(4, 2))
        assert counted.bytes_to_host < 3000
        expected = find(column, column), find(column, column.slice(4, 2))
        assert [ck.to_host(each).to_pylist() for each in actual] == [
            e.to_pylist() for e in expected
        ]


@pytest.mark.parametrize("fill", [ck.fill_null, ck.coalesce])
def test_a_column_of_nulls_is_filled_from_a_device(
    fill: Callable[[ck.Array, ck.Array], ck.Array], device: stand_in.StandIn
) -> None:
    """It has no bytes, so it is on none."""
    nulls, numbers = ck.array([None, None]), ck.array([1, None])
    filled = fill(ck.to_device(nulls), ck.to_device(numbers))
    assert filled.device == ck.Device("cuda")
    assert ck.to_host(filled).to_pylist() == [1, None]
