"""The loop over columns that a row function runs in, as generated source compiled for the CPU.

Through slots without nulls, the loop is a plain `for`, which a compiler can vectorise; other slots are
looked at one by one. Slot numbers are unsigned: a signed index makes Numba wrap negative ones around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from colkern.generated import function_of_text
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.columns import Reader
from colkern.rows.emitter import Program, Site
from colkern.rows.kinds import Kind
from colkern.rows.results import Output, Sink
from colkern.rows.values import Value, of_parts, zeros

_SOURCE = """\
def run(start, stop, valid, arena, pool, marks, {parameters}):
    at = u8(start)
    last = u8(stop)
{before}
    while at < last:
        run = valid_until(valid, at, last)
        for i in range(at, run):
{plain}
        at = run
        run = min((at | u8(63)) + u8(1), last)
        bits = valid_bits(valid, at, run)
        while bits != u8(0):
            i = at + trailing_zeros(bits)
{careful}
            bits &= bits - u8(1)
        at = run
    return stop
"""


@dataclass(frozen=True)
class Source:
    """A row function with its loop, as text.

    Args:
        program: The functions that are generated, and what they need.
        text: The loop.
        parameters: The loop's parameters behind the first six.
        output: How results are written.
        makes: Whether it needs an arena or a sink, and may stop before its last row for room.
        leaves: Whether rows may be left to Python.
    """

    program: Program
    text: str
    parameters: tuple[str, ...]
    output: Output
    makes: bool
    leaves: bool


def loop_source(
    program: Program,
    name: str,
    returns: Kind,
    readers: Sequence[Reader],
    nullable: Sequence[bool],
    site: Callable[[str], Site],
) -> Source:
    """The loop over a generated function.

    Args:
        program: What the function is part of.
        name: The function.
        returns: The kind of its result.
        readers: How each column is read.
        nullable: Which of them the function gets as None where they are null.
        site: The place in the user's source that a row is left at for a reason.
    """
    output = Output(returns)
    sinks = [memory for memory in output.all_memory() if isinstance(memory, Sink)]
    names = [f"a{position}" for position in range(len(readers))]
    values = []
    made: list[str] = []
    for reader, n, may in zip(readers, names, nullable, strict=True):
        value = _argument(reader, n, may)
        if reader.makes:
            made.append(f"{n}_made = {value.code}")
            value = replace(value, code=f"{n}_made")
        values.append(value)
    codes = [part for value in values for part in value.parts]
    checks = [
        f"({_unless_null(n, may)}({reader.check.format(n=n)}))"
        for reader, n, may in zip(readers, names, nullable, strict=True)
        if reader.check
    ]
    text = "".join(program.sources.values())
    uses_arena = bool(made) or any("arena" in line for line in _calls(text))
    makes = bool(sinks) or uses_arena
    leaves = bool(program.sites) or bool(checks) or makes
    result = of_parts(returns, tuple(f"x_{n}" for n in range(len(zeros(returns)))))
    slot: list[str] = []
    if uses_arena:
        slot.append("set_word(arena, arena_begin)")
    slot += made
    slot += [f"{memory.name}_used = get_word({memory.name} + 8)" for memory in sinks]
    call = f"{name}({', '.join(['arena', 'pool', *codes])})"
    slot.append(f"{', '.join(('status', *result.parts))}{'' if result.parts else ','} = {call}")
    if made:
        test = " or ".join(f"{line.split()[0]} == 0" for line in made)
        slot.insert(-1, f"no_room = {test}")
        slot[-1:] = [
            "status = " + str(row_values.NO_ROOM),
            *_zeros_of(result),
            "if not no_room:",
            "    " + slot[-1],
        ]
    if checks:
        left = program.site(site("a value that Python does not have")) << 8 | row_values.LEFT
        slot.append(f"status = {left} if {' or '.join(checks)} else status")
    written = list(output.lines(result))
    if sinks:
        undo = [f"set_word({memory.name} + 8, {memory.name}_used)" for memory in sinks]
        slot.append("full = False")
        slot += ["if status == 0:", *("    " + line for line in written)]
        stop = [*undo, "return i8(i)"]
        slot += [f"if full or status & 255 == {row_values.NO_ROOM}:", *("    " + x for x in stop)]
    else:
        if uses_arena:
            slot += [f"if status & 255 == {row_values.NO_ROOM}:", "    return i8(i)"]
        slot += written
    if leaves:
        slot.append("marks[i] = u1(status >> 8)")
    parameters: list[str] = []
    for reader, n, may in zip(readers, names, nullable, strict=True):
        parameters += [f"{n}_valid", f"{n}_place"] if may else []
        parameters += [parameter.format(n=n) for parameter in reader.parameters]
    parameters += [memory.name for memory in output.all_memory()]
    before = "    arena_begin = get_word(arena)" if uses_arena else "    pass"
    source = _SOURCE.format(
        parameters=", ".join(parameters),
        before=before,
        plain=_indented(slot, 12),
        careful=_indented(slot, 12),
    )
    return Source(program, source, tuple(parameters), output, makes, leaves)


def _zeros_of(result: Value) -> list[str]:
    """Lines that give the parts of a result any value, for a row that is run again."""
    return [f"{part} = {zero}" for part, zero in zip(result.parts, zeros(result.kind), strict=True)]


def _calls(text: str) -> list[str]:
    """The lines that call something with the arena, users' functions apart."""
    return [line for line in text.splitlines() if not line.startswith("def ") and "arena" in line]


def _unless_null(name: str, nullable: bool) -> str:
    return f"is_valid({name}_valid, {name}_place, i) and " if nullable else ""


def _argument(reader: Reader, name: str, nullable: bool) -> Value:
    value = Value(reader.kind, reader.code.format(n=name))
    if not nullable:
        return value
    is_valid = f"is_valid({name}_valid, {name}_place, i)"
    code = value.code
    if reader.loose:
        code = f"({code} if {is_valid} else {zeros(reader.kind)[0]})"
    return Value(k.optional(reader.kind), code, f"(not {is_valid})")


def _indented(lines: Sequence[str], spaces: int) -> str:
    return "\n".join(" " * spaces + line for line in lines)


def compiled_loop(source: Source, title: str) -> Any:
    """The loop for the CPU: a dispatcher, which compiles at its first call, or loads what was compiled."""
    from colkern.cpu.compiler import jit
    from colkern.cpu.content import text_hash
    from colkern.rows.compiling import namespace_of

    program = source.program
    key = text_hash("row function", source.text, *program.sources.values(), *_digests(program))
    namespace: dict[str, Any] = {"__name__": __name__}
    plain = function_of_text("run", source.text, namespace, f"loop of {title}")
    return jit(
        plain,
        key=key,
        prepare=lambda: namespace.update(namespace_of(program, title)),
        outermost=True,
        name=title,
        _nrt=False,
    )


def _digests(program: Program) -> list[str]:
    """What the compiled code depends on beside its text: the bodies, by what they do."""
    from colkern.cpu.compiler import compiled
    from colkern.cpu.content import content_hash

    return [content_hash(compiled(body)) for body in program.bodies.values()]
