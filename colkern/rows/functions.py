"""Functions that a row function calls: each becomes a generated function for the kinds of its arguments."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import operator
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from decimal import localcontext
from functools import partial
from typing import Any, TypeAlias

from colkern import rows
from colkern.errors import CompileError, UnsupportedError
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.bound import local_of
from colkern.rows.calls import NO_NAMES
from colkern.rows.constants import identity
from colkern.rows.containers import new_container
from colkern.rows.emitter import CARRIED, NO_FIELDS, RETURN, Emitter, SharedError, copied, derived
from colkern.rows.expressions import expression, needed
from colkern.rows.folding import constant
from colkern.rows.front import Definition, definition_of, keeps_to_itself, returns_itself
from colkern.rows.iteration import known_object
from colkern.rows.iterators import has_place
from colkern.rows.kinds import Kind
from colkern.rows.library import library_name
from colkern.rows.program import (
    ALWAYS,
    TOO_DEEP,
    Again,
    Called,
    Program,
    Unsettled,
    Wider,
    Written,
    any_kind,
)
from colkern.rows.python_rows import USUAL_CONTEXT
from colkern.rows.scopes import declared_elsewhere, named_in, nodes_of, own_names, stored_names
from colkern.rows.statements import is_own, statements
from colkern.rows.values import NONE, UNKNOWN, Value, of_parts, tuple_of_values, zeros

Named: TypeAlias = Mapping[str, Value]

MOST_ATTEMPTS = 200

MISTAKE = "which is a mistake of colkern's; please report it"

MOST_DEPTH = 400
"""The largest depth of recursion."""

MOST_VARIANTS = 4
"""The largest number of kinds of arguments with which a recursive function calls itself."""


def write_function(
    program: Program,
    definition: Definition,
    arguments: dict[str, Value],
    recursion: Called | None = None,
    widened: dict[Any, Kind] | None = None,
) -> tuple[str, Kind, list[str]]:
    """Writes a function; returns its name in the generated source, the kind of its result, its parameters.

    Args:
        arguments: Its arguments: the kind of each, and its value if that is a constant.
        recursion: Collects its calls of itself.
        widened: The kinds that are known to be too narrow; others are added.

    Raises:
        CompileError: If it has no compiled form; names the line.
    """
    # A lambda's name is not an identifier.
    own = definition.function.__name__
    # No variable of generated source has a name like this: theirs end in a number.
    name = f"{own if own.isidentifier() else 'function'}_{program.count}f"
    program.count += 1
    recursion = recursion or Called()
    recursion.name = name
    widened = {} if widened is None else widened
    before = program.state()
    stored = stored_names(definition.body)
    for _ in range(MOST_ATTEMPTS):
        program.restore(before)
        emitter = Emitter(program, definition, widened, stored)
        names = _parameters_for(emitter, arguments)
        if recursion.kind is not None:
            names.append(DEPTH)
            emitter.fail_if(f"{DEPTH} > {MOST_DEPTH}", row_values.LEFT, "too many calls of itself")
        try:
            _write_body(emitter)
            if emitter.yielded is not None and RETURN not in widened:
                emitter.refuse("a generator that never ends has no compiled form")
        except Wider as error:
            # A container that one function has made may be an item of another's.
            for kinds in (widened, *program.settled.values()):
                for other, kind in kinds.items():
                    kinds[other] = k.with_items(kind, error.key, error.kind)
            is_outermost = error.widened is None and not program.stack
            if error.widened is not widened and not is_outermost:
                # The kind belongs to a function that calls this one.
                raise
            continue
        except Unsettled as error:
            if RETURN not in widened and error.recursion is not recursion:
                # The kind depends on a function that calls this one.
                raise
            if emitter.yielded is not None:
                widened[RETURN] = emitter.yielded.kind
            if RETURN not in widened:
                emitter.refuse("it calls itself in every case")
        except (CompileError, UnsupportedError, Again):
            raise
        except RecursionError:
            emitter.refuse(TOO_DEEP)
        except Exception as error:  # noqa: BLE001
            emitter.refuse(f"{type(error).__name__}: {error}, {MISTAKE}")
        returned = widened.get(RETURN, k.NEVER)
        return _kept(emitter, name, names, returned), returned, names
    return emitter.refuse("the kinds of its variables do not settle")


def _kept(emitter: Emitter, name: str, parameters: Sequence[str], returned: Kind) -> str:
    """Adds a function to its program; returns its name, or that of a function of which it is a copy."""
    block, program, path = emitter.block.reached()[0], emitter.program, emitter.definition.path
    written = Written(block, tuple(parameters), emitter.operations, returned, path)
    text = written.source(name)
    same = program.same_function(name, text, returned)
    if same is None:
        program.written[name], program.sources[name] = written, text
    return same or name


def _parameters_for(emitter: Emitter, arguments: dict[str, Value]) -> list[str]:
    """The names of the parameters, which the arguments are known by that are no constants."""
    names: list[str] = []
    for argument, value in arguments.items():
        if value.is_constant:
            emitter.env[argument] = value
        else:
            parts = [f"{argument}_{part}" for part in range(len(zeros(value.kind)))]
            emitter.env[argument] = of_parts(value.kind, tuple(parts))
            names += parts
    emitter.keep_names(len(names))
    return names


def _write_body(emitter: Emitter) -> None:
    """Write the statements of a function; a generator gives the list of what it yields."""
    definition = emitter.definition
    if definition.is_generator:
        emitter.yielded = new_container(emitter, definition.body[0], "list", 0)
        if emitter.program.stack:
            emitter.rounds = emitter.copy("0")
    statements(emitter, definition.body)
    if not emitter.dead:
        emitter.leave(NONE)


def of_fields(definition: Definition, count: int) -> Definition:
    """Returns a function that calls another, and returns the `count` items of its result as a tuple."""
    names = ", ".join(f"item_{place}" for place in range(count))
    call = f"items = function({', '.join(definition.parameters)})"
    text = f"{call}\nif items is None:\n    return None\n{names}, = items\nreturn ({names},)"
    return of_text(definition, text, definition.parameters, {"function": definition.function})


def of_text(
    definition: Definition, text: str, parameters: tuple[str, ...], names: dict[str, Any]
) -> Definition:
    """Returns a function with statements that call others, in place of a user's function."""
    body = ast.parse(text).body
    for statement in body:
        for node in ast.walk(statement):
            ast.copy_location(node, definition.body[0])
    body = list(map(ast.fix_missing_locations, body))
    return replace(definition, body=body, parameters=parameters, names=definition.names | names)


def write_program(
    wraps: bool,
    definition: Definition,
    arguments: dict[str, Value],
    widened: Mapping[Any, Kind] = types.MappingProxyType({}),
    holds: Callable[[Kind], bool] = any_kind,
    can_mix: bool = True,
    has_rows: bool = True,
) -> tuple[Program, str, Kind]:
    """Writes a function and all that it calls; returns the program, the function's name, the result's kind.

    Args:
        wraps: Whether integers wrap around.
        arguments, widened: As for `write_function`.
        holds: Whether results of a kind may be values of the declared type.
        can_mix: Whether variables may have values of several types.
        has_rows: Whether dictionaries with constant keys may be rows.

    Raises:
        CompileError: As `write_function`.
    """
    options: dict[str, Any] = {}
    written: tuple[Program, str, Kind] | None = None
    while True:
        returns_signed = None if RETURN in widened else False
        program = Program(
            wraps, holds=holds, has_rows=has_rows, returns_signed=returns_signed, **options
        )
        program.live = [definition.function.__code__]
        refusal: CompileError | None = None
        try:
            with localcontext(USUAL_CONTEXT):
                name, kind, _ = write_function(
                    program, definition, arguments, widened=dict(widened)
                )
        except Again as again:
            options |= again.options
            continue
        except SharedError as error:
            raise CompileError(str(error)) from None
        except CompileError as error:
            if program.makes_objects:
                options["has_objects"] = False
                continue
            refusal = error
        else:
            program.drop_uncalled(name)
            program.leave_at_once(name)
            other = program, name, kind
            if written is None or _lack(other, holds) < _lack(written, holds):
                written = other
        program.may_mix &= can_mix
        may_gain = program.may_change_rows > program.changes_rows or program.may_mix > program.mixes
        if not may_gain or (written and not any(_lack(written, holds))):
            if written is None:
                assert refusal is not None
                raise refusal
            return written
        # Fewer rows may be left if dictionaries that change are rows, or variables of several types.
        options |= {"changes_rows": program.may_change_rows, "mixes": program.may_mix}


def _lack(written: tuple[Program, str, Kind], holds: Callable[[Kind], bool]) -> tuple[bool, int]:
    """Whether the results of a program are not of the declared type, and how many parts leave the row."""
    program, _, kind = written
    return not holds(kind), len(program.gaps)


def users_function(
    emitter: Emitter, function: Any, arguments: Sequence[Value], named: Named = NO_NAMES
) -> Value:
    """Compiles a call of a plain function of the user's."""
    definition = called_definition(emitter, function)
    values = bound_values(emitter, function, arguments, named)
    _require_one_meaning(emitter, definition, values.values())
    return _called_within(emitter, definition, values, function)[0]


def called_definition(emitter: Emitter, function: Any) -> Definition:
    """Returns the definition of a plain function that is called."""
    definitions = emitter.program.definitions
    try:
        if function not in definitions:
            definitions[function] = definition_of(function, is_called=True)
    except CompileError as error:
        emitter.refuse(str(error))
    return definitions[function]


def bound_values(
    emitter: Emitter, function: Any, arguments: Sequence[Value], named: Named
) -> dict[str, Value]:
    """Returns the arguments of a plain function, by name."""
    try:
        bound = inspect.signature(function, follow_wrapped=False).bind(*arguments, **named)
    except TypeError as error:
        emitter.refuse(f"{function.__name__}: {error}")
    bound.apply_defaults()
    return {name: _argument(value) for name, value in bound.arguments.items()}


def changing_method(
    emitter: Emitter,
    function: Any,
    owner: Value,
    name: str | None,
    arguments: Sequence[Value],
    named: Named = NO_NAMES,
) -> tuple[Value, Value]:
    """Compiles a method that assigns to fields of its instance; returns its result, and the new instance.

    Args:
        name: The only variable that has the instance; None if it is new.
    """
    definition = called_definition(emitter, function)
    is_known = name is None or (name and is_own(emitter, name, owner.kind))
    form = _form_of(owner)
    ends_well = keeps_to_itself(form, function) or returns_itself(form, function.__name__)
    if not is_known or not ends_well:
        emitter.refuse(
            f"{function.__qualname__}() changes an instance that may have other names, which has no "
            f"compiled form"
        )
    values = bound_values(emitter, function, [owner, *arguments], named)
    own = definition.parameters[0]
    result, [changed] = _called_within(emitter, definition, values, function, {own: name})
    return result, changed


def special(emitter: Emitter, name: str, owner: Value, *others: Value) -> Value | None:
    """Compiles a special method that a user wrote for a value's class; returns None if there is none."""
    if any(
        isinstance(each.kind, k.Several) and not k.is_plain(each.kind) for each in (owner, *others)
    ):
        emitter.refuse(f"{name} of an instance of one of several classes has no compiled form")
    form = _form_of(owner)
    is_one = isinstance(owner.kind, k.Compound) or owner.kind.name == "object"
    written = k.written_method(form, name) if is_one else None
    if written is None:
        return None
    result = users_function(emitter, written, [owner, *others])
    wanted = _RESULTS.get(name, result.kind)
    if result.kind != wanted or (name == "__bool__" and emitter.program.has_numpy):
        emitter.refuse(f"{form.__name__}.{name} gives {result.kind}, and not {wanted}")
    if name == "__len__":
        size = emitter.numbers(result).code
        emitter.fail_if(f"{size} < 0", row_values.VALUE_ERROR, "a negative length")
    return result


def _form_of(value: Value) -> type:
    return value.kind.form if isinstance(value.kind, k.Compound) else type(value.constant)


def special_of_either(
    emitter: Emitter, own: str, reflected: str, left: Value, right: Value
) -> Value | None:
    """Compiles a special method of either side; for a subclass on the right, its method comes first.

    An operator calls the subclass's method first only if the subclass overrides it, and never calls the
    right side's if both are of one class.
    """
    asked = [(own, left, right), (reflected, right, left)]
    forms, is_comparison = (_form_of(left), _form_of(right)), own in _RESULTS
    if forms[0] is forms[1]:
        asked = asked if is_comparison else asked[:1]
    elif issubclass(forms[1], forms[0]) and (
        is_comparison
        or getattr(forms[0], reflected, None) is not getattr(forms[1], reflected, None)
    ):
        asked.reverse()
    for name, owner, other in asked:
        if (result := special(emitter, name, owner, other)) is not None:
            return result
        if k.answers(_form_of(owner), name, _form_of(other)):
            break
    return None


_RESULTS = {
    "__bytes__": k.BYTES,
    "__bool__": k.BOOL,
    "__float__": k.FLOAT,
    "__int__": k.INT,
    "__len__": k.INT,
    "__str__": k.TEXT,
    "__format__": k.TEXT,
    **dict.fromkeys(("__eq__", "__lt__", "__le__", "__gt__", "__ge__"), k.BOOL),
}
"""The kinds that special methods must return to have a compiled form."""


def _require_one_meaning(
    emitter: Emitter, definition: Definition, arguments: Iterable[Value]
) -> None:
    """Refuse local functions as arguments of a function in which their names mean something else."""
    nodes = [each for each in _functions_in(arguments) if isinstance(each, _LOCAL)]
    names = {*named_in(nodes)}
    names -= set().union(*map(own_names, nodes))
    for name in sorted(names):
        if name in (*definition.parameters, *stored_names(definition.body)) or definition.names.get(
            name
        ) is not emitter.definition.names.get(name):
            emitter.refuse(
                f"{name} in a function that {definition.function.__name__} calls means "
                "something else there, which has no compiled form"
            )


_LOCAL = (ast.FunctionDef, ast.Lambda)
"""The syntax trees of functions within a row function."""


def _argument(value: Any) -> Value:
    """Returns an argument as a value: a default, the tuple `*args`, or the dictionary `**kwargs`."""
    if isinstance(value, tuple) and value and isinstance(value[0], Value):
        return tuple_of_values(value)
    if isinstance(value, dict) and all(isinstance(item, Value) for item in value.values()):
        return tuple_of_values(value.values(), tuple(value), dict)
    return value if isinstance(value, Value) else constant(value)


def local_function(
    emitter: Emitter,
    node: ast.FunctionDef | ast.Lambda,
    arguments: Sequence[Value],
    named: dict[str, Value],
    defaults: Named = NO_NAMES,
    outer: Named = NO_NAMES,
    key: Any = None,
) -> Value:
    """Compiles a call of a function that is defined in the row function.

    Args:
        defaults: The defaults of its parameters that are no constants.
        outer: The outer variables that it reads, if it is called elsewhere than where it is defined.
        key: Identifies it then.
    """
    bound = _bound(emitter, node.args, arguments, named, defaults)
    body: list[ast.stmt] = node.body if isinstance(node, ast.FunctionDef) else []
    if isinstance(node, ast.Lambda):
        body = [ast.copy_location(ast.Return(node.body), node)]
    own: Definition = emitter.program.definers.get(node, emitter.definition)
    function = own.function
    function = types.FunctionType(
        function.__code__, {}, getattr(node, "name", "<lambda>"), (), function.__closure__
    )
    definition = Definition(function, tuple(bound), body, own.names, own.path)
    is_ended = own.function.__code__ not in emitter.program.live
    if is_ended and not outer and any(outer_names(emitter, [node])):
        emitter.refuse(
            "a function that outlives the one whose variables it reads has no compiled form here"
        )
    if outer:
        _require_one_meaning(emitter, definition, [*outer.values(), *bound.values()])
        return called_function(emitter, definition, {**outer, **bound}, key)
    return _called_within(emitter, definition, bound, node)[0]


def _called_within(
    emitter: Emitter,
    definition: Definition,
    arguments: dict[str, Value],
    key: Any,
    changed: Mapping[str, str | None] = types.MappingProxyType({}),
) -> tuple[Value, Sequence[Value]]:
    """Compiles a call of a function that may be local, or get local functions, which read outer variables.

    The outer variables to which these assign become additional results of the call.

    Args:
        key: Identifies the function.
        changed: Its own variables that are results, too, and the variables of the caller that get them.
    """
    read, assigned = outer_names(emitter, [key, *_functions_in(arguments.values())])
    back = {**changed, **{name: name for name in assigned}}
    targets = [name for name in back.values() if name]
    body = definition.body
    if back:
        if any(getattr(part, "finalbody", ()) for part in definition.nodes):
            emitter.refuse("`nonlocal` beside `finally` has no compiled form")
        make = partial(_with_results, body, tuple(back))
        definition = replace(definition, body=derived(body[0], str([*back]), make).body)
    around = {name: emitter.read(name) for name in read if name not in arguments}
    if definition.is_generator or emitter.is_ahead:
        emitter.read_ahead(around)
        if targets:
            emitter.refuse(f"an iterator that changes {targets[0]} has no compiled form")
    values = around | arguments
    for name in back:
        if name in values:
            values[name] = _variable(emitter, values[name])
    # If an exception is caught, assignments before it would be lost.
    is_unsure = bool(targets and emitter.attempts)
    with emitter.ahead(is_only_raised=True) if is_unsure else nullcontext():
        result = called_function(emitter, definition, values, key)
    if not back:
        return result, ()
    if len(result.items) != len(back) + 1:
        emitter.refuse("a function that leaves each row to Python")
    result, *after = result.items
    for target, value in zip(back.values(), after, strict=True):
        if target:
            emitter.assign(target, value)
    return result, after[: len(changed)]


def _functions_in(values: Iterable[Value]) -> Iterator[Any]:
    """Yields the constants among values, and the functions of values that are a choice."""
    for value in values:
        yield value.constant
        for kind in k.parts_of(value.kind):
            yield from getattr(kind, "among", ())
            yield local_of(kind)


def outer_names(emitter: Emitter, functions: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Returns the outer variables that local functions, and others that they call, read and assign to."""
    read: set[str] = set()
    assigned: set[str] = set()
    seen: list[Any] = []
    waiting = list(functions)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _LOCAL) or node in seen:
            continue
        seen.append(node)
        outer = ({*named_in([node])} & emitter.env.keys()) - own_names(node)
        read |= outer
        assigned |= declared_elsewhere(nodes_of([node])) - own_names(node)
        waiting += _functions_in(emitter.env[name] for name in sorted(outer))
    return sorted(read), sorted(assigned)


def _with_results(body: Sequence[ast.stmt], names: Sequence[str]) -> Any:
    """Returns the statements of a function with outer variables appended to its result."""

    class Returns(ast.NodeTransformer):
        def visit_FunctionDef(self, inner: ast.FunctionDef) -> ast.AST:
            return inner

        def visit_Return(self, node: ast.Return) -> ast.AST:
            loads = [ast.Name(name, ast.Load()) for name in names]
            node.value = ast.Tuple([node.value or ast.Constant(None), *loads], ast.Load())
            return ast.fix_missing_locations(node)

    last = ast.copy_location(ast.Return(), body[-1])
    first = ast.copy_location(ast.Nonlocal(list(names)), body[0])
    return Returns().visit(ast.Module([first, *copy.deepcopy(list(body)), last], []))


def _bound(
    emitter: Emitter,
    declared: ast.arguments,
    arguments: Sequence[Value],
    named: Named,
    defaults: Named,
) -> dict[str, Value]:
    """Returns the arguments of a local function, by name; defaults that are no constants are given."""
    try:
        bound = inspect.Signature([*_parameters(declared)]).bind(*arguments, **named)
    except TypeError:
        emitter.refuse("a function within a function is called with other arguments than it takes")
    bound.apply_defaults()
    parts = (part for part in ast.walk(declared) if isinstance(part, ast.arg))
    own = {_called_by(part): part.arg for part in parts}
    given: dict[str, Value] = {}
    for name, value in bound.arguments.items():
        if isinstance(value, ast.expr) and not isinstance(value, ast.Constant):
            value = defaults.get(own[name]) or expression(emitter, value)
        given[own[name]] = _argument(value.value if isinstance(value, ast.Constant) else value)
    return given


def _parameters(declared: ast.arguments) -> Iterator[inspect.Parameter]:
    """Yields the parameters of a local function; their defaults are expressions."""
    of = inspect.Parameter
    places = [*declared.posonlyargs, *declared.args]
    required = [of.empty] * (len(places) - len(declared.defaults))
    for each, default in zip(places, [*required, *declared.defaults], strict=True):
        by_name = each in declared.args
        kind = of.POSITIONAL_OR_KEYWORD if by_name else of.POSITIONAL_ONLY
        yield of(_called_by(each), kind, default=default)
    if declared.vararg:
        yield of(_called_by(declared.vararg), of.VAR_POSITIONAL)
    for each, only in zip(declared.kwonlyargs, declared.kw_defaults, strict=True):
        yield of(_called_by(each), of.KEYWORD_ONLY, default=only or of.empty)
    if declared.kwarg:
        yield of(_called_by(declared.kwarg), of.VAR_KEYWORD)


def _called_by(parameter: ast.arg) -> str:
    """Returns a parameter's original name, by which callers pass it (`colkern.rows.scopes`)."""
    return str(vars(parameter)["called"])


def applied(emitter: Emitter, node: ast.expr, arguments: Sequence[Value]) -> Value:
    """Applies the function that an expression names to values."""
    if not _may_be_repeated(emitter, node):
        emitter.refuse(
            "this expression for a function would be evaluated for each item: assign it to a variable first"
        )
    if isinstance(node, ast.Lambda):
        return local_function(emitter, node, arguments, {})
    is_bound = isinstance(node, ast.Attribute) and known_object(emitter, node) is None
    function = NONE if is_bound else needed(emitter, node)
    names = [f"<argument {place}>" for place in range(len(arguments))]
    emitter.env.update(zip(names, arguments, strict=True))
    owner = getattr(function.constant, "__objclass__", None)
    own_name = getattr(function.constant, "__name__", "")

    def call() -> ast.Call:
        loads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
        if owner is None:
            return ast.Call(node, loads, [])
        return ast.Call(ast.Attribute(loads[0], own_name, ast.Load()), loads[1:], [])

    call_node = derived(node, f"call of {len(names)}", call)
    if owner is not None or is_bound:
        return expression(emitter, call_node)
    return rows.invocations.call_of(emitter, call_node, function)


def _may_be_repeated(emitter: Emitter, node: ast.AST) -> bool:
    """Whether an expression changes nothing when it is evaluated."""
    parts: Iterable[ast.AST | None] = ast.iter_child_nodes(node)
    if isinstance(node, ast.Lambda):
        parts = [*node.args.defaults, *node.args.kw_defaults]
    if isinstance(node, ast.Call) and not _makes_function(emitter, node):
        return False
    is_named = isinstance(node, ast.NamedExpr)
    return not is_named and all(_may_be_repeated(emitter, part) for part in parts if part)


def _makes_function(emitter: Emitter, node: ast.Call) -> bool:
    """Whether a call changes nothing: one of a user's function can only change its arguments."""
    function = known_object(emitter, node.func)
    arguments = [*node.args, *(word.value for word in node.keywords)]
    # Names that are no variables are those of constants.
    kinds = {name: k.present(value.kind).name for name, value in emitter.env.items()}
    are_plain = all(
        kinds.get(part.id, "int") in k.PLAIN
        if isinstance(part, ast.Name)
        else type(part) in _OF_PLAIN
        for part in nodes_of(arguments)
        if isinstance(part, ast.expr)
    )
    is_users = isinstance(function, types.FunctionType) and are_plain
    return is_users or any(function is each for each in _MAKERS)


_OF_PLAIN = (ast.Constant, ast.UnaryOp, ast.BinOp)
"""Expressions of plain values, which call nothing that changes something."""

_MAKERS = (
    functools.cmp_to_key,
    functools.partial,
    getattr,
    len,
    operator.attrgetter,
    operator.itemgetter,
    operator.methodcaller,
    re.compile,
)
"""Functions that change nothing, and make functions, or defaults of theirs."""


def called_function(
    emitter: Emitter, definition: Definition, values: dict[str, Value], key: Any
) -> Value:
    """Compiles a call of a function; the function is written for the values' kinds at the first such call.

    Args:
        key: Identifies the function.
    """
    program = emitter.program
    values = _passed(emitter, definition, values, key)
    known = [identity(value.constant) if value.is_constant else "" for value in values.values()]
    kinds = [(value.kind, k.origins(value.kind)) for value in values.values()]
    variant = id(key), (*zip(values, kinds, known, strict=True), _is_read(emitter, definition))
    own = next(reversed(program.stack.values()), Called())
    own.calls.add(variant)
    if variant not in program.functions and variant not in program.stack:
        if sum(other == id(key) for other, _ in program.stack) == MOST_VARIANTS:
            emitter.refuse(
                f"{definition.function.__name__} calls itself with other kinds each time"
            )
        signature = tuple((kind, each) for (kind, _), each in zip(kinds, known, strict=True))
        own_tree = _tree_of(program, definition, (id(key), signature))
        program.functions[variant] = _written(program, own_tree, values, variant, key)
    codes = [code for value in values.values() if not value.is_constant for code in value.parts]
    if variant in program.stack:
        name, kind = _recursion(emitter, variant)
        codes.append(f"{DEPTH} + 1")
    else:
        called = program.functions[variant]
        name, kind = called.name, called.returns
        if called.kind is not None:
            codes.append(f"{DEPTH} + 1" if own.kind is not None else "0")
    return _result_of_call(emitter, definition, name, kind, codes)


def _is_read(emitter: Emitter, definition: Definition) -> bool:
    """Whether a handler may read the exceptions of a function that is called here."""
    is_lazy = definition.is_generator or emitter.is_ahead
    return emitter.reads_raised and not (definition.is_library or is_lazy)


def _passed(
    emitter: Emitter, definition: Definition, values: dict[str, Value], key: Any
) -> dict[str, Value]:
    """Returns arguments as they are passed: what an iterator reads must not be changed meanwhile."""
    for value in values.values():
        if k.has_iterator(value.kind) and (definition.is_generator or not has_place(value)):
            emitter.refuse("an iterator that another one reads has no compiled form")
    # In a recursion, a constant that changes with each call would need a new function each time.
    is_known = all(other != id(key) for other, _ in emitter.program.stack)
    passed = {
        name: value if value.is_constant and is_known else _variable(emitter, value)
        for name, value in values.items()
    }
    for name, value in passed.items():
        containers = list(k.containers_in(value.kind))
        if definition.is_generator or emitter.is_ahead:
            emitter.read_later += containers
        is_read = any(k.may_be_one(own, read) for own in containers for read in emitter.read_later)
        if is_read and any(part in k.NODES for part in k.parts_of(value.kind)):
            emitter.refuse(
                "a document that an iterator reads, as an argument, has no compiled form"
            )
        if is_read and not value.is_constant:
            passed[name] = of_parts(k.unchangeable(value.kind), value.parts)
    return passed


def _result_of_call(
    emitter: Emitter, definition: Definition, name: str, kind: Kind, codes: Sequence[str]
) -> Value:
    """Write a call of a generated function, whose status raises or leaves the row; returns its result."""
    program = emitter.program
    status = emitter.fresh("status")
    parts = tuple(emitter.fresh() for _ in zeros(kind))
    text = f"{name}({', '.join(['arena', 'pool', *codes])})"
    emitter.write(f"{', '.join((status, *parts))}{'' if parts else ','} = {text}")
    of_library = library_name(definition.function)
    is_left = name in program.written and not program.written[name].returns
    with (
        emitter.within(ALWAYS if is_left else f"if {status} != 0:"),
        emitter.ahead() if definition.is_generator else nullcontext(),
    ):
        if of_library:
            if emitter.reads_raised:
                # An exception of the user's that passes through the library keeps no fields.
                emitter.write(NO_FIELDS)
            # The place where the row is left is the user's line.
            emitter.fail(f"({status} & 255)", of_library)
        else:
            emitter.reraise(status, CARRIED if _is_read(emitter, definition) else "")
    emitter.dead = False
    if isinstance(kind, k.Choice) and len(kind.among) == 1:
        return constant(kind.among[0])
    return of_parts(kind, parts)


def _variable(emitter: Emitter, value: Value) -> Value:
    """Returns a value of a plain kind without its constant, so that it is passed at run time."""
    value = emitter.numbers(value) if value.kind.name in k.PLAIN or not value.is_constant else value
    return replace(value, constant=UNKNOWN) if value.kind.name in k.PLAIN else value


DEPTH = "depth"
"""The parameter of a recursive function that counts the depth of calls."""


def _tree_of(program: Program, definition: Definition, key: tuple[int, Any]) -> Definition:
    """Returns a function for certain kinds of arguments, and constants among them.

    Its statements are nodes of their own, as facts about containers are stored by nodes.
    """
    if key not in program.trees:
        if any(function == key[0] for function, _ in program.trees):
            definition = replace(definition, body=copied(definition.body))
        program.trees[key] = definition
    return program.trees[key]


def _written(
    program: Program, definition: Definition, values: dict[str, Value], variant: Any, key: Any
) -> Called:
    """Writes a function that `key` identifies for certain kinds of arguments."""
    before = program.state()
    recursion = program.stack[variant] = Called(
        key, kind=program.recursive.get(variant), is_read=variant[1][-1]
    )
    widened = program.settled.setdefault(variant, {})
    program.live.append(definition.function.__code__)
    try:
        for _ in range(MOST_ATTEMPTS):
            program.restore(before)
            recursion.name, recursion.returns, _ = write_function(
                program, definition, values, recursion=recursion, widened=widened
            )
            if not recursion.is_recursive or recursion.returns == recursion.kind:
                recursion.kinds = program.kinds_of(variant)
                return recursion
            recursion.kind = program.joined(recursion.kind or k.NEVER, recursion.returns)
            program.recursive[variant] = recursion.kind
    finally:
        del program.stack[variant]
        program.live.pop()
    raise CompileError(f"{definition.function.__name__}: the kinds of its results do not settle")


def _recursion(emitter: Emitter, variant: Any) -> tuple[str, Kind]:
    """Returns the name of the function being written, and the kind of its result, for a recursive call."""
    program = emitter.program
    variants = list(program.stack)
    for inside in variants[variants.index(variant) :]:
        program.stack[inside].is_recursive = program.recurs = True
    recursion = program.stack[variant]
    if recursion.kind is None:
        raise Unsettled(recursion)
    emitter.require_sound()
    return recursion.name, recursion.kind
