"""The table of methods: what row functions may say, and the body that does it.

A row has a name (`str.upper` of a method, `len` of a function, `+` of an operator, `math.sqrt` of a
function of a module), a signature in the words of Python's hints, and a body of `colkern.kernels`::

    METHODS = [
        Method("str.zfill", "(str, width: int) -> str", text_building.zfill),
        Method("str.split", "(str, sep: None = None, maxsplit: int = -1) -> list[str]", …),
        Method("+", "(int, int) -> int", "{0} + {1}", check="sum_overflows({0}, {1})"),
    ]

Of several rows of one name, the first whose parameters take the arguments counts. `T`, `K`, `V` stand for
any kind, `const` for a value that is known when the function is compiled. A receiver comes first.

How a body is called follows from its own declaration:

- A first parameter `arena` makes it get the row's arena, and one `unicode` or `decompositions` behind
  it the address of a table (`colkern.rows.unicode_tables`).
- A result that is annotated as `tuple[..., Code]` says that it may fail.
- Parameters `item_words`, `key_words` and `value_words`, behind the arena, are how many words a `T`, `K` or
  `V` takes.

A body as text is an expression of its arguments `{0}`, `{1}`, …, each of which is a name or a number;
`check` is one that is true where the row is left to Python. `machine` is the body of functions with
`arithmetic="machine"`, if theirs is another; it has no check. Where a row has a `maker`, `body` is called
with the values of the `const` parameters when the function is compiled. It returns the body, which gets
the other arguments.

A body that differs from another by a constant argument, the order of its operands, a negation of its
result or the code for it is no function of `colkern.kernels`: the row has a `Bound` of the other.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from colkern.forks import cached_property
from colkern.generated import function_of_text
from colkern.kernels import row_values
from colkern.kernels.kernel import helper

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
"""The names of the rows that compare two values."""

FIRST = "int64(LEAST if step > 0 else GREATEST)"
LAST = "int64(GREATEST if step > 0 else LEAST)"
"""The bounds of a slice that gives none, as `Bound` has them."""

Body: TypeAlias = "Callable[..., Any] | Bound"


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the table.

    Args:
        name: The name that row functions use.
        signature: Its parameters and result.
        body: A body, or an expression as text; None if there is a body for `machine` only.
        check: An expression that is true where the row is left to Python.
        maker: Whether `body` makes the body, from the values of its `const` parameters.
        machine: The body with the machine's arithmetic; None if that is `body`, with its check.
        raises: The code of the exception that Python raises wherever `check` is true; 0 if there is none.
        message: The text of the exception that it raises, with arguments as fields `{0!r}`, or a function
            of the arguments that gives it; empty if it raises none, or its text is not known. If there is a
            `maker`, it is called with the constants too, and returns that function.
    """

    name: str
    signature: str
    body: Body | str | None
    check: str = ""
    maker: bool = False
    machine: Body | str | None = None
    raises: int = 0
    message: str | Callable[..., Any] = ""


class Bound:
    """A body that calls another with some arguments fixed, and may change its result.

    Args:
        body: The other body.
        order: Its parameters, if they are not simply the other's without fixed arguments; one that
            the other does not have may have an annotation, as in a function.
        result: An expression of the other's result `{}`; a code next to it is kept.
        gives: The annotation of the result, if it is not the other's.
        code: An expression of `result`, and of the other's `code`, for the code that is returned; empty if
            that is the other's, or there is none.
        values: The fixed arguments of the other, by name: numbers, bodies for parameters of that name, and
            expressions of parameters as text, which may use the names of the other's module.
    """

    def __init__(
        self,
        body: Body,
        *order: str,
        result: str = "",
        gives: str = "",
        code: str = "",
        **values: Any,
    ) -> None:
        self.body = body
        self.order = order
        self.result = result
        self.gives = gives
        self.code = code
        self.values = values

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The body as a function.

        Raises:
            TypeError: If the other body has no parameter of a name.
        """
        body = function_of(self.body)
        namespace = {**vars(row_values), **vars(sys.modules[body.__module__])}

        def use(function: Callable[..., Any]) -> str:
            name = f"{function.__module__.rpartition('.')[2]}_{function.__qualname__}"
            namespace[name] = function
            return name

        def argument(name: str) -> str:
            value = self.values.get(name, name)
            if callable(value):
                return f"{use(value)}({name})"
            return f"int64({value})" if type(value) is int else str(value)

        signature = inspect.signature(body)
        hints = {name: one.annotation for name, one in signature.parameters.items()}
        if unknown := self.values.keys() - hints.keys():
            raise TypeError(f"{body.__name__}: has no parameters {sorted(unknown)}")
        order = self.order or [name for name in hints if callable(self.values.get(name, len))]
        parameters = ", ".join(
            f"{name}: {hints[name]}" if name in hints else name for name in order
        )
        hint = signature.return_annotation
        names = "result, code" if "Code" in hint else "result"
        if self.result or self.gives:
            gives = self.gives or "Any"
            hint = f"tuple[{gives}, Code]" if "Code" in hint else gives
        if self.code and "Code" not in hint:
            hint = f"tuple[{hint}, Code]"
        lines = [f"return {use(body)}({', '.join(map(argument, hints))})"]
        if self.result or self.code:
            value = (self.result or "{}").format("result")
            code = f", {self.code}" if self.code else names.removeprefix("result")
            lines = [lines[0].replace("return", f"{names} ="), f"return {value}{code}"]
        body_lines = "\n".join(f"    {line}" for line in lines)
        source = f"def {body.__name__}({parameters}) -> {hint}:\n{body_lines}\n"
        function = function_of_text(body.__name__, source, namespace, "bound body")
        # The name in the cache describes all that it does, as for other bodies.
        digest = hashlib.sha256(source.encode()).hexdigest()[:8]
        function.__qualname__ = f"{body.__name__}_{digest}"
        return helper(function)


def steps_of(kind: str, body: Body) -> list[Method]:
    """Returns the rows of `[::]`, each bound of which may be None, from a body with `start` and `stop`."""
    firsts: tuple[tuple[str, dict[str, Any]], ...] = (("int", {}), ("None", {"start": FIRST}))
    lasts: tuple[tuple[str, dict[str, Any]], ...] = (("int", {}), ("None", {"stop": LAST}))
    return [
        Method(
            "[::]",
            f"({kind}, {start}, {stop}, int) -> {kind}",
            Bound(body, **first, **last) if first or last else body,
        )
        for start, first in firsts
        for stop, last in lasts
    ]


def in_order(kind: str, order: Body, signs: Sequence[str] = COMPARISONS[2:]) -> list[Method]:
    """Returns the rows that compare two values, from a body whose result is below, at or above 0."""
    return [
        Method(sign, f"({kind}, {kind}) -> bool", Bound(order, result=f"{{}} {sign} 0"))
        for sign in signs
    ]


def raised_by(function: Callable[..., Any], *arguments: Any) -> str:
    """Returns the text of the exception of a call, as `Method.message`; empty if it depends on numbers.

    Texts of Python's exceptions differ between its versions.
    """
    text = ""
    try:
        function(*arguments)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        text = str(error).replace("{", "{{").replace("}", "}}")
    for place, argument in enumerate(arguments):
        if isinstance(argument, str):
            text = text.replace(repr(argument), f"{{{place}!r}}")
        elif isinstance(argument, int | float) and repr(argument) in text:
            return ""
    return text


def function_of(body: Any) -> Any:
    """Returns a body as a function, and an expression unchanged."""
    return body.function if isinstance(body, Bound) else body
