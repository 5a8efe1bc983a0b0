"""`uuid` and the addresses of version 4 of `ipaddress` in row functions, as classes in plain Python."""

from __future__ import annotations

import builtins
import ipaddress
import uuid
from typing import Any

from colkern.rows.digests import Md5, Sha1
from colkern.rows.text_library import Uncovered

_VARIANTS = [uuid.RESERVED_NCS] * 8 + [uuid.RFC_4122] * 4
_VARIANTS += [uuid.RESERVED_MICROSOFT] * 2 + [uuid.RESERVED_FUTURE] * 2


class UUID:
    """A `uuid.UUID`: its 32 hexadecimal digits."""

    _python_class_ = uuid.UUID

    def __init__(
        self, hex: Any = None, bytes: Any = None, *others: Any, version: builtins.int | None = None
    ) -> None:
        if others or (hex is None) == (bytes is None):
            raise Uncovered
        if bytes is not None:
            if len(bytes) != 16:
                raise ValueError("bytes is not a 16-char string")
            digits = bytes.hex()
        else:
            digits = hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
            if len(digits) != 32:
                raise ValueError("badly formed hexadecimal UUID string")
            digits = digits.lower()
            for digit in digits:
                if digit not in "0123456789abcdef":
                    # `int` takes a sign, spaces, underscores and other digits.
                    raise Uncovered
        if version is not None:
            if not 1 <= version <= 5:
                raise Uncovered
            variant = "89ab"[int(digits[16], 16) & 3]
            digits = digits[:12] + str(version) + digits[13:16] + variant + digits[17:]
        self.hex: str = digits

    def __str__(self) -> str:
        digits = self.hex
        return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])

    def __repr__(self) -> str:
        return f"UUID({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, uuid.UUID) and self.hex == other.hex

    @property
    def bytes(self) -> builtins.bytes:
        """The 16 bytes."""
        return bytes.fromhex(self.hex)

    @property
    def int(self) -> builtins.int:
        """The number of 128 bits."""
        return int(self.hex, 16)

    @property
    def urn(self) -> str:
        """The name as an URN."""
        return "urn:uuid:" + str(self)

    @property
    def variant(self) -> str:
        """Which rules the digits follow."""
        return _VARIANTS[int(self.hex[16], 16)]

    @property
    def version(self) -> builtins.int | None:
        """The version, of those that follow the rules of RFC 4122."""
        return int(self.hex[12], 16) if self.hex[16] in "89ab" else None


def uuid3(namespace: Any, name: str) -> UUID:
    """`uuid.uuid3` of text."""
    return UUID(bytes=Md5(namespace.bytes + name.encode()).digest(), version=3)


def uuid5(namespace: Any, name: str) -> UUID:
    """`uuid.uuid5` of text."""
    return UUID(bytes=Sha1(namespace.bytes + name.encode()).digest()[:16], version=5)


def _ranges(name: str) -> list[tuple[int, int]]:
    """Returns the first and the last number of the networks that this version of Python knows."""
    networks = getattr(ipaddress.IPv4Address._constants, name, [])  # type: ignore[attr-defined]
    return [(int(each[0]), int(each[-1])) for each in networks]


_PRIVATE, _NOT_PRIVATE = _ranges("_private_networks"), _ranges("_private_networks_exceptions")


def _is_within(number: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= number <= last for first, last in ranges)


def _number_of(address: str) -> int:
    """Returns the number of an address as text; -1 if it is none."""
    octets = address.split(".")
    number = 0 if len(octets) == 4 else -1
    for octet in octets:
        is_number = octet.isascii() and octet.isdigit() and len(octet) <= 3
        if number < 0 or not is_number or (octet[0] == "0" and len(octet) > 1) or int(octet) > 255:
            return -1
        number = number * 256 + int(octet)
    return number


class IPv4Address:
    """An `ipaddress.IPv4Address`: its number."""

    _python_class_ = ipaddress.IPv4Address

    version = _version = 4

    def __init__(self, address: Any) -> None:
        if isinstance(address, str):
            self._ip = _number_of(address)
            if self._ip < 0:
                raise ipaddress.AddressValueError
        elif isinstance(address, int) and 0 <= address < 1 << 32:
            self._ip = address
        else:
            raise Uncovered

    def __int__(self) -> int:
        return self._ip

    def __str__(self) -> str:
        number = self._ip
        return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def __repr__(self) -> str:
        return f"IPv4Address({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ipaddress.IPv4Address) and self._ip == int(other)

    @property
    def packed(self) -> bytes:
        """The four bytes."""
        return self._ip.to_bytes(4, "big")

    @property
    def is_private(self) -> bool:
        """Whether it is of a network that is not routed, or has a use of its own."""
        return _is_within(self._ip, _PRIVATE) and not _is_within(self._ip, _NOT_PRIVATE)

    @property
    def is_global(self) -> bool:
        """Whether it is routed."""
        return self._ip >> 22 != 0x6440 >> 6 and not self.is_private

    @property
    def is_loopback(self) -> bool:
        """Whether it is 127.x.x.x."""
        return self._ip >> 24 == 127

    @property
    def is_link_local(self) -> bool:
        """Whether it is 169.254.x.x."""
        return self._ip >> 16 == 0xA9FE

    @property
    def is_multicast(self) -> bool:
        """Whether it is of 224.0.0.0/4."""
        return self._ip >> 28 == 14

    @property
    def is_reserved(self) -> bool:
        """Whether it is of 240.0.0.0/4."""
        return self._ip >> 28 == 15


def ip_address(address: Any) -> IPv4Address:
    """`ipaddress.ip_address` of version 4."""
    if not isinstance(address, str) or ":" in address:
        raise Uncovered
    if _number_of(address) < 0:
        raise ValueError(f"{address!r} does not appear to be an IPv4 or IPv6 address")
    return IPv4Address(address)
