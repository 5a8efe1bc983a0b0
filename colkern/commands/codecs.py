"""The option `--compression CODEC[:LEVEL]`."""

from __future__ import annotations

from typing import Literal

from colkern.commands.failures import UsageError

_CODECS: dict[str, Literal["lz4", "zstd"] | None] = {"none": None, "lz4": "lz4", "zstd": "zstd"}


def codec_and_level(words: str | None) -> tuple[str | None, int | None]:
    """The codec and its level in `CODEC[:LEVEL]`; "none" is a codec, None stands for no choice.

    Raises:
        UsageError: If there is no such codec, or it has no such level.
    """
    if words is None:
        return None, None
    from colkern.ipc import WriteOptions

    codec, colon, level = words.partition(":")
    if codec not in _CODECS:
        raise UsageError(f"--compression: expected none, lz4 or zstd, got {codec!r}")
    try:
        number = int(level) if colon else None
    except ValueError:
        raise UsageError(f"--compression: the level must be a number, got {level!r}") from None
    try:
        WriteOptions(compression=_CODECS[codec], compression_level=number)
    except ValueError as error:
        raise UsageError(f"--compression: {error}") from None
    return codec, number
