"""Functions of `urllib.parse`, as plain Python that is compiled with the user's."""

from __future__ import annotations

from typing import Any
from urllib.parse import ParseResult, SplitResult, scheme_chars, uses_params

from colkern.rows.text_library import Uncovered


def quote(string: str, safe: str = "/") -> str:
    """`urllib.parse.quote` of text."""
    parts = []
    for byte in string.encode():
        character = chr(byte)
        if byte < 128 and (character.isalnum() or character in "_.-~" or character in safe):
            parts.append(character)
        else:
            parts.append(f"%{byte:02X}")
    return "".join(parts)


def quote_plus(string: str, safe: str = "") -> str:
    """`urllib.parse.quote_plus` of text."""
    return quote(string, safe + " ").replace(" ", "+")


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
    return quote_plus(str(name)) + "=" + quote_plus(str(value))


def unquote(string: str) -> str:
    """`urllib.parse.unquote` of ASCII."""
    if "%" not in string:
        return string
    if not string.isascii():
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


def unquote_plus(string: str) -> str:
    """`urllib.parse.unquote_plus`."""
    return unquote(string.replace("+", " "))


def parse_qsl(qs: str, keep_blank_values: bool = False) -> list[tuple[str, str]]:
    """`urllib.parse.parse_qsl`, with the usual separator."""
    pairs = []
    for part in qs.split("&"):
        name, _, value = part.partition("=")
        if value or (keep_blank_values and part):
            pairs.append((unquote_plus(name), unquote_plus(value)))
    return pairs


def parse_qs(qs: str, keep_blank_values: bool = False) -> dict[str, list[str]]:
    """`urllib.parse.parse_qs`, with the usual separator."""
    parsed: dict[str, list[str]] = {}
    for name, value in parse_qsl(qs, keep_blank_values):
        parsed.setdefault(name, []).append(value)
    return parsed


def split_url(url: str) -> tuple[str, str, str, str, str]:
    """`urllib.parse.urlsplit` of usual addresses."""
    first = url[0] if url else ""
    if url and (first <= " " or "\t" in url or "\r" in url or "\n" in url):
        raise Uncovered
    scheme = netloc = ""
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
        if not netloc.isascii() or "[" in netloc or "]" in netloc:
            raise Uncovered
    url, _, fragment = url.partition("#")
    path, _, query = url.partition("?")
    return scheme, netloc, path, query, fragment


def urlsplit(url: str) -> SplitResult:
    """`urllib.parse.urlsplit` of one argument."""
    scheme, netloc, path, query, fragment = split_url(url)
    return SplitResult(scheme, netloc, path, query, fragment)


def urlparse(url: str) -> ParseResult:
    """`urllib.parse.urlparse` of one argument."""
    scheme, netloc, path, query, fragment = split_url(url)
    params = ""
    if ";" in path and scheme in WITH_PARAMETERS:
        place = path.find(";", max(path.rfind("/"), 0))
        if place >= 0:
            path, params = path[:place], path[place + 1 :]
    return ParseResult(scheme, netloc, path, params, query, fragment)


WITH_PARAMETERS = tuple(uses_params)
