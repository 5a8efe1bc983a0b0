"""Batches that are copied to devices while the ones before are in use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, TypeVar

from colkern.cuda import memory
from colkern.errors import LimitExceededError
from colkern.memory import Device

Taken = TypeVar("Taken")
State: TypeAlias = object
"""The stream and the allocator that are current in a thread; see `colkern.cuda.memory`."""


def one_ahead(
    take: Callable[[int], Taken], count: int, devices: Sequence[Device]
) -> Iterator[Taken]:
    """`take(0)`, `take(1)`, … up to `count`; each starts when its device's previous one is handed out."""
    # They run in their own threads, with the caller's current stream and allocator of the device.
    # If each thread has a current stream of its own, none starts before its turn. A batch is taken
    # again in its turn if the device had no room for it beside what the caller still holds, or if
    # the caller has another stream by then: memory that it frees would go back to the unused
    # stream. No variable refers to a batch that is under way or handed out: this frame, and the
    # traceback of an error in it, would keep its memory.
    begun: dict[int, tuple[State, Future[Taken]]] = {}
    taken: deque[Taken] = deque()
    with ThreadPoolExecutor(len(devices), "colkern-ahead") as threads:
        for number in range(count):
            state = memory.current_state(devices[number % len(devices)])
            taken.append(_result(begun, take, number, state) if number in begun else take(number))
            for further in range(number + 1, min(number + 1 + len(devices), count)):
                device = devices[further % len(devices)]
                state = memory.current_state(device)
                if further not in begun and state is not None:
                    under_way = threads.submit(_take_there, take, further, device, state)
                    begun[further] = state, under_way
                    del under_way
            yield taken.pop()


def _take_there(take: Callable[[int], Taken], number: int, device: Device, state: State) -> Taken:
    with memory.in_state(device, state):
        return take(number)


def _result(
    begun: dict[int, tuple[State, Future[Taken]]],
    take: Callable[[int], Taken],
    number: int,
    state: State,
) -> Taken:
    begun_in, future = begun.pop(number)
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
