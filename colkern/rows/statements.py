"""Statements of a row function."""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from colkern import rows
from colkern.errors import CompileError
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.bound import with_defaults
from colkern.rows.calls import call, refuse_change, replaced
from colkern.rows.documents import as_changing
from colkern.rows.emitter import BREAK, CONTINUE, LEAVE, Emitter, SharedError, derived, standing_for
from colkern.rows.exceptions import assert_, raise_, try_
from colkern.rows.expressions import (
    Condition,
    condition,
    expression,
    iterated,
    needed,
    operated,
)
from colkern.rows.folding import OPERATORS, constant
from colkern.rows.front import changing_methods, is_constant_of, keeps_to_itself, returns_itself
from colkern.rows.integers import as_word, is_of_integers, low_bits, operand_after
from colkern.rows.library import copied, replacement
from colkern.rows.low_bits import fused, value_of
from colkern.rows.patterns import capture, test_of
from colkern.rows.program import Unsettled
from colkern.rows.scopes import named_in, nodes_of, own_nodes, stored_names
from colkern.rows.several import by_class
from colkern.rows.values import NONE, Value, tuple_of_values


@dataclass
class Loop:
    """A loop around the current place of the source.

    Args:
        attempts: The number of `try` statements around it.
        broken: The variable that tells whether `break` left it; empty if that does not matter.
        is_left: Whether a `break` leaves it.
        is_round: Whether the source has a loop for this single round.
    """

    attempts: int
    broken: str = ""
    is_left: bool = False
    is_round: bool = False


def statements(emitter: Emitter, body: Sequence[ast.stmt]) -> None:
    """Write statements, up to the first after which none is reached."""
    for node in _fused(emitter, body):
        if emitter.dead:
            return
        outer, emitter.node = emitter.node, node
        _attempted(emitter, node, is_needed=not emitter.depth)
        emitter.node = outer


def _fused(emitter: Emitter, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields statements, with an assignment of an integer and the next one, which masks it, as one."""
    waiting: ast.stmt | None = None
    for node in body:
        if waiting is not None:
            both = fused(waiting, node)
            if both is not None and is_of_integers(emitter, waiting, both):
                waiting = derived(waiting, "fused", partial(copy.copy, both))
                continue
            yield waiting
        waiting = node
    if waiting is not None:
        yield waiting


def _statement(emitter: Emitter, node: ast.stmt) -> None:
    write = _STATEMENTS.get(type(node))
    if write is None:
        emitter.refuse(f"`{ast.unparse(node).split()[0]}` has no compiled form")
    emitter.depth += isinstance(node, _BRANCHING)
    write(emitter, node)
    emitter.depth -= isinstance(node, _BRANCHING)


_BRANCHING = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)


def _attempted(emitter: Emitter, node: ast.stmt, is_needed: bool) -> None:
    """Write a statement; one without a compiled form leaves the row to Python.

    If every row reaches it, the function is refused instead, except after a library call that leaves all
    rows.
    """
    before = emitter.state()
    try:
        _statement(emitter, node)
    except Unsettled:
        if is_needed:
            raise
        emitter.restore(before)
        emitter.dead = True
        for attempt in emitter.attempts:
            attempt.raises = True
    except CompileError as error:
        if isinstance(error, SharedError) or (is_needed and not emitter.has_calls_left):
            raise
        emitter.restore(before)
        emitter.gaps += 1
        emitter.node = node
        parts = nodes_of(emitter.definition.body)
        if any(isinstance(part, ast.Global) and part.names for part in parts):
            # What follows is not compiled, and may assign to a global.
            emitter.refuse(str(error).partition(" does not compile: ")[2], SharedError)
        reason = str(error).split("\n")[0].partition(" does not compile: ")[2]
        emitter.program.gaps.add(reason)
        emitter.fail(row_values.LEFT, reason)


def assigned(emitter: Emitter, nodes: Sequence[ast.AST]) -> set[str]:
    """Returns the variables that statements, or functions that they call, assign to or change as rows."""
    names = stored_names(nodes)
    for part in nodes_of(nodes) if emitter.changing_rows else ():
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            names |= {getattr(part.value, "id", "")} & emitter.changing_rows
    return names | (emitter.shared & emitter.env.keys())


# Assignments


def _assign(emitter: Emitter, node: ast.Assign) -> None:
    first, *others = node.targets
    if isinstance(first, ast.Tuple | ast.List) and isinstance(node.value, ast.IfExp):
        # The branches may be of different kinds, as in `a, b = s.split(":") if ":" in s else (s, "")`.
        chosen = node.value
        sides = [
            [derived(part, "assigned", partial(ast.Assign, node.targets, part))]
            for part in (chosen.body, chosen.orelse)
        ]
        branches(emitter, condition(emitter, chosen.test), *sides)
        return
    if isinstance(first, ast.Tuple | ast.List) and not others:
        has_star = any(isinstance(target, ast.Starred) for target in first.elts)
        value = rows.comprehensions.as_items(
            emitter, node.value, None if has_star else len(first.elts)
        )
    else:
        is_low = node in emitter.low_bits
        value = (as_word if is_low else expression)(emitter, node.value)
    for target in node.targets:
        bind_target(emitter, target, value)


def bind_target(emitter: Emitter, target: ast.expr, value: Value) -> None:
    """Bind the target on the left of an assignment."""
    if isinstance(target, ast.Name):
        emitter.assign(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(emitter, target.elts, value)
    elif isinstance(target, ast.Subscript):
        container = needed(emitter, target.value)
        if isinstance(target.slice, ast.Slice):
            container = as_changing(emitter, container, k.INT)
            rows.containers.set_slice(emitter, container, target.slice, value)
        else:
            place = needed(emitter, target.slice)
            container = as_changing(emitter, container, place.kind)
            _set_item(emitter, target, container, place, value)
    elif isinstance(target, ast.Attribute):
        _set_field(emitter, target, value)
    else:
        emitter.refuse(f"an assignment to {ast.unparse(target)} has no compiled form")


def _set_item(
    emitter: Emitter, target: ast.Subscript, container: Value, place: Value, value: Value
) -> None:
    """Assign to an item; for a dictionary with constant keys, the variable gets a new one."""
    name = getattr(target.value, "id", "")
    if k.is_row(container.kind) and name in emitter.changing_rows:
        emitter.assign(name, rows.containers.with_item(emitter, container, place.constant, value))
    else:
        rows.containers.set_item(emitter, container, place, value)


def _set_field(emitter: Emitter, target: ast.Attribute, value: Value) -> None:
    """Assign to a field or property of an instance to which no other variable refers."""
    name = getattr(target.value, "id", "")
    owner = needed(emitter, target.value)
    form: Any = getattr(owner.kind, "form", None)
    setter = getattr(inspect.getattr_static(form, target.attr, None), "fset", None)
    if isinstance(owner.kind, k.Record) and setter is not None:
        rows.functions.changing_method(emitter, setter, owner, name, [value], {})
        return
    is_plain = isinstance(owner.kind, k.Record) and target.attr in owner.kind.names
    is_frozen = getattr(k.data_class_of(form), "frozen", False)
    if not is_plain or is_frozen or not is_own(emitter, name, owner.kind):
        emitter.refuse(f"an assignment to {ast.unparse(target)} has no compiled form")
    emitter.assign(name, replaced(emitter, owner, {target.attr: value}))


def is_own(emitter: Emitter, name: str, kind: Any) -> bool:
    """Whether only this variable refers to an instance, and only its fields and methods are used.

    The function itself makes the instance, and may return it; or the variable is the `self` of a method
    that returns it to its caller.
    """
    definition = emitter.definition
    nodes = definition.nodes
    gives_back = name in definition.parameters[:1] and any(
        isinstance(node, ast.Nonlocal) and name in node.names for node in nodes
    )
    # A variable of an outer function does not count, as that function would not see the change.
    is_made = name in stored_names(definition.body) and name not in definition.parameters
    is_cleaned = any(getattr(node, "finalbody", []) for node in nodes)
    if not name or not (is_made or (gives_back and not is_cleaned)):
        return False
    changing = changing_methods(kind.form)
    ends: set[ast.AST] = set()
    for end in (each for each in own_nodes(definition.body) if isinstance(each, ast.Return)):
        parts = {*nodes_of([end])}
        # An earlier read in the statement that changes the instance would not see the change. What a
        # `finally` changes would not be in an instance that is returned.
        is_last = gives_back or changing.isdisjoint(getattr(part, "attr", "") for part in parts)
        ends |= parts if is_last and not is_cleaned else set()
    calls = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    known = {
        id(node)
        for node in nodes
        if isinstance(node, ast.Attribute) and _is_own_use(node, kind, id(node) in calls)
    }
    for node in nodes:
        # Methods that return the instance: only another method, the same variable or the caller gets it.
        if isinstance(node, ast.Expr | ast.Assign | ast.Return) or id(node) in known:
            same, _ = _on_itself(node.value, kind.form)  # type: ignore[attr-defined]
            is_dropped = not isinstance(node, ast.Assign) or _targets(node) == [name]
            known |= {id(call.func) for call in same} if is_dropped else set()
    for node in nodes:
        for part in ast.iter_child_nodes(node) if node not in ends else ():
            if not isinstance(part, ast.Name) or part.id != name or id(node) in known:
                continue
            if not isinstance(node, ast.stmt) or _targets(node) != [name]:
                return False
            if not _binds_own(emitter, node, part, kind.form):
                return False
    return True


def _targets(node: ast.stmt) -> list[str]:
    """Returns the variables on the left of an assignment; empty texts for other targets."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [getattr(target, "id", "") for target in targets]


def _is_own_use(node: ast.Attribute, kind: Any, is_called: bool) -> bool:
    """Whether an attribute of an instance is a field, a constant, or keeps the instance to itself."""
    if node.attr in kind.names or is_constant_of(kind.form, node.attr):
        return True
    method = getattr(kind.form, node.attr, None)
    is_read = isinstance(method, property) or is_called
    return is_read and keeps_to_itself(kind.form, getattr(method, "fget", method))


def _on_itself(node: ast.expr, form: type) -> tuple[list[Any], ast.expr]:
    """Returns the calls of methods, one on another's result, that return their instance, and that."""
    calls = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if not returns_itself(form, node.func.attr):
            break
        calls.append(node)
        node = node.func.value
    return calls, node


def instance_of(emitter: Emitter, node: ast.expr | None, form: type) -> str | None:
    """Returns the variable of the instance on which an expression calls methods; None for a new one."""
    if node is None:
        return ""
    _, first = _on_itself(node, form)
    is_new = isinstance(first, ast.Call) and (
        replacement(rows.iteration.known_object(emitter, first.func)) in (form, replace, copied)
    )
    return None if is_new else getattr(first, "id", "")


def _binds_own(emitter: Emitter, node: Any, part: ast.Name, form: type) -> bool:
    """Whether an assignment binds its variable to a new instance, or to the one that it has."""
    if isinstance(node, ast.AugAssign):
        return returns_itself(form, _method_in_place(node.op))
    value = getattr(node, "value", None)
    return value is not None and instance_of(emitter, value, form) in (None, part.id)


def _method_in_place(operation: ast.operator) -> str:
    """Returns the special method of an augmented assignment."""
    return k.OPERATOR_METHODS.get(OPERATORS[type(operation)][0], "").replace("__", "__i", 1)


def _unpack(emitter: Emitter, targets: list[ast.expr], value: Value) -> None:
    stars = [place for place, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if stars:
        _unpack_starred(emitter, targets, stars[0], emitter.plain(value))
        return
    for target, item in zip(
        targets, rows.containers.unpacked(emitter, value, len(targets)), strict=True
    ):
        bind_target(emitter, target, item)


def _unpack_starred(emitter: Emitter, targets: list[ast.expr], star: int, value: Value) -> None:
    """`first, *rest = …` of a list, or of a tuple."""
    behind = len(targets) - star - 1
    if isinstance(value.kind, k.Tuple) and len(value.items) >= len(targets) - 1:
        parts = list(value.items)
        inside = slice(star, len(parts) - behind)
        starred = tuple_of_values(parts[inside])
        if getattr(targets[star].value, "id", "") != "_":  # type: ignore[attr-defined]
            starred = rows.comprehensions.listed(emitter, targets[star], starred)
        parts[inside] = [starred]
        for target, part in zip(targets, parts, strict=True):
            bind_target(emitter, target.value if isinstance(target, ast.Starred) else target, part)
        return
    if isinstance(value.kind, k.Record):
        value = iterated(emitter, value)
    if value.kind == k.TEXT:
        value = call(emitter, "list", [value])
    elif k.has_iterator(value.kind):
        value = rows.comprehensions.listed(emitter, targets[star], value)
    if not isinstance(value.kind, k.Container) or value.kind.name != "list":
        emitter.refuse(f"a starred target for {value.kind} has no compiled form")
    size = call(emitter, "len", [value])
    emitter.fail_if(
        f"{size.code} < {len(targets) - 1}", row_values.VALUE_ERROR, "too few values to unpack"
    )
    for place, target in enumerate(targets):
        if isinstance(target, ast.Starred):
            stop = constant(-behind) if behind else NONE
            bind_target(emitter, target.value, call(emitter, "[:]", [value, constant(star), stop]))
        else:
            index = place if place < star else place - len(targets)
            bind_target(emitter, target, rows.containers.item(emitter, value, constant(index)))


def _annotated(emitter: Emitter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        bind_target(emitter, node.target, expression(emitter, node.value))


def _augmented(emitter: Emitter, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Subscript):
        container = needed(emitter, target.value)
        place = needed(emitter, target.slice)
        container = as_changing(emitter, container, place.kind)
        left = emitter.plain(rows.containers.item(emitter, container, place))
        _set_item(emitter, target, container, place, _changed(emitter, node, left))
    elif isinstance(target, ast.Attribute):
        field = ast.Attribute(target.value, target.attr, ast.Load())
        left = needed(emitter, ast.copy_location(field, target))
        _set_field(emitter, target, _changed(emitter, node, left))
    else:
        load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        kind = k.present(emitter.env.get(target.id, NONE).kind)
        if node in emitter.low_bits and kind in (k.BOOL, k.INT, k.UNSIGNED, k.WORD):
            emitter.assign(
                target.id, as_word(emitter, derived(node, "low", partial(value_of, node)))
            )
            return
        left = (low_bits if kind == k.WORD else needed)(emitter, load)
        method = _method_in_place(node.op)
        if isinstance(left.kind, k.Record) and k.written_method(left.kind.form, method):
            own = ast.Attribute(load, method, ast.Load())
            make = partial(ast.Assign, [target], ast.Call(own, [node.value], []))
            _assign(emitter, derived(node, "in place", make))
            return
        value = _changed(emitter, node, left)
        if value is not left:
            emitter.assign(target.id, value)


def _changed(emitter: Emitter, node: ast.AugAssign, left: Value) -> Value:
    """Returns the value that an augmented assignment binds.

    A list, set or dictionary stays the same one, with changed contents, which its other names see.
    """
    method = _method_in_place(node.op)
    if left.kind == k.CONTENT:
        return by_class(emitter, left, partial(_changed, emitter, node))
    if isinstance(left.kind, k.Several) and any(k.containers_in(left.kind)):
        emitter.refuse(f"{method} of {left.kind} has no compiled form")
    if left.is_constant and hasattr(type(left.constant), method):
        refuse_change(emitter)
    if isinstance(left.kind, k.Compound) and getattr(left.kind.form, method, ...) is None:
        emitter.refuse(f"{left.kind.form.__name__}.{method}, which is None, has no compiled form")
    if isinstance(left.kind, k.Compound) and k.written_method(left.kind.form, method):
        emitter.refuse(f"{method} of what is no variable has no compiled form")
    if not isinstance(left.kind, k.Container) or left.kind.is_tuple:
        right = operand_after(left, node.op)(emitter, node.value)
        return operated(emitter, node.op, left, right)
    if left.kind.name == "list" and isinstance(node.op, ast.Add):
        extend = ast.Attribute(standing_for(emitter, node, "changed", left), "extend", ast.Load())
        make = partial(ast.Call, extend, [node.value], [])
        expression(emitter, derived(node, "extend", make))
    else:
        rows.containers.combined_in_place(emitter, node.op, left, needed(emitter, node.value))
    return left


# Branches


def branches(
    emitter: Emitter, test: Condition, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
) -> None:
    """Write an `if` statement, whose branches know the facts about variables from the test."""
    if test.constant is not None:
        emitter.env.update(test.holds if test.constant else test.fails)
        statements(emitter, body if test.constant else orelse)
        return

    def side(known: dict[str, Value], nodes: Sequence[ast.stmt]) -> Callable[[], None]:
        def write() -> None:
            emitter.env.update(known)
            statements(emitter, nodes)

        return write

    emitter.branch(test.code, side(test.holds, body), side(test.fails, orelse))


# Loops


def _while(emitter: Emitter, node: ast.While) -> None:
    names = assigned(emitter, [node])

    def body() -> None:
        test = condition(emitter, node.test)
        if test.constant is None:
            with emitter.within(f"if not {test.code}:"):
                emitter.write("break")
        elif not test.constant:
            emitter.write("break")
        emitter.env.update(test.holds)
        statements(emitter, node.body)

    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    repeated(emitter, node, names, body, node.orelse, endless=endless)


MOST_ROUNDS = 1 << 18
"""The largest number of rounds of the loops in a generator over which another function iterates."""


def repeated(
    emitter: Emitter,
    node: ast.AST,
    names: Set[str],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt] = (),
    *,
    endless: bool = False,
    is_round: bool = False,
) -> Loop:
    """Write a loop that its body leaves by a line `break`.

    Args:
        node: The node that identifies its variables.
        names: The variables to which it assigns.
        body: Writes one round.
        orelse: The statements that follow unless a `break` of the user's leaves it.
        endless: Whether only a `break` of the user's ends it.
        is_round: Whether the body writes all rounds, one after the other.
    """
    with emitter.in_cells(node, names | (emitter.shared & emitter.env.keys())):
        emitter.require_sound()
        loop = Loop(len(emitter.attempts), is_round=is_round)
        if orelse or is_round:
            loop.broken = emitter.fresh("broken")
            emitter.write(f"{loop.broken} = False")
        known = dict(emitter.env)
        emitter.loops.append(loop)
        with emitter.within("while True:"):
            if not is_round:
                emitter.require_sound()
            if emitter.rounds and not is_round:
                emitter.write(f"{emitter.rounds} += 1")
                test = f"{emitter.rounds} > {MOST_ROUNDS}"
                emitter.fail_if(test, row_values.LEFT, "a generator that runs for long")
            body()
        emitter.loops.pop()
        emitter.dead = False
        emitter.env = known
        _pass_on(emitter)
    if endless and not loop.is_left:
        emitter.dead = True
    elif orelse:
        emitter.branch(loop.broken, lambda: None, lambda: statements(emitter, orelse))
    return loop


def rounds(
    emitter: Emitter,
    node: ast.AST,
    targets: Set[str],
    names: Set[str],
    bodies: Sequence[Callable[[], None]],
    orelse: Sequence[ast.stmt],
) -> None:
    """Write a loop round by round: the targets are a different constant, or of another kind, in each round.

    Args:
        targets: The variables that it binds, which have no value after it.
        names: The other variables to which it assigns.
        bodies: Each writes one round.
    """
    outer = {name: emitter.cells.pop(name) for name in sorted(targets) if name in emitter.cells}
    if any(not cell.unbound for cell in outer.values()):
        emitter.refuse("a loop over values of several kinds binds a variable that has a value")

    def every_round() -> None:
        known = dict(emitter.env)
        for body in bodies:
            with emitter.within("while True:"):
                body()
                emitter.write("break")
            emitter.dead = False
            emitter.env = dict(known)
            _pass_on(emitter)
            with emitter.within(f"if {emitter.loops[-1].broken}:"):
                emitter.write("break")
        emitter.write("break")

    loop = repeated(emitter, node, names, every_round, is_round=True)
    for name in targets:
        emitter.env.pop(name, None)
    for name, cell in outer.items():
        emitter.cells[name] = cell
        emitter.write(f"{cell.unbound} = True")
        emitter.env[name] = replace(cell.value, unbound=cell.unbound)
    if orelse:
        emitter.branch(loop.broken, lambda: None, lambda: statements(emitter, orelse))


def _pass_on(emitter: Emitter) -> None:
    """Leave the surrounding `try` after a loop that raised or returned."""
    if emitter.attempts:
        attempt = emitter.attempts[-1]
        returns = f" or {attempt.flow} == {LEAVE}" if attempt.returned is not None else ""
        with emitter.within(f"if {attempt.code} != 0{returns}:"):
            emitter.write("break")


def _for(emitter: Emitter, node: ast.For) -> None:
    parts = [node.target, *node.body]
    bound = stored_names([node.target])
    first = _bound_first(node.body)
    rows.iteration.each(
        emitter,
        node,
        rows.matches.with_patterns(emitter, node.target, node.iter),
        lambda value: bind_target(emitter, node.target, value),
        lambda: statements(emitter, node.body),
        assigned(emitter, parts) - only_in(emitter, bound | first, parts),
        (bound - stored_names(node.body)) | first,
        node.orelse,
    )


def _bound_first(body: Sequence[ast.stmt]) -> set[str]:
    """Returns the variables to which each round of a loop assigns before any other use."""
    names: set[str] = set()
    seen: set[str] = set()
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name not in seen.union(named_in([node.value])):
                names.add(name)
        seen.update(named_in([node]))
    return names


def only_in(emitter: Emitter, names: set[str], parts: Sequence[ast.AST]) -> set[str]:
    """Returns the variables that only `parts` name, so that each may change its kind in every round."""
    inside, every = Counter(named_in(parts)), emitter.definition.mentions
    return {name for name in names - emitter.shared if inside[name] == every[name]}


def leave_loop(emitter: Emitter, flow: int) -> None:
    """Write `break` or `continue`."""
    loop: Loop = emitter.loops[-1]
    loop.is_left |= flow == BREAK
    if flow == BREAK and loop.broken and len(emitter.attempts) == loop.attempts:
        emitter.write(f"{loop.broken} = True")
    if len(emitter.attempts) > loop.attempts:
        attempt = emitter.attempts[-1]
        attempt.flows.add(flow)
        emitter.write(f"{attempt.flow} = {flow}")
        emitter.write("break")
    else:
        emitter.write("break" if flow == BREAK or loop.is_round else "continue")
    emitter.dead = True


def _with(emitter: Emitter, node: ast.With) -> None:
    """`with suppress(…)`: a `try` whose handler does nothing."""
    context: Any = node.items[0].context_expr
    function = rows.iteration.known_object(emitter, getattr(context, "func", context))
    if len(node.items) > 1 or node.items[0].optional_vars or function is not contextlib.suppress:
        emitter.refuse("`with` has no compiled form, except for contextlib.suppress()")

    def make() -> ast.Try:
        handler = ast.ExceptHandler(ast.Tuple(context.args, ast.Load()), None, [ast.Pass()])
        return ast.Try(node.body, [handler], [], [])

    try_(emitter, derived(node, "try", make))


# The rest


def _expression(emitter: Emitter, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Yield | ast.YieldFrom):
        _yield(emitter, node.value)
    elif not isinstance(node.value, ast.Constant):
        expression(emitter, node.value)


def _yield(emitter: Emitter, node: ast.Yield | ast.YieldFrom) -> None:
    """Write `yield` or `yield from`, whose value is not used: the item is appended."""
    yielded = emitter.yielded
    assert yielded is not None
    if isinstance(node, ast.YieldFrom):
        rows.comprehensions.items(
            emitter, node.value, lambda value: rows.containers.add(emitter, yielded, (value,))
        )
    else:
        value = NONE if node.value is None else expression(emitter, node.value)
        rows.containers.add(emitter, yielded, (value,))


def _import(emitter: Emitter, node: ast.Import) -> None:
    for alias in node.names:
        module = importlib.import_module(alias.name)
        whole = module if alias.asname else importlib.import_module(alias.name.partition(".")[0])
        emitter.env[alias.asname or alias.name.partition(".")[0]] = constant(whole)


def _import_from(emitter: Emitter, node: ast.ImportFrom) -> None:
    if node.module is None or node.level:
        emitter.refuse("a relative import has no compiled form")
    module = importlib.import_module(node.module)
    for alias in node.names:
        emitter.env[alias.asname or alias.name] = constant(getattr(module, alias.name))


def _delete(emitter: Emitter, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            container = needed(emitter, target.value)
            if isinstance(target.slice, ast.Slice):
                container = as_changing(emitter, container, k.INT)
                rows.containers.set_slice(emitter, container, target.slice, constant([]))
            else:
                place = needed(emitter, target.slice)
                rows.containers.delete_item(
                    emitter, as_changing(emitter, container, place.kind), place
                )
        elif isinstance(target, ast.Name):
            emitter.unbind(target.id)
        else:
            emitter.refuse(f"`del {ast.unparse(target)}` has no compiled form")


# match


def _match(emitter: Emitter, node: ast.Match) -> None:
    subject = expression(emitter, node.subject)
    name = emitter.fresh("subject")
    emitter.env[name] = subject
    _cases(
        emitter,
        node.cases,
        ast.copy_location(ast.Name(name, ast.Load()), node.subject),
        subject.kind,
    )


def _cases(emitter: Emitter, cases: list[ast.match_case], subject: ast.Name, kind: k.Kind) -> None:
    """Write the first case that matches."""
    if not cases or emitter.dead:
        return
    case, *rest = cases
    emitter.node = case.pattern
    test, guard = test_of(emitter, case.pattern, subject, kind), case.guard
    if test is not None and guard is not None and not stored_names([case.pattern]):
        # The guard is part of the test, so that the later cases are written once.
        test, guard = ast.BoolOp(ast.And(), [test, guard]), None

    def otherwise() -> None:
        _cases(emitter, rest, subject, kind)

    def then() -> None:
        capture(emitter, case.pattern, subject)
        if guard is None:
            statements(emitter, case.body)
        else:
            code = condition(emitter, guard).code
            emitter.branch(code, lambda: statements(emitter, case.body), otherwise)

    if test is None:
        then()
        return
    known = condition(emitter, ast.fix_missing_locations(ast.copy_location(test, subject)))
    if known.constant is not None:
        then() if known.constant else otherwise()
    elif guard is not None:
        holds = _guarded(emitter, case, guard, subject, known)
        emitter.branch(holds, lambda: _captured(emitter, case, known), otherwise)
    else:

        def held() -> None:
            emitter.env.update(known.holds)
            then()

        emitter.branch(known.code, held, otherwise)


def _guarded(
    emitter: Emitter, case: ast.match_case, guard: ast.expr, subject: ast.Name, known: Condition
) -> str:
    """Returns a variable for whether a case and its guard hold; tested first, to write later cases once."""
    holds = emitter.copy("False")

    def look() -> None:
        emitter.env.update(known.holds)
        capture(emitter, case.pattern, subject)
        emitter.write(f"{holds} = {condition(emitter, guard).code}")

    emitter.branch(known.code, look, lambda: None)
    return holds


def _captured(emitter: Emitter, case: ast.match_case, known: Condition) -> None:
    """Write the body of a case that matches and has assigned to its names."""
    values = {name: emitter.env.get(name) for name in stored_names([case.pattern])}
    bound = {
        name: replace(value, unbound="") for name, value in values.items() if value is not None
    }
    emitter.env.update(known.holds | bound)
    statements(emitter, case.body)


def _declared(emitter: Emitter, node: ast.Global | ast.Nonlocal) -> None:
    """`nonlocal`, or what assigns to a global: only variables of the row function can be assigned."""
    names = set(node.names)
    if isinstance(node, ast.Nonlocal):
        names &= set(emitter.definition.function.__code__.co_freevars)
        names &= stored_names(emitter.definition.body)
    if names:
        reason = f"an assignment to a {type(node).__name__.lower()} name has no compiled form"
        emitter.refuse(reason, SharedError)


_STATEMENTS: dict[type[ast.stmt], Callable[[Emitter, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: lambda e, node: branches(e, condition(e, node.test), node.body, node.orelse),
    ast.While: _while,
    ast.For: _for,
    ast.Break: lambda e, _: leave_loop(e, BREAK),
    ast.Continue: lambda e, _: leave_loop(e, CONTINUE),
    ast.Return: lambda e, node: e.leave(NONE if node.value is None else expression(e, node.value)),
    ast.Raise: raise_,
    ast.Assert: assert_,
    ast.Try: try_,
    ast.With: _with,
    ast.Expr: _expression,
    ast.Pass: lambda e, _: None,
    ast.Global: _declared,
    ast.Nonlocal: _declared,
    ast.FunctionDef: lambda e, node: e.env.update({node.name: with_defaults(e, node)}),
    ast.Delete: _delete,
    ast.Match: _match,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
