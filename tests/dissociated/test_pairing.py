"""Which connections are of one client: the halves of what it asks at two services."""

from __future__ import annotations

import pytest

from colkern.dissociated.pairing import Pairing

KEY = (b"client", b"identifier")


def test_second_half_finds_the_first() -> None:
    pairing: Pairing[str, int] = Pairing()
    first, is_other = pairing.other_or_wait(KEY, "metadata", "bodies", "one")
    assert not is_other
    found, is_other = pairing.other_or_wait(KEY, "bodies", "metadata", "two")
    assert (found, is_other) == (first, True)
    found.found(7)
    assert first.result(0) == 7


def test_half_that_is_found_in_the_last_moment_does_not_wait_in_vain() -> None:
    pairing: Pairing[str, int] = Pairing()
    first, _ = pairing.other_or_wait(KEY, "metadata", "bodies", "one")
    pairing.other_or_wait(KEY, "bodies", "metadata", "two")
    # Its time is over, and the other one is about to say what came of it.
    assert not pairing.forget(KEY, "metadata", first)


def test_half_forgets_no_other_than_itself() -> None:
    pairing: Pairing[str, int] = Pairing()
    first, _ = pairing.other_or_wait(KEY, "metadata", "bodies", "one")
    again, _ = pairing.other_or_wait(KEY, "metadata", "bodies", "one again")
    assert not pairing.forget(KEY, "metadata", first)
    assert pairing.forget(KEY, "metadata", again)


def test_nobody_waits_after_giving_up() -> None:
    pairing: Pairing[str, int] = Pairing()
    first, _ = pairing.other_or_wait(KEY, "metadata", "bodies", "one")
    pairing.give_up()
    with pytest.raises(TimeoutError):
        first.result(60)
