"""The table of methods: what row functions may say, and the body that does it.

A row has a name (`str.upper` of a method, `len` of a function, `+` of an operator, `math.sqrt` of a
function of a module), a signature in the words of Python's hints, and a body of `colkern.kernels`::

    METHODS = [
        Method("str.zfill", "(str, width: int) -> str", text_padding.zfill),
        Method("str.split", "(str, sep: None = None, maxsplit: int = -1) -> list[str]", …),
        Method("+", "(int, int) -> int", "{0} + {1}", check="sum_overflows({0}, {1})"),
    ]

Of several rows of one name, the first whose parameters take the arguments counts. `T`, `K`, `V` stand for
any kind, `const` for a value that is known when the function is compiled. A receiver comes first.

How a body is called follows from its own declaration:

- A first parameter `arena` makes it get the row's arena.
- A result that is annotated as `tuple[..., Code]` says that it may fail.
- Parameters `item_words`, `key_words` and `value_words`, behind the arena, are how many words a `T`, `K` or
  `V` takes.

A body as text is an expression of its arguments `{0}`, `{1}`, …, each of which is a name or a number;
`check` is one that is true where the row is left to Python. `machine` is the body of functions with
`arithmetic="machine"`, if theirs is another; it has no check. Where a row is `made`, `body` is called with
the values of the `const` parameters when the function is compiled. It returns the body, which gets the
other arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the table.

    Args:
        name: What the function says.
        signature: Its parameters and result.
        body: A body, or an expression as text; None if there is one for `machine` alone.
        check: An expression that is true where the row is left to Python.
        maker: Whether `body` makes the body, from the values of its `const` parameters.
        machine: The body with the machine's arithmetic; None if that is `body`, with its check.
        raises: The code of the exception that Python raises wherever `check` is true; 0 if there is none.
    """

    name: str
    signature: str
    body: Callable[..., Any] | str | None
    check: str = ""
    maker: bool = False
    machine: Callable[..., Any] | str | None = None
    raises: int = 0
