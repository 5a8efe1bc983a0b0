"""The graph of what a function does to its columns: inputs, constants, and calls of operations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

TEXT = "str"
"""What stands for a dtype where a column is pandas' text, with Arrow's memory."""

DType: TypeAlias = "np.dtype[Any] | str"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """What a column is made by.

    Attributes:
        dtype: What pandas has as its dtype.
        identity: Equal for nodes that are made in the same way.
    """

    dtype: DType
    identity: bytes = field(init=False, default=b"")

    def _identify(self, *parts: Any) -> None:
        text = repr((type(self).__name__, str(self.dtype), *parts))
        object.__setattr__(self, "identity", hashlib.sha256(text.encode()).digest())


@dataclass(frozen=True, slots=True, eq=False)
class Input(Node):
    """A column that the function is given; null floats and integers are NaN in it."""

    position: int

    def __post_init__(self) -> None:
        self._identify(self.position)


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Node):
    """A number or a text, as the function has it."""

    value: Any

    def __post_init__(self) -> None:
        self._identify(type(self.value).__name__, repr(self.value))


@dataclass(frozen=True, slots=True, eq=False)
class Fused(Node):
    """An operation on the values of one row, to be compiled together with others.

    Attributes:
        expression: It, as Python, with `{0}`, `{1}` … for the operands.
        operands: What it is done to.
        reads: The dtypes that the operands are converted to before.
    """

    expression: str
    operands: tuple[Node, ...]
    reads: tuple[np.dtype[Any], ...]

    def __post_init__(self) -> None:
        self._identify(self.expression, [o.identity for o in self.operands], self.reads)


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Node):
    """An element-wise operation that NumPy or Arrow does on whole columns, as pandas has them do it.

    Attributes:
        name: What it is called.
        function: Takes NumPy arrays (of texts: arrays of Arrow) and plain constants; returns one.
        operands: What it is done to.
        details: What else its results depend on.
    """

    name: str
    function: Callable[..., Any]
    operands: tuple[Node, ...]
    details: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        self._identify(self.name, [o.identity for o in self.operands], self.details)
