"""`validate(full=True)` beside pyarrow's, on good arrays of which some bytes were changed."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from arrow_oracle import children_of, from_pyarrow
from arrow_strategies import arrays
from hypothesis import given, settings
from hypothesis import strategies as st

from colkern.errors import InvalidArrowError

# What `pyarrow.Array.from_buffers` does not make.
NOT_FROM_BUFFERS = (
    pa.types.is_dictionary,
    pa.types.is_run_end_encoded,
    pa.types.is_union,
    pa.types.is_map,
)


def parts(type_: pa.DataType) -> Iterator[pa.DataType]:
    yield type_
    for i in range(type_.num_fields):
        yield from parts(type_.field(i).type)


def is_made_from_buffers(array: pa.Array) -> bool:
    return not any(test(part) for part in parts(array.type) for test in NOT_FROM_BUFFERS)


def copied(array: pa.Array, taken: list[bytearray], back: int = 0) -> pa.Array:
    """The same array over copies of its buffers, which are put into `taken`.

    `back` slots are put back at the front: a child of a sliced struct comes cut to the slice.
    """
    below = children_of(array)
    own = array.buffers()[: len(array.buffers()) - sum(len(child.buffers()) for child, _ in below)]
    copies = [None if buffer is None else bytearray(buffer) for buffer in own]
    # pyarrow looks at the lone offset of an empty array where it leads to bytes, but not to elements.
    taken += [copy for copy in copies if copy and len(array)]
    return pa.Array.from_buffers(
        array.type,
        len(array) + back,
        [None if copy is None else pa.py_buffer(copy) for copy in copies],
        -1,
        array.offset - back,
        [copied(child, taken, slots) for child, slots in below],
    )


@settings(max_examples=100)
@given(arrays().filter(is_made_from_buffers), st.data())
def test_agrees_with_pyarrow(array: pa.Array, data: st.DataObject) -> None:
    buffers: list[bytearray] = []
    changed = copied(array, buffers)
    for _ in range(data.draw(st.integers(0, 3)) if buffers else 0):
        buffer = data.draw(st.sampled_from(buffers))
        place = data.draw(st.integers(0, len(buffer) - 1))
        buffer[place] = data.draw(st.integers(0, 255))
    try:
        changed.validate(full=True)
        theirs = ""
    except (pa.ArrowInvalid, pa.ArrowIndexError) as error:
        theirs = str(error)
    try:
        from_pyarrow(changed).validate(full=True)
        ours = ""
    except InvalidArrowError as error:
        ours = str(error)
    assert bool(ours) == bool(theirs), (ours, theirs)
