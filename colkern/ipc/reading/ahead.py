"""Batches on their way to a device while the ones before are worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, TypeVar

from colkern.cuda import memory
from colkern.errors import LimitExceededError
from colkern.memory import Device

Taken = TypeVar("Taken")
State: TypeAlias = object
"""The stream and the allocator that are current in a thread; see `colkern.cuda.memory`."""


def one_ahead(take: Callable[[int], Taken], count: int, device: Device) -> Iterator[Taken]:
    """`take(0)`, `take(1)`, … up to `count`: each begins when the one before is handed out.

    They run in a thread of their own, with the caller's current stream and allocator; where the stream
    is one that each thread has for itself, none begins before its turn. One is taken again when its turn
    comes if the device had no room for it beside what the caller still has, or if the caller has another
    stream by then: what it frees would go back to the one that it does not use.

    Args:
        take: Takes the item of a number, and is called for one at a time.
        count: How many there are.
        device: The device.
    """
    # No name is given to what is on its way or handed out: this frame, and the traceback of an error that
    # has it, would keep its memory.
    begun: deque[tuple[State, Future[Taken]]] = deque()
    taken: deque[Taken] = deque()
    with ThreadPoolExecutor(1, "colkern-ahead") as thread:
        for number in range(count):
            state = memory.current_state(device)
            taken.append(_result(begun, take, number, state) if begun else take(number))
            if number + 1 < count and state is not None:
                begun.append((state, thread.submit(_take_there, take, number + 1, device, state)))
            yield taken.pop()


def _take_there(take: Callable[[int], Taken], number: int, device: Device, state: State) -> Taken:
    with memory.in_state(device, state):
        return take(number)


def _result(
    begun: deque[tuple[State, Future[Taken]]],
    take: Callable[[int], Taken],
    number: int,
    state: State,
) -> Taken:
    begun_in, future = begun.pop()
    try:
        taken = future.result()
        if begun_in == state:
            return taken
        del taken
    except LimitExceededError:
        pass
    finally:
        del future
    return take(number)
