"""Files and streams over two devices: their batches take turns, and work stays where they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ipc.on_device import BATCHES, VALUES, Tap, batch_of
from ipc.written import written
from present import present

import colkern as ck
from colkern.cuda import stand_in
from colkern.interchange import import_stream
from colkern.kernels import arithmetic
from colkern.layouts import Role
from colkern.memory import Device
from colkern.targets import target_of

BOTH = [Device("cuda", 0), Device("cuda", 1)]
IN_TURN = [BOTH[0], BOTH[1], BOTH[0]]
NAMES = ["cuda:0", "cuda:1"]


@pytest.fixture(autouse=True)
def devices() -> Iterator[stand_in.StandIn]:
    with stand_in.installed(devices=2) as both:
        yield both


def places(batches: Any) -> list[set[Device]]:
    return [{column.device for column in batch.columns} for batch in batches]


def encoded(values: list[str], words: list[str] | None = None) -> ck.RecordBatch:
    column = ck.dictionary_encode(ck.array([*(words or []), *values]))
    return ck.record_batch({"text": column[len(words or []) :]})


@pytest.mark.parametrize("fmt", ["file", "stream"])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_batches_take_turns(fmt: str, compression: str | None, devices: stand_in.StandIn) -> None:
    data = written(BATCHES, fmt, compression=compression)
    batches = list(ck.ipc.open(data, device=NAMES))
    assert places(batches) == [{device} for device in IN_TURN]
    assert [ck.to_host(batch).to_pylist() for batch in batches] == VALUES
    assert min(devices.used[0], devices.used[1]) > 0
    del batches
    assert devices.used_bytes == 0


def test_one_batch_of_a_file_is_where_its_turn_is() -> None:
    reader = ck.ipc.open_file(written(BATCHES, "file"), device=BOTH)
    assert places([reader[1], *reader[1:]]) == [{BOTH[1]}, {BOTH[1]}, {BOTH[0]}]


def test_the_second_device_alone(devices: stand_in.StandIn) -> None:
    table = ck.ipc.read_table(written(BATCHES), device="cuda:1")
    assert places(table.batches) == [{BOTH[1]}] * 3
    assert devices.used[0] == 0
    doubled = table["nulls"] * 2
    assert doubled.device == BOTH[1]
    assert ck.to_host(doubled)[1] == 2


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ([], "device: expected one device at least"),
        (["cuda:0", "cpu"], "device: expected a CUDA device, got cpu"),
    ],
)
def test_what_is_no_list_of_devices(device: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ck.ipc.open(written(BATCHES), device=device)
    with pytest.raises(ck.DeviceUnavailableError, match="no device cuda:2: there are 2"):
        ck.ipc.open(written(BATCHES), device=["cuda:0", "cuda:2"])
    assert places(ck.ipc.open(written(BATCHES), device=["cpu"])) == [{Device("cpu")}] * 3


@pytest.mark.parametrize("fmt", ["file", "stream"])
def test_each_device_has_its_dictionaries(fmt: str) -> None:
    words = ["a", "b"]
    rows = [["a", "b", "a"], ["b"], ["b", "b"], ["a"]]
    data = written([encoded(row, words) for row in rows], fmt)
    for source in (data, Tap(data)):
        columns = [batch.column(0) for batch in ck.ipc.open(source, device=NAMES)]
        dictionaries = [present(column.dictionary) for column in columns]
        assert [dictionary.device for dictionary in dictionaries] == BOTH * 2
        assert dictionaries[0] is dictionaries[2]
        assert [ck.to_host(column).to_pylist() for column in columns] == rows


def test_replaced_dictionaries_and_deltas() -> None:
    words = [["a"], ["a", "b"], ["c"], ["c", "a"], ["a", "d"]]
    data = written(map(encoded, words), dictionary_deltas=True)
    assert [
        ck.to_host(batch)["text"].to_pylist() for batch in ck.ipc.open(data, device=NAMES)
    ] == words


def test_the_next_batch_of_each_device_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both begin while the first batch is in use: neither waits for the other."""
    reader = ck.ipc.open_file(written([*BATCHES, batch_of(1)], "file"), device=NAMES)
    both, opened = threading.Barrier(2, timeout=60), reader._opened

    def at_once(position: int) -> Any:
        if position in (1, 2):
            both.wait()
        return opened(position)

    monkeypatch.setattr(reader, "_opened", at_once)
    assert [ck.to_host(batch).to_pylist() for batch in reader][:3] == VALUES


def test_no_room_on_one_device_leaves_the_next_batch_to_the_other() -> None:
    with stand_in.installed(400_000, devices=2):
        big, small = batch_of(0, 20_000), batch_of(0, 100)
        reader = ck.ipc.open_stream(written([small, big, small, small]), device=NAMES)
        first = next(reader)
        with pytest.raises(ck.LimitExceededError, match="device memory"):
            next(reader)
        assert places([first, *reader]) == [{BOTH[0]}, {BOTH[0]}, {BOTH[1]}]


@pytest.fixture
def table() -> ck.Table:
    return ck.ipc.read_table(written(BATCHES), device=NAMES)


def test_work_on_each_batch_stays_on_its_device(table: ck.Table) -> None:
    on_host = ck.table(BATCHES)
    both = table["plain"] + table["nulls"]
    assert [chunk.device for chunk in both.chunks] == IN_TURN
    assert ck.to_host(both).to_pylist() == (on_host["plain"] + on_host["nulls"]).to_pylist()
    kept = ck.filter(table, table["plain"] > 3500)
    assert places(batch for batch in kept.batches if batch.length) == [{BOTH[1]}, {BOTH[0]}]
    assert ck.to_host(kept) == ck.filter(on_host, on_host["plain"] > 3500)
    for aggregate in (ck.sum, ck.count, ck.min_max, ck.max, lambda c: ck.count(c, "only_null")):
        assert aggregate(table["nulls"]) == aggregate(on_host["nulls"])


def test_filters_while_reading() -> None:
    read = ck.ipc.read_table(written(BATCHES), filters=[("text", ">", "text 3")], device=NAMES)
    expected = [row for row in ck.table(BATCHES).to_pylist() if row["text"] > "text 3"]
    assert ck.to_host(read).to_pylist() == expected


def test_many_short_chunks_stay_apart() -> None:
    table = ck.ipc.read_table(written([batch_of(n, 2) for n in range(70)]), device=NAMES)
    doubled = table["plain"] * 2
    assert [chunk.device for chunk in doubled.chunks] == BOTH * 35
    assert ck.to_host(doubled).to_pylist()[:4] == [0, 2, 2, 4]
    kept = ck.filter(table, table["plain"] >= 0)
    assert kept.length == 140


def test_what_needs_all_rows_says_how_to_bring_them_together(table: ck.Table) -> None:
    copies = stand_in.installed_library().copies  # type: ignore[union-attr]
    before = len(copies)
    words = (
        "arrays\\[1\\]: on cuda:1, arrays\\[0\\] is on cuda:0; colkern.to_device copies all to one"
    )
    for operation in (
        lambda table: ck.sort_indices(table["plain"]),
        lambda table: ck.group_by(table, "plain").aggregate([("nulls", "sum")]),
        lambda table: ck.unique(table["text"]),
        lambda table: ck.join(table, table, "plain"),
    ):
        with pytest.raises(ValueError, match=words):
            operation(table)
    assert len(copies) == before
    together = ck.to_device(table, "cuda:1")
    assert places(together.batches) == [{BOTH[1]}] * 3
    assert ck.to_host(ck.sort_indices(together["plain"]))[0] == 0
    grouped = ck.group_by(together, "plain").aggregate([("nulls", "sum")])
    assert (
        ck.to_host(grouped).to_pylist()
        == ck.group_by(ck.table(BATCHES), "plain").aggregate([("nulls", "sum")]).to_pylist()
    )


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_written_from_both(table: ck.Table, compression: str | None) -> None:
    assert written(table, compression=compression) == written(BATCHES, compression=compression)
    assert written(table, "file") == written(BATCHES, "file")


def test_to_device_and_to_host_from_both(table: ck.Table) -> None:
    assert ck.to_host(table) == ck.table(BATCHES)
    with ck.cuda.count_transfers() as counted:
        ck.to_device(table.batches[1], "cuda:1")
    assert counted == ck.cuda.Transfers()
    moved = ck.to_device(table.batches[1], "cuda:0")
    assert places([moved]) == [{BOTH[0]}]
    assert ck.to_host(moved).to_pylist() == VALUES[1]


def test_other_libraries_are_told_the_device_of_each_batch() -> None:
    imported = import_stream(ck.ipc.open(written(BATCHES), device=NAMES))
    assert places(imported) == [{device} for device in IN_TURN]


def test_memory_of_another_device_is_refused(table: ck.Table, devices: stand_in.StandIn) -> None:
    """By operations, and by the stand-in itself, whose kernels run over all of the host's memory."""
    left, right = table["plain"].chunks[:2]
    with pytest.raises(ValueError, match="right: on cuda:1, left is on cuda:0"):
        ck.add(left, right)
    out, target = right.items(Role.DATA).copy(), target_of(BOTH[0])
    with pytest.raises(ValueError, match="memory of cuda:1 in work of cuda:0"):
        target.map(arithmetic.add_words, 3, right.items(Role.DATA), right.items(Role.DATA), out)
    with pytest.raises(ValueError, match="memory of cuda:1 in work of cuda:0"):
        devices.copy_stream(0).to_host(right.items(Role.DATA).view("u1"), out.view("u1"))
