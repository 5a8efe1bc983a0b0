"""Columns as a compiled loop takes them: bitmaps, and what their readers prepare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.jit.rows.arguments import Reader
from colkern.layouts import Role
from colkern.memory import EMPTY, Buffer
from colkern.operations import combine_validity, require_valid
from colkern.operations import nulls as null_array


@dataclass(frozen=True, slots=True)
class Inputs:
    """The columns of a function.

    Args:
        names: What messages call each.
        readers: How each is read.
        nullable: Which arguments the function takes as None.
    """

    names: Sequence[str]
    readers: Sequence[Reader]
    nullable: Sequence[bool]

    def of(self, arrays: Sequence[Array]) -> tuple[list[Any], Buffer | None, int]:
        """What the loop is called with before its body's parameters; the bitmap of the slots that the
        function is called for, and how many it is not called for.

        Raises:
            InvalidArrowError: If a column's offsets or views point outside its memory.
        """
        for name, array in zip(self.names, arrays, strict=True):
            require_valid(array, name)
        always = [a for a, may in zip(arrays, self.nullable, strict=True) if not may]
        required, null_count = combine_validity(always)
        passed: list[Any] = [bits(required)]
        if len(always) < len(arrays):
            passed = [bits(combine_validity(list(arrays))[0]), bits(required)]
        for array, may in zip(arrays, self.nullable, strict=True):
            if may:
                has_nulls = array.layout.has_validity and array.null_count != 0
                passed.append(bits(array.buffer(Role.VALIDITY) if has_nulls else None))
                passed.append(np.uint64(array.offset))
        for array, reader in zip(arrays, self.readers, strict=True):
            passed.extend(reader.prepare(array))
        return passed, required, null_count

    def of_types(self, types: Sequence[s.DataType]) -> list[Any]:
        """What a loop over arrays of those types is called with, to compile it."""
        return self.of([null_array(1, data_type) for data_type in types])[0]


def bits(bitmap: Buffer | None) -> NDArray[np.uint8]:
    """A bitmap as loops take it: without bytes if there is none."""
    found: NDArray[np.uint8] = (bitmap or EMPTY).array
    return found
