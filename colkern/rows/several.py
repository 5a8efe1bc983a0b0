"""Values of one of several types, users' classes or Python's own, as a variable or a list may have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from colkern.errors import CompileError
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.values import Value, inner, of_parts, picked, zeros

if TYPE_CHECKING:
    from colkern.rows.emitter import Emitter

T = TypeVar("T")


def one_of(emitter: Emitter, value: Value, kind: k.Several) -> Value:
    """Returns an instance as one of the classes of a kind."""
    forms = _forms(kind)
    alternatives = value.items[1:] if isinstance(value.kind, k.Several) else (value,)
    numbers = [str(forms.index(k.form_of(each.kind))) for each in alternatives]
    number = picked(numbers, value.items[0].code) if numbers[1:] else numbers[0]
    by_form = {k.form_of(each.kind): each for each in alternatives}
    parts = [emitter.bind(number)]
    for form, of in zip(forms, kind.items[1:], strict=True):
        own = by_form.get(form)
        parts += zeros(of) if own is None else emitter.converted(own, of).parts
    return of_parts(kind, tuple(parts))


def by_class(
    emitter: Emitter,
    value: Value,
    make: Callable[[Value], Value],
    code: int = row_values.LEFT,
) -> Value:
    """Compiles a use of a value of one of several types: for each of them.

    Args:
        emitter: Where it is written.
        value: The value.
        make: Compiles the use of one. Some of Python's own types may have none.
        code: What those raise; else the row is left to Python, which may raise something.
    """
    number, *each = value.items
    chosen = emitter.bind(number.code)
    places = [*range(len(each))]
    if k.is_plain(value.kind):
        places = _places_with_use(emitter, each, make)
        others = [place for place in range(len(each)) if place not in places]
        test = " | ".join(f"({chosen} == {place})" for place in others)
        if others:
            test = test if len(places) > 1 else f"{chosen} != {places[0]}"
            kinds = " or ".join(str(each[place].kind) for place in places)
            emitter.fail_if(test, code, f"a value that is no {kinds}")
    return by_number(emitter, chosen, [each[place] for place in places], make, places)


def _places_with_use(
    emitter: Emitter, each: Sequence[Value], make: Callable[[Value], Value]
) -> list[int]:
    """Returns the places of the values that have a use; raises `CompileError` if none has."""
    places: list[int] = []
    for place, one in enumerate(each):
        try:
            with emitter.looking():
                make(one)
            places.append(place)
        except CompileError:
            if place == len(each) - 1 and not places:
                raise
    return places


def by_number(
    emitter: Emitter,
    number: str,
    cases: Sequence[T],
    make: Callable[[T], Value],
    numbers: Sequence[int] | None = None,
) -> Value:
    """Compiles a use of one of several things, of which the row has the number: for each of them.

    Args:
        numbers: Their numbers; None if these are their places.
    """
    *others, result = [partial(make, case) for case in cases]
    numbers = range(len(cases)) if numbers is None else numbers
    for place, other in reversed([*zip(numbers, others, strict=False)]):
        result = partial(emitter.chosen, f"{number} == {place}", other, result)
    return result()


def may_be_several(value: Value) -> bool:
    """Whether a value is an instance of one of several classes, or None."""
    return isinstance(inner(value).kind, k.Several)


def as_one_of(emitter: Emitter, value: Value, *forms: type, code: int = row_values.LEFT) -> Value:
    """Returns a value of one of several types as the first of some types that it may be; others unchanged.

    Rows where it is of another type are left to Python, or raise by the code.
    """
    if not k.is_plain(value.kind):
        return value
    number, *each = value.items
    places = {k.form_of(one.kind): place for place, one in enumerate(each)}
    for form in forms:
        if form in places:
            reason = f"a value that is no {form.__name__}"
            emitter.fail_if(f"{number.code} != {places[form]}", code, reason)
            return each[places[form]]
    return value


def is_instance(value: Value, classes: Any) -> tuple[str, Value, Value]:
    """Returns the code of whether an instance is one of some classes, and what it is if so, and if not.

    Only the classes are left that it may be of. None is of no class that is asked for.
    """
    if isinstance(value.kind, k.Optional):
        code, there, other = is_instance(inner(value), classes)
        if other.kind == k.CONTENT:
            return f"((not {value.none}) & {code})", there, value
        rest = of_parts(k.optional(other.kind), (value.none, *other.parts))
        return f"((not {value.none}) & {code})", there, rest
    assert isinstance(value.kind, k.Several)
    number = value.items[0]
    holds = [issubclass(k.python_class(form), classes) for form in _forms(value.kind)]
    codes = [f"({number.code} == {place})" for place, is_one in enumerate(holds) if is_one]
    there, other = (
        _of_some(value, [is_one == wanted for is_one in holds]) for wanted in (True, False)
    )
    return f"({' | '.join(codes)})" if codes else "False", there, other


def _of_some(value: Value, kept: list[bool]) -> Value:
    """Returns an instance that is of some of its classes; unchanged if of none."""
    number, *each = value.items
    places = [place for place, is_kept in enumerate(kept) if is_kept]
    if len(places) == 1:
        return each[places[0]]
    if len(places) in (0, len(each)) or value.kind == k.CONTENT:
        return value
    *rest, code = map(str, range(len(places)))
    for new, old in enumerate(places[:-1]):
        code = f"({rest[new]} if {number.code} == {old} else {code})"
    items = [Value(k.INT, code), *(each[place] for place in places)]
    words = sum(item.kind.words for item in items)
    return Value(
        k.Several("several", words, items=tuple(i.kind for i in items)), items=tuple(items)
    )


def _forms(kind: k.Several) -> list[type]:
    return [k.form_of(part) for part in kind.items[1:]]
