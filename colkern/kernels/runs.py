"""Runs: `run_ends[r]` is the logical position where run `r` ends, so runs are found by search.

Bodies find the run of their first position and then carry it along; a search for each value would be
many times slower.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import uint8, uint64

from colkern.kernels.bitmaps import get_bit
from colkern.kernels.kernel import helper, kernel


@helper
def find_run(run_ends: Any, position: Any) -> Any:
    """The run that holds a logical position: the first whose end is greater. `len(run_ends)` if none."""
    low = uint64(0)
    high = uint64(len(run_ends))
    while low < high:
        middle = (low + high) >> uint64(1)
        if uint64(run_ends[middle]) > position:
            high = middle
        else:
            low = middle + uint64(1)
    return low


@kernel("run_ends: R[], positions: P[], offset: u8, out: i8[w]", R="i2 i4 i8", P="i4 i8")
def find_runs(start, stop, step, run_ends, positions, offset, out):
    """out[i] = the run that holds logical position offset + positions[i].

    run_ends: int16/int32/int64[runs], increasing
    positions: int32/int64[n], at least 0; offset + positions[i] is less than the last run end
    offset: the first logical position
    out: int64[n]
    """
    for i in range(start, stop, step):
        out[i] = find_run(run_ends, offset + uint64(positions[i]))


@kernel("run_ends: R[], offset: u8, out: i8[w]", R="i2 i4 i8")
def run_of_each(start, stop, step, run_ends, offset, out):
    """out[i] = the run that holds logical position offset + i.

    run_ends: int16/int32/int64[runs], increasing, the last one at least offset + n
    offset: the first logical position
    out: int64[n]
    """
    i = uint64(start)
    run = find_run(run_ends, offset + i)
    while i < stop:
        while uint64(run_ends[run]) <= offset + i:
            run += uint64(1)
        end = min(uint64(run_ends[run]) - offset, uint64(stop))
        while i < end:
            out[i] = run
            i += uint64(step)


@kernel("run_ends: R[], values: T[], offset: u8, out: T[w]", R="i2 i4 i8", T="u1 u2 u4 u8")
def decode_runs(start, stop, step, run_ends, values, offset, out):
    """out[i] = values[the run that holds logical position offset + i].

    run_ends: int16/int32/int64[runs], increasing, the last one at least offset + n
    values: T[runs]
    offset: the first logical position
    out: T[n]
    """
    i = uint64(start)
    run = find_run(run_ends, offset + i)
    while i < stop:
        while uint64(run_ends[run]) <= offset + i:
            run += uint64(1)
        value = values[run]
        end = min(uint64(run_ends[run]) - offset, uint64(stop))
        while i < end:
            out[i] = value
            i += uint64(step)


@kernel(
    "run_ends: R[], bits: u1[], bit_offset: u8, offset: u8, length: u8, out: u1[w]",
    R="i2 i4 i8",
)
def decode_run_bits(start, stop, step, run_ends, bits, bit_offset, offset, length, out):
    """Bit i of `out` = the bit of the run that holds offset + i; the range is over bytes of `out`.

    run_ends: int16/int32/int64[runs], increasing, the last one at least offset + length
    bits: uint8[] bitmap with one bit a run
    bit_offset: the bit of run 0
    offset: the first logical position
    length: the number of bits
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    run = find_run(run_ends, offset + (uint64(start) << uint64(3)))
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            while uint64(run_ends[run]) <= offset + uint64(i):
                run += uint64(1)
            packed |= uint64(get_bit(bits, bit_offset + run)) << (uint64(i) - begin)
        out[b] = uint8(packed)


@kernel("run_ends: R[]", returns="u8", R="i2 i4 i8")
def first_bad_run_end(start, stop, step, run_ends):
    """The first run of the range that does not end after the one before; the largest uint64 if none.

    run_ends: int16/int32/int64[runs]
    """
    for r in range(start, stop, step):
        before = run_ends[uint64(r) - uint64(1)] if r > 0 else run_ends[uint64(0)] * 0
        if run_ends[uint64(r)] <= before:
            return uint64(r)
    return ~uint64(0)


@kernel("out: R[w]", R="i2 i4 i8")
def number_runs(start, stop, step, out):
    """out[i] = i + 1: the ends of runs of length one.

    out: int16/int32/int64[runs]
    """
    for i in range(start, stop, step):
        out[i] = i + uint64(1)


@kernel("run_ends: R[], first: u8, last: u8, base: u8, out: R[w]", R="i2 i4 i8")
def rebase_run_ends(start, stop, step, run_ends, first, last, base, out):
    """out[r] = where run r ends if slots [first, last) alone are kept and begin at `base`.

    run_ends: int16/int32/int64[runs], those that hold the slots
    first: the first slot kept
    last: past the last one
    base: where the first one goes
    out: int16/int32/int64[runs]
    """
    for r in range(start, stop, step):
        out[r] = min(uint64(run_ends[r]), last) - first + base
