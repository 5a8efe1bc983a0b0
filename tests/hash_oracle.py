"""The hashes of `colkern.kernels.hashing` in plain Python, from its description alone."""

from __future__ import annotations

import math
import struct
from typing import Any

MASK = 2**64 - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def avalanche(h: int) -> int:
    """The finalizer of XXH64."""
    for shift, prime in ((33, P2), (29, P3)):
        h = (h ^ h >> shift) * prime & MASK
    return h ^ h >> 32


def folded(a: int, b: int) -> int:
    return (a * b ^ a * b >> 64) & MASK


def state_of(seed: int) -> int:
    return avalanche(seed ^ P1)


def hash_number(value: int, state: int) -> int:
    return avalanche(state ^ value & MASK)


def hash_float(bits: int, width: int, state: int) -> int:
    """The hash of a float of `width` bits."""
    value = struct.unpack(
        {16: "<e", 32: "<f", 64: "<d"}[width], bits.to_bytes(width // 8, "little")
    )[0]
    if math.isnan(value):
        return hash_number(-1, state)
    return hash_number(0 if value == 0 else bits, state)


def hash_bytes(value: bytes, state: int) -> int:
    filled = value.ljust(max(-(-len(value) // 16), 1) * 16, b"\0")
    h = state
    for low, high in struct.iter_unpack("<QQ", filled):
        h = folded(low ^ P1, high ^ h)
    return folded(h ^ P2, len(value) ^ P3)


def hash_null(state: int) -> int:
    return avalanche(state ^ P5)


def sequence_start(length: int, state: int) -> int:
    return avalanche(state ^ (length + 1) * P4 & MASK)


def combined(h: int, following: int) -> int:
    return avalanche((h << 27 | h >> 37) & MASK ^ following)


def hash_sequence(parts: list[int], state: int) -> int:
    h = sequence_start(len(parts), state)
    for part in parts:
        h = combined(h, part)
    return h


def hash_value(value: Any, state: int) -> int:
    """The hash of a Python value: integers, text, bytes, lists, dicts (structs), None."""
    if value is None:
        return hash_null(state)
    if isinstance(value, int):
        return hash_number(int(value), state)
    if isinstance(value, float):
        return hash_float(struct.unpack("<Q", struct.pack("<d", value))[0], 64, state)
    if isinstance(value, str | bytes):
        return hash_bytes(value.encode() if isinstance(value, str) else value, state)
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    return hash_sequence([hash_value(part, state) for part in parts], state)
