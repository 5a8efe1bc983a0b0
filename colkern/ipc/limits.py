"""What a reader refuses to spend on input that it cannot trust."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

_MAX_NESTING = 128


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one source may make a reader do; going over one is a `LimitExceededError`.

    Whatever a length field claims is also checked against the bytes that are there before anything
    is allocated for it; these limits are for what the bytes alone do not bound.

    Args:
        metadata_bytes: Size of the metadata of one message, and of a file's footer.
        nesting_depth: How deep types may nest; at most 128.
        decompressed_bytes: What all buffers of one batch may grow to when they are decompressed.
        unbacked_length: Length of an array (or a batch without columns) that no buffer stands
            behind, such as null or run-end encoded: a few bytes may claim any number of slots.
    """

    metadata_bytes: int = 1 << 28
    nesting_depth: int = 64
    decompressed_bytes: int = 1 << 32
    unbacked_length: int = (1 << 31) - 1

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


DEFAULT_LIMITS = Limits()
