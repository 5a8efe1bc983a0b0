"""Operators and calls of a user's function: comparisons, conditions, arithmetic, methods and functions."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from colkern.jit.device import methods
from colkern.jit.device.assignments import converted, truth
from colkern.jit.device.emitter import Emitter, Value, integer, items, present, record
from colkern.jit.device.expressions import MEMBERS, Expressions, negated
from colkern.jit.device.kinds import (
    NOTHING,
    PLAIN,
    UNKNOWN,
    UNSIGNED,
    Column,
    Integer,
    Nothing,
    Nullable,
    Number,
    Record,
    Unknown,
    is_plain,
)
from colkern.jit.table_calls import FUNCTIONS, MODULES
from colkern.rows.folding import OPERATORS
from colkern.rows.front import plain_function


class Operators(Expressions):
    """Translates the operators and calls of one function."""

    def truth(self, node: ast.expr) -> str:
        """The code of whether an expression is true."""
        if isinstance(node, ast.BoolOp):
            return self._condition(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negated(self.truth(node.operand))
        return truth(self, self.value(node))

    # Operators

    def _compare(self, node: ast.Compare) -> Value:
        values = self.operands([node.left, node.comparators[0]])
        if len(node.ops) > 1:
            return Value(PLAIN, (self._chain(node, *map(self._kept, values)),))
        if all(is_plain(value.kind) for value in values):
            return self._rebuilt(node, values)
        return Value(PLAIN, (self._compared(node.ops[0], *values),))

    def _chain(self, node: ast.Compare, left: Value, right: Value) -> str:
        """The code of `left < right < …`, of which an operand is computed if all before it are true."""
        condition = self._compared(node.ops[0], left, right)

        def following(op: ast.cmpop, operand: ast.expr) -> str:
            nonlocal right
            left, right = right, self._kept(self.value(operand))
            return self._compared(op, left, right)

        for op, operand in zip(node.ops[1:], node.comparators[1:], strict=True):
            condition = self._settled_by(condition, "and", partial(following, op, operand))
        return condition

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> str:
        if isinstance(left.kind, Unknown) or isinstance(right.kind, Unknown):
            return "(0 == 1)"
        if isinstance(op, ast.In | ast.NotIn):
            test = self._contains(left, right)
            return test if isinstance(op, ast.In) else negated(test)
        equals = isinstance(op, ast.Eq | ast.Is)
        if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            for one, other in ((left, right), (right, left)):
                if isinstance(one.kind, Nothing):
                    return self._is_missing(other, equals)
        if isinstance(op, ast.Is | ast.IsNot):
            sign = "is" if equals else "is not"
            return f"({self.plain(left)} {sign} {self.plain(right)})"
        if isinstance(op, ast.Eq | ast.NotEq):
            test = self._are_equal(left, right)
            return test if equals else negated(test)
        return self._of_values(OPERATORS[type(op)][0], self.inner(left), self.inner(right))

    def _is_missing(self, value: Value, wanted: bool) -> str:
        if isinstance(value.kind, Nullable):
            return f"(not {value.parts[0]})" if wanted else value.parts[0]
        if value.kind == PLAIN and wanted:
            return f"({value.parts[0]} is None)"
        if value.kind == PLAIN:
            return f"({value.parts[0]} is not None)"
        return str((value.kind == NOTHING) is wanted)

    def _are_equal(self, left: Value, right: Value) -> str:
        """None equals None, and nothing else."""
        valid = [v.parts[0] for v in (left, right) if isinstance(v.kind, Nullable)]
        equal = self._of_values("==", present(left), present(right))
        if len(valid) == 2:
            return f"({valid[0]} == {valid[1]} and (not {valid[0]} or {equal}))"
        return f"({valid[0]} and {equal})" if valid else equal

    def _of_values(self, sign: str, left: Value, right: Value) -> str:
        if methods.has_operations(left, right):
            return methods.call(self, sign, [left, right]).parts[0]
        if isinstance(left.kind, Record) and isinstance(right.kind, Record) and sign == "==":
            pairs = zip(items(left), items(right), strict=False)
            equal = [self._are_equal(one, other) for one, other in pairs]
            same = len(left.kind.kinds) == len(right.kind.kinds)
            return f"({' and '.join(equal)})" if same and equal else str(same)
        return f"({self.plain(left)} {sign} {self.plain(right)})"

    def _contains(self, item: Value, container: Value) -> str:
        if isinstance(container.kind, Record):
            equal = [self._are_equal(item, each) for each in items(container)]
            return f"({' or '.join(equal)})" if equal else "False"
        container = self.inner(container)
        if methods.is_element(container):
            return methods.call(self, "in", [item, container]).parts[0]
        return f"({self.plain(item)} in {self.plain(container)})"

    def _boolop(self, node: ast.BoolOp) -> Value:
        """`a or b` is `a` if that is true, else `b`."""
        first, *rest = node.values
        value = self.value(first)
        for following in rest:
            value = self._kept(value)
            condition = truth(self, value)
            outcome = present(value) if isinstance(node.op, ast.Or) else value
            other = partial(self.value, following)

            def kept(outcome: Value = outcome) -> Value:
                return outcome

            is_and = isinstance(node.op, ast.And)
            value = self._either(condition, *((other, kept) if is_and else (kept, other)))
        return value

    def _condition(self, node: ast.BoolOp) -> str:
        word = "and" if isinstance(node.op, ast.And) else "or"
        condition = self.truth(node.values[0])
        settled = "False" if word == "and" else "True"
        for following in node.values[1:]:
            if condition == settled:
                return condition
            condition = self._settled_by(condition, word, partial(self.truth, following))
        return condition

    def _settled_by(self, condition: str, word: str, following: Callable[[], str]) -> str:
        """The code of `condition word following`. `following` runs only if `condition` does not decide."""
        with self.within([]) as block:
            text = following()
        if not block:
            return f"({condition} {word} {text})"
        result = self.fresh()
        self.emit(f"{result} = {condition}")
        block += self.located(f"{result} = {text}")
        test = result if word == "and" else f"not {result}"
        self.block.append(self.conditional(test, block, []))
        return result

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.truth(node.test)
        return self._either(
            condition, lambda: self.value(node.body), lambda: self.value(node.orelse)
        )

    def _either(
        self, condition: str, first: Callable[[], Value], second: Callable[[], Value]
    ) -> Value:
        """One value or the other, of which only that one is computed."""
        if condition in ("True", "False"):
            return first() if condition == "True" else second()
        with self.within([]) as then:
            one = first()
        with self.within([]) as otherwise:
            other = second()
        kind = self.join(one.kind, other.kind, "this expression")
        if isinstance(kind, Unknown):
            return Value(UNKNOWN, ("0",))
        with self.within(then):
            left = converted(self, one, kind)
        with self.within(otherwise):
            right = converted(self, other, kind)
        if not then and not otherwise and len(kind.parts) == 1:
            return Value(kind, (f"({left[0]} if {condition} else {right[0]})",))
        names = tuple(self.fresh() for _ in kind.parts)
        for block, parts in ((then, left), (otherwise, right)):
            for name, part in zip(names, parts, strict=True):
                block += self.located(f"{name} = {part}")
        self.block.append(self.conditional(condition, then, otherwise))
        return Value(kind, names)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(PLAIN, (negated(self.truth(node.operand)),))
        value = self.inner(self.value(node.operand))
        if methods.has_operations(value):
            return methods.call(self, OPERATORS[type(node.op)][0], [value])
        result = self._rebuilt(node, [value])
        if isinstance(value.kind, Integer):
            return Value(Integer(negative=True), result.parts)
        return Value(UNSIGNED, result.parts) if value.kind == UNSIGNED else result

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = map(self.inner, self.operands([node.left, node.right]))
        return self.arithmetic(node, left, right)

    def arithmetic(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """`left op right`."""
        if isinstance(left.kind, Unknown) or isinstance(right.kind, Unknown):
            return Value(UNKNOWN, ("0",))
        sign, _ = OPERATORS.get(type(node.op), ("@", None))
        if methods.has_operations(left, right):
            return methods.call(self, sign, [left, right])
        if UNSIGNED in (left.kind, right.kind) and not isinstance(node.op, ast.Div):
            operands = [_unsigned(left), _unsigned(right)]
            if all(operand.kind == UNSIGNED for operand in operands):
                return Value(UNSIGNED, self._rebuilt(node, operands).parts)
        if isinstance(node.op, ast.Mult | ast.Pow) and not (is_whole(left) and is_whole(right)):
            return self._product(node, left, right)
        if isinstance(node.op, ast.FloorDiv) and integer(right) in (None, -1):
            text = self.primitive("floor_quotient", self.plain(left), self.plain(right))
            return Value(PLAIN, (text,))
        return self._rebuilt(node, [left, right])

    def _product(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """A product or a power, perhaps of floats: the compiler must not fuse it with a sum."""
        if isinstance(node.op, ast.Mult):
            text = self.primitive("product", self.plain(left), self.plain(right))
        else:
            text = self.primitive("rounded", self._rebuilt(node, [left, right]).parts[0])
        return Value(PLAIN, (text,))

    # Calls

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            value = self._method(node, node.func)
            if value is not None:
                return value
        meaning = self.meaning(node.func)
        if isinstance(meaning, type) and issubclass(meaning, tuple):
            return self._named_tuple(node, meaning)
        if isinstance(meaning, type | types.BuiltinFunctionType | types.FunctionType):
            name = _NAMES.get(meaning)
            if name is not None and not any(isinstance(a, ast.Starred) for a in node.args):
                return self._of_table(node, meaning, name)
        function = specialised_from(meaning)
        if function is not None:
            return self.call_function(function, *self._arguments(node))
        return self._generic(node)

    def _named_tuple(self, node: ast.Call, class_: type) -> Value:
        names: tuple[str, ...] = getattr(class_, "_fields", ())
        defaults = getattr(class_, "_field_defaults", {})
        if not names or any(isinstance(a, ast.Starred) for a in node.args):
            return self._generic(node)
        values, named = self._arguments(node)
        by_name = dict(zip(names, values, strict=False)) | named
        for name in names:
            if name not in by_name and name in defaults:
                by_name[name] = self._constant(ast.Constant(defaults[name]))
        if set(by_name) != set(names):
            raise self.failure(f"{class_.__name__} has the fields {', '.join(names)}")
        fields = [by_name[name] for name in names]
        return record(fields, names)

    def _of_table(self, node: ast.Call, function: Any, name: str) -> Value:
        """A call of a function that is in the table of methods, of elements or of others."""
        values, named = self._arguments(node)
        values = [self.inner(value) for value in values]
        if name.startswith(MODULES) or name in _TEXTS or methods.has_operations(*values):
            return methods.call(self, name, values, named)
        result = _built_in(self, function, values[0]) if len(values) == 1 else None
        if function is builtins.divmod and len(values) == 2:
            sides = map(self.plain, values)
            result = Value(PLAIN, (self.primitive("quotient_and_rest", *sides),))
        return result or self._rebuilt(node, [self.value(node.func), *values, *named.values()])

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value | None:
        if self.meaning(func) is not None:
            return None
        with self.within([]) as block:
            base = self.value(func.value)
            inner = present(base)
            chosen = MEMBERS.get(type(inner.kind))
            if chosen is None:
                return None
            base = self.inner(base)
        self.block += block
        values, named = self._arguments(node)
        if named and not methods.is_element(base):
            raise self.failure(f"{func.attr} takes no named arguments in a kernel")
        return chosen.method(self, base, func.attr, values, **named)

    def _arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The arguments by position, and those by name."""
        names = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
        is_starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if is_starred or len(names) < len(node.keywords):
            raise self.failure("arguments with * cannot be followed to columns")
        values = self.operands([*node.args, *(keyword.value for keyword in node.keywords)])
        count = len(node.args)
        return values[:count], dict(zip(names, values[count:], strict=True))


def is_whole(value: Value) -> bool:
    """Whether a value is known to be an integer."""
    kind = value.kind
    return isinstance(kind, Integer) or (isinstance(kind, Number) and kind.code[0] in "iu?")


def _unsigned(value: Value) -> Value:
    """A constant that is not negative as a number without sign, as in NumPy; others as they are.

    To the compilers it has one, and what it makes together with a uint64, too.
    """
    if isinstance(value.kind, Integer) and value.parts[0].isdigit():
        return Value(UNSIGNED, (f"_ck_u8({value.parts[0]})",))
    return value


# Functions that are built in


def _built_in(e: Emitter, function: Any, value: Value) -> Value | None:
    """The result of a function that is built in; None where the compiler has it by itself."""
    if function is len and isinstance(value.kind, Column):
        return Value(PLAIN, (value.parts[1],))
    if function is bool and not is_plain(value.kind):
        return Value(PLAIN, (f"({truth(e, value)})",))
    return value if function is abs and value.kind == UNSIGNED else None


_TEXTS = ("str", "repr")
_NAMES = {function: name for name, function in FUNCTIONS.items()} | {str: "str", repr: "repr"}
"""The names of the table that functions have."""


_LIBRARIES = ("numba", "numba_cuda", "numba_cuda_mlir", "numpy", "cupy", "math", "llvmlite")


def specialised_from(meaning: Any) -> types.FunctionType | None:
    """The plain function that a call is of, if it is one of the user's own."""
    function = plain_function(meaning)
    if not isinstance(function, types.FunctionType):
        return None
    return None if function.__module__.split(".")[0] in _LIBRARIES else function
