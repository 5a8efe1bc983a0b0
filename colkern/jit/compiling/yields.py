"""Generator functions compiled as plain ones: a `yield` becomes an append of the item.

Numba's own generators cannot yield None beside a value, are never loaded from a cache, and do not give
back the memory that they hold. Two compilers rewrite the function before anything else looks at it;
both give it one more argument, at the end:

- `ItemsCompiler`: `yield x` becomes `sink.append(x)`, for a sink that is a builder of items;
- `KindsCompiler`: `yield x` becomes `if sink: return x`: such a function returns a value of the kinds
  that the generator yields.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator

from numba.core import ir
from numba.core.compiler import StateDict
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.ir_utils import build_definitions, find_max_label, mk_unique_var
from numba.core.untyped_passes import TranslateByteCode

from colkern.jit.compiling.checks import RowCompiler

SINK = "_colkern_sink"
"""The name of the argument."""


def with_sink(function: types.FunctionType) -> None:
    """Let a function take the argument when it is compiled: Numba looks at its signature alone."""
    plain = inspect.signature(function)
    sink = inspect.Parameter(SINK, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [p.replace(default=p.empty) for p in plain.parameters.values()]
    function.__signature__ = plain.replace(parameters=[*parameters, sink])  # type: ignore[attr-defined]


class _Rewriting(FunctionPass):
    """Makes a plain function of a generator function."""

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Rewrite all blocks."""
        func_ir = state.func_ir
        self._rewrite(func_ir.blocks)
        func_ir.is_generator = state.func_id.is_generator = False
        func_ir._definitions = build_definitions(func_ir.blocks)
        return True

    def _rewrite(self, blocks: dict[int, ir.Block]) -> None:
        raise NotImplementedError


@register_pass(mutates_CFG=False, analysis_only=False)
class YieldsToCalls(_Rewriting):
    """`yield x` becomes `sink.append(x)`."""

    _name = "colkern_yields_to_calls"

    def _rewrite(self, blocks: dict[int, ir.Block]) -> None:
        for block in blocks.values():
            block.body = [new for old in block.body for new in _called(block.scope, old)]


def _called(scope: ir.Scope, statement: ir.Stmt) -> Iterator[ir.Stmt]:
    if not _is_yield(statement):
        yield statement
        return
    loc, item = statement.loc, statement.value.value
    append = ir.Var(scope, mk_unique_var("$append"), loc)
    yield ir.Assign(ir.Expr.getattr(ir.Var(scope, SINK, loc), "append", loc), append, loc)
    yield ir.Assign(ir.Expr.call(append, [item], (), loc), statement.target, loc)


@register_pass(mutates_CFG=True, analysis_only=False)
class YieldsToReturns(_Rewriting):
    """`yield x` becomes `if sink: return x`."""

    _name = "colkern_yields_to_returns"

    def _rewrite(self, blocks: dict[int, ir.Block]) -> None:
        waiting = list(blocks.items())
        free = find_max_label(blocks) + 1
        while waiting:
            _, block = waiting.pop()
            place = next((k for k, step in enumerate(block.body) if _is_yield(step)), None)
            if place is None:
                continue
            statement = block.body[place]
            loc = statement.loc
            rest = ir.Block(block.scope, loc)
            nothing = ir.Assign(ir.Const(None, loc), statement.target, loc)
            rest.body = [nothing, *block.body[place + 1 :]]
            blocks[free], blocks[free + 1] = _returning(block.scope, statement), rest
            sink = ir.Var(block.scope, SINK, loc)
            block.body[place:] = [ir.Branch(sink, free, free + 1, loc)]
            waiting.append((free + 1, rest))
            free += 2


def _returning(scope: ir.Scope, statement: ir.Assign) -> ir.Block:
    loc = statement.loc
    block = ir.Block(scope, loc)
    returned = ir.Var(scope, mk_unique_var("$yielded"), loc)
    item = ir.Expr.cast(statement.value.value, loc)
    block.body = [ir.Assign(item, returned, loc), ir.Return(returned, loc)]
    return block


def _is_yield(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Yield)


class ItemsCompiler(RowCompiler):
    """Compiles a generator function into one that hands each item to a sink, a builder."""

    def define_pipelines(self) -> list[PassManager]:
        """The usual passes, after the one that rewrites."""
        return _with(YieldsToCalls, super().define_pipelines)


class KindsCompiler(RowCompiler):
    """Compiles a generator function into one that returns any of its items."""

    def define_pipelines(self) -> list[PassManager]:
        """The usual passes, after the one that rewrites."""
        return _with(YieldsToReturns, super().define_pipelines)


def _with(
    rewriting: type[_Rewriting], define: Callable[[], list[PassManager]]
) -> list[PassManager]:
    (passes,) = define()
    passes._finalized = False
    passes.add_pass_after(rewriting, TranslateByteCode)
    passes.finalize()
    return [passes]
