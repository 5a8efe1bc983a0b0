"""What a reader refuses to spend on input that it cannot trust."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

_MAX_NESTING = 128
# What any batch may grow to, however few bytes it is made of.
_SMALL = 1 << 27
# A slot of any layout with buffers takes at least one bit.
_SLOTS_PER_BYTE = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one source may make a reader do; going over one is a `LimitExceededError`.

    Whatever a length field claims is also checked against the bytes that are there before anything
    is allocated for it; these limits are for what the bytes alone do not bound.

    Args:
        metadata_bytes: Size of the metadata of one message, and of a file's footer.
        nesting_depth: How deep types may nest; at most 128.
        fields: How many fields a schema may have, those of nested types counted too.
        variadic_buffers: How many data buffers the view arrays of one batch may have together.
        decompressed_bytes: What all buffers of one batch may grow to when they are decompressed.
        decompression_ratio: How many times the size of its body a batch may grow to, if that is more
            than 128 MiB, by decompression or by copies of buffers that overlap. LZ4 cannot reach 256,
            Zstandard makes 128 KiB of four bytes.
        unbacked_length: Length of an array (or a batch without columns) that no buffer stands
            behind, such as null or run-end encoded: a few bytes may claim any number of slots. As
            many slots as the batch's body has bits are never refused.
    """

    metadata_bytes: int = 1 << 28
    nesting_depth: int = 64
    fields: int = 1 << 18
    variadic_buffers: int = 1 << 18
    decompressed_bytes: int = 1 << 32
    decompression_ratio: int = 256
    unbacked_length: int = 1 << 24

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value < 0:
                raise ValueError(f"{field.name}: must not be negative, got {value}")
        if self.nesting_depth > _MAX_NESTING:
            raise ValueError(
                f"nesting_depth: at most {_MAX_NESTING}, since types nest in Python's own stack; "
                f"got {self.nesting_depth}"
            )

    def decompressed(self, body_bytes: int) -> int:
        """How many bytes a batch with a body of so many bytes may be decompressed to."""
        return min(self.decompressed_bytes, self.copied(body_bytes))

    def copied(self, body_bytes: int) -> int:
        """How many bytes the buffers of a body of so many bytes may be copied to."""
        return max(_SMALL, self.decompression_ratio * body_bytes)

    def unbacked(self, body_bytes: int) -> int:
        """How many slots without a buffer a batch with a body of so many bytes may have."""
        return max(self.unbacked_length, _SLOTS_PER_BYTE * body_bytes)


DEFAULT_LIMITS = Limits()
