"""Sums in a state: rewrites a function so that its overflow checks do not read the state.

    bad = max(bad, 65281 if sum_overflows(state_0, value_0) else 0)
    t_1 = state_0 + value_0

A row that reads the state waits for the row before it, and no compiler can vectorise that. In a block of
`BLOCK` rows, a number of the state that is at most `STATE` at first, and to which a row adds at most
`STEPS` numbers of at most `REACH` each, stays within 64 bits. So in such a block it is enough to check the
added numbers: a product of two numbers of at most `FACTOR` is at most `REACH`. Whichever check fails, the
block's rows are repeated one by one, so it is enough to know that one failed:

    bad = bad | (value_0 > REACH) | (value_0 < -REACH)

Without a state, the product as a float tells whether an integer product overflows.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

STEPS = 1 << 2
REACH = 1 << 48
STATE = 1 << 61
FACTOR = 1 << 24
PRODUCT = (1 << 63) - (1 << 13)
"""If the product of the nearest floats is at most this, the product of the integers fits into 64 bits:
three roundings change it by at most 2**10 each."""

_OVERFLOWS: dict[str, type[ast.operator]] = {
    "sum_overflows": ast.Add,
    "difference_overflows": ast.Sub,
    "product_overflows": ast.Mult,
}


def near_sums(text: str, name: str, numbers: Sequence[str]) -> tuple[str, list[str]] | None:
    """Returns the form of a generated function for sums; None if it has none.

    Args:
        text: The function's source. It returns a status, and then the parts of a state.
        numbers: The names of the parts of the state that are integers; empty for other parts.

    Returns:
        Its source, and the parts that must be at most `STATE` at the begin of a block.
    """
    carried = list(numbers)
    while True:
        function = ast.parse(text).body[0]
        assert isinstance(function, ast.FunctionDef)
        writer = _Writer(carried)
        try:
            writer.block(function.body, {part: 0 for part in carried if part})
        except _NoFormError:
            return None
        kept = [part if near else "" for part, near in zip(carried, writer.near, strict=True)]
        if kept == carried:
            function.name = name
            sums = [part for part in carried if part]
            return (ast.unparse(function) + "\n", sums) if writer.count else None
        carried = kept


SMALL = -1


class _NoFormError(Exception):
    """The function has loops or other statements."""


class _Writer(ast.NodeTransformer):
    """Rewrites the checks, and tracks the variables that are near a number of the state.

    `near` maps such a variable to the count of numbers added to that of the state, or to `SMALL` for a
    variable that is at most `REACH`.
    """

    def __init__(self, carried: Sequence[str]) -> None:
        self.near = [bool(part) for part in carried]
        self.count = 0
        self._has_sums = any(carried)
        self._checked: set[tuple[type[ast.operator], str, str]] = set()
        self._around: dict[str, int] = {}

    def block(self, body: list[ast.stmt], near: dict[str, int]) -> bool:
        """Rewrites a block; returns whether it ends the function."""
        for statement in body:
            self._around = near
            if isinstance(statement, ast.If):
                statement.test = self.visit(statement.test)
                sides = [dict(near), dict(near)]
                bodies = (statement.body, statement.orelse)
                ends = [self.block(part, side) for part, side in zip(bodies, sides, strict=True)]
                live = [side for side, dead in zip(sides, ends, strict=True) if not dead]
                near.clear()
                if not live:
                    return True
                names = set(live[0]).intersection(*live)
                near |= {name: max(side[name] for side in live) for name in names}
            elif isinstance(statement, ast.Return):
                self._returned(statement.value, near)
                return True
            elif isinstance(statement, ast.Assign):
                statement.value = self.visit(statement.value)
                if ast.unparse(statement) == "bad = 0":
                    statement.value = ast.Constant(False)
                self._assigned(statement.targets[0], statement.value, near)
            elif not isinstance(statement, ast.Pass):
                raise _NoFormError
        return False

    def _assigned(self, target: ast.expr, value: ast.expr, near: dict[str, int]) -> None:
        steps = self._steps(value, near)
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                near.pop(part.id, None)
                self._checked = {each for each in self._checked if part.id not in each[1:]}
        if isinstance(target, ast.Name) and steps is not None and steps <= STEPS:
            near[target.id] = steps

    def _steps(self, value: ast.expr, near: dict[str, int]) -> int | None:
        if isinstance(value, ast.Name):
            return near.get(value.id)
        if isinstance(value, ast.BinOp):
            sides = ast.unparse(value.left), ast.unparse(value.right)
            if (type(value.op), *sides) in self._checked:
                is_product = isinstance(value.op, ast.Mult)
                return SMALL if is_product else 1 + max(near.get(side, 0) for side in sides)
        return SMALL if _is_small(value) else None

    def _returned(self, value: Any, near: dict[str, int]) -> None:
        for place, part in enumerate(value.elts[1:]):
            self.near[place] &= self._steps(part, near) is not None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrites a check so that it reads only the added number, if the other side is near."""
        self.generic_visit(node)
        sides = [ast.unparse(side) for side in node.args]
        called = getattr(node.func, "id", "")
        if called == "max" and sides[0] == "bad":
            assert isinstance(node.args[1], ast.IfExp)
            return _expression(f"bad | ({ast.unparse(node.args[1].test)})")
        operator = _OVERFLOWS.get(called)
        if operator is None:
            return node
        if operator is ast.Mult:
            self.count += 1
            if not self._has_sums:
                return _beyond([f"f8({sides[0]}) * f8({sides[1]})"], PRODUCT)
            self._checked.add((operator, sides[0], sides[1]))
            return _beyond(sides, FACTOR)
        steps = [self._steps(side, self._around) for side in node.args]
        places = [0] if operator is ast.Sub else [0, 1]
        places = [place for place in places if sides[place] in self._around]
        if not places:
            return node
        self.count += 1
        self._checked.add((operator, sides[0], sides[1]))
        # The number of the state is the side whose other side is small, if there is one.
        near = next((place for place in places if steps[1 - place] == SMALL), places[0])
        return _beyond([] if steps[1 - near] == SMALL else [sides[1 - near]], REACH)


def _beyond(codes: Sequence[str], most: int) -> ast.expr:
    """Returns a test whether the absolute value of some number exceeds a limit."""
    tests = [f"({code} > {most}) | ({code} < -{most})" for code in dict.fromkeys(codes)]
    return _expression(f"({' | '.join(tests or ['False'])})")


def _expression(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


def _is_small(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    return (
        isinstance(value, ast.Constant) and type(value.value) is int and abs(value.value) <= REACH
    )
