"""Stand-ins for columns: they record what is done to them, and refuse what is not element-wise."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from colkern.errors import UnsupportedError
from colkern.spark.acceleration import operations
from colkern.spark.acceleration.dtypes import BOOL
from colkern.spark.acceleration.nodes import TEXT, Fused
from colkern.spark.acceleration.recorded import witness_of
from colkern.spark.acceleration.series_methods import SeriesMethods
from colkern.spark.acceleration.texts import TextMethods

Name: TypeAlias = str
"""A text; within the class, `str` is what columns have by that name."""


class TracedColumn(SeriesMethods):
    """A column that is not there yet, as the traced body gets it."""

    # Of real columns too, pandas leaves operators with a stand-in to the stand-in.
    __pandas_priority__ = 10_000

    @property
    def str(self) -> TextMethods:
        """The methods of texts."""
        self.require_method("str")
        if self._node.dtype != TEXT:
            raise self._tracer.refused(f"text methods of a column of {self._node.dtype}")
        return TextMethods(self)

    # NumPy's functions

    def __array_ufunc__(self, ufunc: Any, method: Name, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature is not None:
            raise self._tracer.refused(f"numpy.{name} with options, or over rows")
        for operand in inputs:
            self.require_operand(operand)
        witnesses = list(map(witness_of, inputs))
        if name in operations.OPERATORS and (
            len(inputs) == 2 and any(isinstance(w, pd.Series) for w in witnesses)
        ):
            return self.operate(operations.OPERATORS[name], *inputs)
        if name in operations.UNARY and len(inputs) == 1:
            return self.unary(operations.UNARY[name], ufunc)
        return self.whole(f"ufunc {name}", ufunc, inputs, ufunc(*witnesses))

    def __array_function__(
        self, function: Any, _: Any, arguments: Sequence[Any], options: dict[Name, Any]
    ) -> Any:
        name = function.__name__
        if options.keys() - {"decimals"}:
            raise self._tracer.refused(f"numpy.{name} with {', '.join(options)}")
        if function is np.where and len(arguments) == 3:
            return self._selected(*arguments)
        if function is np.select and 2 <= len(arguments) <= 3:
            return self._selected_of(*arguments)
        if function in (np.round, np.around):
            return arguments[0].round(*arguments[1:], **options)
        if function is np.clip and len(arguments) == 3:
            return arguments[0].clip(*arguments[1:])
        raise self._tracer.refused(
            f"numpy.{name} is no element-wise operation that can be compiled"
        )

    def _selected(self, condition: Any, chosen: Any, other: Any) -> TracedColumn:
        """`np.where`."""
        for side in (condition, chosen, other):
            self.require_operand(side)
        witness = np.where(*map(witness_of, (condition, chosen, other)))
        return self.made(self.choice(condition, chosen, other, witness, "numpy.where"), witness)

    def _selected_of(self, conditions: Any, choices: Any, default: Any = 0) -> TracedColumn:
        """`np.select`: the first of some choices whose condition is true."""
        if not (isinstance(conditions, list) and isinstance(choices, list)):
            raise self._tracer.refused("numpy.select of anything but lists")
        for side in (*conditions, *choices, default):
            self.require_operand(side)
        witness = np.select(
            list(map(witness_of, conditions)), list(map(witness_of, choices)), witness_of(default)
        )
        dtype = self.numbers_of(witness, "numpy.select")
        made = self.node_of(default)
        for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
            parts = (self.condition(condition), self.node_of(choice), made)
            made = Fused(dtype, "{1} if {0} else {2}", parts, (BOOL, dtype, dtype))
        return self.made(made, witness)

    # What there is no place for in a loop over rows

    def __getattr__(self, name: Any) -> Any:
        self.require_method(name)
        owner = "Series" if self.is_series else "numpy.ndarray"
        raise self._refused(f"{owner}.{name} is no element-wise operation that can be compiled")

    def __bool__(self) -> bool:
        raise self._refused("the truth value of a whole column is asked for, as by `if` or `and`")

    def __len__(self) -> int:
        raise self._refused("the length of a column is asked for")

    def __iter__(self) -> Any:
        raise self._refused("the values of a column are taken one by one")

    def __getitem__(self, key: Any) -> Any:
        raise self._refused("rows of a column are selected")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._refused("rows of a column are assigned to")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self._refused("a column is passed to a function that is not NumPy's, or has no rows")

    def __float__(self) -> float:
        raise self._refused("a column is made into one number")

    __int__ = __index__ = __float__

    def __repr__(self) -> Name:
        raise self._refused("a column is made into text")

    def __format__(self, specification: Name) -> Name:
        return repr(self)

    def _refused(self, reason: Name) -> UnsupportedError:
        """An exception to raise; for what a library's function does, it names that function."""
        function = library_function()
        if function is not None:
            reason = f"{function} is no element-wise operation that can be compiled"
        return self._tracer.refused(reason)


def library_function() -> Name | None:
    """The function of pandas' or NumPy's that a traced body called, and that called this in the end."""
    frame, found = sys._getframe(1), None
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("pandas", "numpy", "colkern"):
            break
        name = frame.f_code.co_qualname
        if package != "colkern" and "<locals>" not in name:
            found = f"{package}.{_CALLS.sub('', name)}"
        frame = frame.f_back  # type: ignore[assignment]
    return found


_CALLS = re.compile(r"\.__(init|new|call)__$")

# Python's own messages name the class, for an operator that it lacks: it stands for a Series.
TracedColumn.__name__ = "Series"
