"""URIs of services (Dissociated IPC protocol: "URI Specification")."""

from __future__ import annotations

import base64
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern import record_batch
from colkern.dissociated import ServiceUri, connect, parse_uri, serve
from colkern.errors import InvalidArrowError

UINT64_MAX = 2**64 - 1


def test_reads_all_parameters() -> None:
    uri = parse_uri("tcp://host:5000?want_data=7&free_data=8&remote_handle=AAEC")
    assert uri == ServiceUri("tcp", "host:5000", 7, 8, b"\x00\x01\x02")


@pytest.mark.parametrize("handle", ["%2B%2F8%3D", "+/8="])
def test_remote_handle_is_standard_base64_percent_encoded_or_plain(handle: str) -> None:
    uri = parse_uri(f"tcp://host:5000?want_data=7&remote_handle={handle}")
    assert uri.remote_handle == b"\xfb\xff"
    assert "remote_handle=%2B%2F8%3D" in str(uri)


def test_a_scheme_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="scheme 'fabric'; colkern has cuda, inproc, shm, tcp"):
        connect("fabric:10.0.0.1?want_data=1")


def test_locations_need_free_data() -> None:
    with serve(record_batch({"n": [1]}), "shm:?want_data=7") as server:
        assert parse_uri(server.uri).free_data is not None
        bare = replace(parse_uri(server.uri), free_data=None)
        with pytest.raises(InvalidArrowError, match="no free_data"):
            connect(str(bare)).read_all()


def test_free_data_and_remote_handle_are_optional() -> None:
    assert parse_uri("unix:///tmp/s?want_data=0") == ServiceUri("unix", "/tmp/s", 0)


def test_scheme_without_slashes() -> None:
    assert parse_uri("ucx:10.0.0.1:13337?want_data=1").address == "10.0.0.1:13337"


def test_tags_are_uint64() -> None:
    assert parse_uri(f"tcp://h:1?want_data={UINT64_MAX}").want_data == UINT64_MAX
    with pytest.raises(InvalidArrowError, match="want_data: expected a uint64"):
        parse_uri(f"tcp://h:1?want_data={UINT64_MAX + 1}")


@pytest.mark.parametrize("value", ["", "-1", "0x7", "1.0", "%31%30x", "%D9%A1"])
def test_tags_are_decimal_digits(value: str) -> None:
    with pytest.raises(InvalidArrowError, match="want_data"):
        parse_uri(f"tcp://h:1?want_data={value}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tcp://h:1", "want_data is missing"),
        ("tcp://h:1?free_data=1", "want_data is missing"),
        ("tcp://h:1?want_data", "want_data has no value"),
        ("tcp://h:1?want_data=1&want_data=1", "want_data stands there twice"),
        ("tcp://h:1?want_data=1&free_data=1", "must differ"),
        ("tcp://h:1?want_data=1&remote_handle=A", "remote_handle: not base64"),
        ("tcp://h:1?want_data=1&remote_handle=-_-_", "remote_handle: not base64"),
        ("no scheme", "expected scheme://"),
        ("://h?want_data=1", "expected scheme://"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        parse_uri(text)


def test_passes_over_other_parameters_and_fragments() -> None:
    assert parse_uri("tcp://h:1?a=b&want_data=1&c#d") == ServiceUri("tcp", "h:1", 1)


def test_base64_may_be_percent_encoded_or_not() -> None:
    handle = bytes([0xFB, 0xEF, 0xFF])
    assert base64.b64encode(handle) == b"++//"
    for encoded in ("++//", "%2B%2B%2F%2F"):
        assert parse_uri(f"a:b?want_data=1&remote_handle={encoded}").remote_handle == handle


uint64s = st.integers(0, UINT64_MAX)


@given(
    address=st.text(max_size=20).filter(lambda text: not text.startswith("/")),
    want_data=uint64s,
    free_data=st.none() | uint64s,
    handle=st.none() | st.binary(max_size=20),
)
def test_what_is_written_is_read(
    address: str, want_data: int, free_data: int | None, handle: bytes | None
) -> None:
    if want_data == free_data:
        return
    uri = ServiceUri("tcp", address, want_data, free_data, handle)
    assert parse_uri(str(uri)) == uri
    # The standard library's reading of the same.
    query = parse_qs(str(uri).partition("?")[2], keep_blank_values=True)
    assert query["want_data"] == [str(want_data)]
    if handle is not None:
        assert base64.b64decode(query["remote_handle"][0]) == handle
