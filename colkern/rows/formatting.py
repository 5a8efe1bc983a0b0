"""Values as text in row functions: f-strings, `format`, `%`, `str`."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial, reduce

from colkern.kernels import row_decimals, row_documents, row_items
from colkern.rows import enums
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked, is_left, left_to_python
from colkern.rows.comprehensions import items
from colkern.rows.containers import add, most_common, new_container
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import Piece, added, expression, in_branches
from colkern.rows.folding import constant, evaluated
from colkern.rows.functions import special, users_function
from colkern.rows.methods.formatting import LATER, TYPES, body_of_sizes
from colkern.rows.several import by_class
from colkern.rows.values import Value, inner


def text_of(emitter: Emitter, value: Value) -> Value:
    """`str(value)`."""
    if value.is_constant:
        return evaluated(emitter, str, value.constant)
    if value.kind in k.NODES:
        is_text = f"node_word({value.code}, 0) == {row_items.OF_STR}"
        own = Value(k.TEXT, f"node_text({value.code})")
        return emitter.chosen(is_text, lambda: own, lambda: represented(emitter, value))
    if isinstance(value.kind, k.Optional):
        return emitter.chosen(
            value.none, lambda: constant("None"), lambda: text_of(emitter, inner(value))
        )
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, lambda each: text_of(emitter, each))
    if isinstance(value.kind, k.Member):
        return enums.of_each(emitter, value, enums.TEXTS)
    if value.kind == k.EXCEPTION:
        return value.items[0]
    if (text := special(emitter, "__str__", value)) is not None:
        return text
    if isinstance(value.kind, k.Container | k.Compound):
        return represented(emitter, value)
    if is_left(name := f"{value.kind.name}.__str__"):
        return left_to_python(emitter, name)
    if value.kind.loose:
        return emitter.left(k.TEXT, "the text of a number that may be of another type")
    return value if value.kind == k.TEXT else call(emitter, "str", [value])


def represented(emitter: Emitter, value: Value) -> Value:
    """`repr(value)`."""
    if value.is_constant:
        return constant(repr(value.constant))
    if is_in_document(value.kind):
        return text_in_document(emitter, value, row_documents.PYTHON)
    if isinstance(value.kind, k.Optional):
        return emitter.chosen(
            value.none, lambda: constant("None"), lambda: represented(emitter, inner(value))
        )
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, lambda each: represented(emitter, each))
    if isinstance(value.kind, k.Member):
        return enums.of_each(emitter, value, enums.REPRESENTED)
    if value.kind == k.EXCEPTION:
        class_name = value.items[2].items[0]
        return concatenated(
            emitter,
            [class_name, constant("("), represented(emitter, value.items[0]), constant(")")],
        )
    if isinstance(value.kind, k.Tuple) and value.kind.form is tuple:
        pieces = [constant("(")]
        for place, item in enumerate(value.items):
            pieces += [constant(", ")] if place else []
            pieces.append(represented(emitter, item))
        return concatenated(emitter, [*pieces, constant(",)" if len(value.items) == 1 else ")")])
    if k.is_row(value.kind):
        pieces = []
        for name, item in zip(value.kind.names, value.items, strict=True):  # type: ignore[attr-defined]
            start = ", " if pieces else "{"
            pieces += [constant(f"{start}{name!r}: "), represented(emitter, item)]
        return concatenated(emitter, [*pieces, constant("}")])
    if isinstance(value.kind, k.Uneven):
        emitter.refuse("the text of a dictionary whose keys differ has no compiled form")
    if isinstance(value.kind, k.Compound) and value.kind.names:
        return _row_represented(emitter, value, value.kind)
    if isinstance(value.kind, k.Container) and value.kind.default in k.SEQUENCES:
        emitter.refuse("the text of a range has no compiled form")
    if isinstance(value.kind, k.Container) and value.kind.name != "set" and not value.kind.most:
        return _container_represented(emitter, value, value.kind)
    return text_of(emitter, value) if value.kind.loose else call(emitter, "repr", [value])


def is_in_document(kind: k.Kind) -> bool:
    """Whether values of a kind are values of documents, or lists or dictionaries of them."""
    return kind in k.NODES or (isinstance(kind, k.Container) and kind in k.CONTENT.items)


def text_in_document(
    emitter: Emitter, value: Value, form: int, comma: str = ", ", colon: str = ": "
) -> Value:
    """The text of a value of a document: `repr`, or JSON, in a form of `row_documents`."""
    node = Value(k.INT, emitter.bind(emitter.converted(value, k.DOCUMENT).code))
    given = [constant(form), *map(constant, (row_documents.WORDS[form], comma, colon))]
    arguments = [node, *map(emitter.numbers, given)]
    return invoked(emitter, row_documents.text_of_node, arguments, k.TEXT, "the text of a document")


def _row_represented(emitter: Emitter, value: Value, kind: k.Compound) -> Value:
    """`repr` of an instance of a data class, or of a named tuple."""
    if written := k.written_method(kind.form, "__repr__"):
        return users_function(emitter, written, [value])
    name, shown = kind.form.__name__, set(kind.names)
    if isinstance(kind, k.Record):
        form = kind.form
        if not getattr(k.data_class_of(form), "repr", False):
            emitter.refuse(f"repr({name}) has no compiled form")
        name = kind.form.__qualname__
        shown = {field.name for field in dataclasses.fields(form) if field.repr}
    pieces = [constant(f"{name}(")]
    for field, item in zip(kind.names, value.items, strict=True):
        if field in shown:
            start = ", " if len(pieces) > 1 else ""
            pieces += [constant(f"{start}{field}="), represented(emitter, item)]
    return concatenated(emitter, [*pieces, constant(")")])


def _container_represented(emitter: Emitter, value: Value, kind: k.Container) -> Value:
    """`repr` of a list or dictionary, or of a tuple whose length depends on the row."""
    if kind.default not in ("", "count"):
        emitter.refuse(f"the text of this {kind} has no compiled form")
    start, end = "()" if k.is_tuple(kind) else "{}" if kind.name == "dict" else "[]"
    if kind.default == "count":
        value = most_common(emitter, value)
        start, end = "Counter({", "})"
    inside = entries_text(emitter, value, represented, kind.name == "dict")
    size = call(emitter, "len", [value])
    if kind.default == "count":
        nothing = partial(constant, "Counter()")
        whole = partial(concatenated, emitter, [constant(start), inside, constant(end)])
        return emitter.chosen(f"{size.code} == 0", nothing, whole)
    closing = constant(end)
    if k.is_tuple(kind):
        closing = emitter.chosen(f"{size.code} == 1", lambda: constant(",)"), lambda: closing)
    return concatenated(emitter, [constant(start), inside, closing])


def entries_text(
    emitter: Emitter,
    value: Value,
    shown: Callable[[Emitter, Value], Value],
    has_keys: bool,
    comma: str = ", ",
    colon: str = ": ",
) -> Value:
    """The texts of the items of a container, one after the other.

    Args:
        shown: Gives the text of an item.
        has_keys: Whether each item is a key and its value.
        comma: What stands between items.
        colon: What stands between a key and its value.
    """
    load: ast.expr = standing_for(emitter, emitter.node, f"repr of {value.kind}", value)
    name = f"<repr of {value.kind}>"
    texts = new_container(emitter, load, "list", 0)
    if value.kind.name == "dict":
        view = partial(ast.Attribute, load, "items", ast.Load())
        load = derived(load, "entries", lambda: ast.Call(view(), [], []))

    def take(item: Value) -> None:
        if has_keys:
            key, of_key = (shown(emitter, part) for part in item.items)
            text = concatenated(emitter, [key, constant(colon), of_key])
        else:
            text = shown(emitter, item)
        add(emitter, texts, (text,))

    items(emitter, load, take)
    emitter.env.pop(name, None)
    return call(emitter, "str.join", [constant(comma), texts])


def with_specification(emitter: Emitter, value: Value, specification: str) -> Value:
    """`format(value, specification)`."""
    if value.is_constant:
        return evaluated(emitter, format, value.constant, specification)
    if isinstance(value.kind, k.Several):
        return by_class(
            emitter, value, lambda each: with_specification(emitter, each, specification)
        )
    if isinstance(value.kind, k.Member):
        return enums.of_each(emitter, value, enums.FORMATS, specification)
    if (text := special(emitter, "__format__", value, constant(specification))) is not None:
        return text
    if not specification:
        return text_of(emitter, value)
    value = emitter.plain(value)
    if isinstance(value.kind, k.Decimal):
        return _decimal(emitter, value, specification)
    return call(emitter, "format", [_as_float(value, specification), constant(specification)])


def _as_float(value: Value, specification: str) -> Value:
    """Returns a number that may be an integer as a float, if the type of format makes it one."""
    if value.kind == k.LOOSE_FLOAT and specification[-1:] in (*"eEfFgG%",):
        return dataclasses.replace(value, kind=k.FLOAT)
    return value


_DECIMAL = re.compile(r"((?:.?[<>^])?)(\+?)(0?)(\d*)(,?)(?:\.(\d+)(?=[fF%]))?([fF%]?)", re.DOTALL)


def _decimal(emitter: Emitter, value: Value, specification: str) -> Value:
    """`format` of a decimal: it is rounded and written, then padded like text."""
    match = _DECIMAL.fullmatch(specification)
    if match is None or (match[3] and (match[1] or match[5])) or (match[7] == "%") > bool(match[6]):
        return emitter.left(k.TEXT, f"the format {specification!r} of a decimal")
    align, sign, zero, width, comma, places, letter = match.groups()
    if letter == "%":
        value = call(emitter, "*", [value, constant(Decimal(100).normalize())])
    if places:
        value = call(emitter, "round", [value, constant(int(places))])
    if letter:
        flags = [Value(k.BOOL, str(bool(flag))) for flag in (comma, sign)]
        text = invoked(emitter, row_decimals.to_text, [value, *flags], k.TEXT, "format")
        text = call(emitter, "+", [text, constant("%")]) if letter == "%" else text
    elif sign or comma:
        return emitter.left(k.TEXT, f"the format {specification!r} of a decimal")
    else:
        text = text_of(emitter, value)
    if not width:
        return text
    if zero:
        return call(emitter, "str.zfill", [text, constant(int(width))])
    return call(emitter, "format", [text, constant(f"{align or '>'}{width}")])


def joined(emitter: Emitter, node: ast.JoinedStr) -> Value:
    """An f-string."""
    pieces: list[Piece] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            pieces.append(constant(part.value))
        elif isinstance(part, ast.FormattedValue):
            pieces.append(partial(_field, emitter, part))
    return concatenated(emitter, pieces)


def _field(emitter: Emitter, part: ast.FormattedValue) -> Value:
    return in_branches(emitter, part.value, lambda value: _field_of(emitter, part, value))


def _field_of(emitter: Emitter, part: ast.FormattedValue, value: Value) -> Value:
    if part.conversion == ord("a"):
        emitter.refuse("!a in a format has no compiled form")
    if part.conversion >= 0:
        value = (represented if part.conversion == ord("r") else text_of)(emitter, value)
    specification = part.format_spec
    if specification is None:
        return with_specification(emitter, value, "")
    assert isinstance(specification, ast.JoinedStr)
    parts: list[str | Value] = []
    for each in specification.values:
        if isinstance(each, ast.Constant):
            parts.append(str(each.value))
        elif isinstance(each, ast.FormattedValue):
            is_plain = each.conversion == -1 and each.format_spec is None
            size = expression(emitter, each.value) if is_plain else _field(emitter, each)
            parts.append(format(size.constant) if size.is_constant else size)
    if all(isinstance(each, str) for each in parts):
        return with_specification(emitter, value, "".join(map(str, parts)))
    return _with_sizes(emitter, value, parts)


def _with_sizes(emitter: Emitter, value: Value, parts: Sequence[str | Value]) -> Value:
    """`format` by a specification whose width or precision depends on the row."""
    value = emitter.numbers(emitter.plain(value))
    text, sizes = "", {}
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        name = "precision_" if text.endswith(".") else "width_"
        text += LATER[name]
        sizes[name] = emitter.plain(part)
    value = _as_float(value, text)
    kind = TYPES.get(value.kind.name)
    sized = body_of_sizes(kind, text) if kind is not None and not value.kind.loose else None
    if sized is None or any(size.kind != k.INT for size in sizes.values()):
        return emitter.left(k.TEXT, "a format that depends on the row like this")
    body, names = sized
    for name, size in sizes.items():
        # A negative number has a sign, which is not a size; a width of 0 would be the flag `0`.
        least = int(name != "width_" and text[-1:] not in "fFeE%")
        most = 1 << 20 if name == "width_" else 16
        test = f"({size.code} < {least}) | ({size.code} > {most})"
        emitter.leave_if(test, "a format with an unusual width or precision")
        emitter.require_sound()
    arguments = [value, *(sizes[name] for name in names)]
    return invoked(emitter, body, arguments, k.TEXT, "format")


def concatenated(emitter: Emitter, pieces: Iterable[Piece]) -> Value:
    """Compiles the concatenation of texts."""
    return reduce(partial(added, emitter), pieces, constant(""))


def formatted(
    emitter: Emitter, text: str, arguments: Sequence[Value], named: dict[str, Value]
) -> Value:
    """`text.format(…)`, as an f-string whose fields are names of the arguments."""
    fields = {f"<field {place}>": value for place, value in [*enumerate(arguments), *named.items()]}
    automatic: set[bool] = set()
    places = itertools.count()

    def pieces(text: str) -> Iterator[ast.expr]:
        for before, field, specification, conversion in string.Formatter().parse(text):
            yield ast.Constant(before)
            if field is None:
                continue
            if field == "" or field.isdigit():
                automatic.add(field == "")
            name = ast.Name(f"<field {field or next(places)}>", ast.Load())
            sizes = ast.JoinedStr(list(pieces(specification))) if specification else None
            yield ast.FormattedValue(name, ord(conversion) if conversion else -1, sizes)

    def make() -> ast.JoinedStr:
        whole = ast.JoinedStr(list(pieces(text)))
        if len(automatic) > 1:
            raise ValueError("a format that mixes automatic and explicit field numbers")
        return whole

    try:
        node = derived(emitter.node, f"format {text}", make)
    except ValueError as error:
        emitter.refuse(str(error))
    if not {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} <= fields.keys():
        return emitter.left(k.TEXT, f"the format {text!r}")
    emitter.env.update(fields)
    return expression(emitter, node)


def substituted(
    template: string.Template, emitter: Emitter, named: dict[str, Value], is_safe: bool
) -> Value | None:
    """Compiles `template.substitute(…)`, or `safe_substitute` if `is_safe`; None if a place is left."""
    pieces: list[Piece] = []
    text, at = template.template, 0
    for match in template.pattern.finditer(text):
        pieces.append(constant(text[at : match.start()]))
        at = match.end()
        name = match["named"] or match["braced"]
        if name in named:
            pieces.append(partial(text_of, emitter, named[name]))
        elif match["escaped"]:
            pieces.append(constant(template.delimiter))
        elif is_safe:
            pieces.append(constant(match[0]))
        else:
            return None
    return concatenated(emitter, [*pieces, constant(text[at:])])


_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)(\d*)(\.\d+)?([sdifFeEgGxXor%])")


def percent(emitter: Emitter, text: str, right: Value) -> Value:
    """`text % right`."""
    values = list(right.items) if isinstance(right.kind, k.Tuple) else [right]
    if k.is_row(right.kind):
        values = []
    if isinstance(right.constant, tuple):
        values = [constant(item) for item in right.constant]
    pieces: list[Piece] = []
    at = 0
    for match in _PERCENT.finditer(text):
        pieces.append(constant(text[at : match.start()]))
        at = match.end()
        if match[5] == "%":
            pieces.append(constant("%"))
            continue
        kind = right.kind
        if isinstance(kind, k.Tuple) and k.is_row(kind) and match[1] in kind.names:
            item = right.items[kind.names.index(match[1])]
            pieces.append(partial(_percent_field, emitter, match, item))
            continue
        if not values or match[1]:
            return emitter.left(k.TEXT, f"the format {text!r}")
        pieces.append(partial(_percent_field, emitter, match, values.pop(0)))
    rest = text[at:]
    if "%" in rest or values:
        return emitter.left(k.TEXT, f"the format {text!r}")
    pieces.append(constant(rest))
    return concatenated(emitter, pieces)


def _percent_field(emitter: Emitter, match: re.Match[str], value: Value) -> Value:
    """Compiles one field of `%`, as a specification of `format`."""
    flags, width, precision, letter = match[2], match[3], match[4] or "", match[5]
    if letter in "sr":
        value = (represented if letter == "r" else text_of)(emitter, value)
        align = "<" if "-" in flags else ">"
        specification = f"{align}{width}{precision}" if width or precision else ""
        return with_specification(emitter, value, specification)
    if "#" in flags or (precision and letter in "dixXo"):
        return emitter.left(k.TEXT, f"the format {match[0]!r}")
    value = emitter.plain(value)
    if letter in "di":
        if value.kind.name in ("float", "Decimal"):
            value = call(emitter, "int", [value])
        letter = "d"
    elif (
        value.kind.name in ("int", "unsigned", "bool") and letter in "fFeEgG"
    ) or value.kind.name == "Decimal":
        value = call(emitter, "float", [value])
    align = "<" if "-" in flags else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and not align else ""
    return with_specification(emitter, value, f"{align}{sign}{zero}{width}{precision}{letter}")
