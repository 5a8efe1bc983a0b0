"""Operators of a user's function: comparisons, conditions and arithmetic."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from colkern.jit.device import decimals, methods
from colkern.jit.device.conversions import converted, truth
from colkern.jit.device.emitter import Value, integer, items
from colkern.jit.device.expressions import Expressions
from colkern.jit.device.kinds import (
    NOTHING,
    PLAIN,
    UNKNOWN,
    UNSIGNED,
    Decimal,
    Integer,
    Nothing,
    Nullable,
    Number,
    Record,
    Unknown,
    is_plain,
)
from colkern.jit.device.syntax import negated
from colkern.rows.folding import OPERATORS


class Operators(Expressions):
    """Translates the operators of one function."""

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
        inner = [
            Value(v.kind.inner, v.parts[1:]) if isinstance(v.kind, Nullable) else v
            for v in (left, right)
        ]
        equal = self._of_values("==", *inner)
        if len(valid) == 2:
            return f"({valid[0]} == {valid[1]} and (not {valid[0]} or {equal}))"
        return f"({valid[0]} and {equal})" if valid else equal

    def _of_values(self, sign: str, left: Value, right: Value) -> str:
        if methods.is_element(left) or methods.is_element(right):
            return methods.call(self, sign, [left, right]).parts[0]
        if isinstance(left.kind, Decimal) or isinstance(right.kind, Decimal):
            return decimals.compared(self, sign, left, right)
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
            condition, outcome = truth(self, value), value
            if isinstance(node.op, ast.Or) and isinstance(value.kind, Nullable):
                outcome = Value(value.kind.inner, value.parts[1:])
            kept, other = partial(_same, outcome), partial(self.value, following)
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
        if methods.is_element(value):
            return methods.call(self, OPERATORS[type(node.op)][0], [value])
        if isinstance(value.kind, Decimal) and isinstance(node.op, ast.USub):
            return decimals.negated(self, value)
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
        if methods.is_element(left) or methods.is_element(right):
            return methods.call(self, sign, [left, right])
        if isinstance(left.kind, Decimal) or isinstance(right.kind, Decimal):
            if sign not in ("+", "-", "*"):
                raise self.failure(
                    "decimals have +, - and * in a kernel; float(d) for other operations"
                )
            return decimals.combined(self, sign, left, right)
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


def _same(value: Value) -> Value:
    return value
