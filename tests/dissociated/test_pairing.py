"""Which connections are of one client: the halves of what it asks at two services."""

from __future__ import annotations

import pytest

from colkern.dissociated.sharing import Pairing

KEY = (b"client", b"identifier")


def test_second_half_finds_the_first() -> None:
    pairing: Pairing[int] = Pairing()
    first, is_other = pairing.other_or_wait(KEY, 0)
    assert not is_other
    result, is_other = pairing.other_or_wait(KEY, 1)
    assert (result, is_other) == (first, True)
    result.complete(7)
    assert first.result(0) == 7


def test_half_that_is_found_in_the_last_moment_does_not_wait_in_vain() -> None:
    pairing: Pairing[int] = Pairing()
    first, _ = pairing.other_or_wait(KEY, 0)
    pairing.other_or_wait(KEY, 1)
    # Its time is over, and the other one is about to say what came of it.
    assert not pairing.forget(KEY, 0, first)


def test_half_forgets_no_other_than_itself() -> None:
    pairing: Pairing[int] = Pairing()
    first, _ = pairing.other_or_wait(KEY, 0)
    again, _ = pairing.other_or_wait(KEY, 0)
    assert not pairing.forget(KEY, 0, first)
    assert pairing.forget(KEY, 0, again)


def test_nobody_waits_after_giving_up() -> None:
    pairing: Pairing[int] = Pairing()
    first, _ = pairing.other_or_wait(KEY, 0)
    pairing.give_up()
    with pytest.raises(TimeoutError):
        first.result(60)
