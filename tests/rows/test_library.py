"""The standard library in row functions: plain Python in place of it, and what is left to Python."""

from __future__ import annotations

import base64
import binascii
import bisect
import copy
import csv
import hashlib
import heapq
import importlib
import io
import ipaddress
import itertools
import json
import math
import re
import statistics
import string
import textwrap
import unicodedata
import urllib.parse
from collections import Counter, OrderedDict
from collections.abc import Callable
from datetime import date
from fnmatch import fnmatch
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, quote_plus, urlencode, urlparse, urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.rows.library import REPLACED
from colkern.rows.text_library import Uncovered

TEXTS = st.text(st.sampled_from("aB1 \n/:?#@%.-_é+&=;[]"), max_size=12)
FLOATS = st.lists(st.floats() | st.floats(-100, 100).map(lambda x: round(x, 2)), max_size=6)
NUMBERS = st.lists(st.integers(-9, 9), max_size=6)
WORDS = st.lists(
    st.sampled_from(["a", "longer", " ", "\n", "\t", "\x1c", "x-y", "."]), max_size=20
).map("".join)
BASE64 = st.binary(max_size=9).map(base64.b64encode)
AMOUNTS = st.integers(-2, 3) | st.sampled_from([math.nan, 0.5, -1.5])
COUNTS = st.dictionaries(st.sampled_from("abc"), AMOUNTS).map(Counter)
SPREAD = (
    FLOATS
    | NUMBERS
    | st.lists(st.sampled_from([1.0, 1.0 + 2.0**-52, 1.0 + 2.0**-51, 1e9, 0.1]), max_size=9)
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.sampled_from('a é",:}\n\x7f'))
)
COPIED = st.recursive(
    SCALARS | st.dates() | st.decimals(allow_nan=False) | COUNTS,
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.tuples(parts)
        | st.dictionaries(st.text(max_size=2), parts, max_size=3)
    ),
    max_leaves=4,
)
AMOUNTS_OF_MONEY = st.lists(st.integers(-(10**6), 10**6).map(lambda cents: cents / 100))
ADDRESSES_OF_4 = st.lists(st.sampled_from(["0", "10", "255", "256", "01", "", "é"])).map(".".join)
SIMILAR = st.text(st.sampled_from("abé"), max_size=8) | st.sampled_from(["ab" * 120, "a" * 300])
ARGUMENTS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "Counter.elements": st.tuples(COUNTS),
    "OrderedDict.fromkeys": st.tuples(NUMBERS, st.integers()),
    **dict.fromkeys(
        ("base64.b64encode", "base64.standard_b64encode", "base64.urlsafe_b64encode"),
        st.tuples(st.binary(max_size=9)),
    ),
    **dict.fromkeys(
        ("base64.b64decode", "base64.standard_b64decode", "base64.urlsafe_b64decode"),
        st.tuples(BASE64 | BASE64.map(bytes.decode) | st.text(st.sampled_from("aA0+/-_=é"))),
    ),
    "binascii.hexlify": st.tuples(st.binary(max_size=9)),
    "binascii.unhexlify": st.tuples(st.binary(max_size=5).map(bytes.hex) | TEXTS),
    "builtins.bytearray": st.tuples(
        st.integers(-1, 3) | st.lists(st.integers(-1, 256), max_size=3) | st.binary(max_size=3)
    ),
    "calendar.timegm": st.tuples(
        st.tuples(
            st.integers(0, 9999), st.integers(0, 13), *[st.integers(-9, 99) | st.floats()] * 5
        )
    ),
    "bytes.fromhex": st.tuples(st.binary(max_size=5).map(bytes.hex) | TEXTS),
    "bytes.hex": st.tuples(st.binary(max_size=9), st.sampled_from("-: ")),
    "copy.copy": st.tuples(COPIED),
    "copy.deepcopy": st.tuples(COPIED),
    "csv.reader": st.tuples(st.lists(st.text(st.sampled_from('ab,;" \n'), max_size=9), max_size=2)),
    "date.fromisocalendar": st.tuples(st.integers(0, 10000), st.integers(0, 54), st.integers(0, 8)),
    "dict.fromkeys": st.tuples(NUMBERS, st.integers()),
    "difflib.SequenceMatcher": st.tuples(st.none(), SIMILAR, SIMILAR, st.booleans()),
    "difflib.get_close_matches": st.tuples(
        SIMILAR, st.lists(SIMILAR, max_size=5), st.integers(0, 3), st.sampled_from([0.0, 0.4, 0.9])
    ),
    **dict.fromkeys(
        ("fnmatch.fnmatch", "fnmatch.fnmatchcase"),
        st.tuples(TEXTS, st.text(st.sampled_from("aB.é*?[!]-\n"), max_size=5)),
    ),
    **dict.fromkeys(("hashlib.md5", "hashlib.sha1", "hashlib.sha256"), st.tuples(st.binary())),
    "heapq.nlargest": st.tuples(st.integers(-1, 4), NUMBERS),
    "heapq.nsmallest": st.tuples(st.integers(-1, 4), NUMBERS, st.just(abs)),
    "int.to_bytes": st.tuples(
        st.integers(-(1 << 20), 1 << 20),
        st.integers(0, 4),
        st.sampled_from(["little", "big"]),
        st.booleans(),
    ),
    "io.StringIO": st.tuples(
        st.text(st.sampled_from("ab\n\r\x85")), st.sampled_from(["\n", "", "\r"])
    ),
    "ipaddress.IPv4Address": st.tuples(ADDRESSES_OF_4 | st.integers(0, 1 << 32)),
    "ipaddress.ip_address": st.tuples(ADDRESSES_OF_4),
    "itertools.accumulate": st.tuples(NUMBERS, st.just(max)),
    "itertools.combinations": st.tuples(NUMBERS, st.integers(-1, 5)),
    "itertools.combinations_with_replacement": st.tuples(NUMBERS, st.integers(-1, 3)),
    "itertools.compress": st.tuples(NUMBERS, NUMBERS),
    "itertools.dropwhile": st.tuples(st.just(bool), NUMBERS),
    "itertools.groupby": st.tuples(NUMBERS, st.just(abs)),
    "itertools.pairwise": st.tuples(NUMBERS),
    "itertools.permutations": st.tuples(NUMBERS, st.none() | st.integers(-1, 4)),
    "itertools.repeat": st.tuples(st.integers(), st.integers(-1, 4)),
    "itertools.starmap": st.tuples(st.just(max), st.lists(st.tuples(st.integers(), st.integers()))),
    "itertools.zip_longest": st.tuples(NUMBERS, NUMBERS),
    "math.dist": st.tuples(FLOATS, FLOATS),
    "math.fsum": st.tuples(FLOATS),
    "math.prod": st.tuples(NUMBERS),
    "numpy.clip": st.tuples(st.floats(), st.just(-1.5), st.just(9.0)),
    "numpy.round": st.tuples(st.floats(-1e9, 1e9), st.integers(-2, 6)),
    "os.fspath": st.tuples(TEXTS | st.binary(max_size=9)),
    **dict.fromkeys(
        ("pandas.isna", "pandas.notna"),
        st.tuples(SCALARS | st.dates() | st.decimals(allow_nan=False)),
    ),
    "statistics.mean": st.tuples(
        SPREAD
        | AMOUNTS_OF_MONEY
        | st.lists(st.integers(-5, 5) | st.just(2**53 + 1) | st.floats(-9, 9), max_size=6)
    ),
    "statistics.pstdev": st.tuples(SPREAD),
    "statistics.pvariance": st.tuples(SPREAD),
    "statistics.stdev": st.tuples(SPREAD),
    "statistics.variance": st.tuples(SPREAD),
    "textwrap.fill": st.tuples(WORDS, st.integers(0, 12)),
    "textwrap.shorten": st.tuples(WORDS, st.integers(0, 20), st.sampled_from([" [...]", "..", ""])),
    "textwrap.wrap": st.tuples(WORDS, st.integers(0, 12)),
    **{
        f"unicodedata.{name}": st.tuples(st.characters())
        | st.tuples(st.characters(), st.just(default))
        for name, default in {"decimal": 7, "digit": 7, "name": "?", "numeric": 0.5}.items()
    },
    **dict.fromkeys(
        (
            "unicodedata.bidirectional",
            "unicodedata.decomposition",
            "unicodedata.east_asian_width",
            "unicodedata.mirrored",
        ),
        st.tuples(st.characters()),
    ),
    **dict.fromkeys(
        ("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath", "pathlib.PurePosixPath"),
        st.lists(st.text(st.sampled_from("/.aé")), max_size=3).map(tuple),
    ),
    "posixpath.normpath": st.tuples(st.text(st.sampled_from("/.aé\0"))),
    "str.maketrans": st.one_of(
        st.tuples(st.dictionaries(st.characters() | st.integers(), st.text(max_size=2))),
        st.tuples(st.text("ab", max_size=2), TEXTS),
        st.tuples(st.just("ab"), st.text("ab", min_size=2, max_size=2), TEXTS),
    ),
    "urllib.parse._coerce_args": st.lists(TEXTS | st.binary(max_size=2), min_size=1).map(tuple),
    "urllib.parse.quote": st.tuples(
        TEXTS, st.sampled_from(["/", "", "é:?"]), st.sampled_from([None, "latin-1"])
    ),
    "urllib.parse.unquote": st.tuples(TEXTS, st.sampled_from(["utf-8", "latin-1"])),
    "urllib.parse.urlencode": st.tuples(
        st.dictionaries(TEXTS | st.integers(), SCALARS | st.binary(max_size=2), max_size=3)
        | st.lists(st.tuples(TEXTS, SCALARS) | st.lists(TEXTS), max_size=3)
    ),
    "urllib.parse.urlsplit": st.tuples(
        TEXTS
        | st.text(st.sampled_from("\x00 \n\ta:/"))
        | TEXTS.map("a+1:{}".format)
        | TEXTS.map("//{}".format),
        st.sampled_from(["", "http", " http"]),
        st.booleans(),
    ),
    "uuid.UUID": st.tuples(st.uuids().map(str) | st.uuids().map(lambda u: u.hex) | TEXTS),
    "uuid.uuid3": st.tuples(st.uuids(), TEXTS),
    "uuid.uuid5": st.tuples(st.uuids(), TEXTS),
    "zlib.adler32": st.tuples(
        st.binary(max_size=9) | st.just(b"\xff" * 9999),
        st.integers(0, 1 << 31) | st.sampled_from([65520, 65521, 0xFFF0 << 16]),
    ),
    "zlib.crc32": st.tuples(st.binary(max_size=9)),
}
"""Arguments of each function that stands for one of the library; others are the library's own."""


def original(name: str) -> Callable[..., Any]:
    """The function of the library."""
    if name == "int.to_bytes":
        return lambda n, length, order, signed: n.to_bytes(length, order, signed=signed)
    if name == "textwrap.shorten":
        return lambda text, width, placeholder: textwrap.shorten(
            text, width, placeholder=placeholder
        )
    owner, _, attribute = name.rpartition(".")
    kinds: dict[str, Any] = {
        kind.__name__: kind for kind in (Counter, OrderedDict, bytes, date, dict, str)
    }
    of = kinds[owner] if owner in kinds else importlib.import_module(owner)
    function: Callable[..., Any] = getattr(of, attribute)
    return function


def result(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """A function's result, or that it raises."""
    try:
        actual = function(*arguments)
        if hasattr(actual, "__next__"):
            actual = [
                (item[0], list(item[1])) if isinstance(item, tuple) and hasattr(item[1], "__next__")
                else item
                for item in actual
            ]  # fmt: skip
    except Uncovered:
        raise
    except Exception:  # noqa: BLE001
        return "raises"
    if getattr(actual, "_python_class_", type(actual)) is bytearray:
        actual = bytes(actual)
    for number in ("hexdigest", "ratio"):
        actual = getattr(actual, number)() if hasattr(actual, number) else actual
    return repr(np.float64(actual)) if isinstance(actual, float) else repr(actual)


def test_each_replacement_is_tested() -> None:
    own = {name for name, each in REPLACED.items() if each.__module__.startswith("colkern.")}
    assert ARGUMENTS.keys() == own


@pytest.mark.parametrize("name", ARGUMENTS)
@given(st.data())
def test_replacements_give_what_the_library_gives(name: str, data: st.DataObject) -> None:
    arguments = data.draw(ARGUMENTS[name])
    try:
        mine = copy.deepcopy(arguments)
        assert result(REPLACED[name], mine) == result(original(name), arguments)
        assert repr(mine) == repr(arguments)
    except Uncovered:
        return


@ck.udf
def kept_in_order(numbers: list[int], n: int) -> list[int]:
    heap, places = numbers[:], sorted(numbers)
    heapq.heapify(heap)
    heapq.heappush(heap, n)
    taken = [heapq.heappushpop(heap, n + 1), heapq.heapreplace(heap, n - 1)]
    while heap:
        taken.append(heapq.heappop(heap))
    bisect.insort(places, n)
    bisect.insort_left(places, n, key=abs)
    actual = bisect.bisect(places, n), bisect.bisect_left(places, n, 1)
    return [*taken, *places, *actual, bisect.bisect_right(places, n, 0, 2)]


@given(st.lists(st.tuples(NUMBERS, st.integers(-9, 9)), min_size=1, max_size=9))
def test_functions_that_the_library_has_in_c_are_compiled_from_its_python(rows: list[Any]) -> None:
    lists, numbers = zip(*rows, strict=True)
    columns = ck.array(lists, ck.list_(ck.int64())), ck.array(numbers)
    assert kept_in_order(*columns).to_pylist() == [kept_in_order.function(*row) for row in rows]
    assert not kept_in_order.report().left


@ck.udf
def middles(floats: list[float], numbers: list[int]) -> tuple[float, float, int, list[int]] | None:
    if not floats or not numbers:
        return None
    middle, most = statistics.median(floats), statistics.mode(numbers)
    return middle, statistics.fmean(floats), most, statistics.multimode(numbers)


@given(st.lists(st.tuples(st.lists(st.floats(-100, 100)), NUMBERS), min_size=1, max_size=9))
def test_functions_that_the_library_has_in_python_are_compiled_as_they_are(rows: list[Any]) -> None:
    floats, numbers = zip(*rows, strict=True)
    columns = ck.array(floats, ck.list_(ck.float64())), ck.array(numbers, ck.list_(ck.int64()))
    given_back = [row and tuple(row.values()) for row in middles(*columns).to_pylist()]
    assert given_back == [middles.function(*row) for row in rows]
    assert not middles.report().left


ADDRESSES = [
    *(
        "http://example.com/a/b?c=d&e=f#frag",
        "../x/./y/",
        "//h/p;a?x=1&x=&y",
        "",
        "#f",
        "?q=%C3%A9+1",
    ),
    *("mailto:bob@example.com", "HTTPS://User:pw@EXAMPLE.com:80/%7Eu/..", "a=1&b=%zz&c", "é?ü=ß"),
]


@ck.udf
def joined(base: str, url: str) -> tuple[str, str, str, list[tuple[str, str]]]:
    whole = urllib.parse.urljoin(base, url)
    parsed = urllib.parse.urlparse(whole)
    without, fragment = urllib.parse.urldefrag(url)
    return whole, urllib.parse.urlunparse(parsed), without + fragment, urllib.parse.parse_qsl(url)


def test_addresses_are_joined_by_the_librarys_own_functions() -> None:
    rows = list(itertools.product(ADDRESSES, ADDRESSES))
    actual = joined(*map(ck.array, zip(*rows, strict=True))).to_pylist()
    assert [
        (*list(row.values())[:3], [tuple(pair.values()) for pair in row["f3"]]) for row in actual
    ] == [joined.function(*row) for row in rows]


@pytest.mark.parametrize(
    "function", [urllib.parse.quote, urllib.parse.unquote_plus, urllib.parse.quote_plus]
)
def test_a_librarys_function_is_compiled_as_where_it_is_called(function: Any) -> None:
    compiled = ck.udf(function, strict=True)
    texts = ["a b+c", "x%20%C3%A9", "/?#"]
    assert compiled(ck.array(texts)).to_pylist() == [*map(function, texts)]


def test_lines_are_indented_by_the_librarys_own_function() -> None:
    def indented(text: str) -> str:
        return textwrap.indent(text, "> ") + textwrap.indent(text, "-", lambda line: "a" in line)

    compiled, texts = ck.udf(indented), ["a\n \nb\r\n", "", "\x1c a", "a"]
    assert compiled(ck.array(texts)).to_pylist() == [*map(indented, texts)]
    assert not compiled.report().left
    assert compiled(ck.array(["\x1c\x85é a"])).to_pylist() == [indented("\x1c\x85é a")]


def test_what_python_computes_is_reported_by_name() -> None:
    def network(text: str) -> str:
        if "." in text:
            return ""
        is_private = ipaddress.IPv6Address(text).is_private
        return f"{is_private} {hashlib.md5(text.encode()).hexdigest()}"

    texts = ["::1", "10.0.0.1", None, "2001::"]
    actual = ck.udf(network)
    assert actual(ck.array(texts)).to_pylist() == [t and network(t) for t in texts]
    report = actual.report()
    assert [site.reason for site in report.sites if site] == ["ipaddress.IPv6Address"]
    assert sum(report.left.values()) == 2


def test_rows_left_within_what_stands_for_the_library_are_those_of_the_users_line() -> None:
    def parsed(text: str) -> str:
        return text + bytes.fromhex(text).hex()

    texts = ["0a", "0a 0b"]
    actual = ck.udf(parsed)
    assert actual(ck.array(texts)).to_pylist() == list(map(parsed, texts))
    (site,) = filter(None, actual.report().sites)
    assert (site.line, site.reason) == (parsed.__code__.co_firstlineno + 1, "bytes.fromhex")


def shifted(text: str, n: int) -> str:
    return text.translate(str.maketrans("abc", text[n:] + "abc"[:n], "x"))


def spelled_out(text: str, n: int) -> str:
    names = str.maketrans({"a": text, "é": "e" * n})
    return text.translate(names) + text.translate({ord(each): n * 50 for each in text[1:]})


@pytest.mark.parametrize("function", [shifted, spelled_out])
def test_tables_of_translate_that_the_row_makes(function: Any) -> None:
    compiled = ck.udf(function)
    for text, n in [("abé", 0), ("xbc", 1), ("caxb", 2), ("", 0), ("abc", -1)]:
        columns = ck.array([text]), ck.array([n])
        try:
            wanted = function(text, n)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                compiled(*columns)
        else:
            report = compiled.report()
            assert compiled(*columns).to_pylist() == [wanted]
            assert compiled.report().left == report.left


def bytes_changed(data: bytes, n: int) -> tuple[bytes, int, bool]:
    buffer = bytearray(data)
    buffer.append(n)
    buffer[0] ^= 1
    buffer += b"end"
    buffer.extend(byte // 2 for byte in data)
    del buffer[1]
    other = buffer
    other[1:3] = b"\0\1\2"
    return bytes(buffer), buffer.pop(), other == buffer and 2 in buffer


def bytes_read(data: bytes, n: int) -> tuple[str, bytes, int, str, bool]:
    zeros = bytearray(n)
    for place, byte in enumerate(data):
        zeros[place] = byte & 127
    part = b"<" + zeros[1:-1] + b">"
    kind = "bytearray" if isinstance(zeros, bytearray) else "other"
    joined = zeros + b"x"
    return zeros.decode(), part, sum(joined), kind + type(joined).__name__, bool(zeros)


def texts_of_exceptions(data: bytes, n: int) -> tuple[str, int]:
    buffer = bytearray(data)
    text = ""
    try:
        buffer[n] = 300
    except (IndexError, ValueError) as error:
        text = str(error)
    return text + str(buffer.find(b"c")), len(b"<" + buffer)


def no_other_sequences(data: bytes, n: int) -> tuple[int, int]:
    buffer = bytearray(data)
    other = buffer
    other.append(7)
    if n == 3:
        other += [n]
    match buffer:
        case [_, *_]:
            return 1, n
    return len(buffer), n


@pytest.mark.parametrize(
    ("function", "left"),
    [(bytes_changed, 0), (bytes_read, 0), (texts_of_exceptions, 1), (no_other_sequences, 1)],
)
def test_byte_arrays(function: Any, left: int) -> None:
    rows = [(b"abc\xff", 7), (b"ab", 255), (b"", 3), (b"abc", 256), (b"abc", -1), (b"abc", 0)]
    compiled = ck.udf(function)
    for data, n in rows:
        columns = ck.array([data]), ck.array([n])
        try:
            wanted = function(data, n)
        except (IndexError, TypeError, ValueError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                compiled(*columns)
        else:
            report = compiled.report()
            assert [*compiled(*columns).to_pylist()[0].values()] == [*wanted]
            assert left or compiled.report().left == report.left


@ck.udf
def host(url: str) -> str:
    try:
        return urlparse(url).netloc
    except Exception:  # noqa: BLE001
        return "none"


@ck.udf
def first_value(text: str) -> str:
    try:
        return parse_qs(text)["a"][0]
    except:  # noqa: E722
        return "none"


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (
            host,
            [
                "http://[::1]:80/a",
                "http://a.b/c",
                *(
                    "http://[::1",
                    "http://x[::1]",
                    "http://[::1]x",
                    "http://[1::2::3]",
                    "http://[:::]",
                ),
                *(
                    "http://[1:2:3:4:5:6:7]",
                    "http://[1:2:3:4:5:6:7:8:9]",
                    "http://[12345::]",
                    "//[g::]",
                ),
            ],
        ),
        (first_value, ["a=%C3%A9", "a=%FF&b", "b"]),
    ],
)
def test_handlers_do_not_catch_that_a_row_is_left(function: Any, rows: list[str]) -> None:
    assert function(ck.array(rows)).to_pylist() == [*map(function.python, rows)]


def test_an_address_that_is_split_lacks_no_part() -> None:
    def host(url: str) -> tuple[str, str | None, int]:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or 80

    urls = [
        "http://u:p@Example.com:8080/x?y#z",
        "//h",
        "x",
        "\x1f http://a\tb/c ",
        "HTTP://u@[2001:db8::1]:1/",
        "http://[1:2:3:4:5:6:7:8]",
        "http://[::ffff:1.2.3.4]/",
    ]
    compiled = ck.udf(host)
    got = compiled(ck.array(urls)).to_pylist()
    assert [tuple(row.values()) for row in got] == [host(url) for url in urls]
    assert sum(compiled.report().left.values()) == 1  # the address with another one in it


@pytest.mark.parametrize("options", [{}, {"ensure_ascii": False, "separators": (",", ":")}])
def test_json_is_written(options: dict[str, Any]) -> None:
    is_short = bool(options)

    def written(text: str, n: int, x: float) -> str:
        counts = {text[:1]: n, "é\\": -1}
        entry = {
            "text": text, "n": n, "x": x, "none": None if n else text, "flag": n > 1,
            "pair": (n, text), "parts": text.split(","), "counts": counts, "fixed": [1, 2],
        }  # fmt: skip
        if is_short:
            return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        return json.dumps(entry) + json.dumps({"b": n, "a": x}, sort_keys=True)

    rows = [
        ("a,b", 1, 0.5), ("", 0, math.nan), ('é"\\', 2, -math.inf), ("😀,\x7f\n\0", -5, 2.5e10)
    ]  # fmt: skip
    actual = ck.udf(written)
    columns = [ck.array(list(column)) for column in zip(*rows, strict=True)]
    assert actual(*columns).to_pylist() == [written(*row) for row in rows]
    assert not actual.report().left


def test_json_has_lines_and_an_order() -> None:
    """Containers without entries have no lines; keys are sorted before they become texts."""

    def written(text: str, n: int) -> str:
        sizes = Counter(map(len, text.split(",")))
        entry = {"text": text, "none": [], "inner": {"parts": text.split(), "b": {}, "a": (n, n)}}
        return (
            json.dumps(entry, indent=4, sort_keys=True)
            + json.dumps({n: [text]}, indent=0, separators=(" ,", "="))
            + json.dumps(sizes, indent="\t", sort_keys=True)
            + json.dumps(dict.fromkeys(text.split(","), n), sort_keys=True)
        )

    rows = [("", 0), ("a b", 1), ("é,\n, long one,a,z,bcdefghijk", -5)]
    compiled = ck.udf(written)
    columns = [ck.array(list(column)) for column in zip(*rows, strict=True)]
    assert compiled(*columns).to_pylist() == [written(*row) for row in rows]
    assert not compiled.report().left


def address(s: str, n: int) -> str:
    entries = {"q": s, "n": n, "none": None}
    return "?" + urlencode(entries) + quote(s) + quote_plus(s, "/") + urlencode({s: s, "b": ""})


def is_text_file(s: str, n: int) -> bool:
    return fnmatch(s, "*.t?t") or (n > 0 and fnmatch(s, "[!a-z]*"))


def copies(s: str, n: int) -> str:
    words = s.split()
    flat, deep = copy.copy(words), copy.deepcopy({"n": n, "m": n + 1})
    flat.append(copy.copy(s))
    deep["n"] += copy.deepcopy(n)
    nested = copy.copy([words])
    nested.append(flat)
    words.append("last")
    return ",".join(words + flat) + f"{deep}" + "".join(word for part in nested for word in part)


@pytest.mark.parametrize("function", [address, is_text_file, copies], ids=lambda f: f.__name__)
def test_addresses_patterns_of_files_and_copies_compile(
    function: Callable[[str, int], Any],
) -> None:
    rows = [("a b/c?é=&+~", 1), ("", -2), ("x.txt\n", 0), ("x.txt", 0), ("Ä.tat", 3)]
    actual = ck.udf(function)
    columns = [ck.array(list(column)) for column in zip(*rows, strict=True)]
    assert actual(*columns).to_pylist() == [function(*row) for row in rows]
    assert not actual.report().left


def test_copies_of_what_is_within_containers_are_left_to_python() -> None:
    def shared(n: int) -> list[list[int]]:
        twice = copy.deepcopy([[n]] * 2)
        twice[0].append(1)
        return twice

    assert ck.udf(shared)(ck.array([5])).to_pylist() == [shared(5)] == [[[5, 1], [5, 1]]]


@pytest.mark.parametrize("separators", [(), ("",), ("", "", ""), (1, 2)])
def test_json_with_other_separators_raises_what_python_raises(separators: tuple[Any, ...]) -> None:
    def written(n: int) -> str:
        return json.dumps([n, n], separators=separators)

    with pytest.raises((TypeError, ValueError)) as raised:
        written(1)
    with pytest.raises(raised.type, match=re.escape(str(raised.value))):
        ck.udf(written)(ck.array([1]))


LETTER = string.Template("Dear $name: $$${amount}, ${amount}!")


def test_templates_are_filled_in() -> None:
    def filled(name: str | None, n: int, x: float) -> str:
        whole = LETTER.substitute(name=name, amount=x)
        other = string.Template("$n ${n}s $none $ $$").safe_substitute(n=n)
        return whole + other + LETTER.safe_substitute()

    rows = [("Zoë", 1, 0.5), (None, -3, 2e6), ("", 0, -0.0)]
    actual = ck.udf(filled)
    columns = [ck.array(list(column)) for column in zip(*rows, strict=True)]
    assert actual(*columns).to_pylist() == [filled(*row) for row in rows]
    assert not actual.report().left


@pytest.mark.parametrize("text", ["$other", "$", "$name"])
def test_templates_that_lack_a_value_are_left_to_python(text: str) -> None:
    template = string.Template(text)

    def filled(name: str) -> str:
        return template.substitute({"other": name}, name=name)

    def lacking(name: str) -> str:
        return template.substitute(none=name)

    if text != "$":
        assert ck.udf(filled)(ck.array(["x"])).to_pylist() == [filled("x")]
    with pytest.raises((KeyError, ValueError)) as raised:
        lacking("x")
    with pytest.raises(raised.type):
        ck.udf(lacking)(ck.array(["x"]))


def test_counters_have_a_text() -> None:
    def shown(text: str) -> str:
        return f"{Counter(text)}{Counter(text.split())!r}"

    texts = ["mississippi is", "", "b a"]
    actual = ck.udf(shown)
    assert actual(ck.array(texts)).to_pylist() == list(map(shown, texts))
    assert not actual.report().left


def twice(text: str) -> int:
    return sum(len(list(group)) + any(group) for _, group in itertools.groupby(text))


def within(text: str) -> int:
    total = 0
    for _, group in itertools.groupby(text):
        for _ in range(2):
            total += len(list(group))  # noqa: B031
    return total


def behind(text: str) -> int:
    groups = [group for _, group in itertools.groupby(text)]
    return len(groups)


def paired(text: str) -> str:
    return "".join(
        pair[0] + "".join(pair[1]) * len(list(pair[1])) for pair in itertools.groupby(text)
    )


@pytest.mark.parametrize("function", [twice, within, behind, paired])
def test_groups_are_gone_over_once(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError, match="iterates over each group once"):
        ck.udf(function)


def counts(text: str) -> str:
    mine, others = Counter(text), Counter("hello")
    mine["h"] -= 1
    kept = mine
    kept.update(Counter(text[:2]))
    kept.subtract({"e": 2, "z": 1})
    kept.subtract("l")
    kept += others
    kept -= Counter(text[1:3])
    lacks = "".join(sorted((others - mine).elements()))
    shared = sum((mine & others).values())
    return f"{sorted((mine + others).items())} {sorted((mine | others).items())} {lacks} {shared}"


PRICES = {"ab": 3, "cd": -1}


def copied(text: str) -> str:
    amounts = {letter: len(text) for letter in text}
    mine = Counter(amounts)
    amounts["h"], mine["x"] = -1, mine["x"] - 2
    other, words = Counter(mine), Counter(h=len(text), e=-1)
    other["h"] += 1
    known = Counter(PRICES)["ab"] + Counter({"ab": len(text), "cd": 2})["ab"]
    pairs = Counter({letter: len(text) for letter in text}.items())
    actual = [*mine.items(), *other.items(), *words.items(), *other.most_common(1)]
    shown = "".join([f"{key}{count} " for key, count in actual])
    return f"{shown}{known} {sum(pairs.values())} {words['q']}"


def copied_dictionaries(text: str) -> str:
    mine = {letter * 2: letter for letter in text}
    row = {"ab": text, "cd": "x"}
    pairs = [*dict(mine, xy=text).items(), *OrderedDict(row).items()]
    known = [*dict(PRICES).items(), *OrderedDict(PRICES).items()]
    return f"{''.join([key + value for key, value in pairs])}{known}"


def counted_in_turn(text: str) -> int:
    parts = [[letter] for letter in text]
    mine: Counter[str] = Counter()
    if parts:
        mine.update(parts.pop())
    return mine["x"] * 10 + len(parts)


def counted_nothing(text: str) -> str:
    mine, empty = Counter([]), len(Counter(()))
    mine["x"] += len(text)
    return f"{list(mine.items())}{empty}"


def is_shuffled(text: str) -> bool:
    mine = Counter(text)
    del mine["-"]
    mine["x"] -= 1
    return mine == Counter("ab")


def amounts(text: str) -> list[float]:
    mine: Any = Counter()
    others: Any = Counter()
    mine["a"], others["a"] = float(text), 0.5
    return [*(mine & others).values(), -1.0, *(mine | others).values()]


def test_counts_that_are_no_numbers_are_compared_in_turn() -> None:
    texts = ["nan", "1.5", "-2"]
    assert ck.udf(amounts)(ck.array(texts)).to_pylist() == list(map(amounts, texts))


@pytest.mark.parametrize(
    "function", [counts, copied, copied_dictionaries, counted_in_turn, counted_nothing, is_shuffled]
)
def test_counters_are_added_and_compared(function: Callable[..., Any]) -> None:
    texts = ["hello", "", "abx", "xba", "xxab", "aab"]
    compiled = ck.udf(function)
    assert compiled(ck.array(texts)).to_pylist() == list(map(function, texts))
    assert not compiled.report().left


def columns(text: str) -> str:
    rows = zip(*(row.split(",") for row in text.split(";")), strict=False)
    return ";".join("".join(column) for column in rows)


def keys_of_columns(text: str) -> str:
    rows = [{letter: 1, "q": 2} for letter in text]
    return ";".join("".join(column) for column in zip(*rows, strict=False))


def names_of_columns(text: str) -> str:
    if not text:
        return ""
    first, _ = zip(*[{"x": 5, "y": len(text)} for _ in text], strict=True)
    rows = zip(*[{"x": 5, "y": len(text)} for _ in text], strict=True)
    return "".join(first) + ";".join("".join(column) for column in rows)


def letters_of_columns(text: str) -> str:
    return ";".join("".join(column) for column in zip(*text.split(";"), strict=text < "b"))


def rounds_before_an_error(text: str) -> int:
    rounds = 0
    try:
        for _ in zip(*(part for part in text.split(";")), strict=True):
            rounds += 1
    except ValueError:
        return -rounds
    return rounds


def shortest(text: str) -> str:
    try:
        number: Any = int(text)
    except ValueError:
        number = float(text) if text.count(".") == 1 else 0
    return str(number)


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        (columns, ["1,2;3,4", "5", "a,b;c", ""]),
        (keys_of_columns, ["abc", "aqb", ""]),
        (names_of_columns, ["abc", "a", ""]),
        (letters_of_columns, ["ab;cd", "é;ü", "", "bc;d"]),
        (rounds_before_an_error, ["abc;de", "ab;abc", "ab;cd", ""]),
        (shortest, ["12", "1.50", "x"]),
    ],
)
def test_rows_that_are_transposed_and_numbers_of_several_types(
    function: Callable[..., Any], texts: list[str]
) -> None:
    assert ck.udf(function)(ck.array(texts)).to_pylist() == list(map(function, texts))


def test_columns_of_rows_whose_sizes_differ_raise_where_python_does() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        ck.udf(letters_of_columns)(ck.array(["ab;c"]))


@pytest.mark.parametrize(
    "function",
    [
        lambda text: [
            len(column) for column in zip(*[{letter, "q"} for letter in text], strict=False)
        ],
        lambda text: [len(column) for column in zip(*[text], strict=False, longest=True)],  # type: ignore[call-overload]
        lambda text: [len(pair) for pair in zip(text, text, strict=False, longest=True)],  # type: ignore[call-overload]
    ],
)
def test_columns_of_sets_and_words_that_zip_lacks_are_refused(function: Any) -> None:
    with pytest.raises(ck.CompileError):
        ck.udf(function)(ck.array(["ab"]))


@pytest.mark.parametrize(
    "function",
    [
        lambda text: dict(Counter(text, a=3)),
        lambda text: Counter({"a": len(text) / 2}).most_common(1),
    ],
)
def test_counters_of_other_arguments_are_refused(function: Any) -> None:
    with pytest.raises(ck.CompileError):
        ck.udf(function)(ck.array(["ab"]))


def test_counts_and_words_are_not_added_to_a_counter() -> None:
    def added(text: str) -> int:
        mine = Counter(text)
        mine.update(text, a=3)
        return mine["a"]

    with pytest.raises(ck.CompileError, match=r"Counter.update\(\) has no compiled form"):
        ck.udf(added)(ck.array(["ab"]))


def cells_read(text: str) -> int:
    return sum(len(cells) for cells in csv.reader(io.StringIO(text)))


def lines_read(text: str) -> list[str]:
    return [line.rstrip() for line in io.StringIO(text)]


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (cells_read, ["a,b\nc\n", ""]),
        (lines_read, ["a\n\nb", "\n", ""]),
    ],
)
def test_files_in_memory(function: Callable[..., Any], rows: list[Any]) -> None:
    assert ck.udf(function)(ck.array(rows)).to_pylist() == list(map(function, rows))


def mean_and_spread(marks: list[int]) -> tuple[float, float]:
    # Both sum floats with one function; LLVM removes its call for the mean of integers.
    return statistics.mean(marks), statistics.stdev(marks)


def test_a_function_is_linked_if_its_first_call_is_dead_code() -> None:
    column = ck.array([[5, 6]])
    assert [*ck.udf(mean_and_spread)(column).to_pylist()[0].values()] == [5.5, math.sqrt(0.5)]


def spread(marks: list[float]) -> float:
    try:
        return statistics.mean(marks) + statistics.stdev(marks)
    except statistics.StatisticsError:
        return -1.0


def test_too_few_numbers_for_statistics_raise_in_compiled_code() -> None:
    rows = [[], [1.0], [1.0, 2.0]]
    compiled = ck.udf(spread)
    assert compiled(ck.array(rows)).to_pylist() == [*map(spread, rows)]
    assert not compiled.report().left


def in_order(query: str) -> str:
    return urlencode(sorted(parse_qsl(query)))


def test_pairs_are_encoded() -> None:
    rows = ["b=2&a=1 +", "", "c=%26&c="]
    assert ck.udf(in_order)(ck.array(rows)).to_pylist() == [*map(in_order, rows)]


def test_missing_values_of_pandas() -> None:
    pd = pytest.importorskip("pandas")

    def has_value(number: float | None) -> bool:
        return pd.notna(number) and not pd.isnull(number)

    numbers = [1.5, None, math.nan]
    assert ck.udf(has_value)(ck.array(numbers)).to_pylist() == list(map(has_value, numbers))


def test_iterators_of_their_own_are_refused() -> None:
    def first(text: str) -> Any:
        return next(csv.DictReader([text, text]))

    with pytest.raises(ck.CompileError, match="DictReader"):
        ck.udf(first)


def digits_or_kind(text: str) -> str:
    try:
        return binascii.unhexlify(text).hex() + str(unicodedata.numeric(text))
    except binascii.Error:
        return "no digits"
    except TypeError:
        return "no character"


def test_exceptions_of_library_functions_have_their_classes() -> None:
    compiled, texts = ck.udf(digits_or_kind), ["abc", "abcd", "a b ", "xy", ""]
    assert compiled(ck.array(texts)).to_pylist() == [*map(digits_or_kind, texts)]
    assert not compiled.report().left
