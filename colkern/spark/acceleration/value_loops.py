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
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from colkern.errors import CompileError
from colkern.rows.calls import CHANGING
from colkern.rows.front import node_of

COLLECT, LOCALS, VALUES, ROW = "@collect", "@locals", "@values", "_value_of_a_round"
"""The global names of the function that collects the values of a loop, of `locals`, and of the function of
the values of `items()`, in the code that `collecting` returns; and the name of the row function."""


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


@dataclass(eq=False)
class _Loops(ast.NodeTransformer):
    """Puts calls of `COLLECT` in place of the loops of a function."""

    function: ast.FunctionDef
    outer: Collection[str]  #: Its outer variables.
    builtins: Collection[str]  #: Those of `_BUILTINS` that have their own meaning in it.
    count: int = 0

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
            ) if {"list", "map", "zip"} <= {*self.builtins} and _is_same_each_time(function):
                is_zipped = False
                match over:
                    case [ast.Call(ast.Name("zip"), [*over], [])]:
                        is_zipped = True
                names = [f"_{place}" for place in range(len(over))]
                values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
                if is_zipped:
                    values = [ast.Tuple(values, ast.Load())]
                row: list[ast.stmt] = [ast.Return(ast.Call(function, values, []))]
                call = self._collected(_over_zip(names, over), row, node.lineno)
                return call or self.generic_visit(node)
            case ast.Call(ast.Attribute(ast.Name(), "fromiter" | "Series"), [given, *_]):
                node.args[0] = _as_list(given)
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Loops that append to an empty list are found in the block in which both stand."""
        body = getattr(node, "body", None)
        block: list[ast.AST] = body if isinstance(body, list) else []
        for place, statement in enumerate(block):
            if place and isinstance(statement, ast.For):
                block[place] = self._appending(block[place - 1], statement)
        return super().generic_visit(node)

    def _appending(self, before: ast.AST, loop: ast.For) -> ast.stmt:
        """Returns the assignment of a list to which a loop appends one value in each round; the loop itself
        if it is another, or if one of its variables is used outside."""
        match before:
            case ast.Assign([ast.Name(result)], ast.List([])) if not loop.orelse:
                row = _returning(copy.deepcopy(loop.body), result)
            case _:
                return loop
        own = {each.id for each in _names(loop) if isinstance(each.ctx, ast.Store)}
        handlers = (each for each in ast.walk(loop) if isinstance(each, ast.ExceptHandler))
        own |= {each.name for each in handlers if each.name}
        inside, everywhere = (
            sum(each.id in own for each in _names(tree)) for tree in (loop, self.function)
        )
        if not row or result in {each.id for part in row for each in _names(part)}:
            return loop
        call = self._collected(loop, row, loop.lineno) if inside == everywhere else None
        if call is None:
            return loop
        return ast.copy_location(ast.Assign([ast.Name(result, ast.Store())], call), loop)

    def _collected(
        self, of: ast.For | ast.comprehension, row: list[ast.stmt], line: int
    ) -> ast.Call | None:
        """Returns the call of `COLLECT` for a loop with the body `row`; None if it is not taken."""
        loop, row = self._without_rows(of, row)
        match self._without_places(loop, row):
            case ast.Tuple(targets), ast.Call(ast.Name("zip"), over, options) if (
                "zip" in self.builtins
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
        if _changes_others(row):
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
            for name in sorted({each.id for each in _names(tree)}.intersection(self.outer))
        ]
        self.count += 1
        parts = [ast.Constant(source), _called(LOCALS), ast.Tuple(kept, ast.Load()), *over]
        return _called(COLLECT, parts, options)

    def _without_rows(
        self, of: ast.For | ast.comprehension, row: list[ast.stmt]
    ) -> tuple[ast.For | ast.comprehension, list[ast.stmt]]:
        """Returns a loop over `frame.itertuples()` and its body as a loop over those of its columns that
        the body reads; other loops as they are."""
        match of.target, of.iter:
            case ast.Name(name), ast.Call(
                ast.Attribute(ast.Name(frame), "itertuples"), [], options
            ) if all(getattr(each.value, "value", None) is not None for each in options):
                fields = _Fields(name)
                body = [fields.visit(copy.deepcopy(each)) for each in row]
                taken = {each.id for each in _names(self.function)}
                if not fields.names or fields.is_used or taken & {*fields.names.values()}:
                    return of, row
                over: list[ast.expr] = [
                    ast.Subscript(ast.Name(frame, ast.Load()), ast.Constant(part), ast.Load())
                    for part in fields.names
                ]
                return _over_zip(fields.names.values(), over), body
        return of, row

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
                        "enumerate" in self.builtins
                    ):
                        return target, given
                    case ast.Call(ast.Attribute(given, "items"), [], []):
                        return target, _called(VALUES, [given])
        return of.target, of.iter


def _changes_others(row: list[ast.stmt]) -> bool:
    """Whether the body of a loop changes an object from outside, so that one round sees another."""
    own = {each.id for part in row for each in _names(part) if isinstance(each.ctx, ast.Store)}
    for node in (each for part in row for each in ast.walk(part)):
        match node:
            case ast.Subscript(of, ctx=ast.Store() | ast.Del()):
                pass
            case ast.Attribute(of, ctx=ast.Store() | ast.Del()):
                pass
            case ast.Expr(ast.Call(ast.Attribute(of, method))) if method in CHANGING:
                pass
            case ast.Call(ast.Attribute(of, "pop" | "popitem" | "popleft" | "setdefault")):
                pass
            case _:
                continue
        while isinstance(of, ast.Subscript | ast.Attribute):
            of = of.value
        if isinstance(of, ast.Name) and of.id not in own:
            return True
    return False


@dataclass(eq=False)
class _Fields(ast.NodeTransformer):
    """Puts variables in place of the fields of a named tuple."""

    row: str  #: The variable with the tuple.
    #: The variables by the names of the fields.
    names: dict[str, str] = field(default_factory=dict)
    is_used: bool = False  #: Whether the tuple is used in another way.

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A field, unless its name may be one that pandas or Python chooses."""
        match node:
            case ast.Attribute(ast.Name(self.row), part, ast.Load()) if (
                part != "Index" and not part.startswith("_")
            ):
                name = self.names.setdefault(part, f"{self.row}_{part}")
                return ast.Name(name, ast.Load())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Any other use."""
        self.is_used |= node.id == self.row
        return node


_BUILTINS = frozenset(["enumerate", "list", "map", "zip"])
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


def _over_zip(names: Iterable[str], over: Iterable[ast.expr]) -> ast.comprehension:
    """Returns the loop of variables over what `zip` gives."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return ast.comprehension(ast.Tuple(targets, ast.Store()), _called("zip", over), [], 0)


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.Name))


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
