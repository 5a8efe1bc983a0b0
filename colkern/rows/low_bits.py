"""Integers of which only the lowest bits count, as in hashes: they may wrap around, where Python's grow.

for c in text:
    h = h * 33 + ord(c)         # wraps around: of `h`, only the lowest 32 bits are ever read
return h & 0xFFFFFFFF
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from colkern.rows.scopes import declared_elsewhere, named_in, nodes_of, stored_names

CLOSED = (ast.Add, ast.Sub, ast.Mult, ast.LShift, ast.BitAnd, ast.BitOr, ast.BitXor)
"""The operators whose low bits depend only on those of their operands; of `<<`, on the left one's."""

_OF_CONSTANTS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}


def is_mask(operation: ast.operator, number: object) -> bool:
    """Whether an operator with a constant on its right needs at most 64 bits of the integer on its left."""
    if type(number) is not int or not 0 <= number <= 1 << 64:
        return False
    is_power = number & (number - 1) == 0 < number
    return isinstance(operation, ast.BitAnd) or (isinstance(operation, ast.Mod) and is_power)


def places_of_low_bits(
    body: Sequence[ast.stmt], parameters: Sequence[str], names: Mapping[str, object]
) -> frozenset[ast.AST]:
    """Returns the nodes where the lowest 64 bits of integers suffice.

    These are assignments to variables of which no other bits are ever read, and the operators that read
    them.

    Args:
        names: The objects for the names to which it does not assign.
    """
    nodes = nodes_of(body)
    if not any(isinstance(getattr(node, "op", None), ast.BitAnd | ast.Mod) for node in nodes):
        return frozenset()
    return _Analysis(body, nodes, parameters, names).places()


class _Analysis:
    """The reads of a function's variables.

    A statement of the body, outside loops and branches, that masks a variable ends its use as a number of
    which only low bits count.
    """

    def __init__(
        self,
        body: Sequence[ast.stmt],
        nodes: Sequence[ast.AST],
        parameters: Sequence[str],
        names: Mapping[str, object],
    ) -> None:
        self._body = body
        self._names = names
        self._masks: set[ast.AST] = set()
        stores = Counter(
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )
        assigned = [(_target(node), node) for node in nodes]
        simple = Counter(name for name, _ in assigned if name)
        inner = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self._locals = {*parameters, *stored_names(body), *stores, *inner}
        self._once: dict[str, ast.expr] = {
            name: node.value
            for name, node in assigned
            if isinstance(node, ast.Assign)
            and stores[name] == 1
            and name not in {*parameters, *inner}
        }
        named = {getattr(node, "name", None) for node in nodes} | declared_elsewhere(nodes)
        self._low = {
            name for name, count in simple.items() if count == stores[name] and name not in named
        } - {*parameters, *inner}
        self._ends = {name: self._end(name) for name in self._low}

    def places(self) -> frozenset[ast.AST]:
        """Returns the result of `places_of_low_bits`."""
        while True:
            self._masks.clear()
            read = {
                name
                for place, statement in enumerate(self._body)
                for name, is_low in self._reads(statement, place)
                if not is_low and place <= self._ends.get(name, -1)
            }
            if not read & self._low:
                break
            self._low -= read
        assignments = {
            node
            for place, statement in enumerate(self._body)
            for node in nodes_of([statement])
            if self._is_low(_target(node), place)
        }
        return frozenset(assignments | self._masks) if assignments else frozenset()

    def _is_low(self, name: str, place: int) -> bool:
        return name in self._low and place < self._ends[name]

    def _end(self, name: str) -> int:
        """Returns the position of the first statement of the body that masks a variable."""
        for place, statement in enumerate(self._body):
            value = value_of(statement) if _target(statement) == name else None
            if isinstance(value, ast.BinOp) and self._masked(value) is not None:
                return place
        return len(self._body)

    def _reads(self, node: ast.AST, place: int, is_low: bool = False) -> Iterator[tuple[str, bool]]:
        """Yields the variables that a node reads, and whether their lowest bits suffice there."""
        if name := _target(node):
            yield from self._reads(value_of(node), place, self._is_low(name, place))
            return
        match node:
            case ast.Name(name):
                yield name, is_low
            case ast.BinOp(left, operation, right):
                if (masked := self._masked(node)) is not None:
                    self._masks.add(node)
                    yield from self._reads(masked, place, True)
                    return
                is_low = is_low and isinstance(operation, CLOSED)
                yield from self._reads(left, place, is_low)
                is_count = isinstance(operation, ast.LShift)
                yield from self._reads(right, place, is_low and not is_count)
            case ast.UnaryOp(ast.USub() | ast.Invert(), operand):
                yield from self._reads(operand, place, is_low)
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from self._reads(child, place)

    def _masked(self, node: ast.BinOp) -> ast.expr | None:
        """Returns the operand of which an operator needs at most 64 bits; None if there is none."""
        if isinstance(node.op, ast.BitAnd) and isinstance(node.left, ast.Constant):
            return node.right if is_mask(node.op, node.left.value) else None
        return node.left if is_mask(node.op, self._integer(node.right)) else None

    def _integer(self, node: ast.expr) -> int | None:
        """Returns the value of a constant integer; None if it is none, or unknown."""
        match node:
            case ast.Constant(int() as number):
                return number
            case ast.Name(name) if name in self._once:
                value = self._once[name]
                return self._integer(value) if self._locals.isdisjoint(named_in([value])) else None
            case ast.Name(name) if name not in self._locals:
                known = self._names.get(name)
                return known if type(known) is int else None
            case ast.BinOp(left, operation, right) if type(operation) in _OF_CONSTANTS:
                base, by = self._integer(left), self._integer(right)
                most = 64 if isinstance(operation, ast.LShift | ast.Pow) else 1 << 64
                if base is not None and by is not None and 0 <= by <= most:
                    return _OF_CONSTANTS[type(operation)](base, by)
        return None


def _target(node: ast.AST) -> str:
    """Returns the variable to which an assignment, of one name alone, assigns; empty for other nodes."""
    match node:
        case ast.Assign([ast.Name(name)]) | ast.AugAssign(ast.Name(name)):
            return name
    return ""


def value_of(node: ast.AST) -> ast.expr:
    """Returns the expression whose value an assignment to one name assigns."""
    match node:
        case ast.AugAssign(ast.Name(name) as target, operation, value):
            load = ast.copy_location(ast.Name(name, ast.Load()), target)
            return ast.copy_location(ast.BinOp(load, operation, value), node)
        case ast.Assign(_, value):
            return value
    raise TypeError(type(node).__name__)


def fused(first: ast.stmt, second: ast.stmt) -> ast.Assign | None:
    """Returns two assignments to a variable as one, `h = (h * p) & mask` for `h *= p` and `h &= mask`; None
    if they are no such pair."""
    name = _target(first)
    if not name or _target(second) != name:
        return None
    value, outer = value_of(first), value_of(second)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, CLOSED):
        return None
    operators = []
    while isinstance(outer, ast.BinOp):
        # What could raise would see the variable's first value.
        if not isinstance(outer.right, ast.Constant | ast.Name):
            return None
        if getattr(outer.right, "id", None) == name:
            return None
        operators.append(outer)
        outer = outer.left
    if not isinstance(outer, ast.Name) or outer.id != name or not operators:
        return None
    if not isinstance(operators[0].op, ast.BitAnd | ast.Mod):
        return None
    whole: ast.expr = value
    for each in reversed(operators):
        whole = ast.copy_location(ast.BinOp(whole, each.op, each.right), each)
    return ast.Assign([ast.Name(name, ast.Store())], whole)
