"""The items of `filter` and of functions of `itertools`, as lists that are made before the first item is
read.

That makes no difference, as an exception while a list is made leaves the row to Python (`Emitter.ahead`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.comprehensions import as_list, items
from colkern.rows.containers import add, new_container
from colkern.rows.emitter import Emitter, derived
from colkern.rows.expressions import expression, needed, truth
from colkern.rows.folding import constant
from colkern.rows.functions import applied
from colkern.rows.iteration import integer
from colkern.rows.values import Value, tuple_of_values


def kept(emitter: Emitter, node: ast.Call, stops: bool = False) -> Value:
    """Returns the items that `filter(test, …)` keeps, or with `stops` those of `takewhile(test, …)`."""
    test, iterable = _arguments(emitter, node, 2)
    list_ = new_container(emitter, node, "list", 0)
    going = emitter.copy("True")

    def take(value: Value) -> None:
        value = emitter.numbers(value)
        is_plain = isinstance(test, ast.Constant) and test.value is None and not stops
        verdict = truth(emitter, value if is_plain else applied(emitter, test, [value]))
        emitter.write(f"{going} = {emitter.numbers(verdict).code}")
        emitter.branch(going, lambda: add(emitter, list_, (value,)), lambda: None)

    items(emitter, iterable, take, going if stops else "True")
    return list_


taken_while = partial(kept, stops=True)


def sliced(emitter: Emitter, node: ast.Call) -> Value:
    """`islice(…, stop)` and `islice(…, start, stop)`; either bound may be None."""
    iterable, start, stop = slice_of(emitter, node)
    list_ = new_container(emitter, node, "list", 0)
    place = emitter.copy("0")

    def take(value: Value) -> None:
        emitter.branch(f"{place} >= {start}", lambda: add(emitter, list_, (value,)), lambda: None)
        emitter.write(f"{place} += 1")

    items(emitter, iterable, take, f"{place} < {stop}")
    return list_


def slice_of(emitter: Emitter, node: ast.Call) -> tuple[ast.expr, str, str]:
    """Returns the iterable, and the code of the two bounds, of a call of `islice`."""
    iterable, *bounds = _arguments(emitter, node, 2, 3)
    values = [expression(emitter, bound) for bound in bounds]
    values = [constant(None), *values][-2:]
    start, stop = (
        default
        if value.kind == k.NONE
        else integer(emitter, emitter.plain(value, row_values.LEFT), "islice() of")
        for value, default in zip(values, ("0", str((1 << 63) - 1)), strict=True)
    )
    emitter.leave_if(f"({start} < 0) | ({stop} < 0)", "islice() from or up to a negative number")
    return iterable, start, stop


def chained(emitter: Emitter, node: ast.Call) -> Value:
    """`chain(…)`."""
    parts = _arguments(emitter, node, *range(9))
    stars: list[ast.expr] = [ast.Starred(part, ast.Load()) for part in parts]
    return expression(emitter, derived(node, "list", lambda: ast.List(stars, ast.Load())))


def flattened(emitter: Emitter, node: ast.Call) -> Value:
    """`chain.from_iterable(…)`."""
    (parts,) = _arguments(emitter, node, 1)

    def make() -> ast.ListComp:
        names = [ast.Name(name, ast.Store()) for name in ("<part>", "<item>")]
        loads = [ast.Name(name.id, ast.Load()) for name in names]
        loops = zip(names, (parts, loads[0]), strict=True)
        return ast.ListComp(loads[1], [ast.comprehension(*loop, [], 0) for loop in loops])

    return expression(emitter, derived(node, "items", make))


def products(emitter: Emitter, node: ast.Call) -> Value:
    """`product(…)` of several iterables."""
    list_ = new_container(emitter, node, "list", 0)
    names = []
    times, call = 1, node
    if [word.arg for word in node.keywords] == ["repeat"]:
        times = needed(emitter, node.keywords[0].value).constant
        if not isinstance(times, int) or times < 0:
            emitter.refuse("product() has a compiled form only with a constant as `repeat`")
        call = ast.Call(node.func, node.args, [])
    for number, part in enumerate(times * _arguments(emitter, call, *range(1, 9))):
        name = f"<factor {number}>"
        names.append(derived(part, "factor", partial(ast.Name, name, ast.Load())))
        emitter.env[name] = as_list(emitter, part)

    def go_over(rest: Sequence[ast.Name], chosen: list[Value]) -> None:
        if rest:
            items(emitter, rest[0], lambda value: go_over(rest[1:], [*chosen, value]))
        else:
            add(emitter, list_, (tuple_of_values(chosen),))

    go_over(names, [])
    return list_


def _arguments(emitter: Emitter, node: ast.Call, *counts: int) -> list[ast.expr]:
    """Returns the arguments of a call; refuses other counts, and arguments by name."""
    if node.keywords or len(node.args) not in counts:
        emitter.refuse(f"{ast.unparse(node.func)}() with such arguments has no compiled form")
    return node.args
