"""A user's function for given kinds of arguments, as a function that the CUDA compilers take.

The kind of a variable is that of all its assignments together. So a function is translated again until no
kind changes any more; the last translation is compiled.
"""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

import numpy as np

from colkern.cuda import adapter, row_functions
from colkern.errors import CompileError
from colkern.generated import function_of_tree
from colkern.jit.device.assignments import variables
from colkern.jit.device.emitter import (
    CONSTANTS,
    Like,
    Member,
    Need,
    Program,
    Shared,
    Value,
    constant,
    located,
    name_of,
)
from colkern.jit.device.inlining import PACKAGE, Inlined
from colkern.jit.device.kinds import NOTHING, PLAIN, UNKNOWN, Column, Integer, Kind, Path
from colkern.jit.device.statements import Statements, local_names
from colkern.kernels.primitives import set_word
from colkern.rows.front import Definition, definition_of


class Translated(Statements):
    """A function whose columns become numbers.

    Attributes:
        tree: Its tree, without parameters for its needs.
        compiled: The function that others call, with the parts of its arguments and then its needs.
    """

    tree: ast.FunctionDef
    compiled: Any

    def invocation(self, name: str, parts: list[str], needed: list[str]) -> str:
        """The code of a call.

        Args:
            name: The name of the function there.
            parts: The parts of its arguments.
            needed: The names of its needs.
        """
        arguments = [*parts, *needed]
        packs = [f"({', '.join(pack)},)" for pack in _packs(arguments)]
        return f"{name}({', '.join(packs or arguments)})"

    def call_function(
        self, function: types.FunctionType, values: list[Value], named: dict[str, Value]
    ) -> Value:
        """A call of a function of the user's own, or of a method of builders.

        Raises:
            CompileError: If the arguments do not fit, or the function does not compile.
        """
        if (function.__module__ or "").startswith(PACKAGE):
            return Inlined(self, function, values).written()
        bound = _bound(self, function, values, named)
        # Within the function, each array of an argument has a root of its own.
        origins: dict[str, Path] = {}
        kinds = {name: _rooted(name, value.kind, origins) for name, value in bound.items()}
        called = specialised(self.program, function, kinds)
        arguments = [part for value in bound.values() for part in value.parts]
        needed = []
        for need in called.needs:
            if isinstance(need, Member):
                need = Member(_in_caller(need.path, origins), need.name)
            needed.append(self.need(need))
        name = f"_ck_{len(self.namespace)}_call_of_{function.__name__.strip('<>')}"
        self.namespace[name] = called.compiled
        text = called.invocation(name, arguments, needed)
        returned = called.returned.moved(lambda path: _in_caller(path, origins))
        count = len(returned.parts)
        if count == 0:
            self.emit(text)
            parts: tuple[str, ...] = ()
        elif count == 1:
            parts = (self.bind(text),)
        else:
            parts = self.bind_each(text, count)
        if Shared("errors") in called.needs:
            self.stop_if_noted()
        # A number that was a constant within the function is one no longer.
        return Value(PLAIN if isinstance(returned, Integer) else returned, parts)


_MOST_PASSES = 20


def translate(
    program: Program, function: types.FunctionType, parameters: dict[str, Kind]
) -> Translated:
    """A function for parameters of those kinds.

    Raises:
        CompileError: With the line and the construct that stand in the way.
    """
    definition = definition_of(function)
    around, local = definition.names, local_names(definition)
    known, returned = dict(parameters), Kind()
    settled: tuple[Any, Any] = (None, None)
    for _ in range(_MOST_PASSES):
        writer = Translated(program, function, local, around)
        writer.kinds, writer.kinds_so_far = dict(known), dict(parameters)
        writer.returned_before = returned if settled[1] is not None else UNKNOWN
        body = writer.function_body(definition)
        if settled == (writer.kinds_so_far, writer.returned):
            writer.tree = _with_body(definition, body, parameters)
            return writer
        known, returned = dict(writer.kinds_so_far), writer.returned
        settled = (writer.kinds_so_far, writer.returned)
    writer.node = definition.body[0]
    raise writer.failure(
        "the kinds of its variables do not settle: give results of different kinds names of their own"
    )


def _with_body(
    definition: Definition, body: list[ast.stmt], parameters: dict[str, Kind]
) -> ast.FunctionDef:
    names = [name for parameter, kind in parameters.items() for name in variables(parameter, kind)]
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    name = definition.function.__name__.replace("<lambda>", "lambda_")
    return ast.copy_location(ast.FunctionDef(name, arguments, body, []), definition.body[0])


def _bound(
    caller: Statements, function: types.FunctionType, values: list[Value], named: dict[str, Value]
) -> dict[str, Value]:
    """Parameter name → its value."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*values, **named)
    except TypeError as error:
        raise caller.failure(f"{function.__name__}: {error}") from None
    arguments = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if name not in arguments:
            default = constant(parameter.default)
            if default is None:
                raise caller.failure(
                    f"{function.__name__}: the default of {name} is no number, string or None"
                )
            arguments[name] = default
    return {name: arguments[name] for name in signature.parameters}


def _rooted(name: str, kind: Kind, origins: dict[str, Path]) -> Kind:
    """A kind whose arrays have roots of their own; adds each root's path in the caller to `origins`."""
    roots: dict[Path, Path] = {}

    def moved(path: Path) -> Path:
        if path not in roots:
            # With a number in front it is no parameter's name.
            roots[path] = Path(f"{len(roots)}_{name}" if roots else name)
            origins[roots[path].root] = path
        return roots[path]

    return kind.moved(moved)


def _in_caller(path: Path, origins: dict[str, Path]) -> Path:
    origin = origins[path.root]
    return Path(origin.root, (*origin.steps, *path.steps))


def specialised(
    program: Program, function: types.FunctionType, kinds: dict[str, Kind]
) -> Translated:
    """A function for those kinds of arguments, made once for a kernel.

    Raises:
        CompileError: If it calls itself, or does not compile.
    """
    key = (function, tuple(kinds.items()))
    if key not in program.functions:
        program.functions[key] = None
        translated = translate(program, function, kinds)
        for name, value in translated.namespace.items():
            if value is adapter.compiler():
                translated.namespace[name] = adapter.within_functions()
        plain = defined(function, translated, _parameters(translated))
        translated.compiled = adapter.device_function(plain)
        program.functions[key] = translated
    known: Translated | None = program.functions[key]
    if known is None:
        raise CompileError(f"{function.__name__} calls itself, which columns cannot be followed in")
    return known


_MOST_ARGUMENTS = 30
"""Python calls a function with more in another way, which is not inlined."""

_PACK = 16


def _packs(arguments: list[str]) -> list[list[str]]:
    """The arguments in tuples, if there are too many for a call; else nothing."""
    if len(arguments) <= _MOST_ARGUMENTS:
        return []
    return [arguments[k : k + _PACK] for k in range(0, len(arguments), _PACK)]


def _parameters(translated: Translated) -> list[str]:
    """The names of what a function takes besides; if it is tuples, they are unpacked first of all."""
    definition, needed = translated.tree, list(translated.needs.values())
    packs = _packs([argument.arg for argument in definition.args.args] + needed)
    if not packs:
        return needed
    definition.args.args = []
    parameters = [f"_ck_pack{k}" for k in range(len(packs))]
    lines = [f"{', '.join(pack)}, = {name}" for pack, name in zip(packs, parameters, strict=True)]
    definition.body[:0] = located("\n".join(lines), definition)
    return parameters


def defined(
    function: types.FunctionType, translated: Translated, names: list[str]
) -> types.FunctionType:
    """A translated function, with further parameters."""
    definition = translated.tree
    definition.args.args += [ast.arg(name) for name in names]
    ast.fix_missing_locations(definition)
    namespace = {**CONSTANTS, **translated.namespace, "__name__": function.__module__}
    module = ast.Module([definition], [])
    return function_of_tree(definition.name, module, namespace, function.__code__.co_filename)


def kernel_function(
    program: Program, function: types.FunctionType, kinds: dict[str, Kind]
) -> tuple[types.FunctionType, list[Need]]:
    """A kernel for those kinds of arguments, and the needs that it takes after them.

    Raises:
        CompileError: If it returns something, or does not compile.
    """
    translated = translate(program, function, kinds)
    if translated.returned != NOTHING:
        raise CompileError(f"{function.__name__}: a kernel returns nothing; write to an array")
    definition, needs = translated.tree, translated.needs
    used = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
    prelude, taken = prelude_of(program, kinds, used, needs, translated.namespace)
    definition.body[:0] = located("\n".join(prelude), definition)
    definition.args.args = [ast.arg(name) for name, kind in kinds.items() if kind == PLAIN]
    return defined(function, translated, list(taken.values())), list(taken)


def prelude_of(
    program: Program,
    kinds: dict[str, Kind],
    used: set[str],
    needs: dict[Need, str],
    namespace: dict[str, Any],
) -> tuple[list[str], dict[Need, str]]:
    """Statements that a kernel begins with, and which of its needs it takes from the launch.

    Args:
        program: The state that its functions share.
        kinds: The kinds of its arguments.
        used: The names that it uses.
        needs: Its needs; those of columns are added.
        namespace: The meanings of its global names; those of the statements are added.
    """
    prelude: list[str] = []
    for name, kind in kinds.items():
        if isinstance(kind, Column):
            prelude += _whole_column(name, kind, used, needs)
    namespace["_ck_cuda"] = adapter.compiler()
    taken: dict[Need, str] = {}
    for need, name in needs.items():
        if isinstance(need, Like):
            namespace[f"{name}_type"] = np.dtype(need.code).type
            prelude.append(f"{name} = _ck_cuda.local.array(1, {name}_type)")
        elif need == Shared("errors") and program.by_row:
            prelude.append(f"{name} = _ck_cuda.local.array(1, _ck_i8)")
        elif need == Shared("arena"):
            taken[need] = f"{name}s"
            namespace |= {"_ck_set_word": row_functions.body(set_word)}
            prelude += [
                f"{name} = {name}s + _ck_i8({_THREAD}) * {program.thread_bytes}",
                f"_ck_set_word({name} + 8, {name} + {program.thread_bytes})",
                EMPTY_ARENA,
            ]
        else:
            taken[need] = name
    return prelude, taken


_THREAD = (
    "((_ck_cuda.blockIdx.z * _ck_cuda.gridDim.y + _ck_cuda.blockIdx.y) * _ck_cuda.gridDim.x"
    " + _ck_cuda.blockIdx.x) * (_ck_cuda.blockDim.x * _ck_cuda.blockDim.y * _ck_cuda.blockDim.z)"
    " + (_ck_cuda.threadIdx.z * _ck_cuda.blockDim.y + _ck_cuda.threadIdx.y) * _ck_cuda.blockDim.x"
    " + _ck_cuda.threadIdx.x"
)
"""The number of a thread in its grid."""

EMPTY_ARENA = "_ck_set_word(_ck_arena, _ck_arena + 16)"
"""The statement that gives the room of a thread's arena back."""


def _whole_column(name: str, kind: Column, used: set[str], needs: dict[Need, str]) -> list[str]:
    """Statements that make the parts of an argument that are used."""
    lines = []
    start, length = variables(name, kind)
    for variable, member in ((start, "offset"), (length, "length")):
        if variable in used:
            need = Member(kind.path, member)
            is_zero = kind.form == "batch" and member == "offset"
            value = "_ck_zero" if is_zero else needs.setdefault(need, name_of(need))
            lines.append(f"{variable} = {value}")
    return lines
