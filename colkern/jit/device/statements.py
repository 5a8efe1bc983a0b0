"""Statements of a user's function."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from colkern import schema as s
from colkern.jit.device import columns, elements, methods
from colkern.jit.device.assignments import converted, variables
from colkern.jit.device.emitter import Shared, Value, integer, items, record
from colkern.jit.device.expressions import calls_something
from colkern.jit.device.kinds import (
    PLAIN,
    UNKNOWN,
    Column,
    Element,
    Kind,
    Literal,
    Nothing,
    Path,
    Record,
    Row,
    Unknown,
    is_plain,
    zeros,
)
from colkern.jit.device.operators import Operators
from colkern.rows.front import Definition


@dataclass(frozen=True)
class _Elements:
    """The items of a loop.

    Args:
        length: The code of their number.
        item: Gives the item at a position, by the name of that (uint64); emits statements.
    """

    length: str
    item: Callable[[str], Value]


def local_names(definition: Definition) -> set[str]:
    """The names that a function assigns to, and its parameters."""
    nodes = (node for statement in definition.body for node in ast.walk(statement))
    names = (node for node in nodes if isinstance(node, ast.Name))
    stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return stored | set(definition.parameters)


class Statements(Operators):
    """Translates the statements of one function, once; see `Assignments` for the arguments.

    Attributes:
        returned: The kind of its result.
        returned_before: The kind that the translation before found.
    """

    returned: Kind = UNKNOWN
    returned_before: Kind = UNKNOWN

    def function_body(self, definition: Definition) -> list[ast.stmt]:
        """The statements of all of the function."""
        with self.within([]) as body:
            self._widen_parameters()
            self._statements(definition.body)
            if not isinstance(self.returned, Unknown) and _falls_through(body):
                self._return_value(Value(Nothing(), ()))
        if isinstance(self.returned, Unknown):
            self.returned = Nothing()
        return body or self.located("pass")

    def _widen_parameters(self) -> None:
        """Parameters that are assigned to may be something else, too."""
        for name, kind in list(self.kinds_so_far.items()):
            settled = self.kinds[name]
            if settled not in (kind, PLAIN):
                parts = converted(self, Value(kind, variables(name, kind)), settled)
                self.emit(f"{', '.join(variables(name, settled))} = {', '.join(parts)}")

    def _statements(self, body: list[ast.stmt]) -> None:
        for node in body:
            self.node = node
            method = getattr(self, f"_on_{type(node).__name__.lower()}", None)
            if method is None:
                raise self.failure(
                    f"{type(node).__name__.lower()} statements are not supported in a kernel"
                )
            method(node)
            if not _falls_through(self.block):
                return

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        with self.within([]) as block:
            self._statements(body)
        return block

    # Simple statements

    def _on_pass(self, node: ast.stmt) -> None:
        self.block.append(copy.copy(node))

    _on_break = _on_continue = _on_pass

    def _on_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        value = self.value(node.value)
        if is_plain(value.kind) and not value.parts[0].isidentifier():
            self.emit(value.parts[0])

    def _on_assert(self, node: ast.Assert) -> None:
        if self.program.by_row:
            self.check(self.truth(node.test), AssertionError, ast.unparse(node))
        else:
            self.emit(f"assert {self.truth(node.test)}")

    def _on_raise(self, node: ast.Raise) -> None:
        if self.program.by_row:
            self._note(node)
            return
        self.block.append(copy.deepcopy(node))
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                self.value(part)

    def _note(self, node: ast.Raise) -> None:
        """Note an exception, and return."""
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        exception = None if raised is None else self.meaning(raised)
        if not isinstance(exception, type) or not issubclass(exception, Exception):
            raise self.failure("name the class of the exception: a kernel raises no others")
        self.note_unless("False", exception, _text_of(node.exc))
        self._return_nothing()

    def arithmetic(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """`left op right`; a division by zero is noted if it is an error."""
        if self.program.error_model == "python" and _divides(node, left, right):
            number = self.bind(right.parts[0])
            self.note_unless(f"{number} != 0", ZeroDivisionError, "division by zero")
            self.stop_if_noted()
            right = Value(right.kind, (number,))
        return super().arithmetic(node, left, right)

    def stop_if_noted(self) -> None:
        """Return if something has been noted, where that ends a function."""
        if self.program.by_row:
            with self.within([]) as block:
                self._return_nothing()
            noted = f"{self.need(Shared('errors'))}[_ck_zero] != 0"
            self.block.append(self.conditional(noted, block, []))

    def _return_nothing(self) -> None:
        """Return a value of the right kind that nobody looks at."""
        self._return_parts(zeros(self._settled()))

    def _return_parts(self, parts: Sequence[str]) -> None:
        text = parts[0] if len(parts) == 1 else f"({', '.join(parts)},)" if parts else ""
        self.emit(f"return {text}")

    def _settled(self) -> Kind:
        """The function's result, as far as it is known."""
        before = self.returned_before
        return self.returned if isinstance(before, Unknown) else before

    def _on_return(self, node: ast.Return) -> None:
        value = self.value(node.value) if node.value is not None else Value(Nothing(), ())
        self._return_value(value)

    def _return_value(self, value: Value) -> None:
        self.returned = self.join(self.returned, value.kind, "what it returns")
        settled = self._settled()
        parts = (
            converted(self, value, settled) if self.fits(value.kind, settled) else zeros(settled)
        )
        self._return_parts(parts)

    # Assignments

    def _on_assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        if len(node.targets) > 1:
            value = Value(value.kind, tuple(self._copied(part) for part in value.parts))
        for target in node.targets:
            self._store(target, value)

    def _copied(self, part: str) -> str:
        name = self.fresh()
        self.emit(f"{name} = {part}")
        return name

    def _on_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self.value(node.value))

    def _on_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            whole = ast.copy_location(ast.BinOp(name, node.op, node.value), node)
            left, right = map(self.inner, self.operands([name, node.value]))
            self.assign([(node.target.id, self.arithmetic(whole, left, right))])
            return
        self._refuse_views(node.target)
        target, value = self._target(node.target), self.text(node.value)
        if isinstance(node.op, ast.Mult) and not calls_something(target):
            self.emit(f"{target} = {self.primitive('product', target, value)}")
            return
        (statement,) = self.located(f"{target} += 0")
        assert isinstance(statement, ast.AugAssign)
        statement.op, statement.value = node.op, self.expression(value)
        self.block.append(statement)

    def _store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign([(target.id, value)])
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value)
        else:
            self._refuse_views(target)
            # The value is computed before the target.
            text = self.plain(self._kept(self.inner(value)))
            self.emit(f"{self._target(target)} = {text}")

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        value = self.inner(value)
        if isinstance(value.kind, Unknown):
            each = [Value(UNKNOWN, ("0",))] * len(target.elts)
        elif isinstance(value.kind, Record):
            each = items(value)
        else:
            text = self.plain(value)
            each = [Value(PLAIN, (part,)) for part in self.bind_each(text, len(target.elts))]
        if len(each) != len(target.elts):
            raise self.failure(f"{len(each)} values for {len(target.elts)} names")
        if all(isinstance(part, ast.Name) for part in target.elts):
            names = [part.id for part in target.elts if isinstance(part, ast.Name)]
            self.assign(list(zip(names, each, strict=True)))
            return
        each = [Value(v.kind, tuple(self._copied(part) for part in v.parts)) for v in each]
        for part, item in zip(target.elts, each, strict=True):
            self._store(part, item)

    def _target(self, target: ast.expr) -> str:
        loaded = copy.deepcopy(target)
        if not isinstance(loaded, ast.Subscript | ast.Attribute):
            raise self.failure("this cannot be assigned to in a kernel")
        loaded.ctx = ast.Load()
        return self.text(loaded)

    def _refuse_views(self, target: ast.expr) -> None:
        if isinstance(target, ast.Subscript | ast.Attribute):
            kind = self.inner(self.value(target.value)).kind
            if isinstance(kind, Column | Row | Element):
                raise self.failure(
                    f"{kind.words} cannot be written to: Arrow columns are immutable. Write to an array"
                )

    # Conditions and loops

    def _on_if(self, node: ast.If) -> None:
        test = self.truth(node.test)
        if test in ("True", "False"):
            self._statements(node.body if test == "True" else node.orelse)
            return
        then = self._block(node.body)
        otherwise = self._block(node.orelse)
        self.node = node
        self.block.append(self.conditional(test, then, otherwise))

    def _on_while(self, node: ast.While) -> None:
        with self.within([]) as before:
            test = self.truth(node.test)
        if test == "False":
            self._statements(node.orelse)
            return
        body, otherwise = self._block(node.body), self._block(node.orelse)
        self.node = node
        if not before:
            self.block.append(self._loop(test, body, otherwise))
            return
        leave = self.conditional(
            f"not {test}", [*otherwise, ast.copy_location(ast.Break(), node)], []
        )
        self.block.append(self._loop("True", [*before, leave, *body], []))

    def _loop(self, test: str, body: list[ast.stmt], otherwise: list[ast.stmt]) -> ast.stmt:
        loop = ast.While(self.expression(test), body or self.located("pass"), otherwise)
        return ast.copy_location(loop, self.node)

    def _on_for(self, node: ast.For) -> None:
        iterated = self._elements(node.iter)
        if iterated is None:
            self._plain_for(node)
            return
        count, position = self._copied(f"_ck_u8({iterated.length})"), self._copied("_ck_zero")
        with self.within([]) as body:
            item = iterated.item(position)
            self.emit(f"{position} += _ck_one")
            self._store(node.target, item)
            self._statements(node.body)
        otherwise = self._block(node.orelse)
        self.node = node
        self.block.append(self._loop(f"{position} < {count}", body, otherwise))

    def _plain_for(self, node: ast.For) -> None:
        source = self.text(node.iter)
        names = [part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)]
        for name in names:
            kind = self.join(self.kinds_so_far.get(name, UNKNOWN), PLAIN, name)
            self.kinds_so_far[name] = kind
            if not is_plain(self.kinds.get(name, kind)):
                raise self.failure(
                    f"{name} is also {self.kinds[name].words}; give each a name of its own"
                )
        body, otherwise = self._block(node.body), self._block(node.orelse)
        self.node = node
        loop = ast.For(node.target, self.expression(source), body, otherwise)
        self.block.append(ast.copy_location(loop, node))

    def _elements(self, node: ast.expr) -> _Elements | None:
        """The iterable of a loop over a view; None if the compiler knows it by itself."""
        meaning = self.meaning(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and meaning in (enumerate, zip):
            if any(ast.unparse(keyword) != "strict=False" for keyword in node.keywords):
                return None
            with self.within([]) as block:
                inner = [
                    self._elements(a) for a in node.args[: 1 if meaning is enumerate else None]
                ]
            if all(each is not None for each in inner):
                self.block += block
                elements = [each for each in inner if each is not None]
                return (
                    self._enumerated(node, elements[0])
                    if meaning is enumerate
                    else self._zipped(elements)
                )
            if any(each is not None for each in inner):
                raise self.failure("zip takes either columns and texts alone, or none of them")
            return None
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant):
            return None
        if isinstance(node, ast.Call) and meaning is range:
            return None
        with self.within([]) as block:
            value = self.inner(self.value(node))
        if not isinstance(value.kind, Column | Element | Literal | Unknown):
            return None
        self.block += block
        return self._of_view(value)

    def _of_view(self, value: Value) -> _Elements:
        if isinstance(value.kind, Unknown):
            return _Elements("0", lambda _: Value(UNKNOWN, ("0",)))
        value = methods.as_element(self, value)
        value = Value(value.kind, tuple(self._copied(part) for part in value.parts))
        if isinstance(value.kind, Element):
            return _Elements(*methods.iterated(self, value))
        if isinstance(value.kind, Column) and isinstance(value.kind.data_type, s.RunEndEncoded):
            return self._of_runs(value, value.kind.path, value.kind.data_type)

        def item(position: str) -> Value:
            slot = self.bind(f"{value.parts[0]} + {position}")
            return columns.slot_item(self, value, slot, elements.ALWAYS)

        return _Elements(value.parts[1], item)

    def _of_runs(self, value: Value, path: Path, kind: s.RunEndEncoded) -> _Elements:
        """The run is carried from one slot to the next."""
        start, length = value.parts
        run = self._copied(elements.run_of(self, path, kind, start, f"{length} > 0"))

        def item(position: str) -> Value:
            slot = self.bind(f"{start} + {position}")
            self.emit(f"{run} = {elements.next_run(self, path, kind, run, slot)}")
            return elements.element_of_run(self, path, kind, run, elements.ALWAYS)

        return _Elements(length, item)

    def _enumerated(self, node: ast.Call, iterated: _Elements) -> _Elements:
        start = self._copied(f"_ck_i8({self.text(node.args[1])})") if node.args[1:] else "0"

        def item(position: str) -> Value:
            index = Value(PLAIN, (self._copied(f"_ck_i8({position}) + {start}"),))
            return record([index, iterated.item(position)])

        return _Elements(iterated.length, item)

    def _zipped(self, each: list[_Elements]) -> _Elements:
        length = each[0].length
        for other in each[1:]:
            length = self._copied(f"{length} if {length} < {other.length} else {other.length}")

        def item(position: str) -> Value:
            return record([iterated.item(position) for iterated in each])

        return _Elements(length, item)


def _falls_through(body: list[ast.stmt]) -> bool:
    """Whether the end of some statements can be reached, as far as their form says."""
    last = body[-1] if body else None
    if isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return False
    if isinstance(last, ast.If) and last.orelse:
        return _falls_through(last.body) or _falls_through(last.orelse)
    return True


def _text_of(raised: ast.expr | None) -> str:
    """The text of an exception, if the source has it; else the source of the `raise` statement."""
    if raised is None:
        return "raise"
    arguments = raised.args if isinstance(raised, ast.Call) else []
    if len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
        return str(arguments[0].value)
    return f"raise {ast.unparse(raised)}"


def _divides(node: ast.BinOp, left: Value, right: Value) -> bool:
    """Whether an operation divides by a number that may be zero."""
    is_division = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    return is_division and is_plain(left.kind) and is_plain(right.kind) and not integer(right)
