"""The keys of two sides of a join as numbers: rows with equal keys have the same."""

from __future__ import annotations

from collections.abc import Sequence

from colkern.arrays import Array, RecordBatch
from colkern.forks import cached_property
from colkern.memory import Buffer
from colkern.operations.booleans import expand
from colkern.operations.devices import device_of
from colkern.operations.dictionary_tables import OPEN
from colkern.operations.encodings import decoded
from colkern.operations.grouping import Groups
from colkern.operations.key_groups import integer_codes, key_groups
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.concatenation import concat
from colkern.operations.validity import combine_validity
from colkern.schema import same_type
from colkern.targets import Items, Target, on_its_device, target_of


class JoinKeys:
    """The keys of both sides.

    Args:
        left: The columns of one side.
        right: Those of the other side, as many.
        few: Whether the right side is the much smaller one: keys that are on the left alone are not
            told from each other.

    Attributes:
        columns: The values of the right rows, and of the left rows behind them.
        target: Where they are.
        right_rows: How many rows the right side has.
        validity: The rows on both sides whose keys are all known; None if all are.
    """

    def __init__(self, left: Sequence[Array], right: Sequence[Array], few: bool = False) -> None:
        self.columns = both = [_both(*pair) for pair in zip(left, right, strict=True)]
        self.target: Target = target_of(device_of(both))
        self.right_rows = right[0].length
        self.validity: Buffer | None = combine_validity(list(map(integer_codes, both)))[0]
        self._closed = self.right_rows if few else OPEN

    @cached_property
    def _groups(self) -> Groups:
        return key_groups(self.columns, self._closed)

    @property
    def numbers(self) -> Items:
        """Those of the right rows, then of the left rows (uint32[right + left]).

        The number of a key is that of keys before its first row.
        """
        return self._groups.numbers

    @cached_property
    def right_keys(self) -> int:
        """The different keys of the right side. Others, on the left alone, have higher numbers."""
        return _count_below(self.target, self._groups.firsts, self.right_rows)

    @property
    def left_validity(self) -> tuple[Items, int]:
        """Which left rows have keys that are known, as kernels take it."""
        if self.validity is None:
            return self.target.no_bits, 0
        return self.validity.array, self.right_rows

    def known(self) -> Items | None:
        """Whether the keys of each row are known (bool[]); None if all are."""
        if self.validity is None:
            return None
        return expand(self.target, self.validity, 0, self.columns[0].length).view(bool)


@on_its_device
def _count_below(target: Target, items: Items, limit: int) -> int:
    return int((items < limit).sum())


def key_columns(batch: RecordBatch, keys: Sequence[str | int]) -> list[Array]:
    """The checked columns of keys."""
    columns = [batch.column(key) for key in keys]
    for column in columns:
        require_valid(column)
    return columns


def _both(left: Array, right: Array) -> Array:
    """The values of the right side, then of the left one; one of them may be encoded."""
    if not same_type(left.type, right.type):
        left, right = decoded(left), decoded(right)
        if not same_type(left.type, right.type):
            raise TypeError(
                f"keys: {left.type} on the left, {right.type} on the right; cast one of them"
            )
    return concat([right, left])
