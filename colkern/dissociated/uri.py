"""The URI of a service: its address, and the tags that it answers to.

Dissociated IPC protocol: "URI Specification".
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from urllib.parse import quote, unquote

from colkern.errors import InvalidArrowError

_UINT64_MAX = (1 << 64) - 1
_PARAMETERS = ("want_data", "free_data", "remote_handle")


@dataclass(frozen=True, slots=True)
class ServiceUri:
    """One service, as described by its URI.

    Args:
        scheme: The transport: "tcp", "unix", "shm", "inproc", or another one.
        address: The part between the scheme and the parameters, decoded: `127.0.0.1:5000`, a path.
        want_data: The tag of the request that starts a stream, uint64.
        free_data: The tag of messages that free memory, uint64; None if there is nothing to free.
        remote_handle: The handle that gives access to the memory of addresses.

    Raises:
        ValueError: If a tag is no uint64, or both tags are equal.
    """

    scheme: str
    address: str
    want_data: int
    free_data: int | None = None
    remote_handle: bytes | None = None

    def __post_init__(self) -> None:
        for name in ("want_data", "free_data"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= _UINT64_MAX:
                raise ValueError(f"{name}: expected a uint64, got {value}")
        if self.want_data == self.free_data:
            raise ValueError(f"want_data and free_data are both {self.want_data}; they must differ")

    def __str__(self) -> str:
        parameters = [f"want_data={self.want_data}"]
        if self.free_data is not None:
            parameters.append(f"free_data={self.free_data}")
        if self.remote_handle is not None:
            encoded = base64.b64encode(self.remote_handle).decode()
            parameters.append(f"remote_handle={quote(encoded, safe='')}")
        address = quote(self.address, safe="/:[]@")
        return f"{self.scheme}://{address}?{'&'.join(parameters)}"


def parse_uri(text: str) -> ServiceUri:
    """The service that a URI names.

    Parameters that are not in the protocol are ignored.

    Raises:
        InvalidArrowError: If the URI is malformed, lacks `want_data`, repeats a parameter, or has an
            invalid one; the message says which.
    """
    scheme, address, values = _split(text)
    want_data = _uint64(text, values, "want_data")
    if want_data is None:
        raise _bad(text, "want_data is missing; pass the whole URI that the server printed")
    free_data = _uint64(text, values, "free_data")
    try:
        return ServiceUri(scheme, address, want_data, free_data, _handle(text, values))
    except ValueError as error:
        raise _bad(text, str(error)) from None


def parse_address(text: str) -> tuple[str, str, int | None, int | None]:
    """Scheme, address, and tags (None if not given) of a service to be started."""
    scheme, address, values = _split(text)
    if "remote_handle" in values:
        raise _bad(text, "remote_handle is for the server to give")
    return scheme, address, _uint64(text, values, "want_data"), _uint64(text, values, "free_data")


def _split(text: str) -> tuple[str, str, dict[str, str]]:
    """Scheme, decoded address, decoded parameters of the protocol."""
    scheme, colon, rest = text.partition(":")
    letters = scheme.replace("+", "").replace("-", "").replace(".", "")
    if not colon or not (letters.isascii() and letters.isalnum() and scheme[0].isalpha()):
        raise _bad(text, "expected scheme://address?want_data=N")
    rest = rest.partition("#")[0].removeprefix("//")
    address, _, query = rest.partition("?")
    values: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        if unquote(name) not in _PARAMETERS:
            continue
        if not equals:
            raise _bad(text, f"{name} has no value")
        if unquote(name) in values:
            raise _bad(text, f"{name} stands there twice")
        values[unquote(name)] = unquote(value)
    return scheme.lower(), unquote(address), values


def _uint64(text: str, values: dict[str, str], name: str) -> int | None:
    value = values.get(name)
    if value is None:
        return None
    # Twenty digits are enough, and int() takes long for a million.
    if not (value.isascii() and value.isdigit() and len(value) <= 20) or int(value) > _UINT64_MAX:
        raise _bad(text, f"{name}: expected a uint64 in decimal digits, got {value[:40]!r}")
    return int(value)


def _handle(text: str, values: dict[str, str]) -> bytes | None:
    value = values.get("remote_handle")
    if value is None:
        return None
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _bad(text, f"remote_handle: not base64: {error}") from None


def _bad(text: str, message: str) -> InvalidArrowError:
    return InvalidArrowError(message, place=f"URI {text[:200]!r}")
