"""The limits of readers for untrusted input."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from colkern.errors import LimitExceededError

_MAX_NESTING = 128
# The limit for copies in a small batch.
_SMALL_COPIES = 1 << 27
# The limit for decompressed bytes of a small batch.
_SMALL_DECOMPRESSED = 1 << 32
# A slot of any layout with buffers takes at least one bit.
_SLOTS_PER_BYTE = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the cost of reading one source; exceeding one raises `LimitExceededError`.

    Every length is also checked against the bytes present before anything is allocated for it. These
    limits are for costs that the number of bytes does not bound. A writer refuses batches that readers
    with its limits would refuse, see `WriteOptions.reader_limits`.

    Args:
        metadata_bytes: The most bytes of metadata of one message, and of a file's footer.
        nesting_depth: The deepest nesting of types; at most 128.
        fields: The most fields of a schema, including those of nested types.
        variadic_buffers: The most data buffers of all view arrays in one batch.
        decompressed_bytes: The most bytes of all buffers of one batch when they are decompressed.
        decompression_ratio: The largest ratio of a batch's memory to the size of its body: for
            decompression, if that gives more than 4 GiB, and for copies of overlapping buffers, if
            these are more than 128 MiB.
        unbacked_length: The most slots of an array without buffers of that length, such as null or
            run-end encoded arrays, or of a batch without columns: a few bytes may claim any number of
            slots. Reading and validating them costs no memory, but a Python object for each does; the
            default only keeps sums of lengths within 64 bits. As many slots as the batch's body has
            bits are always allowed.
    """

    metadata_bytes: int = 1 << 28
    nesting_depth: int = 64
    fields: int = 1 << 18
    variadic_buffers: int = 1 << 18
    decompressed_bytes: int = 1 << 40
    decompression_ratio: int = 256
    unbacked_length: int = 1 << 56

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
        """The limit on the decompressed bytes of a batch with a body of that size."""
        grown = max(_SMALL_DECOMPRESSED, self.decompression_ratio * body_bytes)
        return min(self.decompressed_bytes, grown)

    def copied(self, body_bytes: int) -> int:
        """The limit on copies of the buffers of a batch with a body of that size."""
        return max(_SMALL_COPIES, self.decompression_ratio * body_bytes)

    def require_metadata(self, size: int, what: str = "metadata") -> None:
        """Raise `LimitExceededError` if a message's metadata, or a footer, is too large."""
        if size > self.metadata_bytes:
            raise _over(f"{what} of {size} bytes is", self.metadata_bytes, "metadata_bytes", "it")

    def require_variadic_buffers(self, count: int) -> None:
        """Raise `LimitExceededError` if a batch has too many variadic buffers."""
        if count > self.variadic_buffers:
            raise _over(f"{count} variadic buffers are", self.variadic_buffers, "variadic_buffers")

    def require_decompressed(self, size: int, body_bytes: int) -> None:
        """Raise `LimitExceededError` if a batch decompresses to too many bytes for the size of its body."""
        if size > self.decompressed(body_bytes):
            raise decompression_error(self.decompressed(body_bytes))

    def require_unbacked(self, length: int, body_bytes: int) -> None:
        """Raise `LimitExceededError` if an array without buffers is too long for the size of a body."""
        limit = max(self.unbacked_length, _SLOTS_PER_BYTE * body_bytes)
        if length > limit:
            raise _over(
                f"{length} slots without a buffer behind them are", limit, "unbacked_length"
            )


class FieldCount:
    """A count of a schema's fields; raises `LimitExceededError` for too many, or too deep nesting."""

    __slots__ = ("_count", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._count = 0

    def add(self, count: int, depth: int) -> None:
        """Count fields at a depth, which is 1 for the fields of the schema itself."""
        self._count += count
        limits = self._limits
        if self._count > limits.fields:
            raise _over(f"{self._count} fields are", limits.fields, "fields")
        if count and depth > limits.nesting_depth:
            raise LimitExceededError(
                f"types nest deeper than the limit of {limits.nesting_depth}; "
                "raise Limits.nesting_depth to read them"
            )


def _over(what: str, limit: int, name: str, them: str = "them") -> LimitExceededError:
    return LimitExceededError(
        f"{what} over the limit of {limit}; raise Limits.{name} to read {them}"
    )


def decompression_error(limit: int) -> LimitExceededError:
    """The error for buffers that decompress to more than `limit` bytes."""
    return LimitExceededError(
        f"buffers decompress to more than the limit of {limit} bytes; "
        "raise Limits.decompressed_bytes and Limits.decompression_ratio to read them"
    )


@contextmanager
def refused_by_readers() -> Iterator[None]:
    """Within the block, errors about limits are reworded as errors of the data to be written."""
    try:
        yield
    except LimitExceededError as error:
        raise LimitExceededError(
            f"not written, as readers would refuse it: {error}; to write it all the same, pass such "
            "Limits to the writer as reader_limits="
        ) from None


DEFAULT_LIMITS = Limits()
