"""Lanes: what the threads of a group know of each other, which have an item of a `grouped` kernel together.

On a CPU one thread has an item alone: all of this comes to nothing there. On a GPU, threads that each go
over 64 slots in a row ask for a sector of memory each, again and again. So the lanes of a group have every
`lanes()`-th slot each, from slot `lane()` on, and what all of them have seen is brought together.
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import add, lane, lanes, of_lane, popcount

SECTOR = 8
"""The lanes of a group that goes over 64 slots: items of four bytes, side by side, fill a sector of memory.

More would have less to do for each word than what each of them does for itself.
"""


@helper
def own_bits(bits: uint64) -> uint64:
    """Those of 64 bits that are this lane's."""
    each = ~uint64(0) // ((uint64(1) << lanes()) - uint64(1))
    return bits & (each << lane())


@helper
def bits_of_lanes(bits: uint64) -> uint64:
    """The bits that are set in one of the lanes' words."""
    away = lanes() >> uint64(1)
    while away != 0:
        bits |= of_lane(bits, away)
        away >>= uint64(1)
    return bits


@helper
def sums_of_lanes(number: uint64) -> tuple[uint64, uint64]:
    """The sum of the numbers of the lanes before this one, and of all, modulo 2**64."""
    before, total = uint64(0), number
    away = uint64(1)
    while away < lanes():
        other = of_lane(total, away)
        if lane() & away != 0:
            before = add(before, other)
        total = add(total, other)
        away <<= uint64(1)
    return before, total


@helper
def sum_of_lanes(number: uint64) -> uint64:
    """The sum of the lanes' numbers, modulo 2**64."""
    return sums_of_lanes(number)[1]


@helper
def rank_of(bits: uint64, k: uint64, own: uint64) -> uint64:
    """The number of set bits below bit `k`; of this lane's, `own`: all, where a thread is alone."""
    return own if lanes() == 1 else set_below(bits, k)


@helper
def set_below(bits: uint64, k: uint64) -> uint64:
    """The number of set bits below bit `k`."""
    return uint64(popcount(bits & ((uint64(1) << k) - uint64(1))))


@helper
def least_of_lanes(number: int64) -> int64:
    """The least of the lanes' numbers."""
    away = lanes() >> uint64(1)
    while away != 0:
        number = min(number, int64(of_lane(uint64(number), away)))
        away >>= uint64(1)
    return number
