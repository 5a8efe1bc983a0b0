"""Stand-ins for columns: they record what is done to them, and have pandas say what that gives.

Each has a witness, a real column of two rows with the same dtype, on which everything is done as well: what
dtype a result has, and what pandas refuses, is found out from pandas.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from colkern.spark.acceleration import operations
from colkern.spark.acceleration.nodes import TEXT, Constant, DType, Fused, Node, Whole
from colkern.spark.acceleration.texts import TextMethods
from colkern.spark.acceleration.tracer import Tracer

Name: TypeAlias = str
"""A text; within the class, `str` is what columns have by that name."""

_NUMBERS = frozenset(["bool", "int8", "int16", "int32", "int64", "float32", "float64"])
_BOOL = np.dtype(bool)
_FLOAT = np.dtype(np.float64)


class TracedColumn:
    """A column that is not there yet: pandas' Series, or NumPy's array.

    Args:
        node: What it is made by.
        witness: The same of two rows: a `pandas.Series` or an array.
        tracer: What is told of everything that cannot be compiled.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Node, witness: Any, tracer: Tracer) -> None:
        self._node = node
        self._witness = witness
        self._tracer = tracer

    @property
    def dtype(self) -> Any:
        """The dtype that the column will have."""
        return self._witness.dtype

    @property
    def node(self) -> Node:
        """What the column is made by."""
        return self._node

    @property
    def identity(self) -> bytes:
        """Equal for columns that are made in the same way."""
        return self._node.identity

    @property
    def is_series(self) -> bool:
        """Whether it stands for a `pandas.Series`, and not for an array."""
        return isinstance(self._witness, pd.Series)

    @property
    def values(self) -> TracedColumn:
        """The column as an array."""
        return self.to_numpy()

    @property
    def str(self) -> TextMethods:
        """The methods of texts."""
        self._require_method("str")
        if self._node.dtype != TEXT:
            raise self._tracer.refused(f"text methods of a column of {self._node.dtype}")
        return TextMethods(self)

    # What there is no place for in a loop over rows

    def __getattr__(self, name: Any) -> Any:
        self._require_method(name)
        raise self._tracer.refused(
            f"Series.{name} is no element-wise operation that can be compiled"
        )

    def __bool__(self) -> bool:
        raise self._tracer.refused(
            "the truth value of a whole column is asked for, as by `if` or `and`"
        )

    def __len__(self) -> int:
        raise self._tracer.refused("the length of a column is asked for")

    def __iter__(self) -> Any:
        raise self._tracer.refused("the values of a column are taken one by one")

    def __getitem__(self, key: Any) -> Any:
        raise self._tracer.refused("rows of a column are selected")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._tracer.refused("rows of a column are assigned to")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self._tracer.refused(
            "a column is passed to a function that is not NumPy's, or has no rows"
        )

    def __float__(self) -> float:
        raise self._tracer.refused("a column is made into one number")

    __int__ = __index__ = __float__

    # Methods of Series

    def to_numpy(self) -> TracedColumn:
        """The column as an array."""
        if self._node.dtype == TEXT:
            raise self._tracer.refused("a column of text is made into Python objects")
        return TracedColumn(self._node, np.asarray(self._witness), self._tracer)

    def copy(self, deep: bool = True) -> TracedColumn:
        """The column itself, since it cannot be changed."""
        return self

    def rename(self, index: Any = None) -> TracedColumn:
        """The column itself; names of results are not used."""
        if callable(index) or isinstance(index, dict):
            raise self._tracer.refused("Series.rename of the index")
        return self

    def abs(self) -> TracedColumn:
        """Absolute values."""
        return self.__abs__()

    def isna(self) -> TracedColumn:
        """Where values are null or NaN."""
        self._require_method("isna")
        node = self._node
        if node.dtype == TEXT:
            made: Node = Whole(_BOOL, "isna", operations.text_is_null, (node,))
        elif _is_float(node.dtype):
            made = Fused(_BOOL, "{0} != {0}", (node,), (node.dtype,))  # type: ignore[arg-type]
        else:
            made = Fused(_BOOL, "False", (node,), (node.dtype,))  # type: ignore[arg-type]
        return self._made(made, self._witness.isna())

    isnull = isna

    def notna(self) -> TracedColumn:
        """Where values are neither null nor NaN."""
        return ~self.isna()

    notnull = notna

    def fillna(self, value: Any) -> TracedColumn:
        """The column with a value of its own dtype in the place of nulls."""
        self._require_method("fillna")
        other = self._of_own_dtype(value, "fillna")
        witness = self._witness.fillna(_witness(value))
        node = self._node
        if node.dtype == TEXT:
            return self._made(Whole(TEXT, "fillna", operations.text_fill, (node, other)), witness)
        if not _is_float(node.dtype):
            return self
        reads = (node.dtype, node.dtype)
        expression = "{1} if {0} != {0} else {0}"
        return self._made(Fused(node.dtype, expression, (node, other), reads), witness)  # type: ignore[arg-type]

    def where(self, cond: Any, other: Any = np.nan) -> TracedColumn:
        """The column where a condition is true, else others of its dtype."""
        self._require_method("where")
        cond = cond(self) if callable(cond) else cond
        other = other(self) if callable(other) else other
        return self._chosen(cond, self, other, "where")

    def mask(self, cond: Any, other: Any = np.nan) -> TracedColumn:
        """The column where a condition is false, else others of its dtype."""
        self._require_method("mask")
        cond = cond(self) if callable(cond) else cond
        other = other(self) if callable(other) else other
        return self._chosen(cond, other, self, "mask")

    def clip(self, lower: Any = None, upper: Any = None) -> TracedColumn:
        """The column between two bounds of its dtype."""
        self._require_method("clip")
        self._require_numbers("clip")
        node, dtype = self._node, self._node.dtype
        if not self.is_series:
            operands = (self, lower, upper)
            return self._whole("clip", np.clip, operands, np.clip(*map(_witness, operands)))
        for bound in (lower, upper):
            if isinstance(bound, TracedColumn) or (bound is not None and bound != bound):
                raise self._tracer.refused("Series.clip with bounds that are no numbers")
        if lower is not None and upper is not None and lower > upper:
            lower, upper = upper, lower
        made = node
        for bound, sign in ((lower, "<"), (upper, ">")):
            if bound is not None:
                # Both bounds are held against the column as it was, as in pandas.
                parts = (made, node, self._of_own_dtype(bound, "clip"))
                expression = f"{{2}} if {{1}} {sign} {{2}} else {{0}}"
                made = Fused(dtype, expression, parts, (dtype,) * 3)  # type: ignore[arg-type]
        return self._made(made, self._witness.clip(lower, upper))

    def between(self, left: Any, right: Any, inclusive: Name = "both") -> TracedColumn:
        """Where values are between two others."""
        self._require_method("between")
        if inclusive not in ("both", "left", "right", "neither"):
            raise self._tracer.refused(f"Series.between with inclusive={inclusive!r}")
        above: TracedColumn = self >= left if inclusive in ("both", "left") else self > left
        below = self <= right if inclusive in ("both", "right") else self < right
        return above & below

    def isin(self, values: Any) -> TracedColumn:
        """Where values are among some constants."""
        self._require_method("isin")
        self._require_numbers("isin")
        among = list(values) if isinstance(values, list | tuple | set | frozenset) else None
        if among is None or not all(isinstance(v, bool | int | float) for v in among):
            raise self._tracer.refused("Series.isin of anything but a list of numbers")

        def isin(array: Any) -> Any:
            return pd.Series(array).isin(among).to_numpy()

        witness = self._witness.isin(among)
        return self._whole("isin", isin, (self,), witness, tuple(map(repr, among)))

    def round(self, decimals: int = 0) -> TracedColumn:
        """Rounded to some decimals."""
        self._require_method("round")
        self._require_numbers("round")
        witness = self._witness.round(decimals)
        dtype = self._node.dtype
        if not _is_float(dtype) or not isinstance(decimals, int) or not 0 <= decimals <= 22:
            made = operations.rounded(decimals)
            return self._whole("round", made, (self,), witness, (decimals,))
        if decimals == 0:
            return self._made(Fused(dtype, "np.rint({0})", (self._node,), (dtype,)), witness)  # type: ignore[arg-type]
        scale = Constant(dtype, 10.0**decimals)
        expression = "np.rint({0} * {1}) / {1}"
        made = Fused(dtype, expression, (self._node, scale), (dtype, dtype))  # type: ignore[arg-type,assignment]
        return self._made(made, witness)  # type: ignore[arg-type]

    def astype(self, dtype: Any, copy: bool = True) -> TracedColumn:
        """The values in another dtype."""
        self._require_numbers("astype")
        witness = self._witness.astype(dtype)
        target = dtype_of(witness)
        if target is None or target == TEXT:
            raise self._tracer.refused(f"astype({dtype!r})")
        node = self._node
        if _is_float(node.dtype) and target.kind == "i":  # type: ignore[union-attr]
            convert = (
                operations.series_as(target) if self.is_series else operations.array_as(target)
            )
            return self._whole("astype", convert, (self,), witness, (str(target), self.is_series))
        made = Fused(target, "{0}", (node,), (target,))  # type: ignore[arg-type]
        return self._made(made, witness)

    # Operators

    def operate(self, name: Name, left: Any, right: Any) -> TracedColumn:
        """A binary operator of two operands, one of them this column."""
        function: Callable[..., Any] = getattr(operator, name)
        for side in (left, right):
            self._require_operand(side)
        witness = function(_witness(left), _witness(right))
        nodes = tuple(self._node_of(side) for side in (left, right))
        if TEXT in [node.dtype for node in nodes]:
            return self._made(operations.text_operation(self._tracer, name, nodes), witness)
        dtype = self._numbers_of(witness, f"`{name}`")
        if name in operations.COMPARISONS:
            reads = self._common_dtype(left, right)
            return self._made(
                Fused(dtype, operations.COMPARISONS[name], nodes, (reads,) * 2), witness
            )
        if name in operations.BITWISE:
            if any(node.dtype != dtype for node in nodes):
                raise self._tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
            return self._made(Fused(dtype, operations.BITWISE[name], nodes, (dtype,) * 2), witness)
        if dtype == _BOOL:
            raise self._tracer.refused(f"`{name}` of booleans")
        if name in operations.ARITHMETIC:
            return self._made(
                Fused(dtype, operations.ARITHMETIC[name], nodes, (dtype,) * 2), witness
            )
        series = isinstance(witness, pd.Series)
        if series and name in ("floordiv", "mod") and dtype != _FLOAT and not _is_nonzero(right):
            raise self._tracer.refused(
                f"`{name}` of {dtype} by what may be zero, where pandas' dtype depends on the values"
            )
        return self._whole(name, function, (left, right), witness)

    def __neg__(self) -> TracedColumn:
        return self._unary("-{0}", operator.neg)

    def __pos__(self) -> TracedColumn:
        return self._unary("{0}", operator.pos)

    def __abs__(self) -> TracedColumn:
        return self._unary("abs({0})", operator.abs)

    def __invert__(self) -> TracedColumn:
        return self._unary("not {0}" if self._node.dtype == _BOOL else "~{0}", operator.invert)

    # NumPy's functions

    def __array_ufunc__(self, ufunc: Any, method: Name, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature is not None:
            raise self._tracer.refused(f"numpy.{name} with options, or over rows")
        for operand in inputs:
            self._require_operand(operand)
        witnesses = list(map(_witness, inputs))
        if name in operations.OPERATORS and (
            len(inputs) == 2 and any(isinstance(w, pd.Series) for w in witnesses)
        ):
            return self.operate(operations.OPERATORS[name], *inputs)
        if name in operations.UNARY and len(inputs) == 1:
            return self._unary(operations.UNARY[name], ufunc)
        return self._whole(f"ufunc {name}", ufunc, inputs, ufunc(*witnesses))

    def __array_function__(
        self, function: Any, _: Any, arguments: Sequence[Any], options: dict[str, Any]
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
            self._require_operand(side)
        witness = np.where(*map(_witness, (condition, chosen, other)))
        return self._made(self._choice(condition, chosen, other, witness, "numpy.where"), witness)

    def _selected_of(self, conditions: Any, choices: Any, default: Any = 0) -> TracedColumn:
        """`np.select`: the first of some choices whose condition is true."""
        if not (isinstance(conditions, list) and isinstance(choices, list)):
            raise self._tracer.refused("numpy.select of anything but lists")
        for side in (*conditions, *choices, default):
            self._require_operand(side)
        witness = np.select(
            list(map(_witness, conditions)), list(map(_witness, choices)), _witness(default)
        )
        dtype = self._numbers_of(witness, "numpy.select")
        made = self._node_of(default)
        for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
            parts = (self._condition(condition), self._node_of(choice), made)
            made = Fused(dtype, "{1} if {0} else {2}", parts, (_BOOL, dtype, dtype))
        return self._made(made, witness)

    # Recording

    def _chosen(self, condition: Any, chosen: Any, other: Any, name: Name) -> TracedColumn:
        """`Series.where` and `mask`; pandas keeps the dtype if the others have it."""
        self._require_operand(condition)
        for side in (chosen, other):
            if side is not self:
                self._of_own_dtype(side, name)
        witness = getattr(self._witness, name)(
            _witness(condition), _witness(other if chosen is self else chosen)
        )
        if dtype_of(witness) != self._node.dtype:
            raise self._tracer.refused(f"Series.{name} that changes the dtype")
        return self._made(self._choice(condition, chosen, other, witness, name), witness)

    def _choice(self, condition: Any, chosen: Any, other: Any, witness: Any, name: Name) -> Node:
        dtype = self._numbers_of(witness, name)
        parts = (self._condition(condition), self._node_of(chosen), self._node_of(other))
        return Fused(dtype, "{1} if {0} else {2}", parts, (_BOOL, dtype, dtype))

    def _condition(self, value: Any) -> Node:
        if isinstance(value, TracedColumn) and value._node.dtype == _BOOL:
            return value._node
        raise self._tracer.refused("a condition that is no column of booleans")

    def _unary(self, expression: Name, function: Callable[..., Any]) -> TracedColumn:
        """An operation on one value; whole columns of integers go to NumPy, where it has its own."""
        self._require_numbers(getattr(function, "__name__", "operation"))
        witness = function(self._witness)
        dtype = self._numbers_of(witness, expression)
        reads = self._node.dtype
        if expression.startswith("np.") and dtype != _BOOL and not _is_float(reads):
            return self._whole(expression, function, (self,), witness)
        return self._made(Fused(dtype, expression, (self._node,), (reads,)), witness)  # type: ignore[arg-type]

    def _whole(
        self,
        name: Name,
        function: Callable[..., Any],
        operands: Sequence[Any],
        witness: Any,
        details: tuple[Any, ...] = (),
    ) -> TracedColumn:
        for operand in operands:
            if isinstance(operand, TracedColumn):
                operand._require_numbers(name)
        nodes = tuple(self._node_of(operand) for operand in operands)
        made = Whole(self._numbers_of(witness, name), name, function, nodes, details)
        return self._made(made, witness)

    def _made(self, node: Node, witness: Any) -> TracedColumn:
        self._tracer.steps += 1
        if dtype_of(witness) != node.dtype:
            raise self._tracer.refused(f"a result of dtype {witness.dtype}")
        return TracedColumn(node, witness, self._tracer)

    def _node_of(self, value: Any) -> Node:
        if isinstance(value, TracedColumn):
            return value._node
        if value is None:
            return Constant(np.dtype(object), None)
        return Constant(TEXT if isinstance(value, str) else np.asarray(value).dtype, value)

    def _require_operand(self, value: Any) -> None:
        if isinstance(value, TracedColumn | bool | int | float | str | np.bool_ | np.float32):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise self._tracer.refused("a number beyond 64 bits")
            return
        if isinstance(value, np.signedinteger):
            return
        raise self._tracer.refused(f"an operand of type {type(value).__name__}")

    def _of_own_dtype(self, value: Any, name: Name) -> Node:
        """The node of a value that fits the dtype of this column, so that pandas keeps the dtype."""
        self._require_operand(value)
        own = self._node.dtype
        if isinstance(value, TracedColumn):
            fits = value._node.dtype == own
        elif own == TEXT or isinstance(value, str):
            fits = own == TEXT and isinstance(value, str)
        else:
            fits = _holds(own, value)  # type: ignore[arg-type]
        if not fits:
            raise self._tracer.refused(
                f"Series.{name} of {own} with values of another type, where pandas' dtype depends "
                f"on the values"
            )
        return self._node_of(value)

    def _common_dtype(self, left: Any, right: Any) -> np.dtype[Any]:
        """The dtype that two operands are compared in."""
        sides = [
            np.asarray(v._witness) if isinstance(v, TracedColumn) else v for v in (left, right)
        ]
        dtype = np.result_type(*sides)
        fits = all(
            isinstance(v, np.ndarray) or dtype.kind == "f" or _holds(dtype, v) for v in sides
        )
        return dtype if fits or dtype.kind != "i" else np.dtype(np.int64)

    def _numbers_of(self, witness: Any, name: Name) -> np.dtype[Any]:
        dtype = dtype_of(witness)
        if dtype is None or isinstance(dtype, str):
            found = getattr(witness, "dtype", type(witness).__name__)
            raise self._tracer.refused(f"{name} gives {found}, no column of numbers")
        return dtype

    def _require_numbers(self, name: Name) -> None:
        if self._node.dtype == TEXT:
            raise self._tracer.refused(f"{name} of a column of text")

    def _require_method(self, name: Name) -> None:
        # What the body's real columns lack, their stand-ins lack as well.
        getattr(self._witness, name)


def _operator(name: str, reflected: bool) -> Callable[[TracedColumn, Any], TracedColumn]:
    def operate(self: TracedColumn, other: Any) -> TracedColumn:
        left, right = (other, self) if reflected else (self, other)
        return self.operate(name, left, right)

    return operate


for _name in (*operations.ARITHMETIC, *operations.WHOLE):
    _plain = _name.rstrip("_")
    setattr(TracedColumn, f"__{_plain}__", _operator(_name, False))
    setattr(TracedColumn, f"__r{_plain}__", _operator(_name, True))
    setattr(TracedColumn, _plain, _operator(_name, False))
    setattr(TracedColumn, f"r{_plain}", _operator(_name, True))
TracedColumn.div, TracedColumn.rdiv = TracedColumn.truediv, TracedColumn.rtruediv  # type: ignore[attr-defined]
for _name in operations.BITWISE:
    setattr(TracedColumn, f"__{_name.rstrip('_')}__", _operator(_name, False))
    setattr(TracedColumn, f"__r{_name.rstrip('_')}__", _operator(_name, True))
for _name in operations.COMPARISONS:
    setattr(TracedColumn, f"__{_name}__", _operator(_name, False))
    setattr(TracedColumn, _name, _operator(_name, False))


def _witness(value: Any) -> Any:
    return value._witness if isinstance(value, TracedColumn) else value


def dtype_of(witness: Any) -> DType | None:
    """What nodes have as the dtype of a witness; None if no graph has such columns."""
    dtype = getattr(witness, "dtype", None)
    if isinstance(dtype, pd.StringDtype) and dtype.na_value is np.nan:
        return TEXT if dtype.storage == "pyarrow" else None
    return dtype if isinstance(dtype, np.dtype) and dtype.name in _NUMBERS else None


def _is_float(dtype: DType) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "f"


def _is_nonzero(value: Any) -> bool:
    return not isinstance(value, TracedColumn) and bool(value)


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether a column keeps its dtype when a constant is put into it."""
    if dtype.kind == "b" or isinstance(value, bool | np.bool_):
        return dtype.kind == "b" and isinstance(value, bool)
    if dtype.kind == "i":
        bounds = np.iinfo(dtype)
        return isinstance(value, int) and bounds.min <= value <= bounds.max
    with np.errstate(over="ignore"):
        return bool(value != value or dtype.type(value) == value)
