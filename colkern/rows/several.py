"""Instances of one of several classes, which a variable, a list or a result may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from colkern.rows import kinds as k
from colkern.rows.values import Value, inner, of_parts, zeros

if TYPE_CHECKING:
    from colkern.rows.emitter import Emitter

T = TypeVar("T")


def one_of(emitter: Emitter, value: Value, kind: k.Several) -> Value:
    """Returns an instance as one of the classes of a kind."""
    forms = _forms(kind)
    given = value.items[1:] if isinstance(value.kind, k.Several) else (value,)
    *rest, number = (str(forms.index(each.kind.form)) for each in given)  # type: ignore[attr-defined]
    for place, other in enumerate(rest):
        number = f"{other} if {value.items[0].code} == {place} else ({number})"
    by_form = {each.kind.form: each for each in given}  # type: ignore[attr-defined]
    parts = [emitter.bind(number)]
    for form, of in zip(forms, kind.items[1:], strict=True):
        own = by_form.get(form)
        parts += zeros(of) if own is None else emitter.converted(own, of).parts
    return of_parts(kind, tuple(parts))


def by_class(emitter: Emitter, value: Value, make: Callable[[Value], Value]) -> Value:
    """Compiles a use of an instance of one of several classes: for each of them."""
    number, *each = value.items
    return by_number(emitter, number.code, each, make)


def by_number(
    emitter: Emitter, number: str, cases: Sequence[T], make: Callable[[T], Value]
) -> Value:
    """Compiles a use of one of several things, of which the row has the number: for each of them."""
    *others, result = [partial(make, case) for case in cases]
    for place, other in reversed([*enumerate(others)]):
        result = partial(emitter.chosen, f"{number} == {place}", other, result)
    return result()


def may_be_several(value: Value) -> bool:
    """Whether a value is an instance of one of several classes, or None."""
    return isinstance(inner(value).kind, k.Several)


def is_instance(value: Value, classes: Any) -> tuple[str, Value, Value]:
    """Returns the code of whether an instance is one of some classes, and what it is if so, and if not.

    It is of a single class where only one is left. None is of no class that is asked for.
    """
    if isinstance(value.kind, k.Optional):
        code, there, other = is_instance(inner(value), classes)
        rest = of_parts(k.optional(other.kind), (value.none, *other.parts))
        return f"((not {value.none}) & {code})", there, rest
    assert isinstance(value.kind, k.Several)
    number, *each = value.items
    holds = [issubclass(form, classes) for form in _forms(value.kind)]
    codes = [f"({number.code} == {place})" for place, is_one in enumerate(holds) if is_one]
    sides = (
        [own for own, is_one in zip(each, holds, strict=True) if is_one == wanted]
        for wanted in (True, False)
    )
    there, other = (side[0] if len(side) == 1 else value for side in sides)
    return f"({' | '.join(codes)})" if codes else "False", there, other


def _forms(kind: k.Several) -> list[type]:
    return [part.form for part in kind.items[1:]]  # type: ignore[attr-defined]
