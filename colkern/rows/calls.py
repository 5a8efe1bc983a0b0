"""Calls of methods of the table: finds the row that takes the arguments, and calls its body."""

from __future__ import annotations

import builtins
import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from colkern import rows
from colkern.errors import CompileError, UnsupportedError
from colkern.kernels import row_values
from colkern.rows import decimals
from colkern.rows import kinds as k
from colkern.rows.constants import KINDS, constant_block, has_order, kind_of_integer, layout_of
from colkern.rows.constants import kind_of as kind_of_constant
from colkern.rows.documents import as_looked_up
from colkern.rows.emitter import NO_PART, Emitter, Message, as_float
from colkern.rows.kinds import Kind
from colkern.rows.program import Again, Operation
from colkern.rows.several import by_class
from colkern.rows.table import (
    NO_DEFAULT,
    OF_ITEMS,
    Parameter,
    Row,
    call_of,
    in_order,
    kind_of,
    matches,
    table,
)
from colkern.rows.unicode_tables import TABLES
from colkern.rows.values import Value, loaded, of_parts, stored, tuple_of_values, zeros

NO_NAMES: Mapping[str, Value] = {}
NO_KINDS: Mapping[str, Kind] = {}

EXACT = ("str", "repr", "format", "isinstance")
"""Methods that do not take an `int` that may be a `bool`, or a `float` that may be an `int`."""


_OF_DEQUES = ("len", "[]", "[]=", "in", "==", "!=", "sorted", "str.join", "list.pop")
"""Methods that do the same for a deque as for a list."""

_ORDERING = ("<", "<=", ">", ">=", "min", "max", "sorted", "list.sort")
"""Methods that depend on the order of values."""


TESTS = ("==", "<", "<=", ">", ">=", "in", "bool")


def call(
    emitter: Emitter, name: str, arguments: Sequence[Value], named: Mapping[str, Value] = NO_NAMES
) -> Value:
    """Compiles a call of a method of the table; refuses it if no row takes the arguments."""
    if any(value.kind == k.NEVER for value in (*arguments, *named.values())):
        # This reads an item of an empty list: no row gets here, or the function is compiled again.
        return Value(k.BOOL, "False") if name in TESTS else Value(k.NEVER)
    if is_left(name):
        return left_to_python(emitter, name)
    if len(arguments) > 1:
        first, second, *others = arguments
        arguments = [first, as_looked_up(emitter, second, first), *others]
    # An item may be of one of several types as it is.
    places = range(min(len(arguments), 2) if name == "[]=" else len(arguments))
    place = next((n for n in places if k.is_plain(arguments[n].kind)), None)
    if place is not None:
        before, after = arguments[:place], arguments[place + 1 :]
        # Nothing in a document but a dictionary has an item of a text.
        is_entry = name == "[]" and [each.kind for each in arguments] == [k.CONTENT, k.TEXT]
        return by_class(
            emitter,
            arguments[place],
            lambda each: call(emitter, name, [*before, each, *after], named),
            row_values.TYPE_ERROR if is_entry else row_values.LEFT,
        )
    has_members = [
        rows.enums.has_member(v.kind) and isinstance(v.kind, k.Container) for v in arguments
    ]
    if not any(has_members):
        arguments = [rows.enums.as_plain(emitter, value) for value in arguments]
        named = {word: rows.enums.as_plain(emitter, value) for word, value in named.items()}
    if name in _ORDERING and any(
        rows.enums.has_member(value.kind, rows.enums.is_unordered) for value in arguments
    ):
        emitter.refuse(f"{name} of members of an enum has no compiled form")
    if name not in _OF_DEQUES and any(k.is_deque(value.kind) for value in arguments):
        emitter.refuse(f"{name} of a deque has no compiled form")
    in_zone = rows.zones.called(emitter, name, arguments, named)
    if in_zone is not None:
        return in_zone
    arguments, named, match = _match(emitter, name, arguments, named)
    if match is None and (match := find(name, arguments, named, of_the_row=True)) is not None:
        reason = f"{name} of a value that is not known when the function is compiled"
        return emitter.left(match[0].result(match[2]), reason)
    if match is None:
        return _of_no_row(emitter, name, arguments, named)
    if match[0].method.body is None and not emitter.program.wraps:
        reason = (
            f"{name}, compiled with arithmetic='machine' alone; math may have the same function"
        )
        return emitter.left(match[0].result(match[2]), reason)
    return _of_row(emitter, name, arguments, named, match)


def _match(
    emitter: Emitter, name: str, arguments: Sequence[Value], named: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value], Found | None]:
    """Returns the arguments and the row that takes them; unsigned integers as signed ones if none does."""
    if emitter.program.wraps or emitter.program.has_numpy:
        arguments = [emitter.numbers(v) if v.kind == k.UNSIGNED else v for v in arguments]
    match = find(name, arguments, named)
    if match is None and any(v.kind.name == "unsigned" for v in (*arguments, *named.values())):
        arguments = [emitter.signed(value) for value in arguments]
        named = {word: emitter.signed(value) for word, value in named.items()}
        match = find(name, arguments, named)
    return arguments, named, match


def _of_no_row(
    emitter: Emitter, name: str, arguments: Sequence[Value], named: Mapping[str, Value]
) -> Value:
    """Compiles a call that no row takes: it raises, leaves the row, or is refused."""
    owner, _, attribute = name.partition(".")
    types = (getattr(module, owner, None) for module in (builtins, datetime, decimal))
    type_ = next(filter(None, types), None)
    if type_ is not None and attribute and arguments and arguments[0].kind.name == owner:
        if not hasattr(type_, attribute):
            # Python raises before it evaluates arguments.
            if emitter.attempts and len(arguments) == 1 and not named:
                emitter.fail(row_values.ATTRIBUTE_ERROR, f"{owner} has no {attribute!r}")
                return Value(k.NEVER)
            of_series = ": it is one value, and no Series" if attribute in _OF_SERIES else ""
            emitter.refuse(f"{owner} has no {attribute!r}{of_series}")
        if name not in table() and not isinstance(arguments[0].kind, k.Container):
            return emitter.computed(name)
    if any(k.stands_for_library(value.kind) for value in arguments):
        return emitter.computed(name)
    kinds = ", ".join(str(value.kind) for value in (*arguments, *named.values()))
    instead = _INSTEAD.get(name.rpartition(".")[2], "")
    return emitter.refuse(f"{name}({kinds}) has no compiled form{instead}")


def _of_row(
    emitter: Emitter,
    name: str,
    arguments: Sequence[Value],
    named: Mapping[str, Value],
    match: Found,
) -> Value:
    """Compiles a call that a row takes."""
    row, chosen, bindings = match
    if name.startswith("numpy.") and not emitter.program.wraps | emitter.program.has_numpy:
        raise Again(has_numpy=True)
    if emitter.program.has_numpy and not emitter.program.wraps:
        _require_alike(emitter, name, arguments, named)
    if name == "[]=" or name.partition(".")[2] in CHANGING:
        require_changeable(emitter, arguments[0])
    result = _called(emitter, row, chosen, bindings, wraps=False)
    if name in (*_SAME_FORM, "list.copy") and isinstance(result.kind, k.Container):
        # Its items are widened with those of the containers from which they are.
        origins = [v.kind.sites for v in chosen if isinstance(v.kind, k.Container)]
        sites = frozenset().union(*origins) if all(origins) else frozenset()
        result = replace(result, kind=replace(result.kind, sites=sites))
    if name in _SAME_FORM and k.is_tuple(arguments[0].kind):
        if name == "+" and not k.is_tuple(arguments[1].kind):
            emitter.refuse("a list added to a tuple has no compiled form")
        result = as_tuple(result)
    return result


_OF_SERIES_NAMES = "str dt fillna isin isna isnull notna astype apply map iloc"
_OF_SERIES = tuple(_OF_SERIES_NAMES.split())
"""Attributes of a pandas Series, which a row function never gets."""

_EACH_TIME = ": it gives something else each time; pass it as an argument"

_INSTEAD = {
    "print": ": a row function has no output; f.python is the function to look into",
    **dict.fromkeys(("today", "now", "utcnow", "random", "randint", "uuid4", "time"), _EACH_TIME),
}
"""Advice for calls of some functions, by the last part of their names."""


def is_left(name: str) -> bool:
    """Whether the table leaves a method to Python."""
    return any(row.is_left for row in table().get(name, ()))


def left_to_python(emitter: Emitter, name: str) -> Value:
    """Leave the row at a method that only Python computes; returns a placeholder of the result's kind."""
    (row,) = table()[name]
    return emitter.left(row.result({}), name)


def as_tuple(value: Value) -> Value:
    """Returns a list as a tuple whose length depends on the row."""
    return replace(value, kind=replace(k.container(value.kind), is_tuple=True))


_SAME_FORM = ("+", "*", "[:]", "[::]")
"""Methods that return a tuple for a tuple, and a list for a list."""


def _require_alike(
    emitter: Emitter, name: str, arguments: Sequence[Value], named: Mapping[str, Value]
) -> None:
    """Refuse operations that NumPy's numbers do in another way than Python's."""
    kinds = [value.kind for value in (*arguments, *named.values()) if not value.is_constant]
    are_bools = all(value.kind == k.BOOL for value in arguments)
    is_other = name in ("+", "-", "*", "neg", "~") and are_bools
    is_other |= name in _OF_BOOLS and k.BOOL in kinds
    is_repeated = {"str", "bytes", "list"} & {value.kind.name for value in arguments}
    is_other |= name == "*" and bool(is_repeated) and k.BOOL in kinds
    is_other |= name == "round" and len(arguments) > 1 and not emitter.definition.is_library
    is_other |= name in _TAKE_PYTHONS and bool({k.INT, k.BOOL} & {*kinds})
    is_other |= (name == "pow" and len(arguments) > 2) or (name == "[]" and k.BOOL in kinds[-1:])
    if is_other or name in NOT_NUMPYS:
        refuse_numpys(emitter, name)


def refuse_numpys(emitter: Emitter, name: str) -> None:
    """Refuse an operation with numbers, if they may be NumPy's."""
    if emitter.program.has_numpy:
        emitter.refuse(f"{name} of a number that may be NumPy's has no compiled form")


NOT_NUMPYS = ("repr", "int.bit_length", "int.to_bytes")
"""Methods that NumPy's numbers lack, or that have other results there."""

_OF_BOOLS = ("abs", "bin", "hex", "max", "min", "oct", "pos", "round")
"""Functions that booleans of NumPy's do not have, or that keep them booleans."""

_TAKE_PYTHONS = ("datetime.timedelta", "decimal.Decimal", "math.ceil", "math.floor", "math.trunc")
"""Functions that take no integers of NumPy's, or make floats of them."""


def refuse_change(emitter: Emitter, kind: type[CompileError] = CompileError) -> NoReturn:
    """Refuse to change a constant."""
    emitter.refuse(
        "a constant that changes has no compiled form: an object from outside the function, or a "
        "default, is shared by all rows",
        kind,
    )


CHANGING = {
    name
    for kind in (list, set, dict)
    for name in vars(kind)
    if not name.startswith("_") and name not in vars(frozenset)
} - {"get", "items", "keys", "values", "count", "index", "fromkeys"}
"""The methods of containers that change the container."""


def require_changeable(emitter: Emitter, container: Value) -> None:
    """Refuse to change a container that may be a constant, which all rows read from the same memory."""
    kind = container.kind
    if k.is_tuple(kind):
        emitter.refuse("a tuple that changes has no compiled form")
    is_constant = isinstance(kind, k.Container) and (container.is_constant or kind.constant)
    if is_constant or isinstance(container.constant, list | dict | set):
        refuse_change(emitter)
    if any(k.may_be_one(kind, read) for read in emitter.read_later):
        emitter.refuse("a container that changes while an iterator reads it has no compiled form")


def has(name: str, arguments: Sequence[Value], named: Mapping[str, Value] = NO_NAMES) -> bool:
    """Whether some row of that name takes the arguments."""
    return find(name, arguments, named) is not None


Found = tuple[Row, list[Value], dict[str, Kind]]


def find(
    name: str, arguments: Sequence[Value], named: Mapping[str, Value], of_the_row: bool = False
) -> Found | None:
    """Finds the first row that takes the arguments as they are, or else the first that takes them widened.

    Args:
        of_the_row: Whether parameters that take only constants accept arguments that depend on the row.
    """
    words = list(named)
    ordered = [(row, in_order(row, len(arguments), words)) for row in table().get(name, ())]
    is_exact = name.partition(".")[0] in EXACT
    for exact in (True, False):
        for row, order in ordered:
            if order is None:
                continue
            taken = _taken(row, order, arguments, named, exact, is_exact, of_the_row)
            if taken is not None:
                return row, *taken
    return None


def _taken(
    row: Row,
    order: Sequence[int | str | None],
    arguments: Sequence[Value],
    named: Mapping[str, Value],
    exact: bool,
    is_exact: bool,
    of_the_row: bool,
) -> tuple[list[Value], dict[str, Kind]] | None:
    bindings: dict[str, Kind] = {}
    chosen: list[Value] = []
    for parameter, place in zip(row.parameters, order, strict=True):
        value = _argument(parameter, place, arguments, named)
        if parameter.is_constant:
            if not value.is_constant and not of_the_row:
                return None
        elif not matches(parameter.kind, value.kind, bindings, exact):
            # An integer becomes a decimal if another argument is a decimal.
            is_asked_for = getattr(parameter.kind, "id", "") == "Decimal" and not exact
            beside = any(isinstance(argument.kind, k.Decimal) for argument in arguments)
            if not (is_asked_for and beside and value.kind.name in ("int", "bool")):
                return None
        if is_exact and value.kind.loose:
            return None
        chosen.append(value)
    return chosen, bindings


def _argument(
    parameter: Parameter,
    place: int | str | None,
    arguments: Sequence[Value],
    named: Mapping[str, Value],
) -> Value:
    if isinstance(place, int):
        return arguments[place]
    if isinstance(place, str):
        return named[place]
    assert parameter.default is not NO_DEFAULT
    return Value(constant_kind(parameter.default), constant=parameter.default)


def constant_kind(value: Any) -> Kind:
    """Returns the kind of a Python object that is known when the function is compiled."""
    if isinstance(value, tuple):
        names = tuple(getattr(value, "_fields", ()))
        return k.tuple_of(tuple(map(constant_kind, value)), names, type(value))
    if k.is_enum(type(value)):
        return k.member_of(type(value))
    if type(value) is datetime.datetime:
        return k.kind_of_datetime(value)
    if type(value) is decimal.Decimal and value.is_finite():
        return kind_of_constant(value)
    if type(value) is int:
        return kind_of_integer(value)
    is_known = type(value) in KINDS and type(value) is not decimal.Decimal
    return KINDS[type(value)] if is_known else Kind("object", 0)


def constants_of(row: Row, arguments: Sequence[Value]) -> list[Any]:
    """Returns the arguments that must be known when the function is compiled."""
    pairs = zip(arguments, row.parameters, strict=True)
    return [value.constant for value, one in pairs if one.is_constant]


def body_of(
    row: Row, arguments: Sequence[Value], wraps: bool = False
) -> tuple[Any, list[tuple[Value, Parameter]]]:
    """The body of a row for arguments, or an expression as text; and those that it takes."""
    pairs = list(zip(arguments, row.parameters, strict=True))
    body = row.body(constants_of(row, arguments), wraps)
    # A body that is made for constants does not get them.
    return body, [pair for pair in pairs if not (row.method.maker and pair[1].is_constant)]


def wrapped_call(emitter: Emitter, name: str, arguments: Sequence[Value]) -> Value:
    """Compiles an operator of integers of which the 64 lowest bits suffice."""
    match = find(name, arguments, NO_NAMES)
    assert match is not None
    return _called(emitter, *match, wraps=match[0].method.machine is not None)


def _called(
    emitter: Emitter, row: Row, arguments: list[Value], bindings: dict[str, Kind], wraps: bool
) -> Value:
    method = row.method
    of_program = emitter.program.wraps and method.machine is not None
    wraps |= of_program
    body, pairs = body_of(row, arguments, wraps)
    widened = [_widened(emitter, parameter, value, bindings) for value, parameter in pairs]
    result = decimals.result_kind(emitter, method.name, row.result(bindings), widened)
    line = getattr(emitter.node, "lineno", 0)
    # Spark's expressions check what wraps around here only because few bits are needed.
    may_leave = bool(method.check) and not of_program
    operation = Operation(
        method.name, method.signature, row.takes, tuple(arguments), result, line, may_leave
    )
    if isinstance(body, str):
        bound = [emitter.bind(code) for value in widened for code in value.parts]
        if method.check and not wraps:
            what = "more than 64 bits" if result == k.INT else "such numbers"
            test, reason = _check(method.check, bound), f"{method.name} of {what}"
            if emitter.attempts and method.raises:
                emitter.fail_if(test, method.raises, reason, _message(emitter, row, arguments))
            else:
                emitter.leave_if(test, reason)
        result_value = emitter.bind_value(result, [body.format(*bound)])
    else:
        message = _message(emitter, row, arguments)
        result_value = invoked(
            emitter, body, widened, result, method.name, bindings, operation, message
        )
    # If a method returns its argument, the argument's name must not be taken for the call.
    known = {part for value in (*arguments, *widened) for part in value.parts}
    for place, part in enumerate(result_value.parts):
        if part not in known:
            emitter.operations[part] = operation, place
    return result_value


def _message(emitter: Emitter, row: Row, arguments: Sequence[Value]) -> Message | None:
    """Returns the text of the exception that a method raises; None if it is not known."""
    method = row.method
    containers = [value.kind for value in arguments if isinstance(value.kind, k.Container)]
    # Ranges, deques and other containers that are lists or dictionaries here have other texts.
    if not method.message or any(one.default or one.most or one.is_tuple for one in containers):
        return None
    if callable(method.message):
        known = constants_of(row, arguments)
        function = method.message(*known) if method.maker else method.message
        return partial(rows.functions.users_function, emitter, function, arguments, {})
    if "{" in method.message:
        return partial(rows.formatting.formatted, emitter, method.message, arguments, {})
    return method.message


def _check(check: str, codes: Sequence[str]) -> str:
    """Returns a check of arguments. For a product with a constant, it checks the range of the other factor.

    Vector instructions have no 128-bit products.
    """
    if check.startswith("product_overflows"):
        for constant, other in (codes, codes[::-1]):
            if constant.lstrip("-").isdigit() and constant not in ("0", "1"):
                factor = int(constant)
                ends = (1 << 63) - 1, -1 << 63
                most, least = ends if factor > 0 else ends[::-1]
                return f"({other} < {-(-least // factor)}) | ({other} > {min(most // factor, ends[0])})"
    return check.format(*codes)


def _widened(
    emitter: Emitter, parameter: Parameter, value: Value, bindings: dict[str, Kind]
) -> Value:
    """Returns an argument, widened to the kind that the parameter takes."""
    value = emitter.numbers(value)
    name = getattr(parameter.kind, "id", "")
    if name == "int" and value.kind.name == "bool":
        return Value(k.INT, f"int({value.code})")
    if name == "unsigned":
        return emitter.converted(value, k.UNSIGNED)
    if name == "Decimal" and value.kind.name in ("int", "bool"):
        return Value(k.decimal_of(0), emitter.exact_decimal(value))
    if name == "float" and value.kind.name in ("int", "bool"):
        return Value(k.FLOAT, as_float(value))
    if name in bindings and bindings[name] != value.kind:
        return emitter.converted(value, bindings[name])
    if isinstance(value.kind, k.Container):
        return emitter.converted(value, kind_of(parameter.kind, bindings))
    return value


def invoked(
    emitter: Emitter,
    body: Callable[..., Any],
    arguments: Sequence[Value],
    result: Kind,
    name: str,
    bindings: Mapping[str, Kind] = NO_KINDS,
    operation: Operation | None = None,
    message: Message | None = None,
) -> Value:
    """Writes a call of a body; where the body fails, its status raises or leaves the row.

    Args:
        arguments: Its arguments, except the leading ones, which describe items.
        name: The name of the call in reports.
        bindings: The values of its row's type variables.
        operation: The call of a method that this is, if it is one.
        message: The text of the exception that it raises.
    """
    form = call_of(body)
    codes = leading_codes(emitter, body, bindings)
    places, rest = list(form.places), list(arguments)
    while rest and (places or not rest[0].parts):
        value = rest.pop(0)
        if places and places[0]:
            codes.append(in_words(emitter, value))
            del places[0]
        else:
            codes += value.parts
            del places[: len(value.parts)]
    text = f"{emitter.use(body)}({', '.join(codes)})"
    if form.fails:
        text, code = emitter.fresh(), emitter.fresh("code")
        emitter.write(f"{text}, {code} = {emitter.use(body)}({', '.join(codes)})")
        if operation is not None:
            emitter.operations[code] = operation, NO_PART
        # An operation that raises for Python's numbers may not raise for NumPy's.
        raised = f"({row_values.LEFT} if {code} > {row_values.NO_ROOM} else {code})"
        reason = raised if emitter.program.has_numpy else code
        emitter.fail_if(f"{code} != 0", reason, name, message)
    if form.result == "value":
        return _unpacked(emitter, text, result)
    place = emitter.bind(text)
    if form.result == "place":
        return emitter.bind_value(result, loaded(result, place))
    for value in rest:
        for line in stored(value.kind, place, value):
            emitter.write(line)
    return Value(result, constant=None)


def leading_codes(
    emitter: Emitter, body: Callable[..., Any], bindings: Mapping[str, Kind] = NO_KINDS
) -> list[str]:
    """Returns the first arguments of a call of a body, which are no arguments of the method."""
    return [_leading(emitter, parameter, bindings) for parameter in call_of(body).leading]


def _leading(emitter: Emitter, parameter: str, bindings: Mapping[str, Kind]) -> str:
    if parameter == "arena":
        return parameter
    if parameter in TABLES:
        return f"pool + {emitter.program.place(TABLES[parameter]())}"
    stem, _, what = parameter.partition("_")
    kind = bindings[OF_ITEMS[stem]]
    if parameter == "key_layout" and kind.words and not has_order(kind):
        emitter.refuse(f"keys of {kind} have no compiled form")
    try:
        return str(kind.words if what == "words" else layout_of(kind, to_equal=stem == "value"))
    except UnsupportedError as error:
        emitter.refuse(str(error))


def replaced(emitter: Emitter, owner: Value, named: Mapping[str, Value]) -> Value:
    """Returns a named tuple or an instance of a data class, with other values for some of its fields."""
    kind = owner.kind
    assert isinstance(kind, k.Compound)
    pairs = zip(kind.names, owner.items, strict=True)
    items = (emitter.numbers(named.get(field, item)) for field, item in pairs)
    return tuple_of_values(items, kind.names, kind.form)


def in_words(emitter: Emitter, value: Value) -> str:
    """Returns the address of a value's words, which are written for a call."""
    value = emitter.numbers(value)
    if value.kind in (k.TEXT, k.INT) and value.is_constant:
        return f"pool + {emitter.program.block(constant_block(value.constant, value.kind))}"
    place = emitter.copy(f"allocate(arena, {8 * value.kind.words})")
    emitter.fail_if(f"{place} == 0", row_values.NO_ROOM, "the arena")
    for line in stored(value.kind, place, value):
        emitter.write(line)
    return place


def _unpacked(emitter: Emitter, text: str, kind: Kind) -> Value:
    count = len(zeros(kind))
    if count == 0:
        if not text.isidentifier():
            emitter.write(text)
        return of_parts(kind, ())
    if count == 1:
        return emitter.bind_value(kind, [text])
    names = [emitter.fresh() for _ in range(count)]
    emitter.write(f"{', '.join(names)} = {text}")
    return emitter.bind_value(kind, names)
