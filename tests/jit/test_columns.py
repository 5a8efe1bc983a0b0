"""Arrow columns as arguments of functions that `numba.njit` compiles: every type, every nesting."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from column_digests import array_digest, compiled_digest
from nestings import LEAVES, levels


@pytest.mark.parametrize(("place", "type_"), list(enumerate(LEAVES)), ids=map(str, LEAVES))
def test_every_type_in_every_nesting_reads_as_pyarrow_reads_it(
    place: int, type_: pa.DataType
) -> None:
    alone, *_, deepest = levels(type_, place, np.random.default_rng(place))
    for array in (alone, deepest):
        assert compiled_digest(from_pyarrow(array)) == array_digest(array), array.type
