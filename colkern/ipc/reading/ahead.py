"""Batches on their way to a device while the ones before are worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from colkern.cuda import memory
from colkern.errors import LimitExceededError
from colkern.memory import Device

Taken = TypeVar("Taken")


def one_ahead(take: Callable[[int], Taken], count: int, device: Device) -> Iterator[Taken]:
    """`take(0)`, `take(1)`, … up to `count`: each begins when the one before is handed out.

    They run in a thread of their own, with the caller's current stream. Where the device has no room for
    one beside what the caller still has, it is taken again when its turn comes.

    Args:
        take: Takes the item of a number, and is called for one at a time.
        count: How many there are.
        device: The device.
    """
    # No name is given to what is on its way or handed out: this frame, and the traceback of an error that
    # has it, would keep its memory.
    begun: deque[Future[Taken]] = deque()
    taken: deque[Taken] = deque()
    with ThreadPoolExecutor(1, "colkern-ahead") as thread:
        for number in range(count):
            taken.append(_result(begun.pop(), take, number) if begun else take(number))
            if number + 1 < count:
                begun.append(thread.submit(_take_there, take, number + 1, device, _stream(device)))
            yield taken.pop()


def _stream(device: Device) -> int:
    with memory.current(device):
        return memory.current_stream()


def _take_there(take: Callable[[int], Taken], number: int, device: Device, stream: int) -> Taken:
    with memory.current(device), memory.on_stream(stream):
        return take(number)


def _result(begun: Future[Taken], take: Callable[[int], Taken], number: int) -> Taken:
    try:
        return begun.result()
    except LimitExceededError:
        pass
    finally:
        del begun
    return take(number)
