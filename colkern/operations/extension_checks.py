"""The rules of canonical extension types for storage, metadata and values.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.extensions.canonical import parameters_of
from colkern.extensions.metadata import Parameters, TensorParameters
from colkern.extensions.storage import OFFSET_MINUTES, tensor_fields
from colkern.kernels import extensions
from colkern.layouts import Role
from colkern.operations.operands import validity_of
from colkern.operations.validity import combine_validity
from colkern.targets import NOWHERE, Items, Target, target_of


def check_extension(array: Array, full: bool, place: str) -> None:
    """Check the rules of an array's extension type, if it is a known one.

    Args:
        array: The array; for a full check, its positions must have been checked.
        place: The path of the array, for errors.

    Raises:
        InvalidArrowError: If storage, metadata or a value breaks a rule.
        LimitExceededError: If the metadata is too long to be parsed.
        UnsupportedError: If tensors have more dimensions than colkern knows.
    """
    type_ = array.type
    while isinstance(type_, s.Extension):
        try:
            parameters = parameters_of(type_)
        except InvalidArrowError as error:
            raise InvalidArrowError(error.message, place=place) from None
        check = _CHECKS.get(type_.extension_name)
        if full and check is not None and parameters is not None and array.length:
            check(array, parameters, place)
        type_ = type_.storage_type


def _beside(array: Array, field: s.Field) -> Array:
    """A child of a struct, cut to the struct's own slots."""
    child = array.children[array.type.fields.index(field)]
    return child.slice(array.offset, array.length)


def _validity(target: Target, *arrays: Array) -> tuple[Items, int]:
    """The slots that are valid in all the arrays, as `validity_of` gives it."""
    bitmap, _ = combine_validity(arrays)
    return (target.no_bits if bitmap is None else bitmap.array), 0


def _check_tensors(array: Array, parameters: Parameters, place: str) -> None:
    """Check that tensors with their own shapes have as many elements as the shapes say."""
    assert isinstance(parameters, TensorParameters)
    data, shapes = (_beside(array, field) for field in tensor_fields(array.type.storage))
    dimensions = parameters.dimensions
    sizes = shapes.children[0].slice(shapes.offset * dimensions, shapes.length * dimensions)
    uniform = parameters.uniform_shape or (None,) * dimensions
    target = target_of(array.device)
    offsets, items = data.items(Role.OFFSETS), sizes.items(Role.DATA)
    slot = target.reduce(
        extensions.first_tensor_unlike_its_shape,
        array.length,
        offsets,
        items,
        *validity_of(sizes, target),
        target.table([-1 if size is None else size for size in uniform], np.int64),
        *_validity(target, array, data, shapes),
    )
    if slot != NOWHERE:
        first = slot * dimensions
        shape = [target.item(items, place) for place in range(first, first + dimensions)]
        count = target.item(offsets, slot + 1) - target.item(offsets, slot)
        rule = "" if parameters.uniform_shape is None else f", uniform shape {list(uniform)}"
        raise InvalidArrowError(f"slot {slot}: {count} elements, shape {shape}{rule}", place=place)


def _check_offsets(array: Array, parameters: Parameters, place: str) -> None:
    """Check that offsets from UTC are within the range that the format allows."""
    from colkern.operations.encodings import decoded

    minutes = decoded(_beside(array, array.type.fields[1]))
    target = target_of(array.device)
    values = minutes.items(Role.DATA)
    bounds = OFFSET_MINUTES.start, OFFSET_MINUTES.stop
    validity = _validity(target, array, minutes)
    kernel = extensions.first_number_outside
    slot = target.reduce(kernel, array.length, values, *bounds, *validity)
    if slot != NOWHERE:
        raise InvalidArrowError(
            f"slot {slot}: {target.item(values, slot)} minutes from UTC; they are "
            f"{bounds[0]} to {bounds[1] - 1}",
            place=place,
        )


_CHECKS: dict[str, Callable[[Array, Parameters, str], None]] = {
    "arrow.variable_shape_tensor": _check_tensors,
    "arrow.timestamp_with_offset": _check_offsets,
}
