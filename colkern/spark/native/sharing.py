"""Terms that an expression has in several places, and that are computed in any case.

Spark computes what stands in several places of an expression once, if it stands in one that is always
computed. In the branches of `CASE` it computes each place anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from colkern.rows import terms as t
from colkern.rows.terms import Term

CHEAP = ("+", "-", "*", "neg", "pos", "==", "!=", "<", "<=", ">", ">=", "float", "bool")
"""The methods that take little time, but for that of their arguments."""


def parts(term: Term) -> tuple[Term, ...]:
    """The terms that a term consists of."""
    match term:
        case t.Choice():
            return term.test, term.then, term.otherwise
        case t.Applied() | t.Logic():
            return term.arguments
        case t.Fails() | t.Part() | t.Converted() | t.IsNone():
            return (term.of,)
        case t.Maybe():
            return term.none, term.of
        case t.Items():
            return term.items
    return ()


def unique(term: Term) -> Iterator[Term]:
    """A term and all that it consists of, each once."""
    waiting, seen = [term], {id(term)}
    while waiting:
        each = waiting.pop()
        yield each
        for part in parts(each):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def shared(term: Term, tested: Callable[[t.Fails], tuple[Term, ...]]) -> list[t.Applied]:
    """The calls of methods that stand in several places and are computed for each row.

    Args:
        term: The term.
        tested: Gives what the expression computes to tell whether a call fails.
    """
    places = Counter(
        id(part)
        for each in unique(term)
        for part in (tested(each) if isinstance(each, t.Fails) else parts(each))
    )
    always = _always(term) or {}
    return [each for key, each in always.items() if places[key] > 1 and not _is_cheap(each)]


def _is_cheap(call: t.Applied) -> bool:
    """Whether a call takes less time than a test of whether it was computed."""
    return call.name in CHEAP and all(
        _is_cheap(each) if isinstance(each, t.Applied) else not parts(each)
        for each in call.arguments
    )


def _always(term: Term) -> dict[int, t.Applied] | None:
    """The calls that are computed wherever a term is; None for a row without a result."""
    match term:
        case t.Raise():
            return None
        case t.Choice():
            test = _always(term.test) or {}
            then, otherwise = _always(term.then), _always(term.otherwise)
            if then is None or otherwise is None:
                both = then if otherwise is None else otherwise
                return None if both is None else test | both
            return test | {key: each for key, each in then.items() if key in otherwise}
        case t.Logic():
            return _always(term.arguments[0])
        case t.Maybe():
            return _always(term.none)
        case t.Fails():
            return _all(term.of.arguments)
        case t.Applied():
            return _all(term.arguments) | {id(term): term}
    return _all(parts(term))


def _all(terms: tuple[Term, ...]) -> dict[int, t.Applied]:
    return {key: each for term in terms for key, each in (_always(term) or {}).items()}
