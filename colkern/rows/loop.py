"""The loop over columns that a row function runs in, as generated source compiled for the CPU.

Through slots without nulls, the loop of a function of numbers is a plain `for`, which a compiler can
vectorise; other slots, and all those of other functions, are looked at one by one. Slot numbers are
unsigned: a signed index makes Numba wrap negative ones around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from colkern.generated import function_of_text
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.arguments import Argument
from colkern.rows.emitter import Program, Site
from colkern.rows.kinds import Kind
from colkern.rows.results import Output, Sink
from colkern.rows.values import Value, of_parts, zeros

NO_VALUE = "a value that Python does not have"
"""Why a row is left whose slot is outside of what a Python type holds."""

MOST_BODIES = 4
"""So many bodies may a function call whose loop is compiled in two forms."""

_SOURCE = """\
def run(start, stop, valid, arena, pool, marks, {parameters}):
    at = u8(start)
    last = u8(stop)
{before}
    while at < last:
{plain}        run = min((at | u8(63)) + u8(1), last)
        bits = valid_bits(valid, at, run)
        while bits != u8(0):
            i = at + trailing_zeros(bits)
{slot}
            bits &= bits - u8(1)
        at = run
    return stop
"""

_PLAIN = """\
        run = valid_until(valid, at, last)
        for i in range(at, run):
{slot}
        at = run
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
    arguments: Sequence[Argument],
    site: Callable[[str], Site],
) -> Source:
    """The loop over a generated function.

    Args:
        program: What the function is part of.
        name: The function.
        returns: The kind of its result.
        arguments: How each column is read.
        site: The place in the user's source that a row is left at for a reason.
    """
    functions = "".join(program.sources.values())
    output = Output(returns)
    sinks = [memory for memory in output.all_memory() if isinstance(memory, Sink)]
    codes = [part for argument in arguments for part in argument.value.parts]
    checks = [f"({test})" for argument in arguments for test in argument.checks]
    made = [line for argument in arguments for line in argument.lines]
    uses_arena = bool(made) or calls_with_arena(program)
    makes = bool(sinks) or uses_arena
    leaves = bool(program.sites) or bool(checks) or makes
    result = of_parts(returns, tuple(f"x_{n}" for n in range(len(zeros(returns)))))
    slot: list[str] = []
    if uses_arena:
        slot.append("set_word(arena, arena_begin)")
    slot += made
    slot += [f"{memory.name}_used = get_word({memory.name} + 8)" for memory in sinks]
    call = f"{name}({', '.join(['arena', 'pool', *codes])})"
    line = f"{', '.join(('status', *result.parts))}{'' if result.parts else ','} = {call}"
    left, status = before_call(program, arguments, site)
    if made or (checks and "while " in functions):
        # A loop of the user's may never end for a value that is none.
        slot += [f"status = {status}", *zeros_of(result), "if status == 0:", f"    {line}"]
    else:
        slot.append(line)
        slot += [f"status = {left} if {' or '.join(checks)} else status"] if checks else []
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
    parameters = [name for argument in arguments for name in argument.parameters]
    parameters += [memory.name for memory in output.all_memory()]
    # What loops or makes values within a row is not vectorised over rows, and too much to compile twice.
    one_by_one = makes or any(f" {word} " in functions for word in ("for", "while"))
    one_by_one = one_by_one or any(argument.kind in (k.TEXT, k.BYTES) for argument in arguments)
    one_by_one = one_by_one or len(program.bodies) > MOST_BODIES
    before = "    arena_begin = get_word(arena)" if uses_arena else "    pass"
    source = _SOURCE.format(
        parameters=", ".join(parameters),
        before=before,
        plain="" if one_by_one else _PLAIN.format(slot=indented(slot, 12)),
        slot=indented(slot, 12),
    )
    return Source(program, source, tuple(parameters), output, makes, leaves)


def zeros_of(result: Value) -> list[str]:
    """Lines that give the parts of a result any value, for a row that the function is not called for."""
    return [f"{part} = {zero}" for part, zero in zip(result.parts, zeros(result.kind), strict=True)]


def before_call(
    program: Program, arguments: Sequence[Argument], site: Callable[[str], Site]
) -> tuple[int, str]:
    """The status of a row without a value in compiled code, and code for that of row `i`."""
    checks = [test for argument in arguments for test in argument.checks]
    made = [name for argument in arguments for name in argument.made]
    status, left = "0", 0
    if checks or made:
        left = program.site(site(NO_VALUE)) << 8 | row_values.LEFT
    if made:
        full, none = (" or ".join(f"{name} {test} 0" for name in made) for test in ("==", "<"))
        status = f"{row_values.NO_ROOM} if {full} else {left} if {none} else 0"
    if checks:
        status = f"{left} if {' or '.join(checks)} else {status}"
    return left, status


def calls_with_arena(program: Program) -> bool:
    """Whether a function calls a body with the arena; users' functions are called with it anyway."""
    lines = [line for text in program.sources.values() for line in text.splitlines()]
    return any("arena" in line for line in lines if not line.startswith("def "))


def indented(lines: Sequence[str], spaces: int) -> str:
    """Lines that stand so many spaces deep."""
    return "\n".join(" " * spaces + line for line in lines)


def compiled_loop(source: Source, title: str) -> Any:
    """The loop for the CPU: a dispatcher, which compiles at its first call, or loads what was compiled."""
    from colkern.cpu.compiler import jit
    from colkern.cpu.content import text_hash
    from colkern.cpu.embedded import LoopCompiler
    from colkern.rows.compiling import namespace_of

    program = source.program
    key = text_hash("row function", source.text, *program.sources.values(), _digest(program))
    namespace: dict[str, Any] = {"__name__": __name__}
    plain = function_of_text("run", source.text, namespace, f"loop of {title}")
    return jit(
        plain,
        key=key,
        prepare=lambda: namespace.update(namespace_of(program, title)),
        outermost=True,
        name=title,
        pipeline_class=LoopCompiler,
        _nrt=False,
    )


def _digest(program: Program) -> str:
    """What the compiled code depends on beside its text: the files of the package, and made bodies."""
    from colkern.cpu.sources import source_key

    files = [source_key(package) for package in ("colkern.cpu", "colkern.kernels", "colkern.rows")]
    return repr((files, [(name, _identity(body)) for name, body in program.bodies.items()]))


def _identity(body: Any) -> str:
    """What tells a body apart: its name; of one that is generated, its text and what it names too."""
    name = f"{body.__module__}.{body.__qualname__}"
    if not body.__code__.co_filename.startswith("<"):
        return name
    # The name of a generated text has its hash.
    parts = [name, body.__code__.co_filename]
    for named in body.__code__.co_names:
        value = body.__globals__.get(named)
        if isinstance(value, FunctionType):
            parts.append(_identity(value))
        elif not isinstance(value, type | ModuleType):
            parts.append(f"{named}={value!r}")
    return repr(parts)
