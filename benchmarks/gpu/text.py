"""Text: ASCII alone, and characters of two bytes."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import text as kernels

TEXTS = {"ASCII": [0x61, 0x62], "two bytes a character": [0xC3, 0xA9]}


@launches
def encodings(data: Data) -> Iterator[Launch]:
    for label, letters in TEXTS.items():
        text = data.repeated(letters, 2 * data.slots(2), "u1")
        yield Launch(kernels.encoding_of, label, max(len(text) - 3, 0), text)
        yield Launch(kernels.first_misplaced_byte, label, len(text) + 3, text)


@launches
def values_of_text(data: Data) -> Iterator[Launch]:
    for label, letters in TEXTS.items():
        offsets = data.range(data.slots(16) + 1, "i4", 12)
        count = len(offsets) - 1
        text = data.repeated(letters, 12 * count, "u1")
        begins = (offsets[:-1], text, len(text))
        yield Launch(kernels.first_begin_within_a_character, label, count, *begins)
        args = (offsets, data.target.address(text), data.none, 0)
        yield Launch(
            kernels.first_slot_not_utf8, f"{label}, 12 bytes each", count, *args, at=[text]
        )
