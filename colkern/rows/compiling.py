"""Compiles generated source for the CPU: defines the names that the source uses."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from types import FunctionType
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
from colkern.kernels.kernel import HELPERS
from colkern.rows.program import Program

_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

_MODULES = (
    *(bitmaps, row_lists, row_decimals, row_dicts),
    *(row_documents, row_results, row_slots, row_values),
)
"""The modules whose helpers generated source may use; of two of one name, that of the later module."""


@cache
def _helpers() -> dict[str, Callable[..., Any]]:
    """Returns the functions that generated source may use, by name, as plain Python."""
    named = [each for module in _MODULES for each in vars(module).items()]
    bodies = {name: body for name, body in named if isinstance(body, FunctionType)}
    known = {body.__name__: body for body in primitives.PRIMITIVES}
    return known | {name: body for name, body in bodies.items() if body in HELPERS}


def helpers_in(source: str) -> dict[str, Callable[..., Any]]:
    """Returns the helpers and primitives that generated source names."""
    known = _helpers()
    return {name: known[name] for name in sorted(known.keys() & re.findall(r"\w+", source))}


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
        title: The name of the function in messages.
    """
    used = helpers_in(loop + "".join(program.sources.values()))
    namespace = NAMES | {
        name: getattr(cpu_primitives, name) if body in primitives.PRIMITIVES else compiled(body)
        for name, body in used.items()
    }
    # A plain loop, which can be vectorised, notes whether a row is left.
    namespace |= {} if "bad" in loop else FLAGS
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
