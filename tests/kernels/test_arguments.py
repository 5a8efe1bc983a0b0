"""Declarations of kernels: annotations, and groups that callers pass the members of."""

from __future__ import annotations

from typing import Generic, NamedTuple

import numpy as np
import pytest
from numpy import float64, uint64

from colkern.cuda.loops import with_plain_loops
from colkern.kernels.arguments import Argument, Bitmap, In, Out, R, T
from colkern.kernels.kernel import HELPERS, KERNELS, helper, kernel


class Some(NamedTuple, Generic[T]):
    """Items of which some count."""

    items: In[T]
    mask: Bitmap


@pytest.fixture(autouse=True)
def no_more_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("declared", "summed"):
        monkeypatch.setitem(KERNELS, name, None)
        del KERNELS[name]


def summed(start, stop, step, some: Some[R], scale: float64, out: Out[T]) -> uint64:
    total = uint64(0)
    for i in range(start, stop, step):
        total += uint64(some.items[i]) * some.mask.offset
    return total


def test_members_of_groups_are_arguments_of_their_own() -> None:
    declared = kernel(combine="add", T="f4")(summed)
    assert declared.arguments == (
        Argument("some.items", "R", array=True, written=False),
        Argument("some.mask.bits", "u1", array=True, written=False),
        Argument("some.mask.offset", "u8", array=False, written=False),
        Argument("scale", "f8", array=False, written=False),
        Argument("out", "T", array=True, written=True),
    )
    assert declared.returns == "u8"
    assert declared.generics == {"R": ("i2", "i4", "i8"), "T": ("f4",)}
    bits = np.zeros(0, np.uint8)
    assert declared(0, 2, 1, np.array([2, 3]), bits, uint64(7), 1.0, np.zeros(0)) == 35


def test_a_number_without_annotation_is_unsigned() -> None:
    def declared(start, stop, step, count, out: Out[uint64]):
        pass

    assert [a.item for a in kernel()(declared).arguments] == ["u8", "u8"]


def test_other_annotations_are_errors() -> None:
    def declared(start, stop, step, count: Some2, out: Out[uint64]):  # type: ignore[name-defined]  # noqa: F821
        pass

    with pytest.raises(TypeError, match="count: 'Some2' is no type of a kernel's argument"):
        kernel()(declared)


def test_a_body_begins_with_its_range() -> None:
    def declared(begin, end, step, out: Out[uint64]):
        pass

    with pytest.raises(TypeError, match="declared: begins with"):
        kernel()(declared)


def test_two_underscores_stand_for_the_dot_of_a_member() -> None:
    def declared(start, stop, step, some__items: In[uint64], some: Some[R], out: Out[T]):
        pass

    def local(mask: Bitmap):
        mask__offset = uint64(1)
        return mask.offset + mask__offset

    with pytest.raises(
        TypeError, match="declared: rename `some__items`: two underscores in a name"
    ):
        kernel()(declared)
    assert "declared" not in KERNELS
    with pytest.raises(TypeError, match="local: rename `mask__offset`: two underscores in a name"):
        helper(local)
    assert local not in HELPERS


def test_cuda_compilers_get_members_of_groups_as_parameters() -> None:
    plain = with_plain_loops(summed, {"uint64": uint64})
    names = plain.__code__.co_varnames[:8]
    assert names[3:] == ("some__items", "some__mask__bits", "some__mask__offset", "scale", "out")
    assert plain(0, 2, 1, np.array([2, 3]), None, uint64(7), 1.0, None) == 35


def test_a_group_is_no_value_of_its_own() -> None:
    def renamed(mask: Bitmap):
        other = mask
        return other.offset

    with pytest.raises(TypeError, match="the group `mask` is no value of its own"):
        with_plain_loops(renamed, {})
