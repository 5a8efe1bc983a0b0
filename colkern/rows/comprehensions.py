"""Comprehensions and generator expressions, and the functions that take anything that can be iterated."""

from __future__ import annotations

import ast
import collections
import functools
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from colkern.kernels import row_documents, row_lists, row_numbers, row_values
from colkern.rows import kinds as k
from colkern.rows.calls import as_tuple as tuple_as_list
from colkern.rows.calls import call, invoked
from colkern.rows.constants import has_order
from colkern.rows.containers import add, add_all, counter, new_container, unpacked
from colkern.rows.documents import as_in_document
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import (
    condition,
    expression,
    iterated,
    looked_into,
    needed,
    operated,
    truth,
)
from colkern.rows.folding import constant, evaluated
from colkern.rows.functions import applied, special
from colkern.rows.iteration import (
    MADE_AHEAD,
    VIEWS,
    AnyOrder,
    always,
    bounds_of_range,
    builtin_of,
    each,
    gives_items,
    is_iterator,
    known_object,
    made_ahead,
    makes_iterator,
    never,
    range_size,
)
from colkern.rows.iterators import has_place, items_left, new_iterator
from colkern.rows.matches import with_patterns
from colkern.rows.methods import raised_by
from colkern.rows.program import Block
from colkern.rows.scopes import named_in, nodes_of, stored_names
from colkern.rows.statements import bind_target
from colkern.rows.values import NONE, Value, of_parts, tuple_of_values

Take = Callable[[Value], None]
"""Writes the code that handles an item."""

COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)


def comprehension(
    emitter: Emitter, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
) -> Value:
    """Compiles a comprehension; returns its value."""
    if isinstance(node, ast.GeneratorExp):
        return new_iterator(emitter, node)
    if isinstance(node, ast.DictComp):
        container = new_container(emitter, node, "dict", 0)

        def take() -> None:
            key = emitter.numbers(expression(emitter, node.key))
            add(emitter, container, (key, emitter.numbers(expression(emitter, node.value))))

        _generated(emitter, node, take)
        return container
    is_set = isinstance(node, ast.SetComp)
    container = new_container(emitter, node, "set" if is_set else "list", 0)

    def take_item(value: Value) -> None:
        add(emitter, container, (value,))

    _elements(emitter, node, take_item, any_order=always if is_set else never)
    return container


def items(
    emitter: Emitter, node: ast.expr, take: Take, more: str = "True", *, any_order: AnyOrder = never
) -> None:
    """Write a loop over the items of an expression.

    Args:
        more: A condition for another item.
        any_order: Tells which items may come in any order.
    """
    if isinstance(node, COMPREHENSIONS):
        _elements(emitter, node, take, more, any_order)
        return
    taken: list[Value] = []
    each(
        emitter,
        node,
        node,
        taken.append,
        lambda: take(taken[-1]),
        set(),
        more=more,
        any_order=any_order,
    )


def _elements(
    emitter: Emitter,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
    take: Take,
    more: str = "True",
    any_order: AnyOrder = never,
) -> None:
    """Write the loops of a comprehension; `take` writes the code that handles each element.

    A set is gone over if no element has an effect on others, and equal elements are the same. Then all
    elements are computed, and exceptions leave the row: in Python, another element may raise first.
    """
    is_of_set = any_order is not never and _goes_over_set(emitter, node)

    def take_element() -> None:
        value = expression(emitter, node.elt)
        if is_of_set and not (_are_same_if_equal(value.kind) and any_order(value.kind)):
            emitter.refuse(f"{value.kind} made of a set, whose order differs from Python's")
        take(value)

    if not is_of_set:
        _generated(emitter, node, take_element, more)
        return
    with emitter.ahead(is_only_raised=True):
        _generated(emitter, node, take_element, any_order=always)


def _goes_over_set(emitter: Emitter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> bool:
    """Whether the outermost loop of a comprehension goes over a set, and its elements have no effects."""
    of = node.generators[0].iter
    if gives_items(emitter, of) or not _is_without_effects(emitter, node):
        return False
    with emitter.looking():
        return looked_into(emitter, of).kind.name == "set"


def _are_same_if_equal(kind: k.Kind) -> bool:
    """Whether values of a kind that are equal cannot be told apart, and are equal to themselves."""
    is_exact = not any(part.loose or part.name == "float" for part in k.parts_of(kind))
    return is_exact and has_order(kind)


def _is_without_effects(emitter: Emitter, node: ast.expr) -> bool:
    """Whether evaluating an expression changes nothing, as far as its syntax tells."""
    for part in nodes_of([node]):
        if isinstance(part, ast.Call):
            function = known_object(emitter, part.func)
            is_known = any(function is each for each in _WITHOUT_EFFECTS)
            if not is_known and getattr(part.func, "attr", "") not in _METHODS_WITHOUT_EFFECTS:
                return False
        kind = emitter.env.get(getattr(part, "id", ""), NONE).kind
        makes_items = getattr(kind, "default", "") not in ("", "count", "ordered", "range")
        is_iterator_or_instance = k.has_iterator(kind) or isinstance(kind, k.Record)
        if isinstance(part, ast.NamedExpr) or makes_items or is_iterator_or_instance:
            return False
    return True


_WITHOUT_EFFECTS = (
    *(abs, all, any, bool, float, int, isinstance, len, max, min, ord, round, str, sum),
    *(dict, frozenset, list, set, sorted, tuple),
)
_METHODS_WITHOUT_EFFECTS = {*vars(str), "get"}


def items_in_turn(emitter: Emitter, nodes: Sequence[ast.expr], take: Take) -> None:
    """Write loops over several expressions in turn, for methods that change a container.

    All expressions are evaluated before the first item is taken; iterators give each item when its turn
    comes.
    """
    with ExitStack() as stack:
        for part in [stack.enter_context(evaluated_first(emitter, node)) for node in nodes]:
            items(emitter, part, take)


@contextmanager
def evaluated_first(emitter: Emitter, node: ast.expr) -> Iterator[ast.expr]:
    """Yields an expression for the items of one that is evaluated here, unless it is an iterator."""
    makes = isinstance(node, ast.Call) and makes_iterator(known_object(emitter, node.func))
    is_view = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in VIEWS
    if makes or is_view or is_iterator(emitter, node):
        yield node
        return
    name = f"<{emitter.fresh()}>"
    emitter.env[name] = needed(emitter, node)
    yield ast.copy_location(ast.Name(name, ast.Load()), node)
    del emitter.env[name]


def as_items(emitter: Emitter, node: ast.expr, count: int | None = None) -> Value:
    """Returns a value whose items are read now; an iterator becomes a tuple or list of its items.

    Args:
        count: Stop after this many items and one more; None for all.
    """
    values = unrolled(emitter, node)
    if values is not None:
        return tuple_of_values(values)
    if not is_iterator(emitter, node):
        return expression(emitter, node)
    if count is None:
        return list_of(emitter, node)
    list_ = new_container(emitter, node, "list", count + 1)
    more = f"({emitter.use(row_lists.list_size)}({list_.code}) <= {count})"
    items(emitter, node, lambda value: add(emitter, list_, (value,)), more)
    return list_


def unrolled(emitter: Emitter, node: ast.expr) -> list[Value] | None:
    """Returns the items of `map` or `zip` of tuples, or of a generator expression over such or a tuple;
    None for other expressions."""
    if isinstance(node, ast.Call) and builtin_of(emitter, node) == "map":
        return _mapped(emitter, node)
    if isinstance(node, ast.Call) and builtin_of(emitter, node) == "zip":
        return _columns(emitter, node) or _zipped(emitter, node)
    if not isinstance(node, ast.GeneratorExp) or len(node.generators) > 1 or node.generators[0].ifs:
        return None
    over = node.generators[0].iter
    is_builtin = builtin_of(emitter, over)
    source = unrolled(emitter, over) if is_builtin else _items_of_tuple(emitter, over)
    if source is None:
        return None
    target = node.generators[0].target
    names = stored_names([target])
    values = []
    with _own(emitter, names):
        for item in source:
            bind_target(emitter, target, item)
            values.append(emitter.numbers(expression(emitter, node.elt)))
    return values


@contextmanager
def _own(emitter: Emitter, names: Set[str]) -> Iterator[None]:
    """Gives variables a scope of their own, that of a comprehension."""
    hidden = {name: emitter.env.pop(name) for name in names if name in emitter.env}
    cells = {name: emitter.cells.pop(name) for name in names if name in emitter.cells}
    yield
    for name in names:
        emitter.env.pop(name, None)
    emitter.env.update(hidden)
    emitter.cells.update(cells)


def _generated(
    emitter: Emitter,
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
    body: Callable[[], None],
    more: str = "True",
    any_order: AnyOrder = never,
) -> None:
    """Write the loops of a comprehension. Its variables are its own, except those that `:=` binds.

    `any_order` tells which items of the outermost loop may come in any order.
    """
    generators, outer = node.generators, stored_names([node])
    names = stored_names([generator.target for generator in generators])
    if emitter.is_ahead and isinstance(node, ast.GeneratorExp):
        # Python evaluates the first iterable when it makes the generator, all else later.
        at_once = generators[0].iter
        late: list[ast.AST] = [node.elt, *generators[0].ifs, *generators[1:]]
        emitter.read_ahead((set(named_in(late)) - names) & emitter.env.keys())
        for name in set(named_in([at_once])) & emitter.env.keys():
            emitter.read_later += k.containers_in(emitter.env[name].kind)

    def loop(rest: list[ast.comprehension]) -> None:
        if not rest:
            body()
            return
        generator = rest[0]

        def round_(tests: list[ast.expr]) -> None:
            if not tests:
                loop(rest[1:])
                return
            test = condition(emitter, tests[0])
            if test.constant is not None:
                if test.constant:
                    round_(tests[1:])
                return

            def then() -> None:
                emitter.env.update(test.holds)
                round_(tests[1:])

            emitter.branch(test.code, then, lambda: None)

        each(
            emitter,
            generator,
            with_patterns(emitter, generator.target, generator.iter),
            lambda value: bind_target(emitter, generator.target, value),
            lambda: round_(generator.ifs),
            outer,
            names,
            more=more,
            any_order=any_order if generator is generators[0] else never,
        )

    with _own(emitter, names):
        loop(generators)


class Accumulator:
    """A variable of the generated source that a loop changes; its kind is widened as needed.

    Args:
        node: The node that identifies it.
        what: Distinguishes it from others of the same node.
    """

    def __init__(
        self, emitter: Emitter, node: ast.AST, start: Value, what: str = "accumulator"
    ) -> None:
        self._emitter = emitter
        self._key = (id(node), what)
        start = emitter.numbers(start)
        kind = emitter.program.joined(start.kind, emitter.widened.get(self._key, start.kind))
        assert kind is not None
        self.value = emitter.variables(kind, emitter.fresh("result"))
        emitter.move(self.value, start)

    def set(self, value: Value) -> None:
        """Assign a value."""
        value = self._emitter.numbers(value)
        self._emitter.require_kind(self._key, self.value.kind, value.kind)
        self._emitter.move(self.value, value)

    def get(self) -> Value:
        """Returns a copy of its present value."""
        parts = tuple(self._emitter.copy(part) for part in self.value.parts)
        return of_parts(self.value.kind, parts)


_SUMS_COMPENSATE = sys.version_info >= (3, 12)
"""Whether this Python's `sum()` of floats corrects for rounding errors."""


def total(emitter: Emitter, node: ast.Call) -> Value:
    """`sum(…)`."""
    start = node.args[1] if len(node.args) > 1 else None
    for word in node.keywords:
        start = word.value
    if start is None or isinstance(start, ast.Constant):
        return _total(emitter, node, node.args[0], start)
    with evaluated_first(emitter, node.args[0]) as source:
        return _total(emitter, node, source, start)


def _total(emitter: Emitter, node: ast.Call, source: ast.expr, start: ast.expr | None) -> Value:
    initial = needed(emitter, start) if start else constant(0)
    if initial.kind in (k.TEXT, k.BYTES):
        emitter.refuse(f"sum() of {initial.kind} raises TypeError: join them instead")
    begin, are_several = emitter.state(), False
    result = Accumulator(emitter, node, initial)
    added = Accumulator(emitter, node, constant(False), "added")
    lost = Accumulator(emitter, node, constant(0.0), "lost")
    first = result.get().kind if start else k.FLOAT

    def take(value: Value) -> None:
        nonlocal are_several
        added.set(constant(True))
        before, value = result.get(), emitter.plain(value)
        are_several = are_several or k.is_plain(value.kind)
        if are_several:
            return
        kinds = {before.kind.name, value.kind.name}
        if _SUMS_COMPENSATE and "float" in kinds and kinds <= {"float", "int", "bool"}:
            are_floats = [constant(kind == k.FLOAT) for kind in (first, value.kind)]
            before, value = (emitter.converted(each, k.FLOAT) for each in (before, value))
            known = lost.get()
            lost.set(_called(row_numbers.lost_by_addition, [before, value, known]))
            if not all(each.constant for each in are_floats):
                arguments = [before, value, known, lost.get(), *map(emitter.numbers, are_floats)]
                doubtful = _called(row_numbers.may_lose_nothing, arguments, k.BOOL)
                emitter.leave_if(doubtful.code, "sum of integers and floats")
        is_counted = value.is_constant and {before.kind, value.kind} <= {k.INT, k.BOOL}
        if start is None and is_counted and abs(value.constant) <= 1:
            # A check for overflow is not needed, as there are fewer items than integers; so the loop can
            # vectorise.
            result.set(Value(k.INT, f"({before.code} + {int(value.constant)})"))
            return
        result.set(operated(emitter, ast.Add(), before, value))

    def _called(
        body: Callable[..., object], arguments: list[Value], kind: k.Kind = k.FLOAT
    ) -> Value:
        return invoked(emitter, body, arguments, kind, "sum")

    items(emitter, source, take, any_order=_is_exact if _is_exact(initial.kind) else never)
    if are_several:
        emitter.restore(begin)
        return _total_of_several(emitter, node, source, initial)
    total = result.get()
    if _SUMS_COMPENSATE and total.kind.name == "float":
        total = _called(row_numbers.with_lost, [total, lost.get()], total.kind)
    if isinstance(total.kind, k.Decimal) and total.kind.loose:
        # Without any decimal, the sum is still the integer 0 with which it began.
        emitter.leave_if(f"not {added.get().code}", "a sum without decimals")
        return Value(k.decimal_of(total.kind.scale), total.code)
    return total


def _total_of_several(emitter: Emitter, node: ast.Call, source: ast.expr, initial: Value) -> Value:
    """`sum(…)` of integers and floats whose types are known where the row runs."""
    if initial.kind != k.INT:
        emitter.refuse(f"sum() of values of several types from {initial.kind} on")
    place = derived(node, "values of several types", lambda: ast.List([], ast.Load()))
    with emitter.ahead(is_only_raised=True):
        made = new_container(emitter, place, "list", 0)
        items(emitter, source, lambda each: add(emitter, made, (as_in_document(emitter, each),)))
    given = [emitter.numbers(initial), Value(k.INT, made.code), constant(int(_SUMS_COMPENSATE))]
    of = k.mixed(k.INT, k.FLOAT)
    assert isinstance(of, k.Several)
    arguments = [*map(emitter.numbers, given)]
    parts = invoked(
        emitter, row_documents.sum_of_nodes, arguments, k.tuple_of(of.items), "sum"
    ).parts
    return of_parts(of, parts)


def _is_exact(kind: k.Kind) -> bool:
    """Whether the order of items does not matter for a sum: floats round, tuples are strung together."""
    return kind.name in ("int", "bool", "Decimal", "timedelta", "never")


def decided(emitter: Emitter, node: ast.Call, by: bool) -> Value:
    """`any(…)`, which an item decides that is true, or `all(…)`; items after that are not computed."""
    outcome = emitter.copy(str(not by))

    def take(value: Value) -> None:
        test = emitter.numbers(truth(emitter, value))
        # All items of a set are computed, in any order.
        before = f"{outcome} {'|' if by else '&'} " if emitter.leaves_raised else ""
        emitter.write(f"{outcome} = {before}{test.code}")

    items(emitter, node.args[0], take, f"not {outcome}" if by else outcome, any_order=always)
    return Value(k.BOOL, emitter.copy(outcome))


def as_list(emitter: Emitter, node: ast.expr) -> Value:
    """Returns the items of an expression as a list, which nothing changes."""
    if not isinstance(node, ast.GeneratorExp) and not builtin_of(emitter, node):
        return _in_list(emitter, node, needed(emitter, node))
    if isinstance(node, ast.Call) and builtin_of(emitter, node) in MADE_AHEAD:
        return made_ahead(emitter, node)
    return list_of(emitter, node)


def concatenated(emitter: Emitter, left: Value, right: Value) -> Value:
    """`left + right` of lists whose items are of different kinds."""
    list_ = new_container(emitter, emitter.node, "list", 0)
    for side in (left, right):
        load = standing_for(emitter, emitter.node, "side", side)
        items(emitter, load, lambda value: add(emitter, list_, (value,)))
    return list_


def _in_list(emitter: Emitter, node: ast.expr, value: Value) -> Value:
    """Returns the items of the value of an expression as a list, which nothing changes."""
    is_list = isinstance(value.kind, k.Container) and value.kind.name == "list"
    return value if is_list else listed(emitter, node, value)


def listed(emitter: Emitter, node: ast.AST, value: Value) -> Value:
    """Returns the items of a value as a new list, which `node` identifies."""
    return list_of(emitter, standing_for(emitter, node, "listed", value))


def list_of(emitter: Emitter, node: ast.expr, *, any_order: AnyOrder = never) -> Value:
    """Returns the items of anything that can be iterated, as a new list."""
    # The node itself may be the display of a container.
    list_ = new_container(emitter, derived(node, "its items", ast.Pass), "list", 0)
    items(emitter, node, lambda value: add(emitter, list_, (value,)), any_order=any_order)
    return list_


def counted(emitter: Emitter, node: ast.Call) -> Value:
    """`collections.Counter(…)`."""
    if len(node.args) > 1 or (node.args and node.keywords):
        emitter.refuse("Counter() with such arguments has no compiled form")
    if not node.args or gives_dict(emitter, node.args[0]):
        return as_new_dict(emitter, node)
    return counter(emitter, node, as_list(emitter, node.args[0]))


def gives_dict(emitter: Emitter, node: ast.expr) -> bool:
    """Whether an expression evaluates to a dictionary."""
    if isinstance(node, COMPREHENSIONS) or builtin_of(emitter, node):
        return False
    with emitter.looking():
        value = needed(emitter, node)
    if k.is_plain(value.kind) and dict in k.classes_of(value.kind):
        emitter.refuse(f"a dictionary made of {value.kind} has no compiled form")
    return isinstance(value.constant, dict) or k.is_row(value.kind) or value.kind.name == "dict"


def default_dict(emitter: Emitter, node: ast.Call) -> Value:
    """`collections.defaultdict(…)` with a factory of numbers, texts or lists."""
    is_alone = len(node.args) == 1 and not node.keywords
    factory = needed(emitter, node.args[0]).constant if is_alone else None
    if isinstance(factory, ast.Lambda):
        factory = _FACTORIES.get(ast.unparse(factory.body))
    if factory not in (int, float, str, list, set):
        emitter.refuse("defaultdict() has a compiled form with int, float, str, list or set alone")
    return new_container(emitter, node, "dict", 0, factory.__name__)


_FACTORIES = {"0": int, "0.0": float, "''": str, "[]": list}
"""The types that have the same result as a lambda with such a body."""


def reduced(emitter: Emitter, node: ast.Call) -> Value:
    """`functools.reduce(function, …)`, with an initial value or without one."""
    if node.keywords or len(node.args) not in (2, 3):
        emitter.refuse("reduce() with such arguments has no compiled form")
    has_initial = len(node.args) == 3
    with evaluated_first(emitter, node.args[1]) as source:
        start = needed(emitter, node.args[2]) if has_initial else Value(k.NEVER)
        result, empty = Accumulator(emitter, node, start), emitter.copy(str(not has_initial))

        def take(value: Value) -> None:
            value = emitter.numbers(value)
            following = partial(applied, emitter, node.args[0])
            if has_initial:
                result.set(following([result.get(), value]))
                return
            result.set(value) if result.value.kind == k.NEVER else None
            result.set(
                emitter.chosen(empty, lambda: value, lambda: following([result.get(), value]))
            )
            emitter.write(f"{empty} = False")

        items(emitter, source, take)
    if not has_initial:
        message = raised_by(functools.reduce, max, [])
        emitter.fail_if(empty, row_values.TYPE_ERROR, "reduce() of nothing", message)
    return result.get()


def _columns(emitter: Emitter, node: ast.Call) -> list[Value] | None:
    """Returns the tuples of `zip(*rows)` for a list of tuples; None for other calls of `zip`."""
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Starred):
        return None
    if not all(
        word.arg == "strict" and isinstance(word.value, ast.Constant) for word in node.keywords
    ):
        return None
    before = emitter.state()
    rows = looked_into(emitter, node.args[0].value)
    row = rows.kind.items[0] if isinstance(rows.kind, k.Container) else None
    if not isinstance(row, k.Tuple) or k.is_row(row):
        emitter.restore(before)
        return None
    size = call(emitter, "len", [rows])
    emitter.fail_if(f"{size.code} == 0", row_values.LEFT, "zip() of no rows")
    load = standing_for(emitter, node, "rows of zip", rows)
    columns = []
    for place in range(len(row.items)):
        part = derived(node, f"column {place}", lambda: ast.Constant(None))
        column = new_container(emitter, part, "list", 0)
        items(emitter, load, lambda row, c=column, p=place: add(emitter, c, (row.items[p],)))  # type: ignore[misc]
        columns.append(tuple_as_list(column))
    return columns


def _mapped(emitter: Emitter, node: ast.Call) -> list[Value] | None:
    rows = _rows_of_tuples(emitter, node.args[1:])
    if rows is None or is_iterator(emitter, node.args[0]):
        return None
    return [emitter.numbers(applied(emitter, node.args[0], row)) for row in rows]


def _zipped(emitter: Emitter, node: ast.Call) -> list[Value] | None:
    rows = None if node.keywords else _rows_of_tuples(emitter, node.args)
    return None if rows is None else [tuple_of_values(row) for row in rows]


def _rows_of_tuples(emitter: Emitter, nodes: Sequence[ast.expr]) -> list[tuple[Value, ...]] | None:
    """Returns the rows of several tuples side by side; None if something else is among them."""
    before = emitter.state()
    columns = [_items_of_tuple(emitter, node) for node in nodes]
    if None in columns:
        emitter.restore(before)
        return None
    return list(zip(*filter(None, columns), strict=False)) if all(columns) else []


def _items_of_tuple(emitter: Emitter, node: ast.expr) -> Sequence[Value] | None:
    """Returns the items of the value of an expression if it is a tuple of known length; else None."""
    if is_iterator(emitter, node):
        return None
    before = emitter.state()
    value = iterated(emitter, looked_into(emitter, node))
    if not isinstance(value.kind, k.Tuple):
        emitter.restore(before)
        return None
    return value.items


def joined_in_turn(emitter: Emitter, separator: Value, node: ast.expr) -> Value | None:
    """Compiles `separator.join(…)` as `+` of one item after the other, without a list.

    Returns None if that would be slower: if texts are made between the additions, each addition copies all
    text so far.
    """
    before, block, start = emitter.state(), emitter.block, len(emitter.block.lines)
    result = Accumulator(emitter, node, constant(""), "joined")
    is_first = emitter.copy("True")
    added: list[bool] = []

    def append(value: Value) -> None:
        added.append(value.kind == k.TEXT)
        if added[-1]:
            result.set(call(emitter, "+", [result.get(), value]))

    def take(value: Value) -> None:
        if separator.constant != "":
            emitter.branch(is_first, lambda: None, lambda: append(separator))
            emitter.write(f"{is_first} = False")
        append(value)

    items(emitter, node, take)
    inside = [part for part in block.lines[start:] if isinstance(part, Block)]
    uses = sum("arena" in line for part in inside for _, line in part.text(0))
    if all(added) and uses <= len(added):
        return result.get()
    emitter.restore(before)
    return None


def first(emitter: Emitter, node: ast.Call) -> Value:
    """`next(…)` of a generator expression, or of `iter(…)`."""
    source: Any = node.args[0]
    is_known = is_iterator(emitter, source)
    if isinstance(source, ast.Call) and known_object(emitter, source.func) is iter:
        source, is_known = source.args[0], len(source.args) == 1
    if not is_known:
        iterator = needed(emitter, source)
        if not has_place(iterator):
            emitter.refuse("next() has a compiled form of an iterator only")
        left = items_left(emitter, iterator)
        if len(node.args) > 1:
            other_node = node.args[1]
            return emitter.chosen(left.more, left.item, lambda: expression(emitter, other_node))
        emitter.fail_if(f"not ({left.more})", row_values.STOP_ITERATION, "next() of nothing", "")
        return left.item()
    is_there = emitter.copy("False")
    result = Accumulator(emitter, node, Value(k.NEVER))

    def take(value: Value) -> None:
        result.set(value)
        emitter.write(f"{is_there} = True")

    other = expression(emitter, node.args[1]) if len(node.args) > 1 else None
    items(emitter, source, take, f"not {is_there}")
    if other is not None:
        return emitter.chosen(is_there, result.get, lambda: other)
    emitter.fail_if(f"not {is_there}", row_values.STOP_ITERATION, "next() of nothing", "")
    return result.get()


def as_new_list(emitter: Emitter, node: ast.Call) -> Value:
    """`list(…)`."""
    if not node.args:
        return new_container(emitter, node, "list", 0)
    return list_of(emitter, node.args[0])


def as_bytes(emitter: Emitter, node: ast.Call) -> Value:
    """`bytes(…)` of numbers, in order, or of bytes."""
    if len(node.args) != 1 or node.keywords:
        emitter.refuse("bytes() with such arguments has no compiled form")
    [items_] = node.args
    if isinstance(items_, ast.GeneratorExp) or builtin_of(emitter, items_):
        list_ = as_list(emitter, items_)
    else:
        value = needed(emitter, items_)
        if value.kind == k.BYTES:
            return value
        if (result := special(emitter, "__bytes__", value)) is not None:
            return result
        list_ = _in_list(emitter, items_, value)
    return list_ if list_.kind == k.NEVER else call(emitter, "bytes", [list_])


MOST_NUMBERS = 1 << 16


def as_range(emitter: Emitter, node: ast.Call) -> Value:
    """`range(…)` as a value: if it depends on the row, a list that nothing changes."""
    bounds = [needed(emitter, part) for part in node.args]
    if all(bound.is_constant for bound in bounds):
        return evaluated(emitter, range, *(bound.constant for bound in bounds))
    codes = bounds_of_range(emitter, node)
    size = range_size(emitter, *codes)
    emitter.fail_if(f"{size.code} > {MOST_NUMBERS}", row_values.LEFT, "a range of many numbers")
    list_ = list_of(emitter, node)
    return of_parts(replace(k.unchangeable(list_.kind), default="range"), list_.parts)  # type: ignore[call-arg]


def as_new_set(emitter: Emitter, node: ast.Call) -> Value:
    """`set(…)`."""
    set_ = new_container(emitter, node, "set", 0)
    if node.args:
        items(emitter, node.args[0], lambda value: add(emitter, set_, (value,)), any_order=always)
    return set_


def as_new_dict(emitter: Emitter, node: ast.Call) -> Value:
    """`dict()`, `dict(…)` of a dictionary or of pairs, `OrderedDict` and `Counter`."""
    default = _DEFAULTS.get(known_object(emitter, node.func), "")
    other = None
    if node.args and gives_dict(emitter, node.args[0]):
        other = needed(emitter, node.args[0])
        if isinstance(other.kind, k.Tuple) and k.is_row(other.kind) and not default:
            # Compiled code does not change the dictionary.
            fields = dict(zip(other.kind.names, other.items, strict=True))
            for word in node.keywords:
                fields[str(word.arg)] = emitter.numbers(expression(emitter, word.value))
            return tuple_of_values(fields.values(), tuple(fields), dict)
        if isinstance(other.kind, k.Container) and not node.keywords:
            copied = call(emitter, "dict.copy", [other])
            kind = replace(other.kind, default=default, constant=False)
            return of_parts(kind, copied.parts)
    dict_ = new_container(emitter, node, "dict", 0, default)
    if other is not None:
        add_all(emitter, dict_, node, other)
    elif node.args:
        items(
            emitter,
            node.args[0],
            lambda value: add(emitter, dict_, tuple(unpacked(emitter, value, 2))),
        )
    for word in node.keywords:
        assert word.arg is not None
        add(emitter, dict_, (constant(word.arg), expression(emitter, word.value)))
    return dict_


_DEFAULTS: dict[object, str] = {collections.OrderedDict: "ordered", collections.Counter: "count"}
"""`Container.default` of dictionaries of a class."""


def as_tuple(emitter: Emitter, node: ast.Call) -> Value:
    """`tuple(…)`: a tuple of known length, or a list marked as a tuple whose length depends on the row."""
    if not node.args:
        return constant(())
    source = node.args[0]
    values = unrolled(emitter, source)
    if values is not None:
        return tuple_of_values(values)
    if isinstance(source, ast.GeneratorExp | ast.Call):
        return tuple_as_list(list_of(emitter, source))
    value = iterated(emitter, needed(emitter, source))
    if value.is_constant:
        return constant(tuple(value.constant))
    if isinstance(value.kind, k.Tuple):
        return tuple_of_values(value.items)
    return tuple_as_list(listed(emitter, source, value))
