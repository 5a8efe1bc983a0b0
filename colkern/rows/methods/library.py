"""Rows for functions of the standard library that only Python computes: a call leaves the row.

The kinds of their results are known, so the rest of a function compiles. Objects that compiled code never
looks into have kinds of their own, such as an `address` of `ipaddress`.
"""

from __future__ import annotations

from colkern.rows.methods import Method

_RESULTS = {
    "str": (
        "address.__str__ hash.hexdigest json.dumps string.Template.safe_substitute "
        "string.Template.substitute template.safe_substitute template.substitute "
        "textwrap.dedent textwrap.fill textwrap.shorten "
        "urllib.parse.urlencode"
    ),
    "bytes": (
        "base64.b16decode base64.b16encode base64.b32decode base64.b32encode gzip.decompress "
        "hash.digest zlib.compress zlib.decompress"
    ),
    "int": "address.version",
    "float": (
        "math.cbrt math.exp2 math.gamma math.lgamma statistics.geometric_mean "
        "statistics.harmonic_mean"
    ),
    "bool": (
        "address.is_global address.is_loopback address.is_multicast address.is_private "
        "address.is_reserved"
    ),
    "list[str]": "shlex.split textwrap.wrap",
    "address": "ipaddress.IPv6Address",
    "hash": (
        "hashlib.blake2b hashlib.blake2s hashlib.new hashlib.sha224 "
        "hashlib.sha384 hashlib.sha3_256 hashlib.sha512"
    ),
    "template": "string.Template",
    "None": "hash.update",
}
"""The functions, and the methods of the objects that they make, by the kinds of their results."""

METHODS = [
    Method(name, f"(...) -> {kind}", None)
    for kind, names in _RESULTS.items()
    for name in names.split()
]
