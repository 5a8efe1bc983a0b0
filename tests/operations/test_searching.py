"""`index` and `search_sorted`, against pyarrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow

import colkern as ck

TEXT = pa.array(["a", "b", None, "b", ""])


@pytest.mark.parametrize("value", ["a", "b", "", "x", None])
@pytest.mark.parametrize(("start", "end"), [(0, None), (1, None), (2, 4), (4, 4), (5, None)])
def test_the_first_place_of_a_value(value: str | None, start: int, end: int | None) -> None:
    expected = pc.index(TEXT, pa.scalar(value, TEXT.type), start, end).as_py()
    for theirs in (TEXT, pa.chunked_array([TEXT[:2], TEXT[2:]]), TEXT.cast(pa.large_string())):
        assert ck.index(theirs, value, start, end) == expected
    assert ck.index(ck.dictionary_encode(TEXT), value, start, end) == expected
    assert ck.index(ck.run_end_encode(TEXT), value, start, end) == expected
    assert ck.concat([from_pyarrow(TEXT)] * 2).slice(5).index(value, start, end) == expected


def test_a_nan_has_no_place_and_neither_has_a_value_past_the_end() -> None:
    assert ck.index(ck.array([1.0, float("nan")]), float("nan")) == -1
    assert ck.index(ck.array([True, False]), False) == 1
    for start, end in ((3, None), (-1, None), (2, 1)):
        with pytest.raises(IndexError):
            ck.index(ck.array([1, 2]), 1, start, end)


SORTED: list[tuple[pa.DataType, list[Any], list[Any]]] = [
    (pa.int64(), [1, 1, 3, 5, 8], [0, 1, None, 4, 8, 9]),
    (pa.uint8(), [None, 200, 201, 201], [50, 200, None, 255]),
    (pa.string(), ["a", "b", "b", None, None], ["", "b", "c", None]),
    (pa.float64(), [-1.5, 2.0, float("nan")], [0.0, 3.0, float("nan")]),
    (pa.date32(), [], [1, None]),
    (pa.int8(), [None, None], [1, None]),
]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("sample", SORTED, ids=lambda sample: str(sample[0]))
def test_places_in_a_sorted_array(sample: Any, side: Any) -> None:
    kind, values, needles = sample
    theirs, wanted = pa.array(values, kind), pa.array(needles, kind)
    expected = pc.search_sorted(theirs, wanted, side=side)
    actual = ck.search_sorted(theirs, wanted, side)
    assert (str(actual.type), actual.to_pylist()) == ("uint64", expected.to_pylist())
    parts = pa.chunked_array([theirs[:1], theirs[1:]])
    assert ck.search_sorted(parts, wanted, side).to_pylist() == expected.to_pylist()
    encoded = ck.dictionary_encode(theirs)
    assert ck.search_sorted(encoded, wanted, side).to_pylist() == expected.to_pylist()
    later = ck.concat([from_pyarrow(wanted)] * 2).slice(len(needles))
    assert ck.search_sorted(theirs, later, side).to_pylist() == expected.to_pylist()


def test_arrays_that_are_not_sorted_are_refused() -> None:
    one = ck.array([1])
    with pytest.raises(ValueError, match="ascending"):
        ck.search_sorted(ck.array([2, 1]), one)
    with pytest.raises(ValueError, match="one end only"):
        ck.search_sorted(ck.array([1, None, 2]), one)
    with pytest.raises(ValueError, match="side"):
        ck.search_sorted(one, one, "middle")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ck.search_sorted(one, ck.array(["a"]))
