"""Valid streams and files, damaged on purpose: the same damage for the same seed and number.

Most damage is aimed: at a number in the metadata, at the place of a buffer, at one aligned number in a
body, at the order of messages. Blind bits alone hardly ever get past the first check of a reader.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from fuzz.corpus import corpus
from fuzz.recording import END, MAGIC, Part, as_file, as_stream, records, with_body
from fuzz.sites import Site, sites

from colkern import ColkernError
from colkern.ipc.flatbuffer.encoding import encode
from colkern.ipc.wire import FOOTER, MESSAGE

_CODES = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


@dataclass(frozen=True, slots=True)
class Case:
    """One damaged input.

    Args:
        number: Its number under a seed.
        origin: What it was made of.
        damage: What was done to it, in order.
        stream: It as a stream, if it is read as one.
        file: It as a file, if it is read as one; where both are there, both hold the same messages.
    """

    number: int
    origin: str
    damage: tuple[str, ...]
    stream: bytes | None
    file: bytes | None


@dataclass
class _Making:
    """A case while it is made."""

    random: random.Random
    origin: str
    parts: list[Part]
    end: bytes = END
    damage: list[str] = field(default_factory=list)

    def pick(self) -> int:
        """The position of a message; the schema's is one among others."""
        return self.random.randrange(len(self.parts))

    def note(self, text: str) -> None:
        self.damage.append(text)


def make_case(seed: int, number: int) -> Case:
    """Case `number` under `seed`: always the same one for the same corpus."""
    rng = random.Random(f"{seed}/{number}")
    names = _names()
    origin = names[rng.randrange(len(names))]
    parts = corpus()[origin]
    making = _Making(rng, origin, list(parts))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        if making.parts:
            rng.choices(_ON_PARTS, _ON_PARTS_WEIGHTS)[0](making)
    stream = file = None
    form = rng.random()
    if form < 0.8:
        stream = as_stream(making.parts, making.end)
    if form >= 0.6:
        file = as_file(making.parts, parts[0])
    if stream is None and file is not None:
        file = rng.choice(_ON_FILES)(making, file)
    elif stream is not None and file is None and rng.random() < 0.05:
        size = rng.randrange(len(stream))
        making.note(f"the stream cut to {size} bytes")
        stream = stream[:size]
    return Case(number, origin, tuple(making.damage), stream, file)


@cache
def _names() -> tuple[str, ...]:
    return tuple(corpus())


@cache
def _whole() -> frozenset[bytes]:
    """The metadata of all messages of the corpus."""
    return frozenset(part.metadata for parts in corpus().values() for part in parts)


@lru_cache(maxsize=4096)
def _message_sites(metadata: bytes) -> list[Site]:
    return sites(MESSAGE, metadata)


def _number(rng: random.Random, old: int, width: int, around: tuple[int, ...]) -> int:
    """A number that is likely to be one too many, or far too many.

    Args:
        rng: Where chance comes from.
        old: What stood there.
        width: Its width in bytes.
        around: Sizes that a check may compare it with.
    """
    top = 1 << (8 * width)
    kind = rng.randrange(6)
    if kind == 0:
        chosen = rng.choice((0, 1, 2, top // 2 - 1, top // 2, top // 2 + 1, top - 1, top - 2))
    elif kind == 1:
        chosen = old + rng.choice((-8, -4, -2, -1, 1, 2, 4, 8, 64))
    elif kind == 2:
        chosen = rng.choice(around or (0,)) + rng.choice((-8, -1, 0, 0, 1, 8))
    elif kind == 3:
        chosen = old ^ (1 << rng.randrange(8 * width))
    elif kind == 4:
        chosen = 1 << rng.randrange(8 * width)
    else:
        chosen = rng.choice((rng.randrange(16), rng.randrange(256), rng.randrange(top), old * 2))
    return chosen % top


def _put(rng: random.Random, data: bytearray, at: int, width: int, around: tuple[int, ...]) -> str:
    code = _CODES[width]
    (old,) = struct.unpack_from(code, data, at)
    new = _number(rng, old, width, around)
    struct.pack_into(code, data, at, new)
    return f"{old} -> {new}"


# Of metadata


def _change_sites(making: _Making) -> None:
    """Numbers of the metadata, found by a walk."""
    rng, at = making.random, making.pick()
    part = making.parts[at]
    if part.metadata not in _whole():
        return _flip_bits(making)
    known = _message_sites(part.metadata)
    data = bytearray(part.metadata)
    for _ in range(rng.choice((1, 1, 2))):
        site = rng.choice(known)
        done = _put(rng, data, site.position, site.width, (len(part.metadata), len(part.body)))
        making.note(f"message {at}: {site.path}: {done}")
    making.parts[at] = replace(part, metadata=bytes(data))
    return None


def _copy_site(making: _Making) -> None:
    """A number of the metadata takes the place of another of its width."""
    rng, at = making.random, making.pick()
    part = making.parts[at]
    if part.metadata not in _whole():
        return _flip_bits(making)
    known = _message_sites(part.metadata)
    target = rng.choice(known)
    source = rng.choice([site for site in known if site.width == target.width])
    data = bytearray(part.metadata)
    data[target.position : target.position + target.width] = part.metadata[
        source.position : source.position + source.width
    ]
    making.parts[at] = replace(part, metadata=bytes(data))
    making.note(f"message {at}: {target.path} = {source.path}")
    return None


def _change_slot(making: _Making) -> None:
    """A slot of the metadata, also one that is not there, written anew by a sound builder."""
    rng, at = making.random, making.pick()
    part = making.parts[at]
    try:
        message = records(MESSAGE, part.metadata)
        path = _change_record(rng, message, len(part.body))
        making.parts[at] = part.with_metadata(encode(MESSAGE, message))
    except (ColkernError, KeyError, TypeError, ValueError, AttributeError, struct.error):
        # Damaged before, or a change that the builder refuses.
        return _flip_bits(making)
    making.note(f"message {at}: {path}")
    return None


def _change_record(rng: random.Random, record: dict[str, Any], body: int) -> str:
    """Change one value in a tree of records; what was done."""
    name = rng.choice(list(record))
    value = record[name]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        return f"{name}.{_change_record(rng, value, body)}"
    if isinstance(value, list) and value and rng.random() < 0.8:
        number = rng.randrange(len(value))
        if rng.random() < 0.8:
            return f"{name}[{number}].{_change_record(rng, value[number], body)}"
        return f"{name}: {_change_list(rng, value, number)}"
    if isinstance(value, np.ndarray):
        record[name] = _change_vector(rng, value, body)
        return f"{name}: {value.tolist()} -> {record[name].tolist()}"[:200]
    record[name] = _other(rng, name, value, body)
    return f"{name}: {value!r} -> {record[name]!r}"[:200]


def _change_list(rng: random.Random, values: list[Any], number: int) -> str:
    kind = rng.randrange(3)
    if kind == 0:
        del values[number]
        return f"without [{number}]"
    if kind == 1:
        values.insert(number, values[rng.randrange(len(values))])
        return f"one more at {number}"
    values[:] = values * rng.choice((2, 3, 50))
    return f"{len(values)} of them"


def _change_vector(rng: random.Random, values: Any, body: int) -> Any:
    """Numbers or structs: one changed, dropped, repeated, swapped; or all gone."""
    kind = rng.randrange(6)
    if not values.size or kind == 0:
        return values[:0] if values.size else np.zeros(rng.choice((1, 3)), values.dtype)
    at = rng.randrange(values.size)
    if kind == 1:
        return np.delete(values, at)
    if kind == 2:
        return np.insert(values, at, values[rng.randrange(values.size)])
    changed = values.copy()
    if kind == 3:
        changed[at] = values[rng.randrange(values.size)]
        return changed
    flat = changed.view("<i8") if values.dtype.itemsize % 8 == 0 else changed
    at = rng.randrange(flat.size)
    width = flat.dtype.itemsize
    top = 1 << (8 * width)
    new = _number(rng, int(flat[at]) % top, width, (body,))
    flat[at] = new - top if new >= top // 2 else new
    return changed


def _other(rng: random.Random, name: str, value: Any, body: int) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str | bytes):
        return rng.choice((value[:0], value * 2, value[1:]))
    if value is None:
        return _ABSENT[name](rng) if name in _ABSENT else None
    if isinstance(value, int):
        return rng.choice((value + 1, max(value - 1, 0), rng.randrange(30), rng.randrange(128)))
    return None


_ABSENT: dict[str, Callable[[random.Random], Any]] = {
    "dictionary": lambda rng: {"id": rng.randrange(2), "isOrdered": bool(rng.randrange(2))},
    "compression": lambda rng: {"codec": rng.randrange(3), "method": rng.randrange(2)},
    "custom_metadata": lambda rng: [{"key": b"k", "value": b"v"}] * rng.randrange(1, 4),
    "indexType": lambda rng: {
        "bitWidth": 8 << rng.randrange(5),
        "is_signed": bool(rng.randrange(2)),
    },
    "variadicBufferCounts": lambda rng: [rng.choice((0, 1, -1, 1 << 40))],
    "typeIds": lambda rng: [rng.randrange(4), rng.randrange(-1, 200)],
    "timezone": lambda rng: rng.choice(("UTC", "Nowhere/Else", "+01:00")),
}


# Of bodies


def _change_body(making: _Making) -> None:
    """Aligned numbers of a body: offsets, sizes, views, run ends, type ids, indices, lengths."""
    rng = making.random
    filled = [i for i, part in enumerate(making.parts) if len(part.body) >= 8]
    if not filled:
        return _change_sites(making)
    at = rng.choice(filled)
    part = making.parts[at]
    data = bytearray(part.body)
    starts = _buffer_starts(part)
    for _ in range(rng.choice((1, 1, 2, 4))):
        width = rng.choice((1, 2, 4, 4, 8))
        start = rng.choice(starts)
        place = min(start + width * rng.randrange(max(64 // width, 1)), len(data) - width)
        done = _put(rng, data, place, width, (len(part.body), 4, 12))
        making.note(f"message {at}: body[{place}:{place + width}] {done}")
    making.parts[at] = replace(part, body=bytes(data))
    return None


@lru_cache(maxsize=4096)
def _starts_of(metadata: bytes) -> tuple[int, ...]:
    header = records(MESSAGE, metadata)["header"]
    batch = header.get("data") or header
    buffers = batch.get("buffers")
    if buffers is None:
        return (0,)
    return tuple(int(b["offset"]) for b in buffers if b["length"]) or (0,)


def _buffer_starts(part: Part) -> list[int]:
    """Where the buffers of a body start, as far as that is known."""
    if part.metadata not in _whole():
        return list(range(0, len(part.body) - 7, 8))
    return [start for start in _starts_of(part.metadata) if start < len(part.body)] or [0]


def _resize_body(making: _Making) -> None:
    """A body cut or extended, whether the metadata says so or not."""
    rng, at = making.random, making.pick()
    part = making.parts[at]
    size = max(len(part.body) + rng.choice((-64, -8, -1, 1, 8, 64, -len(part.body))), 0)
    body = part.body[:size].ljust(size, b"\xa5")
    told = rng.random() < 0.7
    making.parts[at] = _rebodied(part, body) if told else replace(part, body=body)
    making.note(f"message {at}: a body of {size} bytes, {'told' if told else 'untold'}")


def _splice_body(making: _Making) -> None:
    """The body of a message of another stream under this message's metadata."""
    rng, at = making.random, making.pick()
    name = rng.choice(_names())
    other = rng.choice(corpus()[name])
    making.parts[at] = _rebodied(making.parts[at], other.body)
    making.note(f"message {at}: a body of {name!r}")


def _rebodied(part: Part, body: bytes) -> Part:
    try:
        return with_body(part, body)
    except (ColkernError, KeyError, TypeError, ValueError, AttributeError):
        return replace(part, body=body)


# Of the order of messages, and what stands around them


def _reorder(making: _Making) -> None:
    """Messages swapped, repeated, dropped, or taken from another stream."""
    rng, parts = making.random, making.parts
    kind = rng.randrange(4)
    a, b = making.pick(), making.pick()
    if kind == 0:
        parts[a], parts[b] = parts[b], parts[a]
        making.note(f"messages {a} and {b} swapped")
    elif kind == 1:
        parts.insert(a, parts[b])
        making.note(f"message {b} again at {a}")
    elif kind == 2:
        del parts[a]
        making.note(f"without message {a}")
    else:
        name = rng.choice(_names())
        other = corpus()[name]
        number = rng.randrange(len(other))
        parts.insert(a, other[number])
        making.note(f"message {number} of {name!r} at {a}")


def _change_framing(making: _Making) -> None:
    """The length in front of a message, the marker before it, or the mark at the end."""
    rng, at = making.random, making.pick()
    part = making.parts[at]
    kind = rng.randrange(4)
    if kind == 0 and len(part.prefix) == 8:
        making.parts[at] = replace(part, prefix=part.prefix[4:])
        making.note(f"message {at}: no continuation marker")
    elif kind == 1:
        making.parts[at] = replace(part, prefix=END + part.prefix)
        making.note(f"message {at}: an end mark in front")
    elif kind == 2:
        making.end = rng.choice(
            (b"", bytes(4), END[:6], b"\xff" * 8, b"\xff\xff\xff\xff\x08\0\0\0")
        )
        making.note(f"ends with {making.end!r}")
    else:
        data = bytearray(part.prefix)
        done = _put(rng, data, len(data) - 4, 4, (len(part.metadata), len(part.data)))
        making.parts[at] = replace(part, prefix=bytes(data))
        making.note(f"message {at}: metadata length {done}")


def _flip_bits(making: _Making) -> None:
    """Bits anywhere in a message."""
    rng, at = making.random, making.pick()
    part = making.parts[at]
    data = bytearray(part.data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        bit = rng.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        making.note(f"message {at}: bit {bit}")
    a, b = len(part.prefix), len(part.prefix) + len(part.metadata)
    making.parts[at] = Part(bytes(data[:a]), bytes(data[a:b]), bytes(data[b:]))


_WEIGHTED: dict[Callable[[_Making], None], int] = {
    _change_sites: 6,
    _copy_site: 2,
    _change_slot: 6,
    _change_body: 12,
    _resize_body: 1,
    _splice_body: 1,
    _reorder: 2,
    _change_framing: 1,
    _flip_bits: 2,
}
_ON_PARTS = list(_WEIGHTED)
_ON_PARTS_WEIGHTS = list(_WEIGHTED.values())


# Of files


def _footer_of(file: bytes) -> tuple[int, bytes]:
    (size,) = struct.unpack_from("<i", file, len(file) - 10)
    start = len(file) - 10 - size
    return start, file[start : start + size]


def _change_footer_sites(making: _Making, file: bytes) -> bytes:
    """Numbers of the footer, its blocks among them."""
    rng = making.random
    start, footer = _footer_of(file)
    known = sites(FOOTER, footer)
    blocks = [site for site in known if ".dictionaries" in site.path or "Batches" in site.path]
    data = bytearray(file)
    for _ in range(rng.choice((1, 1, 2))):
        site = rng.choice(blocks if blocks and rng.random() < 0.7 else known)
        done = _put(rng, data, start + site.position, site.width, (len(file), start))
        making.note(f"{site.path}: {done}")
    return bytes(data)


def _change_footer_slot(making: _Making, file: bytes) -> bytes:
    """A slot of the footer, written anew: a schema unlike the messages', blocks more or fewer."""
    start, footer = _footer_of(file)
    try:
        record = records(FOOTER, footer)
        path = _change_record(making.random, record, start)
        changed = encode(FOOTER, record)
    except (ColkernError, KeyError, TypeError, ValueError, AttributeError, struct.error):
        return _change_any_bytes(making, file)
    making.note(f"footer: {path}")
    return file[:start] + changed + struct.pack("<i", len(changed)) + MAGIC


def _change_any_bytes(making: _Making, file: bytes) -> bytes:
    """The length of the footer, a bit, or the end cut off."""
    rng = making.random
    data = bytearray(file)
    kind = rng.randrange(3)
    if kind == 0:
        done = _put(rng, data, len(data) - 10, 4, (len(data), len(data) - 18))
        making.note(f"footer length: {done}")
    elif kind == 1:
        bit = rng.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        making.note(f"file: bit {bit}")
    else:
        size = rng.randrange(len(data))
        making.note(f"the file cut to {size} bytes")
        del data[size:]
    return bytes(data)


_ON_FILES = [_change_footer_sites, _change_footer_sites, _change_footer_slot, _change_any_bytes]
