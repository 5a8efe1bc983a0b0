"""Custom metadata: key-value pairs of bytes, of which several may have one key.

Columnar format 1.5: "Custom Application Metadata".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


class KeyValueMetadata(Mapping[bytes, bytes]):
    """A mapping of bytes to bytes that keeps all pairs in order, also those with equal keys.

    A lookup gives the last value of a key; `pairs` has all pairs. Readers make one only if a key
    repeats, and else a dict; writers take both.
    """

    __slots__ = ("_by_key", "pairs")

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self.pairs: tuple[tuple[bytes, bytes], ...] = tuple(pairs)
        self._by_key = dict(self.pairs)

    def __getitem__(self, key: bytes) -> bytes:
        return self._by_key[key]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KeyValueMetadata):
            return self.pairs == other.pairs
        return self._by_key == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return KeyValueMetadata, (self.pairs,)

    def __repr__(self) -> str:
        return f"KeyValueMetadata({list(self.pairs)!r})"


def metadata_of(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[bytes, bytes] | None:
    """Pairs as metadata: a dict, or a `KeyValueMetadata` if a key repeats; None without pairs."""
    metadata = KeyValueMetadata(pairs)
    if len(metadata) < len(metadata.pairs):
        return metadata
    return dict(metadata.pairs) or None


def pairs_of(metadata: Mapping[bytes, bytes] | None) -> list[tuple[bytes, bytes]]:
    """All pairs of metadata, in their order."""
    if isinstance(metadata, KeyValueMetadata):
        return list(metadata.pairs)
    return list((metadata or {}).items())
