"""Functions of the standard library, many of them written in C, as plain Python to compile with the user's.

Each gives the same result as the library's function, or leaves the row by an exception without a code.
Functions that return iterators are generators here. What the library has in Python is compiled from its
own text, also where it has C for it too, as in `heapq`.
"""

from __future__ import annotations

import ast
import binascii
import bisect
import heapq
import importlib.util
import inspect
import math
import operator
import os
import pathlib
import re
import string
import sys
import types
import unicodedata
from _strptime import TimeRE  # type: ignore[import-not-found]
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from fnmatch import translate
from functools import cache, lru_cache
from string import hexdigits
from typing import Any, NewType

import numpy as np

from colkern.rows import number_library, text_library, url_library
from colkern.rows.byte_arrays import ByteArray
from colkern.rows.digests import Md5, Sha1, Sha256
from colkern.rows.identifiers import UUID, IPv4Address, ip_address, uuid3, uuid5
from colkern.rows.paths import PosixPath, PurePosixPath
from colkern.rows.sequence_matching import SequenceMatcher, get_close_matches
from colkern.rows.text_library import Uncovered


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nlargest`."""
    if key is None:
        return sorted(iterable, reverse=True)[: max(n, 0)]
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nsmallest`."""
    if key is None:
        return sorted(iterable)[: max(n, 0)]
    return sorted(iterable, key=key)[: max(n, 0)]


def prod(iterable: Any, start: Any = 1) -> Any:
    """`math.prod`."""
    result = start
    for item in iterable:
        result *= item
    return result


def dist(p: Any, q: Any) -> float:
    """`math.dist` of two dimensions at most."""
    if len(p) != len(q):
        raise ValueError
    if len(p) == 1:
        return abs(float(p[0] - q[0]))
    if len(p) != 2:
        raise Uncovered
    return math.hypot(p[0] - q[0], p[1] - q[1])


def from_keys(iterable: Any, value: Any = None) -> Any:
    """`dict.fromkeys`."""
    dictionary = {}
    for key in iterable:
        dictionary[key] = value
    return dictionary


def replace_items(items: Any, start: int | None, stop: int | None, step: int, values: Any) -> None:
    """`items[start:stop:step] = values`."""
    places = list(range(len(items)))[start:stop:step]
    new = list(values)
    if len(new) != len(places):
        raise ValueError
    for place, value in zip(places, new, strict=True):
        items[place] = value


def replace_slice(items: Any, start: int | None, stop: int | None, values: Any) -> None:
    """`items[start:stop] = values`."""
    head = items[:0] if start is None else items[:start]
    tail = items[:0] if stop is None else items[stop:]
    if len(head) + len(tail) > len(items):
        tail = items[len(head) :]
    new = list(values)
    items.clear()
    items.extend(head)
    items.extend(new)
    items.extend(tail)


def sorted_by_order(items: Any, reverse: bool, by_key: bool) -> Any:
    """`sorted` of values that `<` compares, or of pairs of keys and values, for orders that leave no doubt.

    The order must be one by ranks: for others, the result depends on which items are compared.
    """
    ordered: list[Any] = []
    for item in items[::-1] if reverse else items:
        low = 0
        high = len(ordered)
        while low < high:
            middle = (low + high) // 2
            if is_before(item, ordered[middle], by_key):
                high = middle
            else:
                low = middle + 1
        ordered.insert(low, item)
    if len(ordered) > 100:
        raise Uncovered
    ranks = [0]
    for k in range(1, len(ordered)):
        ranks.append(ranks[-1] + int(is_before(ordered[k - 1], ordered[k], by_key)))
    for k in range(len(ordered)):
        for i in range(k):
            if is_before(ordered[k], ordered[i], by_key):
                raise Uncovered
            if is_before(ordered[i], ordered[k], by_key) != (ranks[i] < ranks[k]):
                raise Uncovered
    if reverse:
        ordered.reverse()
    return [pair[1] for pair in ordered] if by_key else ordered


def is_before(left: Any, right: Any, by_key: bool) -> bool:
    """Whether a value, or the key of a pair, is less than another."""
    try:
        return bool(left[0] < right[0] if by_key else left < right)
    except Exception as error:
        raise Uncovered from error


def fspath(path: Any) -> Any:
    """`os.fspath` of text, bytes and paths."""
    if isinstance(path, pathlib.PurePath):
        return str(path)
    if not isinstance(path, str | bytes):
        raise Uncovered
    return path


def normpath(path: str) -> str:
    """`posixpath.normpath` of text without NUL, at which some versions of Python cut it off."""
    if not isinstance(path, str) or "\0" in path:
        raise Uncovered
    names: list[str] = []
    for name in path.split("/"):
        if name == ".." and names and names[-1] != "..":
            names.pop()
        elif name not in ("", ".") and (name != ".." or not path.startswith("/")):
            names.append(name)
    slashes = min(len(path) - len(path.lstrip("/")), 3)
    return "/" * (slashes if slashes < 3 else 1) + "/".join(names) or "."


def remainder(text: str, divisor: int, base: int) -> int:
    """`int(text, base) % divisor` for any number of digits, with a divisor of at most ten digits."""
    digits = "0123456789abcdefABCDEF" if base == 16 else "0123456789"
    if len(text) <= 15 or len(text) > MOST_DIGITS or not all(digit in digits for digit in text):
        return int(text, base) % divisor
    rest = 0
    for place in range(0, len(text), 6):
        part = text[place : place + 6]
        rest = (rest * base ** len(part) + int(part, base)) % divisor
    return rest


MOST_DIGITS = sys.int_info.str_digits_check_threshold
"""The number of digits up to which `int` takes any text, whatever the interpreter's limit is."""


def remainder_of_bytes(data: bytes, divisor: int, byteorder: str) -> int:
    """`int.from_bytes(data, byteorder) % divisor` for any number of bytes."""
    rest = 0
    for byte in data if byteorder == "big" else data[::-1]:
        rest = (rest << 8 | byte) % divisor
    return rest


def rotate(items: Any, n: int = 1) -> None:
    """`deque.rotate`."""
    if items:
        for _ in range(n % len(items)):
            items.insert(0, items.pop())


def move_to_end(items: Any, key: Any, last: bool = True) -> None:
    """`OrderedDict.move_to_end`, to the right end."""
    if not last:
        raise Uncovered
    items[key] = items.pop(key)


def pop_item(items: Any, last: bool = True) -> Any:
    """`OrderedDict.popitem`."""
    keys = list(items)
    key = keys[-1 if last else 0]
    return key, items.pop(key)


def ordered_from_keys(iterable: Any, value: Any = None) -> Any:
    """`OrderedDict.fromkeys`."""
    return OrderedDict(from_keys(iterable, value))


def transposed(rows: Any, strict: Any = False) -> Iterator[Any]:
    """`zip(*rows)` of sequences of any length."""
    every = [list(row) for row in rows]
    if every:
        sizes = [len(row) for row in every]
        for place in range(min(sizes)):
            yield tuple([row[place] for row in every])
        if strict and min(sizes) < max(sizes):
            raise ValueError


def added_to_each(items: Any, nothing: Any) -> Any:
    """Returns the numbers or texts that members of an enum also are."""
    return [item + nothing for item in items]


def change_counts(self: Any, counts: Any, times: int) -> None:
    """`Counter.update` with a dictionary of counts for `times=1`, `Counter.subtract` for `times=-1`."""
    for key, count in counts.items():
        self[key] += times * count


def elements(self: Any) -> Iterator[Any]:
    """`Counter.elements`."""
    for key, count in self.items():
        for _ in range(count):
            yield key


def make_trans(x: Any, y: str | None = None, z: str | None = None) -> dict[int, Any]:
    """`str.maketrans`."""
    if y is None:
        if any(isinstance(key, str) and len(key) != 1 for key in x):
            raise Uncovered
        return {ord(key) if isinstance(key, str) else key: to for key, to in x.items()}
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table: dict[int, Any] = {ord(old): ord(new) for old, new in zip(x, y)}  # noqa: B905  # they are as long
    if z is not None:
        for character in z:
            table[ord(character)] = None
    return table


def translated_by(text: str, table: Any) -> str:
    """`str.translate`."""
    parts = []
    for character in text:
        code = ord(character)
        if code in table:
            to = table[code]
            parts.append("" if to is None else chr(to) if isinstance(to, int) else to)
        else:
            parts.append(character)
    return "".join(parts)


def on_ascii(name: str) -> Callable[..., Any]:
    """Returns a function of `unicodedata` for ASCII characters; with a default, as most of them take."""
    function, table = getattr(unicodedata, name), {}
    for code in range(128):
        with suppress(ValueError):
            table[chr(code)] = function(chr(code))

    def of_character(character: str, *default: Any) -> Any:
        if character in table:
            return table[character]
        if not character.isascii():
            raise Uncovered
        if len(character) != 1:
            raise TypeError
        if not default:
            raise ValueError
        return default[0]

    return of_character


_OF_CHARACTERS = (
    *("bidirectional", "decimal", "decomposition", "digit", "east_asian_width", "mirrored"),
    *("name", "numeric"),
)


def moment_of_format(date_string: str, format: str) -> datetime:
    """`datetime.strptime` for a format with `%z` at its end; returns the time in UTC, without a zone."""
    if not date_string.isascii():
        raise Uncovered
    if not date_string or not (date_string[-1].isdigit() or date_string[-1] == "Z"):
        raise ValueError
    if date_string[-1] == "Z":
        return datetime.strptime(date_string[:-1], format)
    size = 6 if date_string[-3:-2] == ":" else 5
    offset = offset_of(date_string[-size:])
    return datetime.strptime(date_string[:-size], format) - offset


def moment_of_iso(date_string: str) -> datetime:
    """`datetime.fromisoformat` for a time with an offset; returns the time in UTC, without a zone."""
    year = date_string[:4]
    if len(date_string) < 7 or not year.isascii() or not year.isdigit():
        raise ValueError
    if len(date_string) < 18 or not date_string.isascii() or date_string[-3] != ":":
        raise Uncovered
    try:
        return datetime.fromisoformat(date_string[:-6]) - offset_of(date_string[-6:])
    except ValueError:
        raise Uncovered from None


def offset_of(text: str) -> timedelta:
    """Returns the offset from UTC in a text such as `+01:00` or `-0530`."""
    hours, minutes = text[1:3], text[-2:]
    if text[:1] not in ("+", "-") or not hours.isdigit() or not minutes.isdigit():
        raise Uncovered
    if int(hours) > 23 or int(minutes) > 59:
        raise Uncovered
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return offset if text[0] == "+" else -offset


def text_of_wrong_date(year: int, month: int, day: int) -> str:
    """The text of the exception of `datetime.date`, for numbers that are no date."""
    if not 1 <= year <= 9999:
        return f"year {year} is out of range"
    return "day is out of range for month" if 1 <= month <= 12 else "month must be in 1..12"


def text_of_wrong_iso_date(text: str) -> str:
    """The text of the exception of `date.fromisoformat`."""
    digits = text[:4] + text[5:7] + text[8:]
    if len(text) == 10 and text[4] == text[7] == "-" and text.isascii() and digits.isdigit():
        return text_of_wrong_date(int(text[:4]), int(text[5:7]), int(text[8:]))
    return f"Invalid isoformat string: {text!r}"


@cache
def text_of_wrong_moment(format: str) -> Callable[[str, str], str]:
    """Returns a function that gives the text of the exception of `datetime.strptime` for a format."""
    pattern = TimeRE().compile(format)

    def text(date_string: str, format: str) -> str:
        match = pattern.match(date_string)
        if match is None:
            return f"time data {date_string!r} does not match format {format!r}"
        if match.end() < len(date_string):
            return f"unconverted data remains: {date_string[match.end() :]}"
        if "0000" in date_string:
            raise Uncovered
        return "day is out of range for month"

    return text


def as_hex(self: bytes, sep: str | None = None) -> str:
    """`bytes.hex`, with a separator between any two bytes."""
    if sep is None:
        return "".join([f"{byte:02x}" for byte in self])
    if len(sep) != 1 or not sep.isascii():
        raise Uncovered
    return sep.join([f"{byte:02x}" for byte in self])


def from_hex(string: str) -> bytes:
    """`bytes.fromhex`, without spaces."""
    for digit in string:
        if digit.isspace():
            raise Uncovered
    if len(string) % 2 == 1 or not all(digit in hexdigits for digit in string):
        raise ValueError
    return bytes([int(string[place : place + 2], 16) for place in range(0, len(string), 2)])


def to_bytes(self: int, length: int = 1, byteorder: str = "big", signed: bool = False) -> bytes:
    """`int.to_bytes`."""
    if byteorder not in ("big", "little") or length < 1:
        raise Uncovered
    rest = self
    parts = []
    for _ in range(length):
        parts.append(rest & 255)
        rest >>= 8
    is_signed = signed and parts[-1] > 127
    if rest != -int(is_signed) or is_signed != (self < 0):
        raise OverflowError
    return bytes(parts[::-1] if byteorder == "big" else parts)


def clip(a: float, a_min: float, a_max: float) -> Any:
    """`numpy.clip` between two numbers."""
    return np.minimum(np.maximum(a, a_min), a_max)


def round_as_numpy(a: float, decimals: int = 0) -> Any:
    """`numpy.round` of a float, to a number of fraction digits."""
    if not isinstance(a, float) or decimals < 0 or decimals > 22:
        raise Uncovered
    factor = 10.0**decimals
    return np.rint(a * factor) / factor


def round_alike(number: float, ndigits: int) -> float:
    """`round` of a float that may be Python's or NumPy's, where both give the same."""
    result = round(number, ndigits)
    if result != round_as_numpy(number, ndigits):
        raise Uncovered
    return result


def crc32(data: bytes, value: int = 0) -> int:
    """`zlib.crc32`."""
    crc = value & 0xFFFFFFFF ^ 0xFFFFFFFF
    for byte in data:
        crc = REMAINDERS[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
    return byte


REMAINDERS = [_remainder(byte) for byte in range(256)]


def b64encode(s: bytes) -> bytes:
    """`base64.b64encode`, with the standard alphabet."""
    parts = []
    for start in range(0, len(s), 3):
        group = s[start : start + 3]
        bits = group[0] << 16
        if len(group) > 1:
            bits |= group[1] << 8
        if len(group) > 2:
            bits |= group[2]
        parts.append(DIGITS_64[bits >> 18] + DIGITS_64[bits >> 12 & 63])
        parts.append(DIGITS_64[bits >> 6 & 63] if len(group) > 1 else "=")
        parts.append(DIGITS_64[bits & 63] if len(group) > 2 else "=")
    return "".join(parts).encode()


def urlsafe_b64encode(s: bytes) -> bytes:
    """`base64.urlsafe_b64encode`."""
    return b64encode(s).replace(b"+", b"-").replace(b"/", b"_")


def b64decode(s: Any) -> bytes:
    """`base64.b64decode` of whole groups of the standard alphabet."""
    if len(s) % 4 or not s.isascii():
        raise Uncovered
    text = s if isinstance(s, str) else s.decode()
    size = len(text) - text.endswith("=") - text.endswith("==")
    parts = []
    bits = 0
    for place in range(size):
        digit = DIGITS_64.find(text[place])
        if digit < 0:
            raise Uncovered
        bits = bits << 6 | digit
        if place % 4:
            rest = 6 - place % 4 * 2
            parts.append(bits >> rest)
            bits &= (1 << rest) - 1
    return bytes(parts)


def urlsafe_b64decode(s: Any) -> bytes:
    """`base64.urlsafe_b64decode`, as `b64decode`."""
    if not s.isascii():
        raise Uncovered
    text = s if isinstance(s, str) else s.decode()
    return b64decode(text.replace("-", "+").replace("_", "/"))


DIGITS_64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def adler32(data: bytes, value: int = 1) -> int:
    """`zlib.adler32`."""
    low, high = value & 0xFFFF, value >> 16 & 0xFFFF
    if low > 65520 or high > 65520:
        # No checksum: zlib's result depends on how it splits its work.
        raise Uncovered
    for byte in data:
        low = (low + byte) % 65521
        high = (high + low) % 65521
    return high << 16 | low


def hexlify(data: bytes) -> bytes:
    """`binascii.hexlify` without a separator."""
    return as_hex(data).encode()


def unhexlify(hexstr: Any) -> bytes:
    """`binascii.unhexlify`."""
    if not hexstr.isascii():
        raise Uncovered
    text = hexstr if isinstance(hexstr, str) else hexstr.decode()
    if len(text) % 2 == 1 or not all(digit in hexdigits for digit in text):
        raise binascii.Error
    return from_hex(text)


def from_iso_calendar(year: int, week: int, day: int) -> date:
    """`date.fromisocalendar`, up to the last week that is whole."""
    if year > 9998:
        raise Uncovered
    if year < 1 or not 1 <= week <= 53 or not 1 <= day <= 7:
        raise ValueError
    first = date(year, 1, 4)
    if week == 53 and date(year, 12, 28).isocalendar()[1] < 53:
        raise ValueError
    return first + timedelta(days=7 * week + day - 8 - first.weekday())


def fnmatch(name: str, pat: str) -> bool:
    """`fnmatch.fnmatch` of text, with a constant pattern, where names of files keep their case."""
    if os.name != "posix":
        raise Uncovered
    return re.match(translate(pat), name) is not None


def copied(x: Any) -> Any:
    """`copy.copy` of containers and of values that do not change."""
    if isinstance(x, list | dict | set):
        return x.copy()
    if not isinstance(x, UNCHANGING):
        raise Uncovered
    return x


def deep_copied(x: Any) -> Any:
    """`copy.deepcopy` of such values, and of containers of them."""
    if isinstance(x, dict):
        for value in x.values():
            if not isinstance(value, UNCHANGING):
                raise Uncovered
    elif isinstance(x, list | set):
        for value in x:
            if not isinstance(value, UNCHANGING):
                raise Uncovered
    elif not isinstance(x, UNCHANGING):
        raise Uncovered
    return copied(x)


UNCHANGING = (str, int, float, bytes, date, time, timedelta, type(None))
"""The classes of values of which a copy is the value itself."""


def require_size(r: Any) -> None:
    """Raises unless functions of `itertools` take a number of items."""
    if not isinstance(r, int):
        raise Uncovered
    if r < 0:
        raise ValueError


def chosen(pool: Any, r: Any, size: int, step: int) -> Iterator[Any]:
    """The tuples of `size` items, which is `r` if that is known; pairs and triples have a known length.

    From an item on, the next begins with the one behind it (`step` is 1), with itself (0), or with the
    first that is not in the tuple yet (-1).
    """
    require_size(size)
    if step != 0 and size > len(pool):
        return
    places: list[int] = []
    place = 0
    while True:
        limit = len(pool) - size + len(places) + 1 if step == 1 else len(pool)
        if len(places) < size and place < limit:
            if step >= 0 or place not in places:
                places.append(place)
                place = place + step if step >= 0 else 0
            else:
                place += 1
            continue
        if len(places) == size:
            if r == 2:
                yield pool[places[0]], pool[places[1]]
            elif r == 3:
                yield pool[places[0]], pool[places[1]], pool[places[2]]
            else:
                yield tuple([pool[k] for k in places])
        if not places:
            return
        place = places.pop() + 1


def combinations(iterable: Any, r: int) -> Iterator[Any]:
    """`itertools.combinations`."""
    pool = list(iterable)
    if r == 2:
        for i in range(len(pool)):
            for k in range(i + 1, len(pool)):
                yield pool[i], pool[k]
    else:
        yield from chosen(pool, r, r, 1)


def with_replacement(iterable: Any, r: int) -> Iterator[Any]:
    """`itertools.combinations_with_replacement`."""
    yield from chosen(list(iterable), r, r, 0)


def permutations(iterable: Any, r: Any = None) -> Iterator[Any]:
    """`itertools.permutations`."""
    pool = list(iterable)
    yield from chosen(pool, r, len(pool) if r is None else r, -1)


def timegm(fields: Any) -> Any:
    """`calendar.timegm`."""
    year, month, day, hour, minute, second = fields[:6]
    days = date(year, month, 1).toordinal() - 719163 + day - 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def accumulate(iterable: Any, func: Any = operator.add, initial: Any = None) -> Iterator[Any]:
    """`itertools.accumulate`."""
    items = [*iterable] if initial is None else [initial, *iterable]
    if items:
        total = items[0]
        yield total
        for item in items[1:]:
            total = func(total, item)
            yield total


def pairwise(iterable: Any) -> Iterator[Any]:
    """`itertools.pairwise`."""
    items = list(iterable)
    yield from zip(items, items[1:], strict=False)  # noqa: RUF007


def compress(data: Any, selectors: Any) -> Iterator[Any]:
    """`itertools.compress`."""
    for item, is_chosen in zip(data, selectors, strict=False):
        if is_chosen:
            yield item


def drop_while(predicate: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.dropwhile`."""
    is_dropping = True
    for item in iterable:
        if is_dropping and predicate(item):
            continue
        is_dropping = False
        yield item


def group_by(iterable: Any, key: Any = None) -> Iterator[Any]:
    """`itertools.groupby`, with lists as groups."""
    items = list(iterable)
    keys = items if key is None else [key(item) for item in items]
    start = 0
    for stop in range(1, len(items) + 1):
        if stop == len(items) or keys[stop] != keys[start]:
            yield keys[start], items[start:stop]
            start = stop


def repeat(object: Any, times: int) -> Iterator[Any]:
    """`itertools.repeat` with a number of times."""
    for _ in range(times):
        yield object


def star_map(function: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.starmap`."""
    for item in iterable:
        yield function(*item)


def zip_longest(left: Any, right: Any, fillvalue: Any = None) -> Iterator[Any]:
    """`itertools.zip_longest` of two iterables."""
    first = list(left)
    second = list(right)
    for k in range(max(len(first), len(second))):
        a = first[k] if k < len(first) else fillvalue
        b = second[k] if k < len(second) else fillvalue
        yield a, b


def same(value: Any) -> Any:
    """A `typing.NewType`, which only type checkers see."""
    return value


def _named(module: str, *functions: Callable[..., Any]) -> dict[str, Any]:
    return {f"{module}.{function.__name__}": function for function in functions}


def _of(own: types.ModuleType, module: str, names: str) -> dict[str, Any]:
    """Returns functions of a module of this package for those of the same names in a module."""
    return {f"{module}.{name}": getattr(own, name) for name in names.split()}


def _in_python(module: types.ModuleType, *names: str) -> dict[str, Any]:
    """Returns functions that a module has in C as its file has them in Python."""
    loader: Any = importlib.util.find_spec(module.__name__).loader  # type: ignore[union-attr]
    parts = loader.get_code(module.__name__).co_consts
    codes = {part.co_name: part for part in parts if isinstance(part, types.CodeType)}
    functions = {}
    for name in names:
        in_c = getattr(module, name)
        parameters = inspect.signature(in_c).parameters.values()
        plain = types.FunctionType(codes[in_c.__name__], vars(module))
        plain.__defaults__ = tuple(
            p.default
            for p in parameters
            if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY
        )
        plain.__kwdefaults__ = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        functions[f"{module.__name__}.{name}"] = plain
    return functions


REPLACED: dict[str, Any] = {
    **_named("Counter", Counter.__add__, Counter.__and__, Counter.__or__, Counter.__sub__),
    **_named("Counter", Counter.__eq__, Counter.__iadd__, Counter.__isub__, elements),
    "OrderedDict.fromkeys": ordered_from_keys,
    **_named("base64", b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode),
    "base64.standard_b64decode": b64decode,
    "base64.standard_b64encode": b64encode,
    **_named("binascii", hexlify, unhexlify),
    **_in_python(bisect, "bisect", "bisect_left", "bisect_right"),
    **_in_python(bisect, "insort", "insort_left", "insort_right"),
    "builtins.bytearray": ByteArray,
    **_named("calendar", timegm),
    "bytes.fromhex": from_hex,
    "bytes.hex": as_hex,
    "csv.reader": text_library.read_csv,
    "date.fromisocalendar": from_iso_calendar,
    "dict.fromkeys": from_keys,
    "hashlib.md5": Md5,
    "hashlib.sha1": Sha1,
    "hashlib.sha256": Sha256,
    "copy.copy": copied,
    "copy.deepcopy": deep_copied,
    **_named("difflib", SequenceMatcher, get_close_matches),
    "fnmatch.fnmatch": fnmatch,
    "fnmatch.fnmatchcase": fnmatch,
    **_in_python(heapq, "heapify", "heappop", "heappush", "heappushpop", "heapreplace"),
    **_named("heapq", nlargest, nsmallest),
    "int.to_bytes": to_bytes,
    "io.StringIO": text_library.string_lines,
    **_named("ipaddress", IPv4Address, ip_address),
    **_named("itertools", accumulate, combinations, compress, pairwise),
    **_named("itertools", permutations, repeat, zip_longest),
    "itertools.combinations_with_replacement": with_replacement,
    "itertools.dropwhile": drop_while,
    "itertools.groupby": group_by,
    "itertools.starmap": star_map,
    **_named("math", dist, number_library.fsum, prod),
    "str.maketrans": make_trans,
    "numpy.clip": clip,
    "numpy.round": round_as_numpy,
    "os.fspath": fspath,
    **_named("pathlib", PosixPath, PurePosixPath),
    **(
        {"pathlib.Path": PosixPath, "pathlib.PurePath": PurePosixPath} if os.name == "posix" else {}
    ),
    **_named("posixpath", normpath),
    **_of(number_library, "pandas", "isna notna"),
    **_of(number_library, "statistics", "mean pstdev pvariance stdev variance"),
    **_of(text_library, "textwrap", "fill shorten wrap"),
    **{f"unicodedata.{name}": on_ascii(name) for name in _OF_CHARACTERS},
    **_of(url_library, "urllib.parse", "quote unquote urlencode urlsplit"),
    "urllib.parse._coerce_args": url_library.coerce_args,
    **_named("uuid", UUID, uuid3, uuid5),
    **_named("zlib", adler32, crc32),
}
"""The functions that are compiled for those of some names: of this module, and Python's own."""


COMPUTED = frozenset(
    (  # noqa: SIM905
        "base64 binascii bisect calendar cmath codecs colorsys csv datetime decimal difflib "
        "fnmatch fractions functools hashlib heapq hmac html ipaddress itertools json logging math "
        "ntpath numbers operator pathlib posixpath quopri re shlex sre statistics string "
        "struct textwrap unicodedata urllib.parse uuid warnings zlib zoneinfo"
    ).split()
)
"""Modules whose functions only compute or report: those without a compiled form are left to Python."""

OTHERS = frozenset(["today", "now", "utcnow", "uuid1", "uuid4", "getnode", "open"])
"""Functions of these modules that return another value each time."""

BUILT_IN = (ascii, ast.literal_eval, bytearray, complex, hash, iter, memoryview, slice)
"""Functions of other modules that only compute."""


def only_computes(function: Any) -> bool:
    """Whether a library function returns the same each time, so that Python may call it for a row."""
    if any(function is each for each in BUILT_IN):
        return True
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    own = getattr(function, "__module__", None)
    module = (kind.__module__ if own is None else own).removeprefix("_").lower()
    is_known = not COMPUTED.isdisjoint((module, module.partition(".")[0]))
    return is_known and getattr(function, "__name__", "") not in OTHERS


def library_name(function: Callable[..., Any]) -> str:
    """Returns the name of what an object here, or a method, replaces in the library; empty for others."""
    name = next((name for name, own in REPLACED.items() if own is function), "")
    if name:
        return name
    module = vars(sys.modules.get(function.__module__, sys))
    form: Any = module.get(function.__qualname__.partition(".")[0])
    own = getattr(form, "_python_class_", None)
    return f"{own.__name__}.{function.__name__}" if own else ""


def by_module(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the attributes of each module, for names such as `math.floor`."""
    attributes: dict[str, list[str]] = {}
    for name in names:
        module, _, attribute = name.rpartition(".")
        attributes.setdefault(module, []).append(attribute)
    return attributes


def public_name(function: Any, attributes: Mapping[str, Sequence[str]]) -> str:
    """Returns the name that a function has among attributes of modules; empty if it has none."""
    for module, names in attributes.items():
        # The user cannot name a function of a module that was never imported.
        known = vars(sys.modules.get(module, sys)).get
        for name in names:
            if known(name) is function:
                return f"{module}.{name}"
    return ""


_PUBLIC = by_module(REPLACED)


def replacement(function: Any) -> Any:
    """Returns the function that is compiled in place of a library's; other values unchanged."""
    if isinstance(function, NewType):
        return same
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type):
        return REPLACED.get(f"{owner.__name__}.{function.__name__}", function)
    if owner is None and isinstance(function, types.BuiltinFunctionType):
        # A static method of a type.
        return REPLACED.get(function.__qualname__, function)
    if isinstance(function, types.FunctionType | types.BuiltinFunctionType):
        return REPLACED.get(_name_in_library(function), function)
    name = public_name(function, _PUBLIC) if callable(function) else ""
    return REPLACED.get(name, function)


@lru_cache(maxsize=1 << 10)
def _name_in_library(function: Callable[..., Any]) -> str:
    return public_name(function, _PUBLIC)
