"""The loop that runs a user's function over columns, generated from how each argument is read.

Without nulls, and through whole words of 64 slots without nulls, a loop is a plain `for` over the
slots, which LLVM can vectorise; other slots are looked at one by one. Slot numbers are unsigned: a
signed index makes Numba wrap negative ones around in every access.

The user's function is a global of the loop's namespace. As a closure's variable it would never be
found again in a cache on disk. For a loop that is found there, nothing is imported that only compiling
needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from colkern.cpu.compiler import jit
from colkern.cpu.content import text_hash
from colkern.generated import function_of_text
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.rows.arguments import Reader

_SOURCE = """\
def {name}(start, stop, valid, {parameters}):
    flags = 0
{before}
    at = u8(start)
    last = u8(stop)
    while at < last:
        run = valid_until(valid, at, last)
        for i in range(at, run):
{slot}
        at = run
        run = min((at | u8(63)) + u8(1), last)
{careful}
        at = run
{after}
    return flags
"""


@dataclass(frozen=True, slots=True)
class Body:
    """What a loop does with the user's function, as text.

    Args:
        parameters: The loop's last parameters.
        slot: The lines for slot `i`, with `function({arguments})` for the call, and `{missing}` in names
            of variables whose types depend on which arguments are None; `flags` collects what they
            find.
        absent: The lines for a slot that the function is not called for, if they do anything.
        before: The lines before the first slot.
        after: The lines after the last one.
    """

    parameters: tuple[str, ...]
    slot: tuple[str, ...]
    absent: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """What a body uses that other loops do not.

    Args:
        key: What tells it apart, as part of the cache key.
        make: Gives it by name; called only if the loop must be compiled.
    """

    key: str
    make: Callable[[], Mapping[str, Any]]


NO_NAMES = Names("", dict)


def compile_loop(
    function: RowFunction,
    readers: Sequence[Reader],
    nullable: Sequence[bool],
    body: Body,
    names: Names = NO_NAMES,
) -> Any:
    """The loop for a function and the layouts of its arguments; compiled at its first call.

    Called with `start, stop, valid`, then, if any argument is nullable, `required` and for each such
    argument its bitmap and first bit; then what the readers prepare; then the body's parameters.
    Returns flags of `colkern.jit.rows.flags`.

    Args:
        function: The user's function.
        readers: How each argument is read.
        nullable: Which arguments the function takes as None where they are null.
        body: What is done with it.
        names: What the body uses besides.
    """
    source = loop_source(function.name, readers, nullable, body)
    namespace: dict[str, Any] = {"__name__": __name__}
    plain = function_of_text(_loop_name(function.name), source, namespace, f"udf {function.name}")

    def prepare() -> None:
        from colkern.jit.rows.loop_names import LOOP_NAMES

        namespace.update(LOOP_NAMES, function=function.dispatcher, **names.make())
        if not function.is_as_before():
            # It is compiled as it is now, which is not what the key says.
            loop._cache.disable()

    key = text_hash("loop", source, names.key, function.content)
    loop = jit(plain, key=key, prepare=prepare, outermost=True)
    return loop


def loop_source(name: str, readers: Sequence[Reader], nullable: Sequence[bool], body: Body) -> str:
    """The text of a loop; see `compile_loop`."""
    names = [f"a{position}" for position in range(len(readers))]
    values = [r.code.format(n=n) for r, n in zip(readers, names, strict=True)]
    checks = [r.check.format(n=n) for r, n in zip(readers, names, strict=True)]
    optional = [n for n, may in zip(names, nullable, strict=True) if may]
    parameters = [f"{n}_{part}" for n in optional for part in ("valid", "place")]
    if optional:
        parameters.insert(0, "required")
    parameters += [p.format(n=n) for r, n in zip(readers, names, strict=True) for p in r.parameters]
    arguments = dict(zip(names, zip(values, checks, strict=True), strict=True))
    slots = _Slots(body.slot, body.absent, arguments)
    return _SOURCE.format(
        name=_loop_name(name),
        parameters=", ".join([*parameters, *body.parameters]),
        before=_indented(body.before, 4),
        slot=_indented(slots.lines(set()), 12),
        careful="\n".join(slots.careful(optional)),
        after=_indented(body.after, 4),
    )


def _loop_name(name: str) -> str:
    # A lambda's name is no identifier.
    return f"run_{name}" if name.isidentifier() else "run"


def _indented(lines: Sequence[str], spaces: int) -> str:
    return "\n".join(" " * spaces + line for line in lines)


class _Slots:
    """The lines for one slot, by which arguments are None."""

    def __init__(
        self, slot: Sequence[str], absent: Sequence[str], arguments: dict[str, tuple[str, str]]
    ) -> None:
        self._slot = slot
        self._absent = absent
        self._arguments = arguments

    def lines(self, missing: set[str]) -> list[str]:
        """The lines for a slot in which the `missing` arguments are None."""
        values = [
            "None" if name in missing else value for name, (value, _) in self._arguments.items()
        ]
        words = {"arguments": ", ".join(values), "missing": "".join(sorted(missing))}
        lines = [line.format(**words) for line in self._slot]
        for name, (_, check) in self._arguments.items():
            if check and name not in missing:
                lines.append(f"flags |= {check}")
        return lines

    def careful(self, optional: list[str]) -> list[str]:
        """The lines for slots of which some are null: a call for each combination of nulls."""
        if not optional and self._absent:
            return [
                "        for i in range(at, run):",
                "            if bit(valid, i):",
                _indented(self.lines(set()), 16),
                *self._otherwise(),
            ]
        if not optional:
            return [
                "        bits = valid_bits(valid, at, run)",
                "        while bits != 0:",
                "            i = at + trailing_zeros(bits)",
                _indented(self.lines(set()), 12),
                "            bits &= bits - u8(1)",
            ]
        lines = ["        for i in range(at, run):", "            if is_valid(required, u8(0), i):"]

        def branch(decided: int, missing: set[str]) -> None:
            indent = 16 + 4 * decided
            if decided == len(optional):
                lines.append(_indented(self.lines(missing), indent))
                return
            name = optional[decided]
            lines.append(f"{' ' * indent}if is_valid({name}_valid, {name}_place, i):")
            branch(decided + 1, missing)
            lines.append(f"{' ' * indent}else:")
            branch(decided + 1, missing | {name})

        branch(0, set())
        return [*lines, *self._otherwise()]

    def _otherwise(self) -> list[str]:
        return ["            else:", _indented(self._absent, 16)] if self._absent else []
