"""Loops over the values of columns, such as `[f(a, b) for a, b in zip(s, t)]`.

A body that has such loops is compiled anew, with calls of `COLLECT` in their place. Each gets the row
function as text, the variables of the body, and what the loop runs over.
"""

from __future__ import annotations

import ast
import copy
import dis
import functools
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from colkern.errors import CompileError
from colkern.rows.front import node_of

COLLECT, LOCALS, VALUES, ITEMS = "@collect", "@locals", "@values", "@items"
ROW = "_value_of_a_round"
"""The global names of the function that collects the values of a loop, of `locals`, and of the functions of
the values of `items()` and of the items at the first places, in the code that `collecting` returns; and the
name of the row function."""


@functools.lru_cache(maxsize=256)
def collecting(function: types.FunctionType) -> types.CodeType:
    """Returns the code of a function with `COLLECT` in place of its loops over values; its own code if it
    has no such loop, or if its source is not known."""
    code = function.__code__
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    has_loop = any(dis.opmap["FOR_ITER"] in each.co_code[::2] for each in (code, *inner))
    if not has_loop and "map" not in code.co_names:
        return code
    try:
        node = node_of(function)
    except CompileError:
        return code
    if not isinstance(node, ast.FunctionDef):
        return code
    own = {*function.__globals__, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    loops = _Loops(node, code.co_freevars, _BUILTINS - own)
    loops.generic_visit(node)
    if not loops.count:
        return code
    node.decorator_list = []
    # Outer variables need a function around.
    around = ast.parse(f"def around({', '.join(code.co_freevars)}): pass")
    around.body[0].body = [node]  # type: ignore[attr-defined]
    compiled = compile(
        ast.fix_missing_locations(around), code.co_filename, "exec", dont_inherit=True
    )
    for name in ("around", node.name):
        compiled = next(
            each
            for each in compiled.co_consts
            if isinstance(each, types.CodeType) and each.co_name == name
        )
    return compiled


class _Loops(ast.NodeTransformer):
    """Puts calls of `COLLECT` in place of the loops of a function.

    Args:
        function: The function.
        outer: Its outer variables.
        builtins: Those of `_BUILTINS` that have their own meaning in it.
    """

    def __init__(
        self, function: ast.FunctionDef, outer: Collection[str], builtins: Collection[str]
    ) -> None:
        self._function = function
        self._outer = outer
        self._builtins = builtins
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Parts with variables of their own are left as they are."""
        visited: ast.AST = node if isinstance(node, _SCOPES) else super().visit(node)
        return visited

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """A comprehension with one `for` and no `if`."""
        of, *others = node.generators
        is_plain = not (others or of.ifs or of.is_async)
        row: list[ast.stmt] = [ast.Return(node.elt)]
        return (is_plain and self._collected(of, row, node.lineno)) or node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`list(map(f, s, t))` and `list(map(f, zip(s, t)))`, which give what a comprehension over
        `zip(s, t)` gives."""
        match node:
            case ast.Call(
                ast.Name("list"), [ast.Call(ast.Name("map"), [function, *over], [])], []
            ) if {"list", "map", "zip"} <= {*self._builtins} and _is_same_each_time(function):
                is_zipped = False
                match over:
                    case [ast.Call(ast.Name("zip"), [*over], [])]:
                        is_zipped = True
                names = [f"_{place}" for place in range(len(over))]
                values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
                if is_zipped:
                    values = [ast.Tuple(values, ast.Load())]
                row: list[ast.stmt] = [ast.Return(ast.Call(function, values, []))]
                call = self._collected(_over_zip(map(_stored, names), over), row, node.lineno)
                return call or self.generic_visit(node)
            case ast.Call(ast.Attribute(ast.Name(), "fromiter" | "Series"), [given, *_]):
                node.args[0] = _as_list(given)
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Loops that append to an empty list are found in the block in which both stand."""
        body = getattr(node, "body", None)
        block: list[ast.AST] = body if isinstance(body, list) else []
        for place, statement in enumerate(block):
            if isinstance(statement, ast.For) and not statement.orelse:
                block[place] = self._filling(block[:place], statement)
        return super().generic_visit(node)

    def _filling(self, before: list[ast.AST], loop: ast.For) -> ast.stmt:
        """Returns a statement that does what a loop does that appends one value to an empty list in each
        round, or assigns to the item at its number; the loop itself if it is another, or if one of its
        variables is used outside."""
        own = {each.id for each in _names(loop) if isinstance(each.ctx, ast.Store)}
        inside, everywhere = (
            sum(each.id in own for each in _names(tree)) for tree in (loop, self._function)
        )
        if inside != everywhere:
            return loop
        for result in _empty_lists(before):
            row = _returning(copy.deepcopy(loop.body), result)
            if row and not _uses(row, result):
                call = self._collected(loop, row, loop.lineno)
                if call is not None:
                    assigned = ast.Assign([ast.Name(result, ast.Store())], call)
                    return ast.copy_location(assigned, loop)
        item = _Item(loop)
        row = [
            *map(item.visit, copy.deepcopy(loop.body)),
            ast.Return(ast.Name(item.name, ast.Load())),
        ]
        if (
            item.result is None
            or _uses([self._function], item.name)
            or _uses(row, item.result)
            or not {"enumerate", "range"} <= {*self._builtins}
        ):
            return loop
        into = ast.Tuple([ast.Constant(item.name), ast.Name(item.result, ast.Load())], ast.Load())
        call = self._collected(loop, row, loop.lineno, [ast.keyword("into", into)])
        return loop if call is None else ast.copy_location(ast.Expr(call), loop)

    def _collected(
        self,
        of: ast.For | ast.comprehension,
        row: list[ast.stmt],
        line: int,
        into: Iterable[ast.keyword] = (),
    ) -> ast.Call | None:
        """Returns the call of `COLLECT` for a loop with the body `row`; None if it is not taken."""
        loop, row = self._by_parts(of, row)
        match self._without_places(loop, row):
            case ast.Tuple(targets), ast.Call(ast.Name("zip"), over, options) if (
                "zip" in self._builtins
            ):
                pass
            case ast.Name() as target, given:
                targets, over, options = [target], [given], []
            case _:
                return None
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        is_plain = len(over) == len(names) == len({*names}) == len(targets)
        is_special = any(isinstance(each, _SPECIAL) for part in row for each in ast.walk(part))
        if not is_plain or is_special or any(isinstance(each, ast.Starred) for each in over):
            return None
        tree = ast.parse(f"def {ROW}({', '.join(names)}): pass")
        tree.body[0].body = row  # type: ignore[attr-defined]
        # The lines are those of the body, as far as there is one statement.
        source = "\n" * (line - 2) + ast.unparse(tree).strip() + "\n"
        try:
            compile(source, "", "exec")
        except SyntaxError:
            # It leaves the loop.
            return None
        # A function has the outer variables that its code names.
        kept: list[ast.expr] = [
            ast.Name(name, ast.Load())
            for name in sorted({each.id for each in _names(tree)}.intersection(self._outer))
        ]
        self.count += 1
        parts = [ast.Constant(source), _called(LOCALS), ast.Tuple(kept, ast.Load()), *over]
        return _called(COLLECT, parts, [*options, *into])

    def _by_parts(
        self, of: ast.For | ast.comprehension, row: list[ast.stmt]
    ) -> tuple[ast.For | ast.comprehension, list[ast.stmt]]:
        """Returns a loop over `frame.itertuples()`, or over the numbers of rows, and its body as a loop
        over those columns of which the body reads the parts; other loops as they are."""
        names: list[ast.expr] = []
        over: list[ast.expr] = []
        match of.target, of.iter:
            case ast.Name(name), ast.Call(
                ast.Attribute(ast.Name() as frame, "itertuples"), [], options
            ) if all(getattr(each.value, "value", None) is not None for each in options):
                parts = _Parts(name, functools.partial(_field_of, frame))
            case ast.Name(name), ast.Call(ast.Name("range"), [count], []):
                parts = _Parts(name, functools.partial(_item_of, count))
            case ast.Tuple([ast.Name(name), target]), ast.Call(ast.Name("enumerate"), [given], []):
                parts = _Parts(name, functools.partial(_item_of, ast.Constant(None)))
                match target, given:
                    case ast.Tuple(names), ast.Call(ast.Name("zip"), over, []):
                        pass
                    case _:
                        names, over = [target], [given]
            case _:
                return of, row
        body = [parts.visit(copy.deepcopy(each)) for each in row]
        taken = {each.id for each in _names(self._function)}
        # What may change within a round is not read before.
        is_read = any(_uses(body, each) for each in parts.read)
        is_own = parts.names and not (parts.is_used or taken & {*parts.names.values()})
        if not is_own or is_read or not {"enumerate", "range", "zip"} <= {*self._builtins}:
            return of, row
        return _over_zip([*names, *map(_stored, parts.names.values())], [*over, *parts.over]), body

    def _without_places(
        self, of: ast.For | ast.comprehension, row: list[ast.stmt]
    ) -> tuple[ast.expr, ast.expr]:
        """Returns the target of a loop and what it runs over, without the numbers of `enumerate` and the
        labels of `items()`, if they are not used."""
        match of.target, of.iter:
            case ast.Tuple([ast.Name(place), target]), ast.Call() as call if place not in {
                each.id for part in (*row, target) for each in _names(part)
            }:
                match call:
                    case ast.Call(ast.Name("enumerate"), [given], []) if (
                        "enumerate" in self._builtins
                    ):
                        return target, given
                    case ast.Call(ast.Attribute(given, "items"), [], []):
                        return target, _called(VALUES, [given])
        return of.target, of.iter


class _Parts(ast.NodeTransformer):
    """Puts variables in place of the parts of what a loop runs over: fields of a row, items at its number.

    Args:
        variable: The variable of the loop.
        of: Returns the column to which a node belongs if it is such a part, else None.

    Attributes:
        names: The variables by the texts of the columns.
        over: The columns.
        read: The variables that they are or belong to.
        is_used: Whether the variable is used in another way.
    """

    def __init__(self, variable: str, of: Callable[[str, ast.AST], ast.expr | None]) -> None:
        self._variable = variable
        self._of = of
        self.names: dict[str, str] = {}
        self.over: list[ast.expr] = []
        self.read: set[str] = set()
        self.is_used = False

    def visit(self, node: ast.AST) -> Any:
        """A part, another use of the variable, or another node."""
        column = self._of(self._variable, node)
        if column is None:
            self.is_used |= isinstance(node, ast.Name) and node.id == self._variable
            return self.generic_visit(node)
        self.read |= {each.id for each in _names(node)} - {self._variable}
        text = ast.unparse(column)
        if text not in self.names:
            self.names[text] = f"{self._variable}_{len(self.over)}"
            self.over.append(column)
        return ast.Name(self.names[text], ast.Load())


def _field_of(frame: ast.expr, row: str, node: ast.AST) -> ast.expr | None:
    """Returns the column of a field, unless its name may be one that pandas or Python chooses."""
    match node:
        case ast.Attribute(ast.Name(name), field, ast.Load()) if (
            name == row and field != "Index" and not field.startswith("_")
        ):
            return ast.Subscript(frame, ast.Constant(field), ast.Load())
    return None


def _item_of(count: ast.expr, place: str, node: ast.AST) -> ast.expr | None:
    """Returns the items of the column of which a node reads the one at a place."""
    match node:
        case ast.Subscript(ast.Attribute(column, by), ast.Name(name), ast.Load()) if (
            name == place and by in ("at", "iat", "iloc", "loc")
        ):
            pass
        case ast.Subscript(column, ast.Name(name), ast.Load()) if name == place:
            by = ""
        case _:
            return None
    # What calls give may differ from round to round.
    if any(isinstance(each, ast.Call) for each in ast.walk(column)):
        return None
    return _called(ITEMS, [count, column, ast.Constant(by)])


class _Item(ast.NodeTransformer):
    """Puts a variable in place of the item that a loop assigns to, and returns it at `continue`.

    Args:
        loop: The loop.

    Attributes:
        name: The variable.
        result: The variable with the list or array; None if the loop assigns to other items, too.
    """

    def __init__(self, loop: ast.For) -> None:
        place = ""
        match loop.target, loop.iter:
            case (ast.Name(place), ast.Call(ast.Name("range"), [_], [])) | (
                ast.Tuple([ast.Name(place), _]),
                ast.Call(ast.Name("enumerate"), [_], []),
            ):
                pass
        parts = [each for part in loop.body for each in ast.walk(part)]
        items = [each for each in parts if isinstance(each, ast.Subscript) and _is_stored(each)]
        kinds = {*map(type, parts)}
        has_rounds = bool(kinds & {ast.For, ast.While})
        # What an array keeps of a number may be another one.
        reads = any(isinstance(each, ast.AugAssign) and each.target in items for each in parts)
        is_mixed = reads and (has_rounds or len(items) > 1)
        self.result: str | None = None
        match [*{ast.unparse(each): each for each in items}.values()]:
            case [ast.Subscript(ast.Name(result), ast.Name(at))] if at == place:
                leaves = ast.Return in kinds or (has_rounds and ast.Continue in kinds)
                self.result = None if is_mixed or leaves else result
        self.name = f"{self.result}_item"

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """The item, where it is assigned to."""
        return ast.Name(self.name, ast.Store()) if _is_stored(node) else self.generic_visit(node)

    def visit_Continue(self, _: ast.Continue) -> ast.AST:
        """The end of a round."""
        return ast.Return(ast.Name(self.name, ast.Load()))


_BUILTINS = frozenset(["enumerate", "list", "map", "range", "zip"])
"""Builtin functions of loops that are taken."""

_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.DictComp, ast.SetComp, ast.GeneratorExp),
)

_SPECIAL = (
    *(ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
)
"""Parts of a loop that have another meaning in a function of its own."""


def _is_same_each_time(function: ast.expr) -> bool:
    """Whether an expression gives the same function whenever it is evaluated."""
    match function:
        case ast.Name() | ast.Attribute(ast.Name()):
            return True
        case ast.Lambda(ast.arguments(defaults=[], kw_defaults=[])):
            return True
    return False


def _as_list(node: ast.expr) -> ast.expr:
    """Returns a generator as a list of the same values; other expressions as they are."""
    match node:
        case ast.GeneratorExp(value, generators):
            return ast.copy_location(ast.ListComp(value, generators), node)
        case ast.Call(ast.Name("map")):
            return ast.copy_location(_called("list", [node]), node)
    return node


def _called(
    name: str, arguments: Iterable[ast.expr] = (), options: Iterable[ast.keyword] = ()
) -> ast.Call:
    """Returns the call of a function by its name."""
    return ast.Call(ast.Name(name, ast.Load()), [*arguments], [*options])


def _stored(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def _over_zip(targets: Iterable[ast.expr], over: Iterable[ast.expr]) -> ast.comprehension:
    """Returns the loop of variables over what `zip` gives."""
    return ast.comprehension(ast.Tuple([*targets], ast.Store()), _called("zip", over), [], 0)


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.Name))


def _uses(trees: Iterable[ast.AST], name: str) -> bool:
    return any(each.id == name for tree in trees for each in _names(tree))


def _is_stored(item: ast.Subscript) -> bool:
    return not isinstance(item.ctx, ast.Load)


def _empty_lists(block: list[ast.AST]) -> Iterator[str]:
    """Yields the variables that are empty lists at the end of a block."""
    for place, statement in reversed([*enumerate(block)]):
        match statement:
            case ast.Assign([ast.Name(name)], ast.List([])) if not _uses(block[place + 1 :], name):
                yield name


def _returning(block: list[ast.stmt], result: str) -> list[ast.stmt] | None:
    """Returns a block that returns what the given one appends to a list, at its end or before a `continue`;
    None if it does not append once."""
    *first, last = block
    if any(isinstance(each, ast.Return) for part in block for each in ast.walk(part)):
        return None
    if isinstance(last, ast.Continue):
        return _returning(first, result) if first else None
    for place, statement in enumerate(first):
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue):
            body = _returning(statement.body, result)
            if body is None:
                return None
            first[place] = ast.If(statement.test, body, statement.orelse)
    match last:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [value], [])) if (
            name == result
        ):
            return [*first, ast.Return(value)]
        case ast.If(test, then, [_, *_] as otherwise):
            both = _returning(then, result), _returning(otherwise, result)
            return [*first, ast.If(test, both[0], both[1])] if both[0] and both[1] else None
        case ast.Try(body=body, handlers=handlers, orelse=[], finalbody=[]):
            tried = _returning(body, result)
            caught = [_returning(each.body, result) for each in handlers]
            if tried and all(caught):
                for handler, statements in zip(handlers, caught, strict=True):
                    handler.body = statements or []
                return [*first, ast.Try(tried, handlers, [], [])]
    return None
