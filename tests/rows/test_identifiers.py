"""UUIDs and addresses of version 4 in row functions, against `uuid` and `ipaddress`."""

from __future__ import annotations

import ipaddress
import re
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck

HOSTS = uuid.NAMESPACE_DNS


@ck.udf
def of_identifier(text: str) -> tuple[str, str, int | None, str, bytes, str, bool, str, str]:
    own = uuid.UUID(text)
    by_5, by_3 = str(uuid.uuid5(HOSTS, text)), uuid.uuid3(own, text).hex
    as_4 = uuid.UUID(hex=own.hex, version=4)
    return str(own), own.hex, own.version, own.variant, own.bytes, own.urn, own == as_4, by_5, by_3


@ck.udf
def of_address(text: str) -> tuple[str, str, str, int, bytes, bool]:
    own = ipaddress.ip_address(text)
    kinds = own.is_private, own.is_global, own.is_loopback, own.is_link_local, own.is_multicast
    is_own = own == ipaddress.IPv4Address(int(own)) and isinstance(own, ipaddress.IPv4Address)
    return repr(own), f"{own}", f"{kinds} {own.is_reserved}", int(own), own.packed, is_own


@given(st.lists(st.uuids(), min_size=1), st.sampled_from(["{{{}}}", "urn:uuid:{}", "{}"]))
def test_identifiers_are_pythons(identifiers: list[uuid.UUID], form: str) -> None:
    texts = [form.format(each) for each in identifiers]
    actual = [tuple(row.values()) for row in of_identifier(ck.array(texts)).to_pylist()]
    assert actual == [of_identifier.function(text) for text in texts]
    assert not of_identifier.report().left


NETWORKS = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.170/31", "192.0.2.0/24"),
    *("192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
]


def test_addresses_at_the_ends_of_networks_are_pythons() -> None:
    networks = [ipaddress.IPv4Network(network) for network in NETWORKS]
    numbers = {
        int(network[end]) + step for network in networks for end in (0, -1) for step in (-1, 0, 1)
    }
    texts = [str(ipaddress.IPv4Address(number)) for number in numbers if 0 <= number < 1 << 32]
    actual = [tuple(row.values()) for row in of_address(ck.array(texts)).to_pylist()]
    assert actual == [of_address.function(text) for text in texts]
    assert not of_address.report().left


PLACES = {"home": ipaddress.ip_network("192.168.0.0/16"), "lan": ipaddress.ip_network("10.0.0.0/8")}


@ck.udf
def place(text: str) -> str | None:
    own = ipaddress.ip_address(text)
    if own in ipaddress.IPv4Network("10.1.0.0/16"):
        return "office"
    return next((name for name, network in PLACES.items() if own in network), None)


def test_networks_are_constants() -> None:
    texts = ["10.1.2.3", "10.0.0.0", "10.2.0.0", "192.168.255.255", "192.169.0.0", "1.2.3.4"]
    assert place(ck.array(texts)).to_pylist() == [place.function(text) for text in texts]
    assert not place.report().left


@ck.udf
def is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ipaddress.AddressValueError:
        return False
    return True


@ck.udf
def is_identifier(text: str) -> bool:
    try:
        return uuid.UUID(text, version=4).hex == text.replace("-", "")
    except ValueError:
        return False


NO_ADDRESSES = [
    "",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.04",
    "1.2.3.256",
    "1.2.3.x",
    "1.2.3.\u0967",
    "1.2.3.4/8",
]
NO_IDENTIFIERS = ["", "x", "-" * 36, "{" + "1" * 31 + "}"]


@pytest.mark.parametrize(
    ("compiled", "texts"),
    [
        (is_address, [*NO_ADDRESSES, "1.2.3.4", "0.0.0.0"]),
        (is_identifier, [*NO_IDENTIFIERS, str(uuid.UUID(int=0)), str(uuid.UUID(int=0, version=4))]),
    ],
)
def test_texts_that_are_none_raise_as_in_python(compiled: Any, texts: list[str]) -> None:
    assert compiled(ck.array(texts)).to_pylist() == [*map(compiled.function, texts)]
    assert not compiled.report().left


@pytest.mark.parametrize(
    ("compiled", "text"), [(of_address, NO_ADDRESSES[0]), (of_identifier, NO_IDENTIFIERS[0])]
)
def test_errors_have_pythons_text(compiled: Any, text: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011
        compiled.function(text)
    with pytest.raises(type(error.value), match=re.escape(str(error.value))):
        compiled(ck.array([text]))


@pytest.mark.parametrize("text", ["::1", "1::ffff:1.2.3.4", "x:"])
def test_addresses_of_version_6_are_left(text: str) -> None:
    def kind(text: str) -> str:
        try:
            return str(ipaddress.ip_address(text).version)
        except ValueError:
            return "none"

    compiled = ck.udf(kind)
    assert compiled(ck.array([text])).to_pylist() == [kind(text)]
    assert sum(compiled.report().left.values()) == 1


@pytest.mark.parametrize("text", ["0x" + "1" * 30, " " + "1" * 31, "1" * 15 + "_" + "1" * 16])
def test_digits_that_only_int_takes_are_left(text: str) -> None:
    compiled = ck.udf(lambda text: str(uuid.UUID(text)))
    assert compiled(ck.array([text])).to_pylist() == [str(uuid.UUID(text))]
    assert sum(compiled.report().left.values()) == 1
