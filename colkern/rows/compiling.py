"""Compiles generated source for the CPU: defines the names that the source uses."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from colkern.cpu import primitives as cpu_primitives
from colkern.cpu.compiler import compiled
from colkern.cpu.dispatcher import HelperDispatcher
from colkern.cpu.embedded import PartCompiler
from colkern.generated import function_of_text
from colkern.kernels import (
    bitmaps,
    primitives,
    row_decimals,
    row_dicts,
    row_documents,
    row_lists,
    row_results,
    row_slots,
    row_values,
)
from colkern.rows.program import Program

_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

PRIMITIVES = (
    primitives.bits_of_float,
    primitives.difference_overflows,
    primitives.float_of_bits,
    primitives.get_byte,
    primitives.get_word,
    primitives.product_overflows,
    primitives.set_word,
    primitives.sum_overflows,
    primitives.trailing_zeros,
    primitives.wrapped,
)
"""The primitives that all generated source may use, as plain Python."""

BODIES = (
    row_slots.viewed_text,
    row_slots.viewed_bytes,
    row_slots.valid_until,
    row_slots.valid_bits,
    row_slots.is_valid,
    bitmaps.get_bit,
    row_decimals.is_of_scale,
    row_decimals.of_scale,
    row_results.leave,
    row_results.put,
    row_results.row_bytes,
    row_results.row_text,
    row_results.write_at,
    row_dicts.insert_place,
    row_dicts.key_room,
    row_dicts.list_of_entries,
    row_dicts.new_dict,
    row_documents.node_text,
    row_documents.node_word,
    row_lists.list_size,
    row_lists.new_list,
    row_values.allocate,
    row_values.get_bytes,
    row_values.get_text,
    row_values.set_bytes,
    row_values.set_text,
)
"""The bodies that all generated source may use."""

NAMES: dict[str, Any] = {
    "math": math,
    "i1": np.int8,
    "i2": np.int16,
    "i4": np.int32,
    "u1": np.uint8,
    "u8": np.uint64,
    "i8": np.int64,
    "f4": np.float32,
    "f8": np.float64,
    "Text": row_values.Text,
    "Bytes": row_values.Bytes,
    "Decimal": row_values.Decimal,
}
"""Other names that all generated source may use."""


FLAGS = {
    "sum_overflows": cpu_primitives.sum_sets_flag,
    "difference_overflows": cpu_primitives.difference_sets_flag,
}
"""Versions of primitives that are faster in code that is not vectorised."""


class _RowDispatcher(HelperDispatcher):
    """A dispatcher of a generated function, all of whose results have one type."""

    def fold_argument_types(self, args: Any, kws: Any) -> Any:
        """Returns the argument types of a call from other compiled code."""
        signature, types = super().fold_argument_types(args, kws)
        frame = self.targetctx.typing_context.callstack.match(self.py_func, types)
        if frame is not None:
            # Otherwise, Numba would infer the types of the whole function again for each recursive call.
            result = cache(frame.typeinfer.return_types_from_partial)
            vars(frame.typeinfer).setdefault("return_types_from_partial", result)
        return signature, types


def namespace_of(program: Program, title: str, loop: str) -> dict[str, Any]:
    """Returns the names for a program's loop, with their meaning; its functions are compiled with the loop.

    Args:
        program: The program.
        title: The name of the function in messages.
        loop: The text of the loop.
    """
    namespace = NAMES | {p.__name__: getattr(cpu_primitives, p.__name__) for p in PRIMITIVES}
    # A plain loop, which can be vectorised, notes whether a row is left.
    namespace |= {} if "bad" in loop else FLAGS
    namespace |= {body.__name__: compiled(body) for body in BODIES}
    namespace |= {name: compiled(body) for name, body in program.bodies.items()}
    spaces = []
    for name, text in program.sources.items():
        own = {**namespace, "__name__": __name__}
        spaces.append(own)
        plain = function_of_text(name, text, own, f"row function {title}")
        own[name] = namespace[name] = _RowDispatcher(
            plain, {}, _OPTIONS, pipeline_class=PartCompiler
        )
    for own in spaces if program.recurs else ():
        # Functions that call each other recursively.
        own.update((name, namespace[name]) for name in program.sources)
    return namespace
