"""The syntax tree of a user's function, and the objects that its names mean."""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import copy
import dis
import hashlib
import inspect
import linecache
import re
import sys
import types
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from colkern.errors import CompileError
from colkern.forks import Lock, cached_property
from colkern.rows.contexts import METHODS, Contexts
from colkern.rows.decorators import CACHED, without_decorators
from colkern.rows.kinds import OPERATOR_METHODS
from colkern.rows.library import replacement
from colkern.rows.low_bits import places_of_low_bits
from colkern.rows.row_displays import changing_rows, rows_of
from colkern.rows.scopes import (
    class_around,
    declared_elsewhere,
    give_own_names,
    give_private_names,
    nodes_of,
    own_nodes,
    stored_names,
    tables_of,
)


@dataclass(frozen=True)
class Definition:
    """A function as a syntax tree.

    Args:
        parameters: The names of its parameters.
        body: Its statements; the body of a lambda becomes a `return`.
        names: The objects for the names to which it does not assign.
    """

    function: types.FunctionType
    parameters: tuple[str, ...]
    body: list[ast.stmt]
    names: dict[str, Any]
    path: str

    @property
    def is_library(self) -> bool:
        """Whether it stands for a function of the standard library."""
        return str(self.function.__module__).startswith(f"{__package__}.")

    @cached_property
    def is_generator(self) -> bool:
        """Whether it yields: the compiled form returns a list of the yielded items."""
        return _yields(self.body)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of its statements."""
        return nodes_of(self.body)

    @cached_property
    def shared(self) -> frozenset[str]:
        """The variables that local functions assign to by `nonlocal`, or that methods change."""
        return frozenset(declared_elsewhere(self.nodes) | changing_instances(self))

    @cached_property
    def deleted(self) -> frozenset[str]:
        """The variables that it deletes; an `except` clause deletes its variable."""
        handlers = (part.name or "" for part in self.nodes if isinstance(part, ast.ExceptHandler))
        names = (part for part in self.nodes if isinstance(part, ast.Name))
        return frozenset(handlers) | {part.id for part in names if isinstance(part.ctx, ast.Del)}

    @cached_property
    def changing_rows(self) -> frozenset[str]:
        """The variables of dictionaries with constant keys whose values change."""
        # A caller's dictionary has another name.
        return frozenset(changing_rows(self.nodes) - {*self.parameters})

    @cached_property
    def rows(self) -> frozenset[int]:
        """The displays that are rows if no row changes, by the identity of their nodes."""
        return frozenset(rows_of(self.nodes))

    @cached_property
    def low_bits(self) -> frozenset[ast.AST]:
        """The nodes where the lowest 64 bits of integers suffice."""
        return places_of_low_bits(self.body, self.parameters, self.names)

    @cached_property
    def mentions(self) -> Counter[str]:
        """The number of places that name each variable."""
        return Counter(part.id for part in self.nodes if isinstance(part, ast.Name))


def _yields(body: Iterable[ast.AST]) -> bool:
    """Whether statements yield, functions within them aside."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(body))


def is_generator(function: object) -> bool:
    """Whether a function yields, given as an object or as the syntax tree of a local function."""
    if isinstance(function, ast.FunctionDef):
        return _yields(function.body)
    return inspect.isgeneratorfunction(function)


def definition_of(function: types.FunctionType, is_called: bool = False) -> Definition:
    """Returns the definition of a function, with the lines of its file.

    Args:
        is_called: Whether a row function calls it, so that `*args` and `**kwargs` have a meaning.

    Raises:
        CompileError: If its source cannot be read.
    """
    node = node_of(function)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
    else:
        body = node.body
    arguments = node.args
    if arguments.kwarg and is_of_standard_library(function):
        raise CompileError(f"{function.__name__}: **kwargs of a library do not compile")
    if (arguments.vararg or arguments.kwarg) and not is_called:
        raise CompileError(
            f"{function.__name__}: *args and **kwargs do not name columns; name the parameters, or, in a "
            f"decorator, put functools.wraps around the function that takes them"
        )
    names_of = meanings_of(function)
    if names_of.get("dict") is dict and "dict" not in variables_of(function.__code__):
        body = [_Displays().visit(statement) for statement in body]
    if any(isinstance(part, ast.Global) for part in nodes_of(body)):
        body = _Globals.marked(copy.deepcopy(body))
    body = without_decorators(function, body, names_of, node_of)
    own = variables_of(function.__code__)
    others = {name: names_of[name] for name in names_of if name not in own}
    body = Contexts(others, node_of, returns_itself).visit(ast.Module(body, [])).body
    _place_iterators(body)
    give_own_names(body)
    _make_tuples(body)
    _make_tables(body, others)
    parameters = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs]
    names = tuple(each.arg for each in (*parameters, arguments.kwarg) if each is not None)
    return Definition(function, names, body, names_of, function.__code__.co_filename)


WRITTEN = 1 << 9
"""The flag of classes that are defined in Python."""


def is_of_standard_library(function: Any) -> bool:
    """Whether a function, or the class of a method, belongs to the standard library."""
    package = (getattr(function, "__module__", None) or "").partition(".")[0]
    return package in sys.stdlib_module_names - {"__main__"}


def is_of_library(function: types.FunctionType) -> bool:
    """Whether a function belongs to the standard library or to an installed package."""
    return is_of_standard_library(function) or "site-packages" in function.__code__.co_filename


class _Displays(ast.NodeTransformer):
    """Replaces `dict(a=1)` by `{"a": 1}`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrites a call, and the calls within it."""
        self.generic_visit(node)
        is_dict = isinstance(node.func, ast.Name) and node.func.id == "dict"
        if not is_dict or node.args or not node.keywords:
            return node
        keys: list[ast.expr | None] = [
            ast.Constant(word.arg) if word.arg else None for word in node.keywords
        ]
        display = ast.Dict(keys, [word.value for word in node.keywords])
        return ast.fix_missing_locations(ast.copy_location(display, node))


class _Globals(ast.NodeTransformer):
    """Puts `global` in the place of statements that assign to globals, and removes it elsewhere."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    @classmethod
    def marked(cls, body: Sequence[ast.stmt]) -> list[Any]:
        """Rewrites the statements of a function, which has its own declarations."""
        declared = [part.names for part in own_nodes(body) if isinstance(part, ast.Global)]
        own = cls({*chain.from_iterable(declared)})
        return [own.visit(statement) for statement in body]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrites a local function."""
        node.body = self.marked(node.body)
        return self._marked(node, {node.name})

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrites a statement, and those within it."""
        super().generic_visit(node)
        stored = stored_names([node])
        if isinstance(node, ast.Import | ast.ImportFrom):
            stored = {(each.asname or each.name).partition(".")[0] for each in node.names}
        return self._marked(node, stored) if isinstance(node, ast.stmt) else node

    def _marked(self, node: ast.stmt, stored: set[str]) -> ast.stmt:
        is_declaration = isinstance(node, ast.Global)
        names = set() if is_declaration else self._names & stored
        return ast.copy_location(ast.Global([*names]), node) if is_declaration or names else node


def variables_of(code: types.CodeType) -> set[str]:
    """Returns the parameters and variables of code, and those of functions within it."""
    parts = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return {*code.co_varnames, *code.co_cellvars}.union(*map(variables_of, parts))


def _place_iterators(body: list[ast.stmt]) -> None:
    """Move a generator expression, or a call such as `map(…)`, to where its variable is read.

    Only if nothing else happens in between: it is read by the next statement, or only assignments of
    constants or empty containers to other variables come before that. A variable that the next statement
    reads and binds again (`lines = (… for line in lines)`) is read in a single place, too.
    """
    nodes = nodes_of([ast.Module(body, [])])
    counts = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    for node in nodes:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                _place_in_block(block, counts)


def _place_in_block(block: list[ast.stmt], counts: Counter[str]) -> None:
    for place, node in reversed(list(enumerate(block))):
        name = _iterator_of(node)
        if not name or (
            counts[name] != 2 and not _is_bound_again(name, block[place + 1 : place + 2])
        ):
            continue
        assigned = node.value  # type: ignore[attr-defined]
        read = {part.id for part in ast.walk(assigned) if isinstance(part, ast.Name)}
        for following in block[place + 1 :]:
            if _put(following, name, assigned):
                del block[place]
                break
            target = getattr(following, "targets", [getattr(following, "target", None)])[0]
            is_begun = isinstance(target, ast.Name) and target.id not in read
            value = getattr(following, "value", following)
            is_empty = not getattr(value, "elts", getattr(value, "keys", [value]))
            if not is_begun or not (is_empty or isinstance(value, ast.Constant)):
                break


def _is_bound_again(name: str, following: list[ast.stmt]) -> bool:
    """Whether the next statement reads a variable once, and binds it again."""
    nodes = nodes_of(following)
    names = [type(node.ctx) for node in nodes if isinstance(node, ast.Name) and node.id == name]
    targets = getattr(following[0], "targets", []) if following else []
    is_first = bool(targets) and getattr(targets[0], "id", "") == name
    return is_first and names == [ast.Store, ast.Load]


def _make_tuples(body: list[ast.stmt]) -> None:
    """Turn a list of tuples or constants into a tuple if its variable is only used in loops and `in`.

    Then its items may be of different kinds, and each round of a loop over it may have its own.
    """
    nodes = nodes_of(body)
    counts = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    gone_over = Counter(getattr(part, "id", "") for node in nodes for part in _gone_over(node))
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.List):
            continue
        name = getattr(node.targets[0], "id", "")
        is_only = counts[name] == gone_over[name] + 1 and len(node.targets) == 1
        if is_only and all(isinstance(part, _ALIKE) for part in node.value.elts):
            node.value = ast.copy_location(ast.Tuple(node.value.elts, ast.Load()), node.value)


def _make_tables(body: list[ast.stmt], names: Mapping[str, Any]) -> None:
    """Make a container of constants a constant, so that it is made once, if it never changes."""
    nodes = nodes_of(body)
    tables = {kind: tables_of(nodes, names, kind) for kind in (object, set)}
    for node in body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        is_one = isinstance(node, ast.Assign | ast.AnnAssign) and len(targets) == 1
        if not is_one or getattr(targets[0], "id", "") not in tables[object]:
            continue
        table: Any = None
        match node.value:  # type: ignore[attr-defined]
            case ast.Call(ast.Attribute(ast.Constant(str() as text), "split"), [], []):
                table = text.split()
            case ast.List() | ast.Set() | ast.Dict() as display:
                parts = [part for part in nodes_of([display]) if isinstance(part, _DISPLAYS)]
                with contextlib.suppress(ValueError, TypeError):
                    table = ast.literal_eval(display) if len(parts) == 1 else None
        columns = [table, table.values()] if isinstance(table, dict) else [table or ()]
        is_tested = not isinstance(table, set) or targets[0].id in tables[set]
        if is_tested and all(len({*map(_layout, column)}) == 1 for column in columns):
            node.value = ast.copy_location(ast.Constant(table), node.value)  # type: ignore[attr-defined]


_DISPLAYS = (ast.List, ast.Set, ast.Dict)


def _layout(constant: object) -> object:
    """Returns a key that is equal for constants of one layout; other objects have a key of their own."""
    if isinstance(constant, tuple):
        return tuple(map(_layout, constant))
    return type(constant) if isinstance(constant, int | float | str | bytes) else id(constant)


_ALIKE = (ast.Tuple, ast.Constant, ast.Attribute, ast.Lambda)
"""Items of short displays, which may be of different kinds."""


def _gone_over(node: ast.AST) -> Iterable[ast.expr]:
    """Returns the expressions whose items a node reads in a loop, or searches."""
    if isinstance(node, ast.For | ast.comprehension):
        return [node.iter]
    is_in = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
    return node.comparators[:1] if is_in else ()  # type: ignore[attr-defined]


def _iterator_of(node: ast.stmt) -> str:
    """Returns the variable that a statement binds to an iterator; empty for other statements."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return ""
    function = getattr(node.value, "func", None)
    is_one = isinstance(node.value, ast.GeneratorExp) or getattr(function, "id", "") in _LAZY
    return getattr(node.targets[0], "id", "") if is_one else ""


_LAZY = ("map", "filter", "zip", "enumerate", "reversed")


_AT_ONCE = (
    *(ast.Return, ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Call, ast.keyword),
    *(ast.BinOp, ast.Starred, ast.Tuple, ast.List, ast.JoinedStr, ast.FormattedValue),
    *(ast.Attribute, ast.Subscript),
)
"""Nodes whose parts are all evaluated, once and in order."""


def _put(node: ast.AST, name: str, expression: ast.expr) -> bool:
    """Put an expression in place of a variable if that is evaluated at once; returns whether it was."""
    parts: list[ast.AST] = [node.iter] if isinstance(node, ast.For | ast.comprehension) else []
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        parts = [node.generators[0]]
    elif isinstance(node, _AT_ONCE):
        parts = list(ast.iter_child_nodes(node))
    for part in parts:
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load):
            for field, value in ast.iter_fields(node):
                if value is part:
                    setattr(node, field, expression)
                elif isinstance(value, list):
                    value[:] = [expression if item is part else item for item in value]
            return True
        if _put(part, name, expression):
            return True
    return False


Sources = dict[str, tuple[str, int]]
"""For each function's key, its text and the number of its first line."""

_SHIPPED: Sources = {}


def plain_function(value: Any) -> Any:
    """Returns the plain function within the result of `udf`, a cache or Numba; other values unchanged."""
    if isinstance(value, CACHED):
        return value.__wrapped__
    return getattr(value, "row_function", getattr(value, "py_func", value))


@lru_cache(maxsize=1 << 10)
def keeps_to_itself(form: type, method: Any) -> bool:
    """Whether a method uses its instance only for attributes, so that it does not pass the instance on.

    The same must hold for the methods and properties of the class that it names. False for generators,
    which read the attributes later.
    """
    return all(_passes_on(each) == 0 for each in _reached(form, method))


@lru_cache(maxsize=1 << 10)
def returns_itself(form: type, name: str) -> bool:
    """Whether a method of a class ends by `return self` alone, and keeps the instance to itself else."""
    method = inspect.getattr_static(form, name, None)
    if not isinstance(method, types.FunctionType) or is_generator(method):
        return False
    with contextlib.suppress(CompileError):
        node: Any = node_of(method)
        ends = [part for part in own_nodes(node.body) if isinstance(part, ast.Return)]
        own = node.args.args[0].arg if node.args.args else ""
        are_own = all(getattr(part.value, "id", "") == own for part in ends)
        others = _reached(form, method) - {method}
        is_once = _passes_on(method) == len(ends) > 0 and are_own
        return is_once and all(_passes_on(each) == 0 for each in others)
    return False


def _reached(form: type, method: Any) -> set[Any]:
    """Returns a method, and the methods and the functions of properties of a class that it may call."""
    reached: set[Any] = set()
    waiting = [method]
    while waiting:
        each = waiting.pop()
        if each in reached:
            continue
        reached.add(each)
        code = getattr(each, "__code__", None)
        for name in names_in(code) if code is not None else ():
            for own in (vars(base).get(name) for base in form.__mro__):
                parts = [own.fget, own.fset] if isinstance(own, property) else [own]
                waiting += [part for part in parts if isinstance(part, types.FunctionType)]
    return reached


def _passes_on(method: Any) -> int:
    """Returns how often a method names its instance for anything but an attribute; -1 if unknown, or if
    something that it returns may read the attributes later."""
    if not isinstance(method, types.FunctionType) or is_generator(method):
        return -1
    try:
        node = node_of(method)
    except CompileError:
        return -1
    own = node.args.args[0].arg if node.args.args else ""
    if _reads_later(node, own):
        return -1
    parts = nodes_of([node])
    attributes = Counter(
        getattr(part.value, "id", "") for part in parts if isinstance(part, ast.Attribute)
    )
    return sum(isinstance(part, ast.Name) and part.id == own for part in parts) - attributes[own]


def _reads_later(node: ast.AST, name: str, is_read_at_once: bool = False) -> bool:
    """Whether a node has an iterator or a function that reads a variable.

    Arguments of functions that read all items at once do not count.
    """
    if not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node)):
        return False
    function = getattr(node, "func", None)
    called = getattr(function, "id", getattr(function, "attr", ""))
    is_later = isinstance(node, ast.GeneratorExp | ast.Lambda) or called in _LAZY
    if is_later and not is_read_at_once:
        return True
    at_once = called in _READING or (is_later and is_read_at_once)
    for part in ast.iter_child_nodes(node):
        is_argument = part is not function and at_once
        is_gone_over = any(part is each for each in _gone_over(node))
        if isinstance(node, ast.keyword | ast.Starred):
            is_argument = is_read_at_once
        if _reads_later(part, name, is_argument or is_gone_over or part is function):
            return True
    return False


_READING = (
    *("all", "any", "bytes", "Counter", "deque", "dict", "extend", "fsum", "join", "len"),
    *("list", "max", "min", "next", "prod", "reduce", "set", "sort", "sorted", "sum"),
    *("tuple", "update"),
)
"""Functions and methods that read all items of their arguments before they return."""


def is_constant_of(form: type, name: str) -> bool:
    """Whether an attribute of a class is a plain value of all instances, no method or property."""
    attribute = inspect.getattr_static(form, name, None)
    return attribute is not None and not hasattr(attribute, "__get__")


def _codes(form: type) -> list[tuple[str, types.CodeType]]:
    """Returns the code of the methods of a class and its bases."""
    return [
        (name, method.__code__)
        for base in form.__mro__
        if not is_of_standard_library(base)
        for name, method in vars(base).items()
        if isinstance(method, types.FunctionType)
    ]


def _assigned_by(code: types.CodeType) -> list[str]:
    """Returns the attributes to which code assigns."""
    return [step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"]


@lru_cache(maxsize=1 << 10)
def assigned_fields(form: type) -> tuple[str, ...]:
    """Returns the attributes to which methods of a class assign, except properties and methods."""
    names = dict.fromkeys(name for _, code in _codes(form) for name in _assigned_by(code))
    own = {name: inspect.getattr_static(form, name, None) for name in names}
    slot = types.MemberDescriptorType
    return tuple(
        name for name in names if isinstance(own[name], slot) or not hasattr(own[name], "__get__")
    )


@lru_cache(maxsize=1 << 10)
def changing_methods(form: type) -> frozenset[str]:
    """Returns the methods of a class that assign to attributes, and those that name such a method."""
    special = {name.replace("__", "__i", 1) for name in OPERATOR_METHODS.values()} | {*METHODS}
    codes = [each for each in _codes(form) if each[0][:2] != "__" or each[0] in special]
    changing = {name for name, code in codes if _assigned_by(code)}
    while (
        more := {name for name, code in codes if not changing.isdisjoint(code.co_names)} - changing
    ):
        changing |= more
    return frozenset(changing)


def changing_instances(definition: Definition) -> set[str]:
    """Returns the variables of instances that methods may change."""
    names = set()
    for node in definition.nodes:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as new) | ast.AnnAssign(
                ast.Name(name), value=ast.Call() as new
            ):
                # Methods may follow that return the instance.
                while isinstance(getattr(new.func, "value", None), ast.Call):
                    new = new.func.value  # type: ignore[attr-defined]
                *module, last = ast.unparse(new.func).split(".")
                owner = definition.names.get(module[0]) if len(module) == 1 else None
                named = replacement(getattr(owner, last, definition.names.get(last)))
                if isinstance(named, type) and changing_methods(named):
                    names.add(name)
    return names


def sources_of(function: types.FunctionType) -> Sources:
    """Returns the sources of a function and of the plain functions that it names, for other processes."""
    texts: Sources = {}
    waiting = [function]
    while waiting and len(texts) < MOST_SHIPPED:
        each = waiting.pop()
        if _key(each) in texts:
            continue
        try:
            texts[_key(each)] = _text_of(each)
        except OSError:
            continue
        named = meanings_of(each)
        waiting += [
            value
            for name in names_in(each.__code__)
            if isinstance(value := plain_function(named.get(name)), types.FunctionType)
        ]
    return texts


MOST_SHIPPED = 64
"""The largest number of functions to send."""


def take_sources(sources: Sources) -> None:
    """Keep sources that came from another process."""
    _SHIPPED.update(sources)


def _key(function: types.FunctionType) -> str:
    """Returns a key for a function, the same in all processes; another one once it is edited."""
    code = function.__code__
    place = code.co_filename, code.co_firstlineno, code.co_name
    return hashlib.sha256(repr((place, _content(code))).encode()).hexdigest()


def _content(code: types.CodeType) -> tuple[object, ...]:
    constants = [
        _content(part) if isinstance(part, types.CodeType) else _shown(part)
        for part in code.co_consts
    ]
    return code.co_code, code.co_names, code.co_varnames, constants


def _text_of(function: types.FunctionType) -> tuple[str, int]:
    """Returns the text of a single `def` or `lambda`, and the number of its first line.

    Raises:
        OSError: If it cannot be read.
    """
    # A worker's file of that name may differ.
    shipped = _SHIPPED.get(_key(function)) if _SHIPPED else None
    if shipped:
        return shipped
    path = function.__code__.co_filename
    if path.startswith("<frozen "):
        # The module is frozen into the interpreter.
        path = function.__globals__.get("__file__", path)
    linecache.checkcache(path)
    lines = linecache.getlines(path, function.__globals__)
    if not lines:
        raise OSError(f"there is no file {path}")
    code = function.__code__
    text, node = _at_margin(lines, code.co_firstlineno), None
    with contextlib.suppress(OSError):
        node = _definition_in(text, code)
    if node is None:
        text = "".join(lines)
        node = _definition_in(text, code)
    if node is None:
        raise OSError("its file has changed since")
    return _segment(text, node), node.lineno


def _at_margin(lines: list[str], first: int) -> str:
    """Returns a `def` at the left margin, with its decorators, behind empty lines in place of those before.

    Empty if none begins at that line. If a line of an expression or a text is at the margin, it ends there,
    and cannot be parsed.
    """
    begins = (place for place in range(first - 1, len(lines)) if lines[place][0] not in _WITHIN)
    head = next((place for place in begins if lines[place][0] != "@"), None)
    if head is None or lines[first - 1][0] in _WITHIN or not lines[head].startswith("def "):
        return ""
    return "\n" * (first - 1) + "".join(lines[first - 1 : next(begins, len(lines))])


_WITHIN = " \t\f\r\n#)]}"
"""What lines of a statement at the left margin begin with, the first aside."""


def _definition_in(text: str, code: types.CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """Returns the function of a text from which code was compiled; None if it was edited since."""
    definitions = (node for node in _definitions(text) if _is_of(node, code))
    return next((node for node in definitions if _says(node, code)), None)


def _segment(text: str, node: ast.FunctionDef | ast.Lambda) -> str:
    """Returns the lines of a function in a file, from where it begins to where it ends."""
    assert node.end_lineno is not None
    # `ast.get_source_segment` goes over all characters of its text, in Python.
    lines = re.split("\r\n?|\n", text)[node.lineno - 1 : node.end_lineno]
    cut = copy.copy(node)
    cut.lineno, cut.end_lineno = 1, len(lines)
    segment = ast.get_source_segment("\n".join(lines), cut, padded=True)
    assert segment is not None
    return segment


_parsing = Lock()
"""CPython has one counter of the depth of trees for all threads, and raises `SystemError` if two threads
parse at once. Parsing a whole file takes long enough for that."""


@lru_cache(maxsize=8)
def _definitions(text: str) -> list[ast.FunctionDef | ast.Lambda]:
    """Returns all functions of a file."""
    try:
        with _parsing:
            tree = ast.parse(text)
    except SyntaxError as error:
        raise OSError(f"its file cannot be read: {error}") from None
    return [node for node in nodes_of([tree]) if isinstance(node, ast.FunctionDef | ast.Lambda)]


def _is_of(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether code was compiled from a function of a file, by the places of both."""
    if isinstance(node, ast.Lambda):
        if code.co_name != "<lambda>":
            return False
        # Code of an f-string of one value has the place of that value only, from Python 3.12 on.
        parts = node.body.values if isinstance(node.body, ast.JoinedStr) else []
        places = {(part.lineno, part.col_offset) for part in (node.body, *parts)}
        own = {(line, column) for line, _, column, _ in code.co_positions()}
        if own == {(code.co_firstlineno, 0)}:
            # Code of a constant has no place but its line, from Python 3.12 on.
            return node.lineno == code.co_firstlineno
        return not places.isdisjoint(own)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


def _says(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether a function of a file has the names and constants of code, so that it was not edited since."""
    names = names_in(code)
    give_private_names(node, class_around(code.co_qualname))
    if any(name.startswith("@py") for name in names):
        return True  # pytest has rewritten its assertions.
    flags = code.co_flags & _FUTURE
    is_lambda = isinstance(node, ast.Lambda)
    tree = ast.Module([ast.copy_location(ast.Expr(node), node) if is_lambda else node], [])  # type: ignore[arg-type, list-item]
    if code.co_freevars:
        # `nonlocal` needs an enclosing function.
        around = ast.parse(f"def around({', '.join(code.co_freevars)}): pass")
        around.body[0].body, tree = tree.body, around  # type: ignore[attr-defined]
    outer = compile(tree, "", "exec", flags, dont_inherit=True)
    if code.co_freevars:
        outer = outer.co_consts[0]
    own = [
        part
        for part in outer.co_consts
        if isinstance(part, types.CodeType) and part.co_name == code.co_name
    ]
    return any(names_in(each) == names and _constants(each) == _constants(code) for each in own)


_FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})


def _constants(code: types.CodeType) -> list[object]:
    return [
        _constants(part) if isinstance(part, types.CodeType) else _shown(part)
        for part in code.co_consts
    ]


def _shown(constant: object) -> str:
    # The order of a set differs from process to process.
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def names_in(code: types.CodeType) -> set[str]:
    """Returns the names of globals, attributes and outer variables in code, and in functions within it."""
    names = {*code.co_names, *code.co_freevars}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names |= names_in(part)
    return names


def node_of(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """Returns the `def` or `lambda` of a function, with the lines of its file."""
    try:
        text, first = _text_of(function)
    except OSError as error:
        raise CompileError(
            f"{function.__name__}: its source cannot be read ({error}); define it in a file or a "
            f"notebook's cell"
        ) from None
    is_lambda = function.__code__.co_name == "<lambda>"
    # In brackets, a lambda may span lines. In a block, a `def` keeps its indentation, and so do its texts.
    before = "if True:\n" if text[0].isspace() and not is_lambda else ""
    tree = ast.parse(f"({text})" if is_lambda else before + text)
    ast.increment_lineno(tree, first - 1 - len(before.splitlines()))
    statement = tree.body[0].body[0] if before else tree.body[0]  # type: ignore[attr-defined]
    node = statement.value if isinstance(statement, ast.Expr) else statement
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        raise CompileError(f"{function.__name__}: its source is not a plain `def` or `lambda`")
    give_private_names(node, class_around(function.__code__.co_qualname))
    return node


def meanings_of(function: types.FunctionType) -> dict[str, Any]:
    """Returns the objects for the names of a function: outer variables, globals and built-ins."""
    around = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            around[name] = cell.cell_contents
        except ValueError:
            continue
    return {**vars(builtins), **function.__globals__, **around}
