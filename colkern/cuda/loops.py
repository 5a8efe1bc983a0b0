"""Turns `for i in range(begin, end, step)` into a loop that CUDA compilers make good code of.

Numba's own `range` selects a count and a position in each iteration, and computes the count with a
signed 64-bit division, for which a GPU has no instruction. So bodies are compiled with their loops
spelled out over unsigned numbers. If the step is a constant (as a block's width is), the division
becomes a shift; with a step of one there is none. The meaning of a body stays the same: the simulator
runs these loops, which proves it.

A search for the first slot of a kind tests each slot, and so waits for memory each time. It is spelled
out to read eight slots before it tests; if one of them is of that kind, it goes on one by one.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable

import numpy as np

from colkern.generated import function_of_tree
from colkern.kernels.arguments import members_of

UNSIGNED = "_u8"
"""The name of uint64 in the generated loops."""

_HALF = 1 << 63

_NAMES = ("next", "end", "step", "left", "here", "found")
"""The variables that a generated loop adds to a kernel's source."""

_BY_ONE = """
{next}, {end} = {u8}({begin}), {u8}({stop})
while {next} < {end}:
    {target} = {next}
    {next} += {u8}(1)
"""

_BY_STEP = """
{next}, {end}, {step} = {u8}({begin}), {u8}({stop}), {u8}({by})
{search}
{left} = ({end} - {next} + {step} - {u8}(1)) // {step} if {next} < {end} else {u8}(0)
while {left} != {u8}(0):
    {target} = {next}
    {next} += {step}
    {left} -= {u8}(1)
"""

_SEARCH = """
while {next} + {u8}(7) * {step} < {end}:
    {here}, {left}, {found} = {next}, {u8}(8), {u8}(0)
    while {left} != {u8}(0):
        {target} = {here}
        {known}
        {found} |= {u8}({condition})
        {here} += {step}
        {left} -= {u8}(1)
    if {found} != {u8}(0):
        break
    {next} = {here}
"""


def with_plain_loops(
    function: Callable[..., object], namespace: dict[str, object]
) -> types.FunctionType:
    """The same function with spelled-out loops; raises `TypeError` unless they are over a rising range."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    # Annotations may use names that are not in the namespace.
    definition.returns = None
    _spell_out_groups(function, definition)
    # Keeps the line numbers of the body's file in errors.
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    namespace[UNSIGNED] = np.uint64
    _Loops(function.__name__, namespace).visit(definition)
    ast.fix_missing_locations(tree)
    name = function.__name__
    spelled_out = function_of_tree(name, tree, namespace, function.__code__.co_filename)
    del namespace[name]
    return spelled_out


def _spell_out_groups(function: Callable[..., object], definition: ast.FunctionDef) -> None:
    """Give a function one parameter for each member of a group, and remove annotations."""
    members: dict[str, list[str]] = {}
    parameters = []
    for argument in definition.args.args:
        annotation = function.__annotations__.get(argument.arg, "")
        below = members_of(argument.arg, annotation, function.__globals__)
        members |= below
        parameters += [ast.arg(_flat_name(path)) for path in below[argument.arg]]
    definition.args.args = parameters
    grouped = {path: parts for path, parts in members.items() if parts != [path] or "." in path}
    if grouped:
        definition.body = [_Groups(grouped).visit(statement) for statement in definition.body]


def _flat_name(path: str) -> str:
    return path.replace(".", "__")


class _Groups(ast.NodeTransformer):
    """Replaces members of groups by parameters, so that a compiler need not support `NamedTuple`."""

    def __init__(self, members: dict[str, list[str]]) -> None:
        self._members = members

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Pass a group that is an argument as its members."""
        if node.keywords:
            raise TypeError(f"line {node.lineno}: kernels call functions by position")
        node.func = self.visit(node.func)
        node.args = [part for argument in node.args for part in self._parts(argument)]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace a member of a group."""
        if ast.unparse(node) in self._members:
            (part,) = self._parts(node)
            return part
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Check that a name is not that of a group."""
        if node.id in self._members:
            raise TypeError(f"line {node.lineno}: the group `{node.id}` is no value of its own")
        return node

    def _parts(self, node: ast.expr) -> list[ast.expr]:
        paths = self._members.get(ast.unparse(node))
        if paths is None:
            return [self.visit(node)]
        return [ast.copy_location(ast.Name(_flat_name(p), ast.Load()), node) for p in paths]


class _Loops(ast.NodeTransformer):
    def __init__(self, where: str, namespace: dict[str, object]) -> None:
        self._where = where
        self._namespace = namespace
        self._loops = 0

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """The statements that replace a loop; loops within it are replaced, too."""
        self.generic_visit(node)
        self._loops += 1
        begin, stop, by = self._bounds(node)
        names = {
            "target": ast.unparse(node.target),
            "u8": UNSIGNED,
            **{what: f"_{what}{self._loops}" for what in _NAMES},
        }
        search = ""
        if by and (condition := _searched(node)) is not None:
            known = "; ".join(map(ast.unparse, node.body[:-1])) or "pass"
            search = _SEARCH.format(known=known, condition=ast.unparse(condition), **names)
        statements = ast.parse(
            (_BY_STEP if by else _BY_ONE).format(
                begin=begin, stop=stop, by=by, search=search, **names
            )
        ).body
        for statement in statements:
            for part in ast.walk(statement):
                ast.copy_location(part, node)
        loop = statements[-1]
        assert isinstance(loop, ast.While)
        loop.body += node.body
        return statements

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Spell out a global number; other names stay."""
        known = self._namespace.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return self._spelled_out(node, known)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Spell out a number in the body."""
        return self._spelled_out(node, node.value)

    def _spelled_out(self, node: ast.expr, value: object) -> ast.expr:
        if not isinstance(value, int | np.integer) or not _HALF <= int(value) < 2 * _HALF:
            return node
        complement = ast.parse(f"~{UNSIGNED}({2 * _HALF - 1 - int(value)})", mode="eval").body
        for part in ast.walk(complement):
            ast.copy_location(part, node)
        return complement

    def _bounds(self, node: ast.For) -> tuple[str, str, str]:
        call = node.iter
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and isinstance(node.target, ast.Name)
            and not node.orelse
            and not any(isinstance(a, ast.UnaryOp | ast.Starred) for a in call.args)
        ):
            raise TypeError(
                f"{self._where}, line {node.lineno}: a body's loop is `for name in range(…)` over "
                f"unsigned numbers, got `for {ast.unparse(node.target)} in {ast.unparse(call)}`"
            )
        texts = [ast.unparse(argument) for argument in call.args]
        begin, stop, by = {1: ["0", *texts, ""], 2: [*texts, ""], 3: texts}[len(texts)]
        return begin, stop, by


def _searched(node: ast.For) -> ast.expr | None:
    """The condition that few slots meet, if a loop returns at the first valid slot that meets it."""
    *known, last = node.body
    if not (isinstance(last, ast.If) and isinstance(last.body[0], ast.Return) and not last.orelse):
        return None
    if not all(isinstance(statement, ast.Assign) for statement in known):
        return None
    if not isinstance(last.test, ast.BoolOp):
        return last.test
    condition, *others = last.test.values
    of_validity = [ast.unparse(other).startswith("is_valid(") for other in others]
    return condition if isinstance(last.test.op, ast.And) and of_validity == [True] else None
