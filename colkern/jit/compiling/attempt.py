"""Compiling, with errors in the words of colkern."""

from __future__ import annotations

from numba import types
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

from colkern.errors import CompileError


def compile_or_explain(dispatcher: CPUDispatcher, signature: tuple[types.Type, ...]) -> None:
    """Compile a function for argument types, or load what another process has compiled.

    Args:
        dispatcher: The function.
        signature: The Numba types.

    Raises:
        CompileError: With the line and the construct that stand in the way.
    """
    try:
        dispatcher.compile(signature)
    except CompileError:
        raise
    except NumbaError as error:
        raise _explained(dispatcher, error) from None
    except Exception as error:  # Code of any kind may lead Numba into exceptions of any kind.
        raise _explained(dispatcher, error) from error


def _explained(dispatcher: CPUDispatcher, error: Exception) -> CompileError:
    from colkern.jit.compiling.explanations import explained

    return explained(dispatcher, error)
