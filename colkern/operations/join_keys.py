"""The keys of both sides of a join as numbers: rows with equal keys have equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import expand
from colkern.forks import cached_property
from colkern.memory import Buffer
from colkern.operations.devices import device_of
from colkern.operations.encodings import decoded
from colkern.operations.grouping import Groups
from colkern.operations.key_groups import integer_codes, key_groups
from colkern.operations.position_checks import require_valid
from colkern.operations.promotion import cast_alike
from colkern.operations.selection.concatenation import concat
from colkern.operations.validity import combine_validity
from colkern.schema import same_type
from colkern.targets import Items, Target, on_its_device, target_of


class JoinKeys:
    """The keys of both sides.

    Args:
        left: The columns of one side.
        right: The columns of the other side, the same number of them.

    Attributes:
        columns: The values of the right rows, followed by those of the left rows.
        target: The target of their bytes.
        right_rows: The number of right rows.
        validity: The rows of both sides that have no null key; None if no row has one.
    """

    def __init__(self, left: Sequence[Array], right: Sequence[Array]) -> None:
        self.columns = both = [_both(*pair) for pair in zip(left, right, strict=True)]
        self.target: Target = target_of(device_of(both))
        self.right_rows = right[0].length
        self.validity: Buffer | None = combine_validity(list(map(integer_codes, both)))[0]

    @cached_property
    def _groups(self) -> Groups:
        return key_groups(self.columns, self.right_rows)

    @property
    def numbers(self) -> Items:
        """The key numbers of the right rows, then of the left rows (uint32[right + left]).

        Keys are numbered in the order of their first rows.
        """
        return self._groups.numbers

    @cached_property
    def right_keys(self) -> int:
        """The number of distinct keys of the right side; keys of the left side only have higher numbers."""
        return _count_below(self.target, self._groups.firsts, self.right_rows)

    @property
    def left_validity(self) -> tuple[Items, int]:
        """The validity of the keys of left rows, as kernels take it."""
        if self.validity is None:
            return self.target.no_bits, 0
        return self.validity.array, self.right_rows

    def known(self) -> Items | None:
        """Whether each row has no null key (bool[]); None if no row has one."""
        if self.validity is None:
            return None
        return expand(self.target, self.validity, 0, self.columns[0].length).view(bool)


@on_its_device
def _count_below(target: Target, items: Items, limit: int) -> int:
    return int((items < limit).sum())


def key_columns(batch: RecordBatch, keys: Sequence[str | int]) -> list[Array]:
    """The key columns of a batch, checked."""
    columns = [batch.column(key) for key in keys]
    for column in columns:
        require_valid(column)
    return columns


def _both(left: Array, right: Array) -> Array:
    """The values of the right side, then of the left side; one of them may be encoded, or be cast."""
    if not same_type(left.type, right.type):
        left, right = cast_alike([decoded(left), decoded(right)])
        if not same_type(left.type, right.type):
            raise TypeError(
                f"keys: {left.type} on the left, {right.type} on the right; cast one of them"
            )
    return concat([right, left])
