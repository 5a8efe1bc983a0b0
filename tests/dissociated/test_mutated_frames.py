"""Frames and streams with bytes changed are read or refused: no other error, no hang."""

from __future__ import annotations

from dissociated.mutated_frames import fuzz_frames, fuzz_streams, read_stream, valid_frames


def test_what_is_mutated_is_read_when_it_is_not() -> None:
    read_stream(b"".join(valid_frames()))


def test_mutated_frames() -> None:
    taken, refused = fuzz_frames(5000, seed=20)
    assert taken + refused == 5000
    assert refused > 1000


def test_mutated_streams() -> None:
    taken, refused = fuzz_streams(300, seed=21)
    assert taken + refused == 300
    assert refused > 100
