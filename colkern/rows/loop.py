"""The loop over columns that calls a row function, as generated source compiled for the CPU.

The loop of a function of numbers is a plain `for` that a compiler can vectorise; it includes nulls, whose
slots hold some number too. Other functions are called slot by slot. So are those of a block in which a row
is left to Python: the plain loop only tells that there is such a row, or a null. Slot numbers are unsigned:
for a signed index, Numba adds code for negative ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

from colkern.generated import function_of_text
from colkern.kernels import row_values
from colkern.kernels.row_results import RESULTS
from colkern.rows import kinds as k
from colkern.rows.arguments import Argument
from colkern.rows.kinds import Kind
from colkern.rows.near_sums import near_sums
from colkern.rows.program import Program, Site
from colkern.rows.results import Output, Sink
from colkern.rows.values import Value, of_parts, zeros

NO_VALUE = "a value outside the range of the Python type"
"""The reason for rows that are left because a slot is outside the range of the Python type."""

MISFIT = "a result that does not fit its type"
"""The reason for rows that are left because a result does not fit its type."""

BLOCK = 1 << 10
"""The largest number of rows that are repeated one by one if one is left to Python."""

MOST_BODIES = 4
"""The largest number of bodies that a function calls if its loop is compiled in two forms."""

_SOURCE = """\
def run(start, stop, valid, arena, pool, left, {parameters}):
    at = u8(start)
    last = u8(stop)
{before}
    while at < last:
{plain}
        while at < run:
            end = min((at | u8(63)) + u8(1), run)
            bits = valid_bits(valid, at, end)
            while bits != u8(0):
                i = at + trailing_zeros(bits)
{slot}
                bits &= bits - u8(1)
            at = end
{after}
    return stop
"""


@dataclass(frozen=True)
class Source:
    """A row function with its loop, as text.

    Args:
        program: The generated functions, and the objects that they need.
        text: The loop.
        is_everywhere: Whether a result is written for every row, also for rows with nulls.
    """

    program: Program
    text: str
    output: Output
    is_everywhere: bool = False


@dataclass(frozen=True)
class Call:
    """The call of a generated function for row `i`.

    Args:
        lines: Lines that set `status`, and the parts of the result.
        parameters: The loop's parameters for the inputs.
        uses_arena: Whether it makes values in the arena.
        leaves: Whether a row may be left to Python.
        one_by_one: Whether a plain loop over slots without nulls would not be faster.
    """

    lines: list[str]
    result: Value
    parameters: list[str]
    uses_arena: bool
    leaves: bool
    one_by_one: bool


def call_of(
    program: Program,
    name: str,
    returns: Kind,
    arguments: Sequence[Argument],
    site: Callable[[str], Site],
    leading: Sequence[str] = (),
    output: Output | None = None,
) -> Call:
    """Returns the call of a generated function.

    Args:
        site: Returns the place in the user's source for a reason to leave a row.
        leading: The code of the arguments before those.
        output: The writer of the result, if it is written; a row is left if the result does not fit.
    """
    for argument in arguments:
        program.sources |= argument.functions
    functions = "".join(program.sources.values())
    codes = [*leading, *(part for argument in arguments for part in argument.value.parts)]
    checks = [f"({test})" for argument in arguments for test in argument.checks]
    argument_lines = [line for argument in arguments for line in argument.lines]
    makes = output is not None and output.makes
    uses_arena = bool(argument_lines) or makes or _calls_with_arena(program)
    result = of_parts(returns, tuple(f"x_{n}" for n in range(len(zeros(returns)))))
    lines = ["set_word(arena, arena_begin)"] if uses_arena else []
    lines += argument_lines
    call = f"{name}({', '.join(['arena', 'pool', *codes])})"
    parts = ", ".join(("status", *result.parts)) + ("" if result.parts else ",")
    line = f"{parts} = {call}"
    left, status = _before_call(program, arguments, site)
    if argument_lines or (checks and "while " in functions):
        # A loop of the user's might not end for a slot without a value.
        lines.append(f"status = {status}")
        pairs = zip(result.parts, zeros(returns), strict=True)
        lines += [*(f"{part} = {zero}" for part, zero in pairs), "if status == 0:", f"    {line}"]
    else:
        lines.append(line)
        lines += [f"status = {left} if {' or '.join(checks)} else status"] if checks else []
    misfits = [] if output is None else list(output.checks(result))
    if misfits:
        lines.append(f"if status == 0 and ({' or '.join(misfits)}):")
        lines.append(f"    status = {program.site(site(MISFIT)) << 8 | row_values.LEFT}")
    leaves = bool(program.sites) or bool(checks) or uses_arena
    # Code that loops or makes values within a row is not vectorised over rows, and too long to compile
    # twice.
    one_by_one = uses_arena or any(f" {word} " in functions for word in ("for", "while"))
    one_by_one = one_by_one or any(argument.kind in (k.TEXT, k.BYTES) for argument in arguments)
    one_by_one = one_by_one or len(program.bodies) > MOST_BODIES
    parameters = [name for argument in arguments for name in argument.parameters]
    return Call(lines, result, parameters, uses_arena, leaves, one_by_one)


def loop_text(
    call: Call,
    slot: Sequence[str],
    parameters: Sequence[str],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
    plain: Sequence[str] = (),
) -> str:
    """Returns the loop around a call.

    Args:
        slot: The lines for row `i`, including those of the call.
        parameters: The loop's parameters after those of the call.
        before: The lines before the loop.
        after: The lines after the loop.
        plain: The lines of `plain_rows`; none if all slots are treated one by one.
    """
    begin = ["arena_begin = get_word(arena)"] if call.uses_arena else []
    return _SOURCE.format(
        parameters=", ".join([*call.parameters, *parameters]),
        before=indented([*begin, *before] or ["pass"], 4),
        plain=indented(plain or ["run = last"], 8),
        slot=indented(slot, 16),
        after=indented(after or ["pass"], 4),
    )


def plain_rows(
    row: Sequence[str],
    checked: bool,
    begin: Sequence[str] = (),
    keep: Sequence[str] = (),
    near: str = "",
    everywhere: bool = False,
) -> list[str]:
    """Returns the plain loop over a block of slots.

    Args:
        row: The lines for row `i`, which continue whatever `status` is.
        checked: Whether `status` may be other than 0. Then the block's rows are repeated one by one.
        begin: The lines before the loop.
        keep: The lines after it, if no row was left.
        near: A test that must be true before the loop; empty if there is none.
        everywhere: Whether it includes nulls, whose results do not matter. Otherwise a block has no nulls.
    """
    block = f"min(at + u8({BLOCK}), last)"
    lines = [f"run = {block if everywhere else f'valid_until(valid, at, {block})'}", *begin]
    loop = ["for i in range(at, run):", *("    " + line for line in row)]
    if checked:
        loop = ["bad = False", *loop, "    bad |= status != 0"]
    if near:
        loop = ["bad = True", f"if {near}:", *("    " + line for line in loop)]
    test = "run > at and not bad" if checked else "run > at"
    again = [f"if {test}:", *("    " + line for line in (*keep, "at = run", "continue"))]
    return [*lines, *loop, *again, "run = max(run, min((at | u8(63)) + u8(1), last))"]


def loop_source(
    program: Program,
    name: str,
    returns: Kind,
    arguments: Sequence[Argument],
    site: Callable[[str], Site],
) -> Source:
    """Returns the loop that writes the results of a generated function."""
    output = Output(returns)
    sources = program.sources | output.functions()
    if output.is_one_text:
        sources[name] = made_in_results(sources[name])
    program = replace(program, sources=sources)
    call = call_of(program, name, returns, arguments, site, output=output)
    memory = output.memory()
    sinks = [part for part in memory if isinstance(part, Sink)]
    row = call.lines
    written = list(output.lines(call.result))
    parameters = [part.name for part in memory]
    no_room = f"status & 255 == {row_values.NO_ROOM}"
    if sinks:
        slot = [f"{sink.name}_used = get_word({sink.name})" for sink in sinks]
        undo = [f"set_word({sink.name}, {sink.name}_used)" for sink in sinks]
        slot += row
        if output.is_one_text:
            slot += [*undo, "r_sizes[i] = 0"]
        slot += ["if status == 0:", "    full = False", *("    " + line for line in written)]
        slot += ["else:", f"    full = {no_room} or not leave(left, i8(i), status)"]
        slot += ["if full:", *("    " + line for line in (*undo, "return i8(i)"))]
        return Source(program, loop_text(call, slot, parameters), output)
    slot = [*row, *written]
    if call.leaves:
        full = f"{no_room} or not leave(left, i8(i), status)"
        slot += [f"if status != 0 and ({full}):", "    return i8(i)"]
    plain = []
    if not call.one_by_one:
        near = f"{name}_near"
        near_sum = near_sums(program.sources[name], near, [""] * len(call.result.parts))
        if near_sum is not None:
            program.sources[near] = near_sum[0]
            row = [line.replace(f"= {name}(", f"= {near}(") for line in row]
        plain = plain_rows([*row, *written], call.leaves, everywhere=True)
    is_everywhere = bool(plain) and not call.leaves
    return Source(program, loop_text(call, slot, parameters, plain=plain), output, is_everywhere)


def made_in_results(source: str) -> str:
    """Rewrites a function so that the text that it returns is made in the results, not the arena.

    Its other values are still in the arena, and not after the previous row's result, so a processor need
    not wait for the length of that result to begin with the next row.
    """
    call = r"^( *({}), \w+ = \w+)\(arena, (?!pool\b)"
    apart = {name for _, name in re.findall(call.format(r"\w+"), source, re.M)}
    returned = set(re.findall(r"^ *return .*, (\w+)$", source, re.M))
    known: set[str] = set()
    while returned != known:
        known = set(returned)
        copies = re.findall(r"^ *(\w+) = (\w+)$", source, re.M)
        # A sum copies its right side behind its left side, unless a body makes the right side in place.
        sums = re.findall(
            r"^ *(\w+), \w+ = text_building_concat\(arena, (\w+), (\w+)", source, re.M
        )
        copies += [(to, left) for to, left, right in sums if right not in apart]
        returned |= {of for to, of in copies if to in known}
    written = re.sub(call.format("|".join(known)), r"\1(results, ", source, flags=re.M)
    if written == source:
        return source
    return written.replace("\n", f"\n    results = get_word(arena + {RESULTS})\n", 1)


def _before_call(
    program: Program, arguments: Sequence[Argument], site: Callable[[str], Site]
) -> tuple[int, str]:
    """Returns the status of a row without a value in compiled code, and code for the status of row `i`."""
    checks = [test for argument in arguments for test in argument.checks]
    lists = [name for argument in arguments for name in argument.lists]
    status, left = "0", 0
    if checks or lists:
        left = program.site(site(NO_VALUE)) << 8 | row_values.LEFT
    if lists:
        full, none = (" or ".join(f"{name} {test} 0" for name in lists) for test in ("==", "<"))
        status = f"{row_values.NO_ROOM} if {full} else {left} if {none} else 0"
    if checks:
        status = f"{left} if {' or '.join(checks)} else {status}"
    return left, status


def _calls_with_arena(program: Program) -> bool:
    """Whether the functions pass the arena to a body; users' functions always get the arena."""
    lines = [line for text in program.sources.values() for line in text.splitlines()]
    own = re.compile(rf"\b({'|'.join(program.sources)})\(arena, pool\b")
    return any("arena" in own.sub("", line) for line in lines if not line.startswith("def "))


def indented(lines: Sequence[str], spaces: int) -> str:
    """Returns lines, indented by a number of spaces."""
    return "\n".join(" " * spaces + line for line in lines)


def compiled_loop(program: Program, text: str, title: str) -> Any:
    """Returns the loop for the CPU: a dispatcher that compiles at its first call, or loads machine code."""
    from colkern.cpu.compiler import jit
    from colkern.cpu.content import text_hash
    from colkern.cpu.embedded import LoopCompiler, ScalarLoopCompiler
    from colkern.rows.compiling import namespace_of

    has_vectors = "if run > at" in text or program.wraps
    key = text_hash("row function", text, *program.sources.values(), digest(program))
    namespace: dict[str, Any] = {"__name__": __name__}
    plain = function_of_text("run", text, namespace, f"loop of {title}")
    return jit(
        plain,
        key=key,
        prepare=lambda: namespace.update(namespace_of(program, title, text)),
        outermost=True,
        name=title,
        pipeline_class=LoopCompiler if has_vectors else ScalarLoopCompiler,
        _nrt=False,
    )


def digest(program: Program) -> str:
    """Returns what compiled code depends on beside its text: package files and generated bodies."""
    from colkern.cpu.sources import source_key

    # The key of machine code has the files of `colkern.cpu` already.
    files = source_key("colkern.kernels"), source_key("colkern.rows")
    return repr((files, [(name, _identity(body)) for name, body in program.bodies.items()]))


def _identity(body: Any) -> str:
    """Returns the identity of a body: its name; for a generated body, also its text and the names in it."""
    name = f"{body.__module__}.{body.__qualname__}"
    if not body.__code__.co_filename.startswith("<"):
        return name
    # The file name of a generated text has its hash.
    parts = [name, body.__code__.co_filename]
    for named in body.__code__.co_names:
        value = body.__globals__.get(named)
        if isinstance(value, FunctionType):
            parts.append(_identity(value))
        elif not isinstance(value, type | ModuleType):
            parts.append(f"{named}={value!r}")
    return repr(parts)
