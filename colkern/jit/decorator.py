"""`njit`: Numba's decorator, for functions of Arrow columns that are compiled once a machine.

Nothing here imports Numba; the first definition does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def njit(signature_or_function: Any = None, /, **options: Any) -> Any:
    """Compile a function with Numba, as `numba.njit`, and keep the machine code on disk::

        @ck.njit
        def late(orders, days):
            count = 0
            for i in range(len(orders)):
                if orders.is_valid(i) and orders.value(i) > days:
                    count += 1
            return count

    Another process that defines the same function finds the code and does not compile: a script, a
    notebook, an interactive session, a worker that the function was sent to by cloudpickle. The code
    is found by content: of the function and of all that it names, down to helpers in other
    files, so that an edit anywhere is noticed. It is kept where compiled kernels are
    (`COLKERN_CACHE_DIR`).

    Plain functions that it calls are compiled with it, with the same options. Globals and variables of
    outer functions are taken as they are when it is compiled: at the first call with new types.
    Byte strings are as in a `udf`, and comparing a number with text is an error.

    Args:
        signature_or_function: The function; or a signature, or a list of them, as for `numba.njit`,
            for which it is compiled at once and alone.
        options: Those of `numba.njit`: `nogil`, `error_model`, `boundscheck`, `fastmath`, `inline`,
            `locals` … With `CK_CHECKED=1` in the environment, `boundscheck` is on.

    Returns:
        A Numba dispatcher, which other compiled functions may call; its `py_func` is the function.
        With `NUMBA_DISABLE_JIT=1`, the function.

    Raises:
        TypeError: If it is no plain Python function, or an option is unknown.
    """
    from numba.core import sigutils

    if options.pop("cache", True) is not True:
        raise TypeError("cache: ck.njit always caches; numba.njit does not")
    if signature_or_function is None:
        return _decorator([], options)
    if isinstance(signature_or_function, list):
        return _decorator(signature_or_function, options)
    if sigutils.is_signature(signature_or_function):
        return _decorator([signature_or_function], options)
    return _decorator([], options)(signature_or_function)


def _decorator(signatures: list[Any], options: dict[str, Any]) -> Callable[[Any], Any]:
    from numba.core import config
    from numba.core.compiler import Flags
    from numba.core.registry import cpu_target

    from colkern.jit.compiling.dispatcher import FunctionDispatcher

    arguments = {name: options[name] for name in ("locals", "pipeline_class") if name in options}
    target = {name: value for name, value in options.items() if name not in arguments}
    target["nopython"] = True
    try:
        cpu_target.options.parse_as_flags(Flags(), target)
    except KeyError as error:
        raise TypeError(f"options: {error.args[0]}") from None

    def decorate(function: Any) -> Any:
        if not inspect.isfunction(function):
            hint = "; give it its py_func" if hasattr(function, "py_func") else ""
            raise TypeError(
                f"function: expected a plain Python function, got {type(function).__name__}{hint}"
            )
        if config.DISABLE_JIT:
            return function
        dispatcher = FunctionDispatcher(function, targetoptions=target, **arguments)
        for signature in signatures:
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
        return dispatcher

    return decorate
