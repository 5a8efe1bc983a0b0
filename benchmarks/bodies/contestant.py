"""The contestants of each round, and the yardsticks of their figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from colkern.memory import Device

RATE = "share of the rate of"
"""Bytes a second beside the other's; at least the target."""

SECONDS = "share of the seconds of"
"""Seconds beside the other's; at most the target."""

SPEED = "times as fast as"
"""The other's seconds beside these; at least the target."""


class Against(NamedTuple):
    """The yardstick of a figure.

    Args:
        kind: RATE, SECONDS or SPEED.
        case: The other contestant.
        target: What the ratio is held to; None if there is no target.
    """

    kind: str
    case: str
    target: float | None = None


@dataclass(frozen=True)
class Contestant:
    """Work that is timed.

    Args:
        case: Its name, as no other's.
        work: Does it. What it has started on the current stream may be under way when it returns; what
            it returns is dropped outside the time.
        nbytes: The bytes of the arrays that it is about, without padding.
        against: What it is held against; None for yardsticks and peers.
        facts: What else its row says.
    """

    case: str
    work: Callable[[], object]
    nbytes: int
    against: Against | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where it is measured, and on how much.

    Args:
        device: The device.
        size: About how many bytes the large tables have.
        folder: A folder for files.
    """

    device: Device
    size: int
    folder: Path


class Skipped(Exception):
    """Something cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Group:
    """Contestants that take turns over the same data.

    Args:
        name: What stands in the table where none of them could be made.
        make: Makes the data and the contestants; the data goes when it is left. Raises `Skipped`.
    """

    name: str
    make: Callable[[Place], AbstractContextManager[list[Contestant]]]


Contestants = Iterator[list[Contestant]]
"""The contestants of a group."""
