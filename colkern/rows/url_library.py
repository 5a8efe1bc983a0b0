"""Functions of `urllib.parse`, as plain Python that is compiled with the user's."""

from __future__ import annotations

from string import hexdigits
from typing import Any
from urllib import parse
from urllib.parse import (  # type: ignore[attr-defined]
    SplitResult,
    _noop,
    scheme_chars,
)

from colkern.rows.text_library import Uncovered


def quote(string: str, safe: str = "/", encoding: None = None, errors: None = None) -> str:
    """`urllib.parse.quote` of text."""
    if encoding is not None or errors is not None:
        raise Uncovered
    parts = []
    for byte in string.encode():
        character = chr(byte)
        if byte < 128 and (character.isalnum() or character in "_.-~" or character in safe):
            parts.append(character)
        else:
            parts.append(f"%{byte:02X}")
    return "".join(parts)


def urlencode(query: Any) -> str:
    """`urllib.parse.urlencode` of a dictionary, or a list of pairs, without bytes and lists."""
    if isinstance(query, dict):
        return "&".join([_encoded_pair(name, value) for name, value in query.items()])
    if not isinstance(query, list) or any(not isinstance(pair, tuple) for pair in query):
        raise Uncovered
    return "&".join([_encoded_pair(name, value) for name, value in query])


def _encoded_pair(name: Any, value: Any) -> str:
    if isinstance(name, bytes) or isinstance(value, bytes):
        raise Uncovered
    return quote(str(name), " ").replace(" ", "+") + "=" + quote(str(value), " ").replace(" ", "+")


def unquote(string: str, encoding: str = "utf-8", errors: str = "replace") -> str:
    """`urllib.parse.unquote` of ASCII."""
    if "%" not in string:
        return string
    if not string.isascii() or encoding != "utf-8" or errors != "replace":
        raise Uncovered
    first, *rest = string.split("%")
    parts = [first.encode()]
    for part in rest:
        digits = part[:2]
        if len(digits) < 2 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            parts.append(("%" + part).encode())
        else:
            parts.append(bytes([int(digits, 16)]) + part[2:].encode())
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        raise Uncovered from None


def coerce_args(*args: Any) -> Any:
    """The arguments, and what makes results of them, as functions of `urllib.parse` begin with."""
    for each in args:
        if not isinstance(each, str):
            raise Uncovered
    return args + (_noop,)  # noqa: RUF005  # it keeps the length


_STRIPPED: str = getattr(parse, "_WHATWG_C0_CONTROL_OR_SPACE", "")
"""What Python strips from the start of an address; early versions strip nothing."""


def _has_address(netloc: str) -> bool:
    """Whether a host is an IPv6 address in brackets that every version of Python takes."""
    address, _, port = netloc.rpartition("@")[2].partition("]")
    halves = [half.split(":") if half else [] for half in address[1:].split("::")]
    groups = [group for half in halves for group in half]
    return (
        netloc.count("[") == netloc.count("]") == 1
        and address.startswith("[")
        and (port == "" or port[0] == ":")
        and (len(groups) == 8 if len(halves) == 1 else len(halves) == 2 and len(groups) < 8)
        and all(0 < len(group) < 5 and not group.strip(hexdigits) for group in groups)
    )


def urlsplit(url: str, scheme: str = "", allow_fragments: bool = True) -> SplitResult:
    """`urllib.parse.urlsplit` of usual addresses."""
    if scheme.strip(scheme_chars) or not allow_fragments:
        raise Uncovered
    url = url.lstrip(_STRIPPED).replace("\t", "").replace("\r", "").replace("\n", "")
    first = url[0] if url else ""
    netloc = ""
    start, colon, rest = url.partition(":")
    if colon and not start.strip(scheme_chars) and first.isalpha():
        scheme, url = start.lower(), rest
    if url.startswith("//"):
        stop = len(url)
        for mark in "/?#":
            position = url.find(mark, 2)
            if position >= 0:
                stop = min(stop, position)
        netloc = url[2:stop]
        url = url[stop:]
        if not netloc.isascii() or (("[" in netloc or "]" in netloc) and not _has_address(netloc)):
            raise Uncovered
    url, _, fragment = url.partition("#")
    path, _, query = url.partition("?")
    return SplitResult(scheme, netloc, path, query, fragment)
