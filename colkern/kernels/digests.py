"""Digests of byte strings: MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4).

Words of 32 bits are in the lower halves of words of 64. The constants of an algorithm are such words: the
state at the start, the keys of the steps, and for MD5 by how many bits they rotate.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, get_word, set_byte, set_word
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Bytes, Code, allocate

MD5 = 0
SHA_1 = 1
SHA_256 = 2

_WORD = 0xFFFF_FFFF
_BLOCK = 64


@helper
def rotated(word: int64, count: int64) -> int64:
    """A word of 32 bits, rotated to the left."""
    return (word << count | word >> (32 - count)) & _WORD


@helper
def add_word(place: int64, word: int64) -> None:
    """Add a word of 32 bits to the one in memory."""
    set_word(place, (get_word(place) + word) & _WORD)


@helper
def padded_byte(data: Bytes, place: int64, end: int64, is_big: Truth) -> int64:
    """A byte of data with a one bit, zeros, and the size in bits as the last eight bytes before `end`."""
    if place < data.size:
        return get_byte(data.address + place)
    if place == data.size:
        return int64(128)
    if place < end - 8:
        return int64(0)
    shift = end - 1 - place if is_big else place - end + 8
    return data.size << 3 >> 8 * shift & 255


@helper
def padded_word(data: Bytes, place: int64, end: int64, is_big: Truth) -> int64:
    """Four bytes of data with padding, as a word."""
    word = int64(0)
    for k in range(4):
        byte = padded_byte(data, place + k, end, is_big)
        word = word << 8 | byte if is_big else word | byte << 8 * k
    return word


@helper
def md5_block(state: int64, words: int64, keys: int64) -> None:
    """Mix a block of 16 words into a state of four."""
    a = get_word(state)
    b = get_word(state + 8)
    c = get_word(state + 16)
    d = get_word(state + 24)
    for step in range(64):
        if step < 16:
            mixed = b & c | ~b & d
            place = step
        elif step < 32:
            mixed = d & b | ~d & c
            place = 5 * step + 1
        elif step < 48:
            mixed = b ^ c ^ d
            place = 3 * step + 5
        else:
            mixed = c ^ (b | ~d & _WORD)
            place = 7 * step
        mixed += a + get_word(keys + 8 * step) + get_word(words + 8 * (place & 15))
        count = get_word(keys + 512 + 8 * (step >> 4 << 2 | step & 3))
        a = d
        d = c
        c = b
        b = (b + rotated(mixed & _WORD, count)) & _WORD
    add_word(state, a)
    add_word(state + 8, b)
    add_word(state + 16, c)
    add_word(state + 24, d)


@helper
def sha_1_block(state: int64, words: int64, keys: int64) -> None:
    """Mix a block of 16 words, which are followed by room for 64, into a state of five."""
    for step in range(16, 80):
        at = words + 8 * step
        word = get_word(at - 24) ^ get_word(at - 64) ^ get_word(at - 112) ^ get_word(at - 128)
        set_word(at, rotated(word, int64(1)))
    a = get_word(state)
    b = get_word(state + 8)
    c = get_word(state + 16)
    d = get_word(state + 24)
    e = get_word(state + 32)
    for step in range(80):
        part = step // 20
        if part == 0:
            mixed = b & c | ~b & d
        elif part == 2:
            mixed = b & c | b & d | c & d
        else:
            mixed = b ^ c ^ d
        mixed += rotated(a, int64(5)) + e + get_word(keys + 8 * part) + get_word(words + 8 * step)
        e = d
        d = c
        c = rotated(b, int64(30))
        b = a
        a = mixed & _WORD
    add_word(state, a)
    add_word(state + 8, b)
    add_word(state + 16, c)
    add_word(state + 24, d)
    add_word(state + 32, e)


@helper
def sha_256_block(state: int64, words: int64, keys: int64) -> None:
    """Mix a block of 16 words, which are followed by room for 48, into a state of eight."""
    for step in range(16, 64):
        at = words + 8 * step
        old = get_word(at - 120)
        new = get_word(at - 16)
        low = rotated(old, int64(25)) ^ rotated(old, int64(14)) ^ old >> 3
        high = rotated(new, int64(15)) ^ rotated(new, int64(13)) ^ new >> 10
        set_word(at, get_word(at - 128) + low + get_word(at - 56) + high & _WORD)
    a = get_word(state)
    b = get_word(state + 8)
    c = get_word(state + 16)
    d = get_word(state + 24)
    e = get_word(state + 32)
    f = get_word(state + 40)
    g = get_word(state + 48)
    h = get_word(state + 56)
    for step in range(64):
        first = rotated(e, int64(26)) ^ rotated(e, int64(21)) ^ rotated(e, int64(7))
        first += h + (e & f ^ ~e & g) + get_word(keys + 8 * step) + get_word(words + 8 * step)
        second = rotated(a, int64(30)) ^ rotated(a, int64(19)) ^ rotated(a, int64(10))
        second += a & b ^ a & c ^ b & c
        h = g
        g = f
        f = e
        e = d + first & _WORD
        d = c
        c = b
        b = a
        a = first + second & _WORD
    add_word(state, a)
    add_word(state + 8, b)
    add_word(state + 16, c)
    add_word(state + 24, d)
    add_word(state + 32, e)
    add_word(state + 40, f)
    add_word(state + 48, g)
    add_word(state + 56, h)


@helper
def digest(
    arena: Arena, data: Bytes, constants: Bytes, algorithm: int64, size: int64
) -> tuple[Bytes, Code]:
    """The digest of `size` words of a byte string."""
    state = allocate(arena, int64(8) * size + 640 + 4 * size)
    if state == 0:
        return Bytes(arena, int64(0)), NO_ROOM
    words = state + 8 * size
    start = constants.address
    keys = start + 8 * size
    for k in range(size):
        set_word(state + 8 * k, get_word(start + 8 * k))
    is_big = algorithm != MD5
    end = (data.size + 8) // _BLOCK * _BLOCK + _BLOCK
    for block in range(end // _BLOCK):
        for k in range(16):
            place = _BLOCK * block + 4 * k
            set_word(words + 8 * k, padded_word(data, int64(place), end, is_big))
        if algorithm == MD5:
            md5_block(state, words, keys)
        elif algorithm == SHA_1:
            sha_1_block(state, words, keys)
        else:
            sha_256_block(state, words, keys)
    result = words + 640
    for k in range(4 * size):
        shift = 3 - (k & 3) if is_big else k & 3
        set_byte(result + k, get_word(state + 8 * (k >> 2)) >> 8 * shift & 255)
    return Bytes(result, 4 * size), DONE
