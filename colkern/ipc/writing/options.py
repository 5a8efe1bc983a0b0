"""The options of writers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from colkern.ipc.compression import Codec, codec_named
from colkern.ipc.limits import DEFAULT_LIMITS, Limits

Alignment = Literal[8, 64]
Compression = Literal["lz4", "zstd"]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a writer; the keyword arguments of `new_stream` and `new_file`.

    Args:
        compression: "lz4" (LZ4 frames), "zstd", or None for plain buffers. A buffer that would not
            become smaller stays plain.
        compression_level: How hard; None for the codec's fast default (LZ4: 0, Zstandard: 1).
        alignment: Each buffer starts at a multiple of so many bytes: 64, as the format recommends,
            or 8, the least it allows.
        dictionary_deltas: Whether a dictionary that has grown is written as what came to it. None:
            in files, where nothing else is allowed; not in streams, as not every reader takes them; nor
            where the values have a dictionary of their own, as Arrow C++ refuses that: such a
            dictionary is written again as a whole.
        dictionary_ids: Path of a field (names with dots between) → id of its dictionary. Fields with
            one id share one dictionary, which is written once.
        message_metadata: Custom metadata of the schema's message; that of the schema is
            `Schema.metadata`.
        dictionary_metadata: Dictionary id → custom metadata of its batches; looked up when one is
            written.
        reader_limits: The limits of readers. What goes over one of these limits is refused with a
            `LimitExceededError` that names it, as readers would refuse it later.
    """

    compression: Compression | None = None
    compression_level: int | None = None
    alignment: Alignment = 64
    dictionary_deltas: bool | None = None
    dictionary_ids: Mapping[str, int] = field(default_factory=dict)
    message_metadata: Mapping[bytes, bytes] | None = None
    dictionary_metadata: Mapping[int, Mapping[bytes, bytes]] = field(default_factory=dict)
    reader_limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        if self.alignment not in (8, 64):
            raise ValueError(f"alignment: expected 8 or 64, got {self.alignment}")
        level = self.compression_level
        if level is not None and not isinstance(level, int):
            raise TypeError(f"compression_level: expected an int, got {type(level).__name__}")
        if not isinstance(self.reader_limits, Limits):
            kind = type(self.reader_limits).__name__
            raise TypeError(f"reader_limits: expected Limits, got {kind}")
        self.codec()

    def codec(self) -> Codec | None:
        """The codec; raises `ValueError` if there is no such codec or level."""
        return codec_named(self.compression, self.compression_level)
