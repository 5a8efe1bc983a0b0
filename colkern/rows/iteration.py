"""Loops over anything that Python can iterate: ranges, texts, tuples, containers, and pairs of items."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Any, NoReturn, cast

from colkern import rows
from colkern.errors import CompileError
from colkern.kernels import row_dicts, row_documents, row_lists, row_values, text_characters
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked
from colkern.rows.constants import kind_of
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import arguments_by_name, expression, iterated, looked_into, needed
from colkern.rows.folding import constant
from colkern.rows.front import is_generator
from colkern.rows.groups import are_gone_over_once
from colkern.rows.library import group_by, repeat, replacement, transposed
from colkern.rows.literals import stored_constant
from colkern.rows.several import as_one_of
from colkern.rows.statements import repeated, rounds
from colkern.rows.values import Value, of_parts, picked, tuple_of_values

AnyOrder = Callable[[k.Kind], bool]
"""Whether items of a kind may come in any order, as those of a set do."""


def never(kind: k.Kind) -> bool:
    """Returns False: no items may come in any order."""
    return False


def always(kind: k.Kind) -> bool:
    """Returns True: all items may come in any order."""
    return True


@dataclass
class Source:
    """The code that gives the items of a loop.

    Args:
        more: Code for whether there is another item.
        item: Writes the code that reads it.
        advance: The lines after the body.
        end: Writes the checks after the last item.
        is_shared: Whether others may read the items that are left.
    """

    more: str
    item: Callable[[], Value]
    advance: list[str] = field(default_factory=list)
    end: Callable[[], None] | None = None
    is_shared: bool = False


def each(
    emitter: Emitter,
    node: ast.AST,
    iterable: ast.expr,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    names: set[str],
    targets: Set[str] = frozenset(),
    orelse: Sequence[ast.stmt] = (),
    more: str = "True",
    any_order: AnyOrder = never,
) -> None:
    """Compiles a loop over an iterable.

    If the loop has no compiled form, and has a few constant items, each round is written separately.

    Args:
        node: The node that identifies its variables.
        bind: Binds the loop's targets.
        body: Writes one round.
        names: The variables to which it assigns.
        targets: Those of them to which only `bind` assigns.
        orelse: Writes the statements that follow unless a `break` leaves the loop.
        more: A further condition for another round.
        any_order: Tells which items may come in any order.
    """
    read_later = len(emitter.read_later)

    def start_of_round() -> None:
        if more != "True":
            with emitter.within(f"if not {more}:"):
                emitter.write("break")

    def loop() -> None:
        outer = emitter.changing
        emitter.changing = {*outer, *names} if emitter.is_ahead else names
        try:
            source = source_of(emitter, iterable, any_order)
        finally:
            emitter.changing = outer

        def round_() -> None:
            start_of_round()
            with emitter.within(f"if not {source.more}:"):
                if source.end is not None:
                    source.end()
                emitter.write("break")
            value = source.item()
            for line in source.advance:
                emitter.write(line)
            bind(value)
            body()

        repeated(emitter, node, names, round_, orelse)

    def round_of(value: Value) -> None:
        start_of_round()
        bind(value)
        body()

    def one_by_one() -> None:
        choices = choices_of(emitter, iterable)
        if choices is None or not 0 < len(choices) <= MOST_ROUNDS_APART:
            emitter.refuse("a loop over items that are not known when the function is compiled")
        bodies = [partial(round_of, choice) for choice in choices]
        rounds(emitter, node, targets, names - targets, bodies, orelse)

    _first_that_compiles(emitter, loop, one_by_one)
    if not emitter.is_ahead:
        emitter.read_later[read_later:] = emitter.read_by_name


MOST_ROUNDS_APART = 16
"""The largest number of rounds that are written separately."""


def _first_that_compiles(
    emitter: Emitter, write: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """Write something in one way, or in another way if that has fewer parts without a compiled form."""
    before, node, gaps = emitter.state(), emitter.node, emitter.gaps
    refusal: CompileError | None = None
    try:
        write()
    except CompileError as error:
        refusal = error
    if refusal is None and emitter.gaps == gaps:
        return
    most = emitter.gaps if refusal is None else None
    emitter.restore(before)
    before = emitter.state()
    emitter.node, emitter.gaps = node, gaps
    try:
        otherwise()
    except CompileError:
        if refusal is not None:
            raise refusal from None
    else:
        if most is None or emitter.gaps <= most:
            return
    emitter.restore(before)
    emitter.node, emitter.gaps = node, gaps
    write()


MOST_PARTS = {"enumerate": 1, "zip": 9}


def choices_of(emitter: Emitter, node: ast.expr) -> Sequence[Value] | None:
    """Returns the items of an expression that has a few separate ones; None for other expressions."""
    name = builtin_of(emitter, node)
    if name in VIEWS and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        value = needed(emitter, node.func.value)
        if isinstance(value.constant, dict):
            return [constant(item) for item in getattr(value.constant, name)()]
        return view_of_row(value, name).items if k.is_row(value.kind) else None
    if name in ("enumerate", "zip") and isinstance(node, ast.Call) and not node.keywords:
        choices = [choices_of(emitter, part) for part in node.args]
        parts = [part for part in choices if part is not None]
        if len(parts) < len(choices) or len(parts) > MOST_PARTS[name]:
            return None
        numbers = [map(constant, itertools.count())] if name == "enumerate" else []
        return [tuple_of_values(items) for items in zip(*numbers, *parts, strict=False)]
    if name == "reversed" and isinstance(node, ast.Call):
        has_order = builtin_of(emitter, node.args[0]) in ("", *VIEWS)
        forwards = choices_of(emitter, node.args[0]) if has_order else None
        return None if forwards is None else forwards[::-1]
    if name == "map" and isinstance(node, ast.Call):
        parts = [choices_of(emitter, part) or () for part in node.args[1:]]
        if sum(map(len, parts)) > MOST_ROUNDS_APART:
            return None
        with emitter.ahead():
            return [
                emitter.numbers(rows.functions.applied(emitter, node.args[0], row))
                for row in zip(*parts, strict=False)
            ]
    if name:
        return None
    if isinstance(node, ast.List | ast.Tuple):
        return [expression(emitter, item) for item in node.elts]
    value = iterated(emitter, needed(emitter, node))
    if isinstance(value.constant, dict | list):
        return [constant(item) for item in value.constant]
    return value.items if isinstance(value.kind, k.Tuple) else None


def source_of(emitter: Emitter, node: ast.expr, any_order: AnyOrder = never) -> Source:
    """Returns the items of an expression, for a loop."""
    match node:
        case ast.Call(ast.Attribute(attr="get"), [key, ast.Tuple([])]):
            # Where items are only read, an empty list is as good, and may be of the kind of the others.
            empty = partial(ast.Call, node.func, [key, ast.List([], ast.Load())], [])
            if _has_lists(emitter, node.func.value):  # type: ignore[attr-defined]
                node = derived(node, "with a list", empty)
    name = builtin_of(emitter, node)
    if isinstance(node, ast.GeneratorExp):
        return _generated(emitter, node)
    if name:
        assert isinstance(node, ast.Call)
        if name in _BUILTINS:
            return _BUILTINS[name](emitter, node)
        return source_of_value(emitter, made_ahead(emitter, node))
    return source_of_value(emitter, looked_into(emitter, node), any_order)


def _has_lists(emitter: Emitter, node: ast.expr) -> bool:
    """Whether an expression is a dictionary of lists."""
    with emitter.looking():
        value = looked_into(emitter, node)
    if value.is_constant:
        return isinstance(value.constant, dict) and all(
            type(items) is list for items in value.constant.values()
        )
    of = value.kind.items[-1] if isinstance(value.kind, k.Container) else k.NONE
    return isinstance(of, k.Container) and of.name == "list" and not of.is_tuple


def builtin_of(emitter: Emitter, node: ast.expr) -> str:
    """Returns the built-in function that a call names; empty for other expressions."""
    if not isinstance(node, ast.Call):
        return ""
    meant = replacement(known_object(emitter, node.func))
    if meant is repeat and len(node.args) == 1 and not node.keywords:
        return "repeat"
    if is_generator(meant):
        return "yield"
    for name, known in _MEANINGS.items():
        if known is meant:
            return name
    if getattr(meant, "__self__", None) is itertools.chain:
        return "from_iterable"
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "elements":
            return "yield"
        is_view = node.func.attr in VIEWS and not node.args
        return node.func.attr if is_view or node.func.attr == "finditer" else ""
    return ""


def is_iterator(emitter: Emitter, node: ast.expr) -> bool:
    """Whether an expression makes an iterator, whose items can be read once only."""
    return isinstance(node, ast.GeneratorExp) or builtin_of(emitter, node) in _ITERATORS


def gives_items(emitter: Emitter, node: ast.expr) -> bool:
    """Whether an expression is an iterator, or a view of a dictionary."""
    named = emitter.env.get(node.id) if isinstance(node, ast.Name) else None
    if named is not None and k.has_iterator(named.kind):
        return True
    return is_iterator(emitter, node) or builtin_of(emitter, node) in VIEWS


def makes_iterator(function: object) -> bool:
    """Whether a function makes an iterator."""
    return is_generator(function) or (isinstance(function, type) and issubclass(function, Iterator))


def refuse_iterator(emitter: Emitter) -> NoReturn:
    """Refuse an iterator as a value: a list in its place could be read twice."""
    emitter.refuse("an iterator has a compiled form only where its items are read at once")


def known_object(emitter: Emitter, node: ast.expr) -> object:
    """Returns the object that a name, or an attribute of a module or class, means; None if unknown."""
    if isinstance(node, ast.Name):
        value = emitter.env.get(node.id)
        if value is not None:
            return value.constant if value.is_constant else None
        return None if node.id in emitter.locals else emitter.definition.names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = known_object(emitter, node.value)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType | type) else None
    return None


_MEANINGS = {
    "range": range,
    "enumerate": enumerate,
    "zip": zip,
    "reversed": reversed,
    "map": map,
    "filter": filter,
    "chain": itertools.chain,
    "product": itertools.product,
    "islice": itertools.islice,
    "takewhile": itertools.takewhile,
    "count": itertools.count,
    "cycle": itertools.cycle,
}


_ITERATORS = {*_MEANINGS, "from_iterable", "finditer", "repeat", "yield"} - {"range"}


def source_of_value(emitter: Emitter, value: Value, any_order: AnyOrder = never) -> Source:
    """Returns the items of a value, for a loop."""
    value = iterated(emitter, value)
    if value.kind == k.CONTENT:
        return _of_document(emitter, value)
    value = as_one_of(emitter, value, list, dict, str, bytes)
    if rows.iterators.has_place(value):
        return rows.iterators.items_left(emitter, value)
    if isinstance(value.constant, range):
        bounds = value.constant
        return _counted(emitter, *(str(n) for n in (bounds.start, bounds.stop, bounds.step)))
    if isinstance(value.constant, tuple | list) and len(value.constant) <= MOST_CHOICES:
        return _few(emitter, [constant(item) for item in value.constant])
    if isinstance(value.constant, tuple | list | dict | set | frozenset):
        value = stored_constant(emitter, list(value.constant), kind_of)
    if isinstance(value.kind, k.Tuple):
        return _few(emitter, list(value.items))
    value = emitter.numbers(value)
    if value.kind == k.TEXT:
        return _characters(emitter, value)
    if value.kind == k.BYTES:
        return _bytes(emitter, value)
    if isinstance(value.kind, k.Container):
        return rows.containers.items_of(emitter, value, any_order)
    if value.kind == k.NEVER:
        return Source("False", lambda: value)
    return emitter.refuse(f"a loop over {value.kind} has no compiled form")


def _of_document(emitter: Emitter, value: Value) -> Source:
    """The items of a list in a document, or the keys of a dictionary; another value leaves the row."""
    number, *each = value.items
    places = {k.form_of(one.kind): place for place, one in enumerate(each)}
    list_, dict_ = each[places[list]], each[places[dict]]
    is_other = f"{number.code} not in ({places[list]}, {places[dict]})"
    emitter.fail_if(is_other, row_values.LEFT, "a value that is no list")
    arguments = [number, Value(k.INT, list_.code)]
    items = invoked(emitter, row_documents.list_of_items, arguments, list_.kind, "iter()")
    source = rows.containers.items_of(emitter, items)
    emitter.read_later += [dict_.kind] if emitter.is_ahead else []
    changes = f"{emitter.use(row_dicts.dict_changes)}({dict_.code})"
    changes = f"({changes} if {number.code} == {places[dict]} else 0)"
    before = emitter.copy(changes)

    def item() -> Value:
        emitter.fail_if(f"{changes} != {before}", row_values.LEFT, "a dictionary that changes")
        return source.item()

    # Python looks for changes after the last item, too.
    return replace(source, more=f"({source.more} or {changes} != {before})", item=item)


def _characters(emitter: Emitter, text: Value) -> Source:
    place = emitter.copy("0")

    def item() -> Value:
        character = Value(k.TEXT, emitter.bind(f"{character_at}({text.code}, {place})"))
        emitter.write(f"{place} += {character.code}.size")
        return character

    character_at = emitter.use(text_characters.character_at)
    return Source(f"{place} < {text.code}.size", item)


def _bytes(emitter: Emitter, data: Value) -> Source:
    place = emitter.copy("0")
    return Source(
        f"{place} < {data.code}.size",
        lambda: Value(k.INT, emitter.copy(f"get_byte({data.code}.address + {place})")),
        [f"{place} += 1"],
    )


def _few(emitter: Emitter, items: list[Value]) -> Source:
    """Returns the items of a tuple, all converted to one kind, for a loop that selects them by number."""
    kind: k.Kind | None = k.NEVER
    items = [emitter.numbers(item) for item in items]
    for item in items:
        kind = kind and k.joined(kind, item.kind)
    if kind is None:
        emitter.refuse("a loop over a tuple of values of several kinds has no compiled form")
    place = emitter.copy("0")
    parts = [emitter.converted(item, kind).parts for item in items]

    def item_() -> Value:
        codes = [picked(column, place) for column in zip(*parts, strict=True)]
        return of_parts(kind, tuple(map(emitter.copy, codes)))

    return Source(f"{place} < {len(items)}", item_, [f"{place} += 1"])


MOST_CHOICES = 4


def bounds_of_range(emitter: Emitter, node: ast.Call) -> list[str]:
    """Returns the start, the stop and the step of a `range(…)`."""
    codes = [integer(emitter, needed(emitter, part), "range() of") for part in node.args]
    if len(codes) == 1:
        codes.insert(0, "0")
    if len(codes) == 2:
        codes.append("1")
    return codes


def integer(emitter: Emitter, value: Value, what: str) -> str:
    """Returns the code of a value that has to be an integer, as one after `what` has."""
    value = emitter.numbers(rows.enums.as_plain(emitter, value))
    value = emitter.signed(value)
    if value.kind.name not in ("int", "bool"):
        emitter.refuse(f"{what} {value.kind}")
    return emitter.converted(value, k.INT).code


def _counted(emitter: Emitter, start: str, stop: str, step: str) -> Source:
    if step == "1":
        place = emitter.copy(start)
        stop = emitter.copy(stop)
        return Source(
            f"{place} < {stop}", lambda: Value(k.INT, emitter.copy(place)), [f"{place} += 1"]
        )
    known = [int(code) for code in (start, stop, step) if code.lstrip("-").isdigit()]
    zero, step = emitter.copy("0"), emitter.copy(step)
    start = emitter.copy(start)
    is_known = len(known) == 3 and known[2] != 0 and max(map(abs, known)) < 1 << 62
    count = str(len(range(*known))) if is_known else range_size(emitter, start, stop, step).code
    return Source(
        f"{zero} < {count}",
        lambda: Value(k.INT, emitter.copy(f"{start} + {zero} * {step}")),
        [f"{zero} += 1"],
    )


def range_size(emitter: Emitter, start: str, stop: str, step: str) -> Value:
    """Returns the number of items of a range."""
    bounds = [Value(k.INT, code) for code in (start, stop, step)]
    return invoked(emitter, row_lists.range_size, bounds, k.INT, "range")


def _count(emitter: Emitter, node: ast.Call) -> Source:
    """`itertools.count` of integers."""
    words = arguments_by_name(emitter, node, "start", "step")
    ends = [
        words.get("start", ast.Constant(0)),
        ast.Constant(0),
        words.get("step", ast.Constant(1)),
    ]
    bounds = derived(node, "bounds", lambda: ast.Call(node.func, ends, []))
    start, _, step = bounds_of_range(emitter, bounds)
    number, step = emitter.copy(start), emitter.copy(step)
    # The loop ends long before a number leaves 64 bits.
    for code, most in ((number, 1 << 62), (step, 1 << 16)):
        emitter.leave_if(f"({code} > {most}) | ({code} < -{most})", "count() of such large numbers")
    return Source("True", lambda: Value(k.INT, emitter.copy(number)), [f"{number} += {step}"])


def _repeat(emitter: Emitter, node: ast.Call) -> Source:
    """`itertools.repeat` without a number of times."""
    value = emitter.numbers(expression(emitter, node.args[0]))
    parts = tuple(map(emitter.copy, value.parts))
    return Source("True", lambda: of_parts(value.kind, parts))


def _cycle(emitter: Emitter, node: ast.Call) -> Source:
    """`itertools.cycle`."""
    with emitter.ahead():
        list_ = rows.comprehensions.as_list(emitter, node.args[0])
    # Python keeps the items that it reads in the first round.
    emitter.read_later += k.containers_in(list_.kind)
    place, size = emitter.copy("0"), call(emitter, "len", [list_]).code
    return Source(
        f"{size} > 0",
        lambda: emitter.numbers(
            rows.containers.item(emitter, list_, Value(k.INT, emitter.copy(place)))
        ),
        [f"{place} = {place} + 1 if {place} + 1 < {size} else 0"],
    )


def _enumerate(emitter: Emitter, node: ast.Call) -> Source:
    arguments = arguments_by_name(emitter, node, "iterable", "start")
    first = arguments.get("start")
    start = constant(0) if first is None else needed(emitter, first)
    number = emitter.copy(integer(emitter, start, "enumerate() from"))
    inside = source_of(emitter, arguments["iterable"])

    def item() -> Value:
        value = emitter.numbers(inside.item())
        count = Value(k.INT, emitter.copy(number))
        return tuple_of_values((count, value))

    advance = [*inside.advance, f"{number} += 1"]
    return Source(inside.more, item, advance, inside.end, inside.is_shared)


def _zip(emitter: Emitter, node: ast.Call) -> Source:
    arguments = node.args
    match arguments:
        case [ast.Starred(ast.BinOp(ast.List([part]) | ast.Tuple([part]), ast.Mult(), times))]:
            load = standing_for(emitter, node, "part", expression(emitter, part))
            count = needed(emitter, times).constant
            arguments = [load] * count if isinstance(count, int) else arguments
    if len(arguments) == 1 and isinstance(arguments[0], ast.Starred):
        rows, function = arguments[0].value, ast.Constant(cast(Any, transposed))
        rows_call = derived(node, "rows", lambda: ast.Call(function, [rows], node.keywords))
        return _yielded(emitter, rows_call)
    words = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
    if not words.keys() <= {"strict"} or words.get("strict", False) not in (False, True):
        emitter.refuse("zip() has a compiled form only where `strict` is True or False")
    parts = [source_of(emitter, part) for part in arguments]
    source = _side_by_side(emitter, parts, tuple_of_values)
    if words.get("strict"):
        if source.is_shared:
            emitter.refuse(
                "zip() of an iterator that has a name, with `strict`, has no compiled form"
            )
        rest = " or ".join(part.more for part in parts)
        source.end = lambda: emitter.fail_if(
            f"({rest})", row_values.VALUE_ERROR, "zip() of sizes that differ"
        )
    return source


def _reversed(emitter: Emitter, node: ast.Call) -> Source:
    if builtin_of(emitter, node.args[0]) == "range":
        inside = node.args[0]
        assert isinstance(inside, ast.Call)
        start, stop, step = bounds_of_range(emitter, inside)
        count = range_size(emitter, start, stop, step)
        left = emitter.copy(count.code)
        return Source(
            f"{left} > 0",
            lambda: Value(k.INT, emitter.copy(f"{start} + ({left} - 1) * {step}")),
            [f"{left} -= 1"],
        )
    value = iterated(emitter, emitter.plain(expression(emitter, node.args[0])))
    if isinstance(value.constant, str | tuple | list):
        return source_of_value(emitter, constant(value.constant[::-1]))
    if isinstance(value.kind, k.Tuple):
        return _few(emitter, list(value.items[::-1]))
    if isinstance(value.kind, k.Container):
        return rows.containers.items_of(emitter, value, backwards=True)
    whole = [constant(bound) for bound in (None, None, -1)]
    return source_of_value(emitter, call(emitter, "[::]", [value, *whole]))


def _view(emitter: Emitter, node: ast.Call) -> Source:
    """`items()`, `keys()` and `values()` of a dictionary."""
    assert isinstance(node.func, ast.Attribute)
    value = as_one_of(emitter, needed(emitter, node.func.value), dict)
    if isinstance(value.constant, dict):
        return source_of_value(emitter, constant(list(getattr(value.constant, node.func.attr)())))
    if isinstance(value.kind, k.Tuple) and k.is_row(value.kind):
        return source_of_value(emitter, view_of_row(value, node.func.attr))
    if not isinstance(value.kind, k.Container) or value.kind.name != "dict":
        emitter.refuse(f"{node.func.attr}() of {value.kind} has no compiled form")
    return rows.containers.entries_of(emitter, value, node.func.attr)


def view_of_row(value: Value, what: str) -> Value:
    """Returns `items()`, `keys()` or `values()` of a dictionary with constant keys, as a tuple."""
    assert isinstance(value.kind, k.Tuple)
    if what == "keys":
        return constant(value.kind.names)
    items = value.items
    if what == "items":
        pairs = zip(map(constant, value.kind.names), value.items, strict=True)
        items = tuple(map(tuple_of_values, pairs))
    return tuple_of_values(items)


MADE_AHEAD = {
    "filter": "kept",
    "chain": "chained",
    "from_iterable": "flattened",
    "product": "products",
    "islice": "sliced",
    "takewhile": "taken_while",
}
"""The functions of `lazy_items` that give a list of the items of `filter` or an `itertools` function."""


def made_ahead(emitter: Emitter, node: ast.Call) -> Value:
    """Returns the items of `filter` or an `itertools` function, as a list that is made in advance."""
    name = builtin_of(emitter, node)
    ends = name in ("filter", "islice", "takewhile")
    if not ends and any(builtin_of(emitter, part) in ENDLESS for part in node.args):
        return emitter.computed(f"itertools.{name}")
    with emitter.ahead():
        return cast(Value, getattr(rows.lazy_items, MADE_AHEAD[name])(emitter, node))


ENDLESS = ("count", "cycle", "repeat")
"""The iterators that never end."""


def _islice(emitter: Emitter, node: ast.Call) -> Source:
    if len(node.args) > 2 or isinstance(node.args[0], ast.GeneratorExp):
        return source_of_value(emitter, made_ahead(emitter, node))
    iterable, _, stop = rows.lazy_items.slice_of(emitter, node)
    most, count = emitter.copy(stop), emitter.copy("0")
    inside = source_of(emitter, iterable)
    if inside.end is not None:
        emitter.refuse("islice() of zip(…, strict=True) has no compiled form")
    more, advance = f"({count} < {most} and {inside.more})", [*inside.advance, f"{count} += 1"]
    return Source(more, inside.item, advance, is_shared=inside.is_shared)


def _generated(emitter: Emitter, node: ast.GeneratorExp) -> Source:
    """Returns the items of a generator expression in a loop, as a list that is made in advance."""
    with emitter.ahead():
        list_ = rows.comprehensions.as_list(emitter, node)
    return source_of_value(emitter, list_)


def _map(emitter: Emitter, node: ast.Call) -> Source:
    parts = [source_of(emitter, part) for part in node.args[1:]]
    return _side_by_side(emitter, parts, partial(rows.functions.applied, emitter, node.args[0]))


def _side_by_side(
    emitter: Emitter, parts: Sequence[Source], joined: Callable[[list[Value]], Value]
) -> Source:
    """Returns the items of `zip` and `map`: what a function gives for an item of each part."""
    is_shared = any(part.is_shared for part in parts)

    def item() -> Value:
        values: list[Value] = []
        for part in parts:
            # An iterator that has a name has lost an item if a part behind it is at its end.
            if is_shared and values:
                with emitter.within(f"if not {part.more}:"):
                    emitter.write("break")
            values.append(emitter.numbers(part.item()))
        return joined(values)

    advance = [line for part in parts for line in part.advance]
    more = parts[0].more if is_shared else f"({' and '.join(part.more for part in parts)})"
    return Source(more, item, advance, is_shared=is_shared)


def _yielded(emitter: Emitter, node: ast.Call) -> Source:
    """Returns the items of a generator, all made before the first is read.

    That makes no difference: a generator that raises, or runs for long, leaves the row to Python, and the
    variables that it reads may not change meanwhile.
    """
    is_grouped = replacement(known_object(emitter, node.func)) is group_by
    if is_grouped and not are_gone_over_once(emitter.definition.body, node):
        emitter.refuse(
            "groupby() has a compiled form only in a loop that iterates over each group once"
        )
    emitter.gone_over = node
    return source_of_value(emitter, expression(emitter, node))


VIEWS = ("items", "keys", "values")

_BUILTINS: dict[str, Callable[[Emitter, ast.Call], Source]] = {
    "range": lambda e, node: _counted(e, *bounds_of_range(e, node)),
    "enumerate": _enumerate,
    "zip": _zip,
    "reversed": _reversed,
    "map": _map,
    "islice": _islice,
    "count": _count,
    "cycle": _cycle,
    "repeat": _repeat,
    "finditer": lambda e, node: rows.matches.matches_of(e, node),
    "yield": _yielded,
    "items": _view,
    "keys": _view,
    "values": _view,
}
