"""Texts, byte strings, dates and times in kernels: calls of the table's bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from colkern.jit.device import decimals
from colkern.jit.device.emitter import Emitter, Value, constant, integer, items, record
from colkern.jit.device.kinds import (
    BOOL,
    BYTES,
    PLAIN,
    UNKNOWN,
    Decimal,
    Element,
    Integer,
    Kind,
    Literal,
    Nothing,
    Number,
    Plain,
    Record,
    Unknown,
)
from colkern.jit.table_calls import FUNCTIONS, Called, called, failures, is_attribute, names_of
from colkern.kernels import row_values
from colkern.kernels.primitives import (
    difference_overflows,
    get_byte,
    product_overflows,
    sum_overflows,
)
from colkern.kernels.row_lists import item_place
from colkern.kernels.text_characters import character_at
from colkern.rows import kinds as rows
from colkern.rows.calls import constant_kind
from colkern.rows.table import call_of
from colkern.rows.unicode_tables import TABLES
from colkern.rows.values import Value as RowValue

NO_NAMES: Mapping[str, Value] = {}

PRIMITIVES = (sum_overflows, difference_overflows, product_overflows)
"""The names that checks of the table use."""

_RAW_VALUES = {rows.TEXT: row_values.Text, rows.BYTES: row_values.Bytes}


def is_element(value: Value) -> bool:
    """Whether the table has methods for a value: an element, or a string of the source."""
    return isinstance(value.kind, Element | Literal)


def has_operations(*values: Value) -> bool:
    """Whether `call` computes operations with some values; else the compiler does."""
    return any(isinstance(value.kind, Element | Literal | Decimal) for value in values)


def call(
    e: Emitter, name: str, operands: Sequence[Value], named: Mapping[str, Value] = NO_NAMES
) -> Value:
    """The result of a method of the table for values, or of an operation of decimals."""
    arguments = [e.inner(value) for value in operands]
    by_name = {word: e.inner(value) for word, value in named.items()}
    everything = [*arguments, *by_name.values()]
    if any(isinstance(value.kind, Unknown) for value in everything):
        return Value(UNKNOWN, ("0",))
    if any(isinstance(value.kind, Decimal) for value in everything):
        return decimals.operation(e, name, everything)
    if name in FUNCTIONS and all(isinstance(value.kind, Literal) for value in everything):
        return _of_literals(e, name, arguments)
    result = result_of(e, name, arguments, by_name)
    if result is None:
        words = ", ".join(value.kind.words for value in everything)
        raise e.failure(f"{name} of {words} has no compiled form")
    return result


def result_of(
    e: Emitter, name: str, operands: Sequence[Value], named: Mapping[str, Value]
) -> Value | None:
    """The result of a method of the table for operands that are not None; None if no row takes them."""
    if name.endswith(_OF_ANY) and len(operands) > 1 and isinstance(operands[1].kind, Record):
        first, any_of, *rest = operands
        tests = [result_of(e, name, [first, part, *rest], named) for part in items(any_of)]
        texts = [test.parts[0] for test in tests if test is not None]
        is_any = Value(BOOL, (f"({' or '.join(texts) or 'False'})",))
        return is_any if len(texts) == len(tests) else None
    by_name = {word: _for_rows(e, value) for word, value in named.items()}
    of = called(name, [_for_rows(e, value) for value in operands], by_name)
    return None if of is None else _returned(e, of.result, _emitted(e, of))


_OF_ANY = (".startswith", ".endswith")
"""The methods that take a tuple of texts, one of which must match."""


def _of_literals(e: Emitter, name: str, values: Sequence[Value]) -> Value:
    constants = [value.kind.value for value in values if isinstance(value.kind, Literal)]
    try:
        result = constant(FUNCTIONS[name](*constants))
    except (TypeError, ValueError) as error:
        raise e.failure(f"{name}: {error}") from None
    assert result is not None
    return result


def _for_rows(e: Emitter, value: Value) -> RowValue | None:
    """A value as the table has it, to find its row; None if the table has no such kind."""
    kind = value.kind
    if isinstance(kind, Nothing):
        return RowValue(rows.NONE, constant=None)
    if isinstance(kind, Literal):
        return RowValue(constant_kind(kind.value), constant=kind.value)
    if isinstance(kind, Element):
        return RowValue(kind.of, _raw_value(e, value))
    number = integer(value)
    if number is not None:
        return RowValue(rows.INT, constant=number)
    if not isinstance(kind, Number | Integer | Plain):
        return None
    if value.parts[0] in ("True", "False"):
        return RowValue(rows.BOOL, constant=value.parts[0] == "True")
    code = e.bind(value.parts[0])
    if kind == BOOL:
        return RowValue(rows.BOOL, code)
    if isinstance(kind, Number) and kind.code[0] == "f":
        return RowValue(rows.FLOAT, code)
    # An operation that floats do not have: they are no integers for a compiler to round.
    return RowValue(rows.INT, f"_ck_i8({code} | {code})" if kind == PLAIN else f"_ck_i8({code})")


def _raw_value(e: Emitter, element: Value) -> str:
    """The code of an element as bodies take it."""
    assert isinstance(element.kind, Element)
    body = _RAW_VALUES.get(element.kind.of)
    parts = ", ".join(element.parts)
    return parts if body is None else f"{e.use(body)}({parts})"


def _emitted(e: Emitter, of: Called) -> str:
    """The name of the result of a body; its failures are noted."""
    codes = [_operand(e, value, wanted) for value, wanted in of.arguments]
    if isinstance(of.body, str):
        if of.check:
            exception, message = failures(of.name)[row_values.LEFT]
            e.note_unless(f"not {_expression(e, of.check, codes)}", exception, message)
            e.stop_if_noted()
        return e.bind(_expression(e, of.body, codes))
    form = call_of(of.body)
    if form.result == "room" or any(form.places):
        raise e.failure(f"{of.name} has no compiled form in a kernel")
    leading = [_leading(e, of, name) for name in form.leading]
    text = f"{e.use(of.body)}({', '.join([*leading, *codes])})"
    if form.fails:
        text = e.called(of.name, text)
    return e.bind(_item(e, of.result, text) if form.result == "place" else text)


def _leading(e: Emitter, of: Called, name: str) -> str:
    if name == "arena":
        return e.arena(of.name)
    if name in TABLES:
        return e.constant_bytes(TABLES[name]())
    if name != "item_words":
        raise e.failure(f"{of.name} has no compiled form in a kernel")
    return f"_ck_i8({of.bindings['T'].words})"


def _item(e: Emitter, kind: rows.Kind, place: str) -> str:
    """The code of the item of a list at an address."""
    return f"{e.use(row_values.get_text if kind == rows.TEXT else row_values.get_bytes)}({place})"


def _operand(e: Emitter, value: RowValue, wanted: str) -> str:
    """The name of an operand as a body takes it."""
    code = value.code
    if not code and isinstance(value.constant, str | bytes):
        code = _raw_value(e, as_element(e, Value(Literal(value.constant), ())))
    elif not code:
        code = f"_ck_i8({value.constant})" if value.kind == rows.INT else repr(value.constant)
    if wanted == "float" and value.kind != rows.FLOAT:
        code = f"_ck_f8({code})"
    elif wanted == "int" and value.kind == rows.BOOL:
        code = f"_ck_i8({code})"
    return e.bind(code)


def _expression(e: Emitter, text: str, codes: Sequence[str]) -> str:
    for primitive in PRIMITIVES:
        if primitive.__name__ in text:
            text = text.replace(primitive.__name__, e.use(primitive))
    return f"({text.format(*codes)})"


def _returned(e: Emitter, kind: rows.Kind, code: str) -> Value:
    if isinstance(kind, rows.Tuple):
        return record([_returned(e, item, f"{code}[{n}]") for n, item in enumerate(kind.items)])
    if kind in NUMBERS:
        return Value(NUMBERS[kind], (code,))
    element = Element(kind)
    return Value(element, tuple(f"{code}.{name}" if name else code for name in element.parts))


NUMBERS: dict[rows.Kind, Kind] = {rows.BOOL: BOOL, rows.INT: Number("i8"), rows.FLOAT: Number("f8")}
"""The kinds of numbers as arguments and results of bodies."""


def as_element(e: Emitter, value: Value) -> Value:
    """An element, or a string of the source as one."""
    value = e.inner(value)
    if not isinstance(value.kind, Literal):
        return value
    kind = value.kind.element
    address, size = e.literal(value.kind.value)
    parts = e.bind(f"_ck_i8({address})"), f"_ck_i8({size})", str(value.kind.value.isascii())
    return Value(kind, parts[: len(kind.parts)])


def truth(e: Emitter, value: Value) -> str:
    """The code of whether an element, a string of the source, or a decimal is true."""
    is_list = isinstance(value.kind, Element) and isinstance(value.kind.of, rows.Container)
    return call(e, "len" if is_list else "bool", [value]).parts[0] + " != 0" * is_list


def attribute(e: Emitter, value: Value, name: str) -> Value:
    """`value.name`."""
    owner = _owner(value)
    if name not in names_of(owner) or not is_attribute(owner, name):
        raise e.failure(f"{owner} has no {name!r} in a kernel")
    return call(e, f"{owner}.{name}", [value])


def method(
    e: Emitter, value: Value, name: str, arguments: Sequence[Value], /, **named: Value
) -> Value:
    """`value.name(…)`."""
    owner = _owner(value)
    return call(e, f"{owner}.{name}", [value, *arguments], named)


def iterated(e: Emitter, value: Value) -> tuple[str, Callable[[str], Value]]:
    """The number of items of a text, byte string or list, and the writer of the next one."""
    count = e.bind(call(e, "len", [value]).parts[0])
    if value.kind == BYTES:
        byte = f"{e.use(get_byte)}({value.parts[0]} + _ck_i8({{}}))"
        return count, lambda k: Value(Number("i8"), (e.bind(byte.format(k)),))
    kind = value.kind.of if isinstance(value.kind, Element) else None
    if isinstance(kind, rows.Container):
        item = kind.items[0]
        at = f"{e.use(item_place)}(_ck_i8({item.words}), {value.parts[0]}, _ck_i8({{}}))"
        return count, lambda k: _returned(e, item, e.bind(_item(e, item, at.format(k))))
    place = e.fresh()
    e.emit(f"{place} = _ck_i8(0)")

    def character(k: str) -> Value:
        text = f"{e.use(character_at)}({_raw_value(e, value)}, {place})"
        one = _returned(e, rows.TEXT, e.bind(text))
        e.emit(f"{place} += {one.parts[1]}")
        return one

    return count, character


def _owner(value: Value) -> str:
    kind = value.kind.element if isinstance(value.kind, Literal) else value.kind
    assert isinstance(kind, Element)
    return kind.of.name
