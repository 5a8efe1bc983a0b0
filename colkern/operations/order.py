"""The four orders of values; each is "less", with the sides swapped or the result inverted."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

_Side = TypeVar("_Side")


class Order(NamedTuple):
    """An order.

    Args:
        swapped: Whether the right value is to be less, not the left one.
        flip: 0, or 255 if that value is to be not less.
        nans_greatest: Whether NaN is greater than all numbers; else it is in no order.
    """

    swapped: bool
    flip: int
    nans_greatest: bool = False

    def placed(self, sides: tuple[_Side, _Side]) -> tuple[_Side, _Side]:
        """The side that is to be less (or not less), and the other one."""
        return (sides[1], sides[0]) if self.swapped else sides


LESS, GREATER = Order(False, 0), Order(True, 0)
GREATER_EQUAL, LESS_EQUAL = Order(False, 255), Order(True, 255)
