"""Objects of `hashlib` in row functions: the bytes so far, of which a body computes the digest."""

from __future__ import annotations

import hashlib
import math
import struct
from abc import ABC, abstractmethod

_WORD = 0xFFFF_FFFF
_PRIMES = [n for n in range(2, 312) if all(n % k for k in range(2, math.isqrt(n) + 1))]


def _cube_root(number: int) -> int:
    root = int(math.cbrt(number))
    while root**3 > number:
        root -= 1
    while (root + 1) ** 3 <= number:
        root += 1
    return root


_START = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
_ROTATIONS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
_KEYS = [int(abs(math.sin(step + 1)) * 2**32) for step in range(64)]


def _packed(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}q", *words)


OF_MD5 = _packed(*_START, *_KEYS, *_ROTATIONS)
OF_SHA_1 = _packed(*_START, 0xC3D2E1F0, 0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6)
OF_SHA_256 = _packed(
    *(math.isqrt(prime << 64) & _WORD for prime in _PRIMES[:8]),
    *(_cube_root(prime << 96) & _WORD for prime in _PRIMES),
)


def md5(data: bytes, constants: bytes) -> bytes:
    """Returns the 16 bytes of a digest; row functions have a body for it, with its constants."""
    return hashlib.md5(data, usedforsecurity=False).digest()


def sha_1(data: bytes, constants: bytes) -> bytes:
    """Returns the 20 bytes of a digest; row functions have a body for it, with its constants."""
    return hashlib.sha1(data, usedforsecurity=False).digest()


def sha_256(data: bytes, constants: bytes) -> bytes:
    """Returns the 32 bytes of a digest; row functions have a body for it, with its constants."""
    return hashlib.sha256(data).digest()


class Hash(ABC):
    """An object of `hashlib`."""

    _python_class_ = type(hashlib.md5(usedforsecurity=False))

    def __init__(self, string: bytes = b"", *, usedforsecurity: bool = True) -> None:
        self.data = string

    def update(self, obj: bytes) -> None:
        """Add bytes."""
        self.data = self.data + obj

    @abstractmethod
    def digest(self) -> bytes:
        """Returns the digest of the bytes so far."""

    def hexdigest(self) -> str:
        """Returns the digest as hexadecimal digits."""
        return self.digest().hex()


class Md5(Hash):
    """`hashlib.md5`."""

    def digest(self) -> bytes:
        """Returns 16 bytes."""
        return md5(self.data, OF_MD5)


class Sha1(Hash):
    """`hashlib.sha1`."""

    def digest(self) -> bytes:
        """Returns 20 bytes."""
        return sha_1(self.data, OF_SHA_1)


class Sha256(Hash):
    """`hashlib.sha256`."""

    def digest(self) -> bytes:
        """Returns 32 bytes."""
        return sha_256(self.data, OF_SHA_256)
