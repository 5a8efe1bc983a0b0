"""Expressions of a user's function: what each is, and the code that computes it.

What reads a column becomes statements before the one that it stands in; where it stands behind a
condition, they stand behind it, too. All else is left as it is.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from colkern.jit.device import builders, columns, decimals, strings
from colkern.jit.device.builder_kinds import Builder
from colkern.jit.device.conversions import converted, truth
from colkern.jit.device.emitter import Emitter, Program, Value, items, record
from colkern.jit.device.kinds import (
    INTEGER,
    NOTHING,
    PLAIN,
    UNKNOWN,
    Bytes,
    Column,
    Conflict,
    Decimal,
    Integer,
    Kind,
    Literal,
    Nothing,
    Nullable,
    Record,
    Row,
    Unknown,
    is_plain,
    joined,
)

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}

_NAMELESS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr)
"""Expressions with names of their own, which are left alone."""


class Expressions(Emitter):
    """Translates the expressions of one function.

    Args:
        program: What it shares with others.
        function: The user's function.
        local: The names that it assigns to, and its parameters.
        around: What other names mean.
    """

    def __init__(
        self,
        program: Program,
        function: types.FunctionType,
        local: set[str],
        around: dict[str, Any],
    ) -> None:
        super().__init__(program, function)
        self.local = local
        self.around = around
        self.kinds: dict[str, Kind] = {}
        """What variables are in all of the function, as far as is known."""
        self.found: dict[str, Kind] = {}
        """What they are up to here."""

    # Values

    def value(self, node: ast.expr) -> Value:
        """What an expression is; its statements are emitted."""
        method = getattr(self, f"_{type(node).__name__.lower()}", self._generic)
        found: Value = method(node)
        return found

    def text(self, node: ast.expr) -> str:
        """The code of an expression for the compiler."""
        return self.plain(self.value(node))

    def truth(self, node: ast.expr) -> str:
        """The code of whether an expression is true."""
        if isinstance(node, ast.BoolOp):
            return self._condition(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _not(self.truth(node.operand))
        return truth(self, self.value(node))

    def operands(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """What several expressions are, computed in their order."""
        values: list[Value] = []
        for node in nodes:
            block, at = self.block, len(self.block)
            values.append(self.value(node))
            if len(block) > at:
                # What stands before statements is computed before them.
                with self.within([]) as before:
                    values[:-1] = [self._kept(value) for value in values[:-1]]
                block[at:at] = before
        return values

    def _kept(self, value: Value) -> Value:
        parts = tuple(self.bind(part) if _calls(part) else part for part in value.parts)
        return Value(value.kind, parts)

    def unplain(self, value: Value) -> str:
        """The code of tuples and of None for the compiler; others have none."""
        if isinstance(value.kind, Record):
            texts = [self.plain(item) for item in items(value)]
            return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
        return super().unplain(value)

    # Names and constants

    def _name(self, node: ast.Name) -> Value:
        if node.id not in self.local:
            if node.id not in self.around:
                raise self.failure(f"name {node.id!r} is not defined")
            return self._global(node.id)
        kind = self.kinds.get(node.id)
        if kind is None:
            kind = self.found.get(node.id, UNKNOWN)
            # What else it will be is not known yet.
            kind = UNKNOWN if kind == NOTHING else kind
        return Value(kind, variables(node.id, kind))

    def _global(self, name: str) -> Value:
        if name in self.around:
            meaning = self.around[name]
            if isinstance(meaning, str | bytes):
                return Value(Literal(meaning), ())
            self.namespace[name] = meaning
        return Value(PLAIN, (name,))

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, str | bytes):
            return Value(Literal(node.value), ())
        if node.value is None:
            return Value(NOTHING, ())
        is_integer = isinstance(node.value, int) and not isinstance(node.value, bool)
        return Value(INTEGER if is_integer else PLAIN, (repr(node.value),))

    def _tuple(self, node: ast.Tuple) -> Value:
        return record(self.operands(node.elts))

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        self.assign([(node.target.id, self.value(node.value))])
        return self.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))

    # Attributes and items

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.inner(self.value(node.value))
        kind = base.kind
        if isinstance(kind, Unknown):
            return Value(UNKNOWN, ("0",))
        if isinstance(kind, Column):
            return columns.column_attribute(self, base, node.attr)
        if isinstance(kind, Row):
            return columns.row_attribute(self, base, node.attr)
        if isinstance(kind, Decimal):
            return decimals.attribute(self, base, node.attr)
        if isinstance(kind, Builder):
            return builders.attribute(self, base, node.attr)
        if isinstance(kind, Record) and node.attr in kind.names:
            return items(base)[kind.names.index(node.attr)]
        if isinstance(kind, Bytes | Literal):
            raise self.failure(f"a byte string has no {node.attr!r} in a kernel")
        return Value(PLAIN, (f"{_grouped(self.plain(base))}.{node.attr}",))

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.inner(self.value(node.value))
        kind, key = base.kind, node.slice
        if isinstance(kind, Unknown):
            return Value(UNKNOWN, ("0",))
        if isinstance(kind, Column | Bytes | Literal) and isinstance(key, ast.Slice):
            return self._part(base, key)
        if isinstance(kind, Column):
            index = self.value(key)
            if isinstance(index.kind, Literal):
                return self._field(base, index)
            return columns.item(self, base, self.plain(index))
        if isinstance(kind, Row):
            return self._field(base, self.value(key))
        if isinstance(kind, Bytes | Literal):
            return strings.byte(self, base, self.text(key))
        if isinstance(kind, Record) and isinstance(key, ast.Constant | ast.UnaryOp):
            position: int = ast.literal_eval(key)
            return items(base)[position]
        return self._generic(node)

    def _part(self, base: Value, key: ast.Slice) -> Value:
        step = self.value(key.step) if key.step else Value(NOTHING, ())
        if step.kind != NOTHING and step.parts != ("1",):
            raise self.failure(f"{base.kind.words} is sliced with a step of 1")
        bounds = [self.value(bound) if bound else None for bound in (key.lower, key.upper)]
        start, stop = (
            None if bound is None or bound.kind == NOTHING else self.plain(bound)
            for bound in bounds
        )
        made = columns.part if isinstance(base.kind, Column) else strings.part
        return made(self, base, start, stop)

    def _field(self, base: Value, key: Value) -> Value:
        kind = base.kind
        assert isinstance(kind, Column | Row)
        if not columns.is_struct(kind):
            raise self.failure(f"{kind.words} has no fields")
        k = columns.chosen_position(self, kind, key)
        if isinstance(kind, Row):
            return columns.field_of_row(self, base, k)
        return columns.field_of_column(self, base, k)

    # Operators

    def _compare(self, node: ast.Compare) -> Value:
        values = self.operands([node.left, *node.comparators])
        if all(is_plain(value.kind) for value in values):
            return self._rebuilt(node, values)
        if len(node.ops) > 1:
            values = [self._kept(value) for value in values]
        found = [
            self._compared(op, left, right)
            for op, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        return Value(PLAIN, (found[0] if len(found) == 1 else f"({' and '.join(found)})",))

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> str:
        if isinstance(left.kind, Unknown) or isinstance(right.kind, Unknown):
            return "(0 == 1)"
        if isinstance(op, ast.In | ast.NotIn):
            found = self._contains(left, right)
            return found if isinstance(op, ast.In) else _not(found)
        equals = isinstance(op, ast.Eq | ast.Is)
        if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            for one, other in ((left, right), (right, left)):
                if isinstance(one.kind, Nothing):
                    return self._is_missing(other, equals)
        if isinstance(op, ast.Is | ast.IsNot):
            sign = "is" if equals else "is not"
            return f"({self.plain(left)} {sign} {self.plain(right)})"
        if isinstance(op, ast.Eq | ast.NotEq):
            found = self._are_equal(left, right)
            return found if equals else _not(found)
        return self._of_values(_SIGNS[type(op)], self.inner(left), self.inner(right))

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
        if strings.is_string(left) or strings.is_string(right):
            return strings.compared(self, sign, left, right).parts[0]
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
        if strings.is_string(container):
            return strings.contains(self, container, self.inner(item)).parts[0]
        return f"({self.plain(item)} in {self.plain(container)})"

    def _boolop(self, node: ast.BoolOp) -> Value:
        """`a or b` is `a` if that is true, else `b`."""
        first, *rest = node.values
        found = self.value(first)
        for following in rest:
            found = self._kept(found)
            condition, outcome = truth(self, found), found
            if isinstance(node.op, ast.Or) and isinstance(found.kind, Nullable):
                outcome = Value(found.kind.inner, found.parts[1:])
            kept, other = partial(_same, outcome), partial(self.value, following)
            is_and = isinstance(node.op, ast.And)
            found = self._either(condition, *((other, kept) if is_and else (kept, other)))
        return found

    def _condition(self, node: ast.BoolOp) -> str:
        word = "and" if isinstance(node.op, ast.And) else "or"
        found = self.truth(node.values[0])
        settled = "False" if word == "and" else "True"
        for following in node.values[1:]:
            if found == settled:
                return found
            with self.within([]) as block:
                text = self.truth(following)
            if not block:
                found = f"({found} {word} {text})"
                continue
            result = self.fresh()
            self.emit(f"{result} = {found}")
            block += self.located(f"{result} = {text}")
            test = result if word == "and" else f"not {result}"
            self.block.append(self.conditional(test, block, []))
            found = result
        return found

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
            return Value(PLAIN, (_not(self.truth(node.operand)),))
        value = self.inner(self.value(node.operand))
        if isinstance(value.kind, Decimal) and isinstance(node.op, ast.USub):
            return decimals.negated(self, value)
        kind = INTEGER if isinstance(value.kind, Integer) else PLAIN
        return Value(kind, self._rebuilt(node, [value]).parts)

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = map(self.inner, self.operands([node.left, node.right]))
        return self.arithmetic(node, left, right)

    def arithmetic(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """`left op right`."""
        if isinstance(left.kind, Unknown) or isinstance(right.kind, Unknown):
            return Value(UNKNOWN, ("0",))
        if isinstance(left.kind, Decimal) or isinstance(right.kind, Decimal):
            sign = _ARITHMETIC.get(type(node.op))
            if sign is None:
                raise self.failure(
                    "decimals have +, - and * in a kernel; float(d) for other operations"
                )
            return decimals.combined(self, sign, left, right)
        return self._rebuilt(node, [left, right])

    # Calls

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            found = self._method(node, node.func)
            if found is not None:
                return found
        meaning = self.meaning(node.func)
        builtin = (
            _BUILTINS.get(meaning)
            if isinstance(meaning, type | types.BuiltinFunctionType)
            else None
        )
        if builtin is not None and len(node.args) == 1 and not node.keywords:
            value = self.value(node.args[0])
            found = builtin(self, self.inner(value))
            return found if found is not None else self._rebuilt(node, [self._callee(node), value])
        function = specialised_from(meaning)
        if function is not None:
            arguments = self._arguments(node, function)
            if arguments is not None:
                return self.call_function(function, *arguments)
        return self._generic(node)

    def _callee(self, node: ast.Call) -> Value:
        return self.value(node.func)

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value | None:
        if self.meaning(func) is not None:
            return None
        with self.within([]) as block:
            base = self.value(func.value)
            inner = base.kind.inner if isinstance(base.kind, Nullable) else base.kind
            chosen = _METHODS.get(type(inner))
            if chosen is None:
                return None
            base = self.inner(base)
            if node.keywords:
                raise self.failure(f"{func.attr} takes no named arguments in a kernel")
        self.block += block
        return chosen(self, base, func.attr, self.operands(node.args))

    def _arguments(
        self, node: ast.Call, function: types.FunctionType
    ) -> tuple[list[Value], list[str | None]] | None:
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise self.failure("arguments with * cannot be followed to columns")
        names = [keyword.arg for keyword in node.keywords]
        values = self.operands([*node.args, *(keyword.value for keyword in node.keywords)])
        return values, [*(None for _ in node.args), *names]

    def call_function(
        self, function: types.FunctionType, values: list[Value], names: list[str | None]
    ) -> Value:
        """A call of a function of the user's own."""
        raise NotImplementedError

    def meaning(self, node: ast.expr) -> Any:
        """What a name, or an attribute of a module, is; None if that is not known."""
        if isinstance(node, ast.Name) and node.id not in self.local:
            return self.around.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value)
            if isinstance(owner, types.ModuleType):
                return getattr(owner, node.attr, None)
        return None

    # All else

    def _generic(self, node: ast.expr) -> Value:
        if isinstance(node, _NAMELESS):
            self._require_no_views(node)
            return Value(PLAIN, (ast.unparse(node),))
        children = list(_children(node))
        values = self.operands(children)
        return self._rebuilt(node, values)

    def _require_no_views(self, node: ast.expr) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self.local:
                kind = self.kinds.get(part.id, self.found.get(part.id, UNKNOWN))
                if not is_plain(kind):
                    raise self.failure(
                        f"{part.id} is {kind.words}, which cannot be used within this"
                    )
            elif isinstance(part, ast.Name):
                self._global(part.id)

    def _rebuilt(self, node: ast.expr, values: Sequence[Value]) -> Value:
        """The same expression of other operands."""
        if any(isinstance(value.kind, Unknown) for value in values):
            return Value(UNKNOWN, ("0",))
        texts = iter([self.plain(value) for value in values])
        made = _Replaced(texts).rebuilt(node)
        return Value(PLAIN, (_grouped(ast.unparse(made)),))

    # Variables

    def assign(self, pairs: list[tuple[str, Value]]) -> None:
        """Values to variables, all at once."""
        targets: list[str] = []
        parts: list[str] = []
        for name, value in pairs:
            kind = self.join(self.found.get(name, UNKNOWN), value.kind, name)
            self.found[name] = kind
            settled = self.kinds.get(name, kind)
            targets += variables(name, settled)
            parts += (
                converted(self, value, settled)
                if self.fits(value.kind, settled)
                else ["0"] * len(settled.parts)
            )
        if targets:
            self.emit(f"{', '.join(targets)} = {', '.join(parts)}")

    def fits(self, kind: Kind, settled: Kind) -> bool:
        """Whether a value of a kind is one of another, too: not yet so while kinds become known."""
        try:
            return joined(kind, settled) == settled
        except Conflict:
            return False

    def join(self, a: Kind, b: Kind, what: str) -> Kind:
        """The kind of what may be one or the other."""
        try:
            return joined(a, b)
        except Conflict:
            kinds = f"{_told(a)} in one place and {_told(b)} in another"
            raise self.failure(f"{what} is {kinds}; give each a name of its own") from None


def _same(value: Value) -> Value:
    return value


def variables(name: str, kind: Kind) -> tuple[str, ...]:
    """The variables that hold the parts of a variable."""
    return tuple(f"_ck_{name}_{part}" if part else name for part in kind.parts)


def _told(kind: Kind) -> str:
    if isinstance(kind, Column | Row):
        steps = "".join(f"[{step}]" for step in kind.path.steps)
        return f"{kind.words} ({kind.path.root}{steps})"
    return kind.words


def _not(text: str) -> str:
    """The code of the opposite of a condition."""
    return {"True": "False", "False": "True"}.get(text, f"(not {text})")


def _calls(text: str) -> bool:
    """Whether code calls something, which is to happen once."""
    return any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(text)))


def _grouped(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _children(node: ast.AST) -> list[ast.expr]:
    """The expressions right below, in their order; of slices and named arguments, those below these."""
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Slice | ast.keyword | ast.Starred):
            found += _children(child)
        elif isinstance(child, ast.expr):
            found.append(child)
    return found


class _Replaced:
    """Puts other expressions in the place of those that `_children` finds, in the same order."""

    def __init__(self, texts: Any) -> None:
        self._texts = texts

    def rebuilt(self, node: ast.AST) -> Any:
        fields = {name: self._field(value) for name, value in ast.iter_fields(node)}
        return type(node)(**fields)

    def _field(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._field(item) for item in value]
        if isinstance(value, ast.Slice | ast.keyword | ast.Starred):
            return self.rebuilt(value)
        if isinstance(value, ast.expr):
            return ast.parse(next(self._texts), mode="eval").body
        return value


# Functions that are built in


def _len(e: Emitter, value: Value) -> Value | None:
    if isinstance(value.kind, Column):
        return Value(PLAIN, (value.parts[1],))
    return strings.length(e, value) if strings.is_string(value) else None


def _int(e: Emitter, value: Value) -> Value | None:
    if isinstance(value.kind, Decimal):
        return decimals.whole(e, value)
    return strings.number(e, value) if isinstance(value.kind, Bytes) else None


def _float(e: Emitter, value: Value) -> Value | None:
    return decimals.as_float(e, value) if isinstance(value.kind, Decimal) else None


def _bool(e: Emitter, value: Value) -> Value | None:
    return None if is_plain(value.kind) else Value(PLAIN, (f"({truth(e, value)})",))


def _abs(e: Emitter, value: Value) -> Value | None:
    return decimals.absolute(e, value) if isinstance(value.kind, Decimal) else None


_BUILTINS: dict[Any, Callable[[Emitter, Value], Value | None]] = {
    builtins.len: _len,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.abs: _abs,
}

_METHODS: dict[type[Kind], Callable[[Emitter, Value, str, Sequence[Value]], Value]] = {
    Column: columns.column_method,
    Row: columns.row_method,
    Bytes: strings.method,
    Literal: strings.method,
    Decimal: decimals.method,
    Builder: builders.method,
}

_LIBRARIES = ("numba", "numba_cuda", "numba_cuda_mlir", "numpy", "cupy", "math", "llvmlite")


def specialised_from(meaning: Any) -> types.FunctionType | None:
    """The plain function that a call is of, if it is one of the user's own."""
    function = getattr(meaning, "py_func", meaning)
    if not isinstance(function, types.FunctionType):
        return None
    return None if function.__module__.split(".")[0] in _LIBRARIES else function
