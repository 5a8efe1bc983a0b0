"""`cuda_jit`: a user's CUDA kernel whose arguments may be Arrow columns.

A launch knows the data types of the columns. For each set of types, the function's source is translated
once: reads of columns become plain functions of addresses and lengths, which the launch passes as numbers.
It passes only what the function reads: of a batch with 200 columns, the columns that it names.

Nothing here imports a compiler; the first launch does.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch, RecordBatchStream
from colkern.cuda import adapter, memory
from colkern.cuda.device_code import KernelSource
from colkern.errors import UnsupportedError
from colkern.jit.device.kinds import PLAIN, Column, Kind, Path
from colkern.jit.environment import is_checked
from colkern.jit.views.records import COUNTS
from colkern.memory import Device

if TYPE_CHECKING:
    from colkern.jit.device.emitter import Need, Program

Types = tuple[s.DataType | s.Schema | None, ...]
"""The data type of each argument that is a column, the schema of one that is a batch; else None."""


@dataclass(frozen=True, eq=False)
class Specialisation:
    """A kernel for one set of data types.

    Args:
        needs: The needs that it takes after the other arguments.
        program: The state that its functions share.
        literals: The address of the strings of the source, by device.
    """

    kernel: KernelSource
    needs: list[Need]
    program: Program
    literals: dict[Device, tuple[Any, np.uint64]] = field(default_factory=dict)


class CudaKernel:
    """A CUDA kernel that takes Arrow columns and batches as arguments, made by `cuda_jit`.

    Attributes:
        checked: Whether indices and nulls are checked; if None, only in the simulator, and with
            CK_CHECKED=1.
        thread_bytes: The room that each thread has for values that methods make.
    """

    __qualname__: str

    def __init__(
        self,
        function: types.FunctionType,
        checked: bool | None,
        thread_bytes: int,
        options: dict[str, Any],
    ) -> None:
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__name__ = self.__qualname__ = function.__name__
        self.__wrapped__ = function
        self.function = function
        self.checked = checked
        self.thread_bytes = thread_bytes
        self._options = options
        self._specialisations: dict[tuple[Types, bool], Specialisation] = {}
        self._last: tuple[Types, bool, Specialisation | None] = ((), False, None)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        """A launch: `kernel[blocks, threads](…)`, also with a stream and bytes of shared memory.

        The stream is that of CuPy, PyTorch, cuda.core or the compiler, or a `cudaStream_t` as an integer;
        without one, or with None, CuPy's current stream.
        """
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("expected kernel[blocks, threads, stream, shared memory]")
        return partial(self._launch, configuration)

    def forall(self, count: int, threads: int = 128, stream: Any = None) -> Callable[..., None]:
        """A launch with one thread for each of `count` items, or a few more."""
        blocks = max(-(-count // threads), 1)
        return self[blocks, threads] if stream is None else self[blocks, threads, stream]

    def ptx(self, arguments: Sequence[Any], capability: tuple[int, int]) -> str:
        """The PTX for arguments like these; needs the compiler but no GPU.

        Args:
            arguments: Data types, schemas, columns and batches, wherever they are; NumPy's arrays of one
                dimension, and its numbers.
            capability: The compute capability, such as (9, 0).

        Raises:
            CompileError: If the function does not compile for these types.
        """
        from colkern.jit.device.emitter import Like, Shared

        compiled = self._specialised(tuple(map(type_of, arguments)), self._is_checked())
        signature = [
            (np.asarray(value).dtype.str[1:], isinstance(value, np.ndarray))
            for value in arguments
            if type_of(value) is None
        ]
        for need in compiled.needs:
            if need == Shared("errors"):
                signature.append(("i8", True))
            else:
                assert not isinstance(need, Like)
                signed = (*COUNTS, "arena")
                signature.append(("i8" if need.name in signed else "u8", False))
        with compiled.kernel.explained():
            return adapter.ptx(compiled.kernel.function, signature, capability)

    def _is_checked(self) -> bool:
        if self.checked is not None:
            return self.checked
        return adapter.is_simulated() or is_checked()

    def _launch(self, configuration: tuple[Any, ...], *arguments: Any) -> None:
        from colkern.cuda import plans
        from colkern.jit.device.emitter import Shared
        from colkern.jit.device.launching import BoundArguments, made_for, needed, raise_noted

        names = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        if len(arguments) != len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments, got {len(arguments)}")
        adapter.require_device()
        kinds = tuple(map(type_of, arguments))
        checked = self._is_checked()
        compiled = self._specialised(kinds, checked)
        bound = BoundArguments(compiled, names, arguments, kinds, memory.current_device())
        columns, device = bound.columns, bound.device
        blocks, threads, *others = configuration
        chosen, *shared = others or [None]
        with memory.current(device), memory.on_stream(chosen):
            bound.require_valid()
            count = int(np.prod(blocks) * np.prod(threads))
            kept = made_for(compiled, count, device)
            numbers = [needed(need, compiled, columns, kept, device) for need in compiled.needs]
            arguments = (*bound.others.values(), *numbers)
            plans.launch(compiled.kernel, blocks, threads, device.ordinal, arguments, *shared)
            if Shared("errors") in kept:
                raise_noted(kept[Shared("errors")], compiled.program)

    def _specialised(self, kinds: Types, checked: bool) -> Specialisation:
        last_kinds, last_checked, compiled = self._last
        # Most launches are like the one before, and schemas take long to be compared.
        are_same = len(last_kinds) == len(kinds) and all(map(operator.is_, last_kinds, kinds))
        if compiled is None or last_checked != checked or not are_same:
            compiled = self._specialisations.get((kinds, checked))
            if compiled is None:
                compiled = self._specialisations[kinds, checked] = self._specialise(kinds, checked)
            self._last = kinds, checked, compiled
        return compiled

    def _specialise(self, kinds: Types, checked: bool) -> Specialisation:
        from colkern.jit.device.emitter import Program
        from colkern.jit.device.functions import kernel_function

        program = Program(checked, self.thread_bytes)
        names = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        parameters = {name: kind_of(name, kind) for name, kind in zip(names, kinds, strict=True)}
        function, needs = kernel_function(program, self.function, parameters)
        key = content_key(self.function, parameters, program, needs)
        kernel = KernelSource(self.name, lambda: function, key, options=self._options)
        return Specialisation(kernel, needs, program)

    def __repr__(self) -> str:
        return f"<colkern.CudaKernel {self.name}>"


def content_key(
    function: types.FunctionType,
    kinds: Mapping[str, Kind],
    program: Program,
    needs: Sequence[Need],
    *also: object,
) -> Callable[[], str | None]:
    """A function that hashes all that a user's kernel depends on; None if no other process has the same.

    It is called when types are known, since `program` and `needs` may grow until then. The content of the
    user's function is hashed now, when it is translated: its globals may change before its first launch.

    Args:
        kinds: The kinds of the kernel's arguments.
        program: The state that its functions share.
        needs: The needs that it takes after the other arguments.
        also: Other values that the kernel depends on.
    """
    from colkern.cpu.content import content_hash, is_shared
    from colkern.jit.environment import library_key

    content = content_hash(function)

    def key() -> str | None:
        columns = [
            (name, kind.data_type, kind.form) if isinstance(kind, Column) else name
            for name, kind in kinds.items()
        ]
        shared = (program.checked, program.thread_bytes, program.by_row, program.error_model)
        noted = (program.places, bytes(program.literals), list(map(repr, needs)))
        whole = content_hash((content, columns, shared, noted, also), library_key())
        return whole if is_shared(content) and is_shared(whole) else None

    return key


def kind_of(name: str, data_type: s.DataType | s.Schema | None) -> Kind:
    """The kind of a parameter, by the type of its argument."""
    if isinstance(data_type, s.Schema):
        return Column(Path(name), s.struct(list(data_type)), "batch", whole=True)
    return PLAIN if data_type is None else Column(Path(name), data_type.storage, whole=True)


def type_of(argument: Any) -> s.DataType | s.Schema | None:
    """The data type of an argument that is a column, the schema of one that is a batch; else None."""
    if isinstance(argument, Array):
        return argument.type
    if isinstance(argument, RecordBatch):
        return argument.schema
    if isinstance(argument, s.DataType | s.Schema):
        return argument
    if isinstance(argument, RecordBatchStream):
        raise UnsupportedError("a kernel takes the batches of a stream one at a time")
    if hasattr(argument, "__arrow_c_array__") or hasattr(argument, "__arrow_c_device_array__"):
        raise TypeError(
            f"a kernel takes colkern's columns and batches in device memory, got "
            f"{type(argument).__name__}: import it with colkern.interchange"
        )
    return None


@overload
def cuda_jit(function: Callable[..., None], /) -> CudaKernel: ...


@overload
def cuda_jit(
    *, boundscheck: bool | None = None, thread_bytes: int = 0, **options: Any
) -> Callable[[Callable[..., None]], CudaKernel]: ...


def cuda_jit(
    function: Callable[..., None] | None = None,
    /,
    *,
    boundscheck: bool | None = None,
    thread_bytes: int = 0,
    **options: Any,
) -> Any:
    """Make a CUDA kernel that takes Arrow columns and record batches, besides the arguments of `cuda.jit`.

    Columns are read as on the CPU: `len(col)`, `col[i]` (None for null), `col[a:b]`, `for x in col`,
    `col.is_valid(i)`, `col.value(i)`, `col.null_count`; `batch.price`, `row["price"]`; lists are columns,
    texts, byte strings, dates and times have the methods of Python's, decimals `+`, `-`, `*` and
    comparisons. Functions that the kernel calls may also take columns and their parts::

        from numba import cuda

        @ck.cuda_jit
        def filled(out, prices):
            i = cuda.grid(1)
            if i < len(prices):
                x = prices[i]
                out[i] = 0.0 if x is None else x

        filled[blocks, threads](out, prices)

    Columns have to be in device memory (`colkern.to_device`); nothing is copied. They are
    validated before their first launch.

    Args:
        function: The kernel, a function of the user's with source.
        boundscheck: Whether to check indices, and that nulls are not used as values. A checked launch
            waits for its end and raises the first failure; until then, a wrong read gives a null. By
            default, launches are checked with `debug=True`, with CK_CHECKED=1 in the environment, and in
            Numba's simulator. Exceptions of methods, such as `int(text)`, are always raised.
        thread_bytes: The bytes of device memory that each thread has for values that methods create, such
            as `text.upper()`; a multiple of 8. None of it is freed before the thread's end. With 0, such
            methods are a CompileError.
        options: Options of the compiler's `cuda.jit`.

    Launches raise:
        CompileError: If a column is used in a way that has no compiled form; names the line.
        MemoryError: If methods create more than a thread has room for.
        UnsupportedError: If a column is not in device memory; names the argument.
        InvalidArrowError: If a position in a column leads outside its memory.
        IndexError, TypeError, ValueError, OverflowError: If a check fails; names the line.
    """

    if thread_bytes < 0 or thread_bytes % 8:
        raise ValueError(f"thread_bytes: expected a multiple of 8, got {thread_bytes}")

    def decorated(function: Callable[..., None]) -> CudaKernel:
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"function: expected a Python function, got {type(function).__name__}")
        checked = True if boundscheck is None and options.get("debug") else boundscheck
        return CudaKernel(function, checked, thread_bytes, options)

    return decorated if function is None else decorated(function)
