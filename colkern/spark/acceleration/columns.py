"""Stand-ins for columns: they record operations on them, and refuse those that are not element-wise."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pandas as pd

from colkern.errors import UnsupportedError
from colkern.spark.acceleration.nodes import BOOL, TEXT, Fused
from colkern.spark.acceleration.operators import OPERATORS, UNARY
from colkern.spark.acceleration.recorded import witness_of
from colkern.spark.acceleration.series_methods import SeriesMethods
from colkern.spark.acceleration.texts import TextMethods

Name: TypeAlias = str
"""A text; within the class, `str` is what columns have by that name."""


class TracedColumn(SeriesMethods):
    """The stand-in for a column that a traced body gets."""

    # With this, pandas leaves operators of a real column and a stand-in to the stand-in.
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
        if name in OPERATORS and (
            len(inputs) == 2 and any(isinstance(w, pd.Series) for w in witnesses)
        ):
            return self.operate(OPERATORS[name], *inputs)
        if name in UNARY and len(inputs) == 1:
            return self.unary(UNARY[name], ufunc)
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

    def _selected(self, condition: object, chosen: object, other: object) -> TracedColumn:
        """`np.where`."""
        for side in (condition, chosen, other):
            self.require_operand(side)
        witness = np.where(*map(witness_of, (condition, chosen, other)))
        return self.result(self.choice(condition, chosen, other, witness, "numpy.where"), witness)

    def _selected_of(
        self, conditions: object, choices: object, default: object = 0
    ) -> TracedColumn:
        """`np.select`: the first of some choices whose condition is true."""
        if not (isinstance(conditions, list) and isinstance(choices, list)):
            raise self._tracer.refused("numpy.select of anything but lists")
        for side in (*conditions, *choices, default):
            self.require_operand(side)
        witness = np.select(
            list(map(witness_of, conditions)), list(map(witness_of, choices)), witness_of(default)
        )
        dtype = self.numbers_of(witness, "numpy.select")
        result = self.node_of(default)
        for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
            parts = (self.condition(condition), self.node_of(choice), result)
            result = Fused(dtype, "{1} if {0} else {2}", parts, (BOOL, dtype, dtype))
        return self.result(result, witness)

    def __getattr__(self, name: Any) -> Any:
        self.require_method(name)
        owner = "Series" if self.is_series else "numpy.ndarray"
        raise self._refused(f"{owner}.{name} is no element-wise operation that can be compiled")

    def _refused(self, reason: Name) -> UnsupportedError:
        """An exception to raise; it names the function of a library that led here, if there is one."""
        function = library_function()
        if function is not None:
            reason = f"{function} is no element-wise operation that can be compiled"
        return self._tracer.refused(reason)


def library_function() -> Name | None:
    """The outermost function of pandas or NumPy through which a traced body called this."""
    frame, function = sys._getframe(1), None
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("pandas", "numpy", "colkern"):
            break
        name = frame.f_code.co_qualname
        if package != "colkern" and "<locals>" not in name:
            function = f"{package}.{_CALLS.sub('', name)}"
        frame = frame.f_back  # type: ignore[assignment]
    return function


_CALLS = re.compile(r"\.__(init|new|call)__$")


def _refusing(reason: Name) -> Callable[..., NoReturn]:
    def refuse(self: TracedColumn, *_: object, **__: object) -> NoReturn:
        raise self._refused(reason)

    return refuse


# A loop over rows has no place for these.
for _reason, _methods in {
    "the truth value of a whole column is asked for, as by `if` or `and`": "__bool__",
    "the length of a column is asked for": "__len__",
    "the values of a column are taken one by one": "__iter__",
    "rows of a column are selected": "__getitem__",
    "rows of a column are assigned to": "__setitem__",
    "a column is passed to a function that is not NumPy's, or has no rows": "__array__",
    "a column is made into one number": "__float__ __int__ __index__",
    "a column is made into text": "__repr__ __format__",
}.items():
    for _method in _methods.split():
        setattr(TracedColumn, _method, _refusing(_reason))

# Python's own messages name the class, for an operator that it lacks: it stands for a Series.
TracedColumn.__name__ = "Series"
