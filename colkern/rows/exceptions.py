"""Exceptions in a row function: `raise`, `assert`, `try`, and what a handler reads of its exception.

A handler is compiled that reads only the text of its exception, its first argument, the name of its class,
or fields. The text comes from the place that raises: a constant one by the number of the place in the
status, another one in a variable of the `try`, or in the arena's header where it leaves a function. Fields
that a constructor has assigned are in the arena. If a place has no text, or a handler reads more, the row
is left to Python.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import InvalidOperation
from functools import partial
from typing import Any

from colkern import rows
from colkern.errors import CompileError
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.calls import in_words
from colkern.rows.emitter import (
    LEAVE,
    NO_FIELDS,
    NO_TEXT,
    RAISED,
    Attempt,
    Emitter,
    Message,
    derived,
)
from colkern.rows.expressions import attribute, condition, expression, needed_arguments
from colkern.rows.folding import constant
from colkern.rows.front import assigned_fields
from colkern.rows.program import Tried
from colkern.rows.scopes import named_in, nodes_of, stored_names
from colkern.rows.values import NONE, UNSET, Value, loaded, of_parts, tuple_of_values, zeros


def raise_(emitter: Emitter, node: ast.Raise) -> None:
    """Compiles `raise`."""
    code, message, fields = row_values.LEFT, None, NONE
    if node.exc is not None:
        code, message, fields = _raised(emitter, node.exc)
    if code != row_values.LEFT and node.cause and not _is_known(emitter, node.cause):
        code = code if _raised(emitter, node.cause)[0] != row_values.LEFT else row_values.LEFT
    if emitter.reads_raised and isinstance(fields.kind, k.Compound):
        _keep_fields(emitter, fields)
    emitter.fail(code, RAISED, message)


def _keep_fields(emitter: Emitter, fields: Value) -> None:
    """Store the fields of an exception for its handler, if they have the kinds that it expects."""
    kind = fields.kind
    assert isinstance(kind, k.Compound)
    is_known = emitter.program.raised.setdefault(kind.form, kind) == kind
    if is_known and kind.words:
        emitter.write(f"set_word({_FIELDS}, {in_words(emitter, fields)})")
    else:
        emitter.write(NO_FIELDS)


_FIELDS = f"arena + {row_values.RAISED_FIELDS}"


def _is_known(emitter: Emitter, cause: ast.expr) -> bool:
    """Whether the cause of an exception is None, or the exception of a handler."""
    if isinstance(cause, ast.Name) and cause.id in emitter.env:
        return emitter.env[cause.id].kind == k.EXCEPTION
    return isinstance(cause, ast.Constant) and cause.value is None


def _raised(emitter: Emitter, node: ast.expr) -> tuple[int, Message | None, Value]:
    """Returns the code, text and fields of an exception that is raised, or is a cause.

    Its arguments are evaluated.
    """
    kind: Any = rows.iteration.known_object(emitter, getattr(node, "func", node))
    arguments = node.args if isinstance(node, ast.Call) else []
    code = emitter.program.code_of(kind)
    if kind is json.JSONDecodeError and not emitter.definition.is_library:
        # Its constructor writes its text.
        return row_values.LEFT, None, NONE
    is_written = isinstance(getattr(kind, "__init__", None), types.FunctionType)
    if code == row_values.LEFT or (getattr(node, "keywords", []) and not is_written):
        return row_values.LEFT, None, NONE
    # An OSError with several arguments may become another class.
    if len(arguments) > 1 and issubclass(kind, (OSError, SyntaxError)):
        return row_values.LEFT, None, NONE
    before = emitter.state()
    try:
        # Evaluating the message may raise something else.
        if is_written:
            return code, *_written(emitter, kind, node)
        values = [expression(emitter, part) for part in arguments]
    except CompileError:
        emitter.restore(before)
        return row_values.LEFT, None, NONE
    return code, _text_of_raised(emitter, kind, values), NONE


def _written(emitter: Emitter, kind: Any, node: ast.expr) -> tuple[Message | None, Value]:
    """Returns the text and the plain fields of an exception whose class has a constructor in Python, which
    is compiled here."""
    made = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    arguments, named = needed_arguments(emitter, made)
    start = {"args": UNSET}
    fields = rows.instances.constructed(emitter, kind, "__init__", start, arguments, named)
    own = fields.setdefault("args", tuple_of_values(map(emitter.numbers, arguments)))
    if not isinstance(own.kind, k.Tuple) or own.kind.form is not tuple:
        emitter.refuse(f"the args of {kind.__name__} are no tuple of a known length")
    fields = {name: emitter.numbers(value) for name, value in fields.items()}
    text = _text_of_raised(emitter, kind, own.items)
    if isinstance(kind.__str__, types.FunctionType):
        text = partial(_text_by_method, emitter, kind, fields)
    plain = {name: own for name, own in fields.items() if k.present(own.kind).name in k.PLAIN}
    return text, tuple_of_values(plain.values(), tuple(plain), kind)


def _text_by_method(emitter: Emitter, kind: Any, fields: dict[str, Value]) -> Value:
    """Returns what `__str__` of a user's exception returns; what it raises leaves the row."""
    instance = tuple_of_values(fields.values(), tuple(fields), kind)
    # Python calls it only where the text is read.
    with emitter.ahead(is_only_raised=True):
        text = rows.functions.users_function(emitter, kind.__str__, [instance])
    if text.kind != k.TEXT:
        emitter.refuse(f"{kind.__name__}.__str__ gives {text.kind}")
    return text


def _text_of_raised(emitter: Emitter, kind: Any, values: Sequence[Value]) -> Message | None:
    """Returns `str` of an exception of a class with arguments; None if it is not known."""
    forms: dict[Any, Callable[[Emitter, Value], Value]]
    forms = {
        BaseException.__str__: rows.formatting.text_of,
        KeyError.__str__: rows.formatting.represented,
    }
    shown = forms.get(kind.__str__)
    if not values and shown is not None:
        return ""
    is_text = len(values) == 1 and values[0].kind == k.TEXT
    are_plain = all(value.kind in _SHOWN for value in values)
    takes = emitter.is_read_by_caller or any(each.takes_arguments for each in emitter.attempts)
    # A handler takes `args[0]` for a text.
    if shown is None or not are_plain or (takes and not is_text):
        return None
    shown, value = (
        (shown, values[0])
        if len(values) == 1
        else (rows.formatting.text_of, tuple_of_values(values))
    )
    text = partial(shown, emitter, value)
    return str(text().constant) if is_text and value.is_constant else text


_SHOWN = (k.TEXT, k.INT, k.FLOAT, k.BOOL, k.NONE)
"""The kinds of arguments of exceptions with known texts."""


def assert_(emitter: Emitter, node: ast.Assert) -> None:
    """Compiles `assert`."""
    test = condition(emitter, node.test)
    reason = "an assertion fails"

    def text() -> Value:
        assert node.msg is not None
        value = expression(emitter, node.msg)
        if value.kind != k.TEXT:
            emitter.refuse(
                "the text of an exception whose argument is no text has no compiled form"
            )
        return value

    known = node.msg.value if isinstance(node.msg, ast.Constant) else None
    message = known if isinstance(known, str) else text if node.msg else ""
    if test.constant is None:
        emitter.fail_if(f"not {test.code}", row_values.ASSERTION_ERROR, reason, message)
    elif not test.constant:
        emitter.fail(row_values.ASSERTION_ERROR, reason, message)
    emitter.env.update(test.holds)


def try_(emitter: Emitter, node: ast.Try) -> None:
    """Compiles `try`."""
    if node.finalbody:
        _try_finally(emitter, node)
        return
    node = _with_result_apart(emitter, node)
    own = (
        rows.statements.only_in(emitter, stored_names(node.body), node.body) - emitter.cells.keys()
    )
    names = rows.statements.assigned(emitter, node.body) - own
    attempt = _new_attempt(emitter, node.handlers)
    with emitter.in_cells(node, names):
        before = dict(emitter.env)
        ended = _attempt(emitter, attempt, node.body)
        after = dict(emitter.env)
        _follow(emitter, attempt)
        # By now, all exceptions that are raised within are known.
        caught = [_caught(emitter, handler) for handler in node.handlers]
        if attempt.text:
            _write_constant_texts(emitter, attempt)

        def fine() -> None:
            emitter.env = after
            rows.statements.statements(emitter, node.orelse)

        def handle(rest: list[tuple[ast.ExceptHandler, tuple[int, ...] | None]]) -> None:
            emitter.env = dict(before)
            emitter.forget(names)
            if not rest:
                emitter.reraise(attempt.code, attempt.text)
                return
            handler, codes = rest[0]
            emitter.branch(
                _is_one_of(attempt.code, codes),
                lambda: _handler(emitter, handler, attempt),
                lambda: handle(rest[1:]),
            )

        handlers = list(zip(node.handlers, caught, strict=True))
        if ended and not attempt.raises:
            emitter.dead = True
        elif ended:
            handle(handlers)
        else:
            emitter.branch(f"{attempt.code} == 0", fine, lambda: handle(handlers))


def _with_result_apart(emitter: Emitter, node: ast.Try) -> ast.Try:
    """Moves a final `x = …` of a `try` to its `else`, if `x` already has a value.

    So `x` may have another kind after it, as in `try: x = float(x)`.
    """
    *before, last = node.body
    target = last.targets[0] if isinstance(last, ast.Assign) and len(last.targets) == 1 else None
    if not isinstance(target, ast.Name) or target.id in stored_names(before):
        return node
    if target.id not in emitter.env or target.id in emitter.cells:
        return node

    def make() -> ast.Try:
        name = f"<tried at {node.lineno}, {node.col_offset}>"
        own, load = ast.Name(name, ast.Store()), ast.Name(name, ast.Load())
        body = [*before, ast.copy_location(ast.Assign([own], last.value), last)]  # type: ignore[attr-defined]
        orelse = [ast.copy_location(ast.Assign([target], load), last), *node.orelse]
        return ast.Try(body, node.handlers, orelse, [])

    apart: ast.Try = derived(node, "apart", make)
    return apart


def _attempt(emitter: Emitter, attempt: Attempt, body: Sequence[ast.stmt]) -> bool:
    """Write the statements of a `try`; returns whether their end is never reached."""
    head, block = len(emitter.block.lines), emitter.block
    emitter.write(f"{attempt.code} = 0")
    if attempt.text:
        emitter.write(f"{attempt.text} = {NO_TEXT}")
    emitter.attempts.append(attempt)
    with emitter.within(Tried("while True:")):
        rows.statements.statements(emitter, body)
        ended = emitter.dead
        emitter.write("break")
    emitter.attempts.pop()
    emitter.dead = False
    if attempt.flows:
        block.lines.insert(head, f"{attempt.flow} = 0")
    if attempt.returned is not None:
        pairs = zip(attempt.returned.parts, zeros(attempt.returned.kind), strict=True)
        block.lines[head:head] = [f"{part} = {zero}" for part, zero in pairs]
    return ended


def _follow(emitter: Emitter, attempt: Attempt) -> None:
    """Write the `break`, `continue` or `return` that left a `try`."""
    for flow in sorted(attempt.flows):
        with emitter.within(f"if {attempt.flow} == {flow}:"):
            if attempt.returned is not None and flow == LEAVE:
                emitter.leave(attempt.returned)
            else:
                rows.statements.leave_loop(emitter, flow)
        emitter.dead = False


def _try_finally(emitter: Emitter, node: ast.Try) -> None:
    """Write a `try` with a `finally`, whose statements run before the end of the rest takes effect."""
    body = node.body
    if node.handlers:
        make = partial(ast.Try, node.body, node.handlers, node.orelse, [])
        body = [derived(node, "try", make)]
    names = rows.statements.assigned(emitter, [*body, *node.finalbody])
    attempt = replace(_new_attempt(emitter), is_final=True)
    with emitter.in_cells(node, names):
        before = dict(emitter.env)
        ended = _attempt(emitter, attempt, body)
        emitter.env = before
        emitter.forget(names)
        with emitter.within(f"if 0 < ({attempt.code} & 255) <= {row_values.NO_ROOM}:"):
            emitter.reraise(attempt.code)
        emitter.dead = False
        fields = emitter.copy(f"get_word({_FIELDS})") if attempt.text else ""
        rows.statements.statements(emitter, node.finalbody)
        if emitter.dead:
            return
        with emitter.within(f"if {attempt.code} != 0:"):
            if fields:
                emitter.write(f"set_word({_FIELDS}, {fields})")
            emitter.reraise(attempt.code, attempt.text)
        emitter.dead = False
        _follow(emitter, attempt)
        emitter.dead = ended


def _new_attempt(emitter: Emitter, handlers: Sequence[ast.ExceptHandler] = ()) -> Attempt:
    """Returns a `try` with handlers at the current place."""
    is_read = any(map(_name_read, handlers)) or emitter.reads_raised
    text = emitter.fresh("message") if is_read else ""
    takes = any(_takes_arguments(emitter, handler) for handler in handlers)
    return Attempt(emitter.fresh("raised"), emitter.fresh("flow"), text, takes)


def _write_constant_texts(emitter: Emitter, attempt: Attempt) -> None:
    """Assign the text of the exception, if it is the constant one of the place that raised it."""
    # The texts of Python's own exceptions are cut off after some length.
    with emitter.within(f"if {attempt.text}.size > {_LONGEST}:"):
        emitter.write(f"{attempt.text} = {NO_TEXT}")
    for number, text in emitter.program.texts.items():
        with emitter.within(f"if {attempt.code} >> 8 == {number}:"):
            emitter.write(f"{attempt.text} = {emitter.text(text)}")


_LONGEST = len("invalid literal for int() with base 10: ") + 200


def _handler(emitter: Emitter, handler: ast.ExceptHandler, attempt: Attempt) -> None:
    name = _name_read(handler)
    emitter.unbind(handler.name or "")
    if name and (name in emitter.shared or not _reads_text_only(emitter, handler)):
        emitter.fail_if("True", row_values.LEFT, _READ)
        emitter.env[name] = of_parts(k.EXCEPTION, zeros(k.EXCEPTION))
        _write_unreached(emitter, handler.body)
    else:
        if name:
            emitter.fail_if(f"{attempt.text}.address == 0", row_values.LEFT, _READ)
            emitter.env[name] = _exception(emitter, attempt, handler)
        rows.statements.statements(emitter, handler.body)
    emitter.unbind(handler.name or "")


def _write_unreached(emitter: Emitter, body: Sequence[ast.stmt]) -> None:
    """Write statements that no row reaches: they only count for the kinds of variables and results."""
    program = emitter.program
    gaps = set(program.gaps), set(program.calls_left), emitter.gaps, emitter.has_calls_left
    try:
        for part in body:
            rows.statements.statements(emitter, [part])
            emitter.dead &= isinstance(part, ast.Return | ast.Raise | ast.Break | ast.Continue)
    finally:
        program.gaps, program.calls_left, emitter.gaps, emitter.has_calls_left = gaps


_READ = "an exception is read"


def _exception(emitter: Emitter, attempt: Attempt, handler: ast.ExceptHandler) -> Value:
    """Returns the exception of a handler."""
    class_name = emitter.fresh("name")
    emitter.write(f"{class_name} = {NO_TEXT}")
    nodes = nodes_of(handler.body)
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    codes, takes = emitter.program.codes, _takes_arguments(emitter, handler)
    if "__name__" in attributes or takes:
        for form, code in codes.items():
            with emitter.within(f"if {attempt.code} & 255 == {code}:"):
                emitter.write(f"{class_name} = {emitter.text(form.__name__)}")
    if takes:
        # The argument of these is no text, or another; an exception without arguments has none.
        others = [
            code
            for form, code in codes.items()
            if form.__str__ is not BaseException.__str__
            or form.__repr__ is not BaseException.__repr__
            or issubclass(form, InvalidOperation)
        ]
        test = f"({attempt.text}.size == 0) | {_is_one_of(attempt.code, tuple(others))}"
        emitter.fail_if(test, row_values.LEFT, _READ)
    place = emitter.copy(f"get_word({_FIELDS})")
    parts = (attempt.text, attempt.text, class_name, attempt.code, place)
    return of_parts(k.EXCEPTION, parts)


def is_instance(emitter: Emitter, exception: Value, classes: Any) -> Value:
    """`isinstance(exception, classes)`."""
    forms = emitter.program.codes.items()
    codes = tuple(code for form, code in forms if issubclass(form, classes))
    return Value(k.BOOL, _is_one_of(_status(exception), codes))


def _status(exception: Value) -> str:
    return exception.items[-2].code


def field(emitter: Emitter, exception: Value, name: str) -> Value:
    """Compiles a field of an exception; leaves the row if the class of the exception has no known one."""
    place = exception.items[-1].code
    known = [each for each in emitter.program.codes.items() if _has_field(emitter, each[0], name)]

    def of_others(others: Sequence[tuple[Any, int]]) -> Value:
        if not others:
            return emitter.left(k.NEVER, _READ)
        form, code = others[0]
        test = f"({_status(exception)} & 255) == {code}"
        return emitter.chosen(test, partial(own, form), lambda: of_others(others[1:]))

    def own(form: Any) -> Value:
        kind = emitter.program.raised.get(form)
        if isinstance(kind, k.Compound) and name in kind.names:
            emitter.fail_if(f"{place} == 0", row_values.LEFT, _READ)
            return attribute(emitter, emitter.bind_value(kind, loaded(kind, place)), name)
        return emitter.numbers(constant(inspect.getattr_static(form, name)))

    return of_others(known)


def _has_field(emitter: Emitter, form: Any, name: str) -> bool:
    """Whether exceptions of a class have a field with a known value."""
    if isinstance(getattr(form, "__init__", None), types.FunctionType):
        kind = emitter.program.raised.get(form)
        if not isinstance(kind, k.Compound) or name in {*assigned_fields(form)} - {*kind.names}:
            return False
        if name in kind.names:
            return True
    return isinstance(inspect.getattr_static(form, name, None), str | int | float)


def has_field(emitter: Emitter, exception: Value, name: str) -> Value:
    """`hasattr(exception, name)`; leaves the row if that is not known."""
    codes = emitter.program.codes.items()
    lacking = tuple(code for form, code in codes if _lacks(emitter, form, name))
    known = tuple(code for form, code in codes if _has_field(emitter, form, name))
    test = _is_one_of(_status(exception), lacking + known)
    emitter.fail_if(f"not {test}", row_values.LEFT, _READ)
    return Value(k.BOOL, _is_one_of(_status(exception), known))


def _lacks(emitter: Emitter, form: Any, name: str) -> bool:
    """Whether no exception of a class has an attribute."""
    is_written = isinstance(getattr(form, "__init__", None), types.FunctionType)
    is_known = not is_written or isinstance(emitter.program.raised.get(form), k.Compound)
    return is_known and not hasattr(form, name) and name not in assigned_fields(form)


def _fields_read(handler: ast.ExceptHandler) -> dict[str, list[ast.expr]]:
    """Returns the fields of its exception that a handler reads, with the nodes of the exception."""
    nodes = nodes_of(handler.body)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    fields: dict[str, list[ast.expr]] = {}
    for node in nodes:
        match node:
            case ast.Attribute(ast.Name(name) as value, attribute, ast.Load()) if (
                name == handler.name and id(node) not in called and attribute not in _ANY
            ):
                fields.setdefault(attribute, []).append(value)
    return fields


_ANY = {*dir(BaseException)}
"""The attributes that exceptions of all classes have."""


def _takes_arguments(emitter: Emitter, handler: ast.ExceptHandler) -> bool:
    """Whether a handler reads the first argument of its exception, or `repr` of it."""
    nodes = nodes_of(handler.body)
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "args")
        or handler.name in [getattr(each, "id", "") for each in _represented(emitter, node)]
        for node in nodes
    )


def _represented(emitter: Emitter, node: ast.AST) -> Sequence[ast.expr]:
    """Returns the values of which an expression takes `repr`."""
    match node:
        case ast.FormattedValue(value, 114, None):
            return [value]
        case ast.Call(ast.Attribute(ast.Constant(str(form)), "format")) if "!" in form:
            return _formatted(node)
        case ast.BinOp(ast.Constant(str(form)), ast.Mod()) if {"r", "a"} & {
            *_CONVERSION.findall(form)
        }:
            return _formatted(node)
        case ast.Call(function, [argument], []) if (
            rows.iteration.known_object(emitter, function) is repr
        ):
            return [argument]
    return []


_CONVERSION = re.compile(r"%[-#0 +.\d*]*(.)")
"""A conversion of a `%` format, with the character of its type."""


def _formatted(node: ast.AST) -> Sequence[ast.expr]:
    """Returns the values that a constant format is given."""
    match node:
        case ast.Call(ast.Attribute(ast.Constant(str()), "format"), arguments, keywords):
            return [*arguments, *(keyword.value for keyword in keywords)]
        case ast.BinOp(ast.Constant(str()), ast.Mod(), right):
            return right.elts if isinstance(right, ast.Tuple) else [right]
    return []


def _name_read(handler: ast.ExceptHandler) -> str:
    """Returns the name of a handler's exception; empty if the handler does not use it."""
    return handler.name if handler.name and handler.name in named_in(handler.body) else ""


def _reads_text_only(emitter: Emitter, handler: ast.ExceptHandler) -> bool:
    """Whether a handler reads nothing of its exception but its text, first argument and class's name."""
    nodes = nodes_of(handler.body)
    reads = {id(node) for node in nodes if isinstance(node, ast.Name) and node.id == handler.name}
    for name, values in _fields_read(handler).items():
        forms = [form for form in emitter.program.codes if _is_caught(emitter, handler, form)]
        if any(_has_field(emitter, form, name) for form in forms):
            reads -= {*map(id, values)}
    return reads <= {id(read) for node in nodes for read in _readings(emitter, node)}


def _readings(emitter: Emitter, node: ast.AST) -> Sequence[ast.AST]:
    """Returns the values that an expression or statement reads as `_reads_text_only` allows."""
    match node:
        case ast.FormattedValue(value, -1, None) | ast.FormattedValue(value, 115):
            return [value]
        case ast.Call(function, [argument], []) if (
            rows.iteration.known_object(emitter, function) is str
        ):
            return [argument]
        case ast.Attribute(ast.Attribute(value, "__class__"), "__name__"):
            return [value]
        case ast.Subscript(ast.Attribute(value, "args"), ast.Constant(0)):
            return [value]
        case ast.Attribute(ast.Call(function, [value], []), "__name__") if (
            rows.iteration.known_object(emitter, function) is type
        ):
            return [value]
        case ast.Raise(_, ast.Name() as cause):
            return [cause]
        case ast.Call(function, [value, _], []) if (
            rows.iteration.known_object(emitter, function) is isinstance
        ):
            return [value]
        case ast.Call(function, [value, ast.Constant(name), *_], []) if name not in _ANY and (
            rows.iteration.known_object(emitter, function) in (hasattr, getattr)
        ):
            return [value]
    return _formatted(node) or _represented(emitter, node)


def _caught(emitter: Emitter, handler: ast.ExceptHandler) -> tuple[int, ...] | None:
    """Returns the codes that a handler catches; None for all."""
    classes = _classes_of(emitter, handler)
    if classes is None:
        return None
    codes = emitter.program.codes.items()
    return tuple(sorted(code for kind, code in codes if {*classes} & {*kind.__mro__}))


def _is_caught(emitter: Emitter, handler: ast.ExceptHandler, form: Any) -> bool:
    classes = _classes_of(emitter, handler)
    return classes is None or not {*classes}.isdisjoint(form.__mro__)


def _classes_of(emitter: Emitter, handler: ast.ExceptHandler) -> tuple[Any, ...] | None:
    """Returns the classes that a handler catches; None for all."""
    if handler.type is None:
        return None
    emitter.node = handler
    value = expression(emitter, handler.type)
    classes = value.constant if isinstance(value.constant, tuple) else (value.constant,)
    if not value.is_constant or not all(isinstance(kind, type) for kind in classes):
        emitter.refuse("the exceptions of a handler must be known classes")
    if not all(issubclass(kind, BaseException) for kind in classes):
        emitter.refuse("a handler of a class that is no exception")
    return None if {Exception, BaseException} & {*classes} else classes


def _is_one_of(status: str, codes: tuple[int, ...] | None) -> str:
    if codes is None:
        return f"({status} & 255) > {row_values.NO_ROOM}"
    tests = [f"({status} & 255) == {code}" for code in codes]
    return f"({' | '.join(f'({test})' for test in tests)})" if tests else "False"
