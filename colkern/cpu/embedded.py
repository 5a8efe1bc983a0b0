"""Compilers with few passes: of code that becomes a part of its callers, with its cache, and of loops.

Numba optimises each function and makes machine code of it, before it does the same with its callers.
Code that is linked into callers needs neither, since their optimisation covers it. This halves the time
to compile a function with many small helpers. Helpers of kernels are kept on disk as bitcode: typing
and lowering them takes most of the time that a process needs to compile its first row function.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import types
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from llvmlite.binding import (
    Linkage,
    ModuleRef,
    create_new_module_pass_manager,
    create_pass_builder,
    create_pipeline_tuning_options,
    parse_assembly,
    parse_bitcode,
)
from numba.core import config, interpreter
from numba.core.cgutils import alloca_once
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, compile_result
from numba.core.compiler_machinery import CompilerPass, FunctionPass, PassManager, register_pass
from numba.core.cpu import CPUContext
from numba.core.ir import UNDEFINED, Assign, Block, Expr, Stmt
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.rewrites import rewrite_registry
from numba.core.serialize import dumps
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import BaseNativeLowering, NoPythonBackend, NopythonTypeInference
from numba.core.types import Function
from numba.core.untyped_passes import FixupArgs

from colkern.cache import cache_dir, read_whole, write_whole
from colkern.cpu.cache import UNUSABLE, bare_environment, compiler_key
from colkern.cpu.single_assignment import assign_once, operands
from colkern.cpu.sources import source_key


class _Lower(Lower):  # type: ignore[misc]
    """Lowers code that counts no references and has no debug information.

    Numba would write a deletion for each variable, and text for messages of each statement.
    """

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables with one assignment that are read only behind it, in its block."""
        assigned: set[str] = set()
        others: set[str] = set()
        for block in self.blocks.values():
            own: set[str] = set()
            for statement in block.body:
                others.update(each.name for each in operands(statement) if each.name not in own)
                if isinstance(statement, Assign):
                    name = statement.target.name
                    others.update({name} & assigned)
                    assigned.add(name)
                    own.add(name)
        self._singly_assigned_vars = assigned - others
        self._blk_local_varmap: dict[str, Any] = {}

    def alloca(self, name: str, type: object) -> Any:
        """Make room for a variable, whose size only debug information would need."""
        return alloca_once(self.builder, self.context.get_value_type(type), name=name)

    def pre_block(self, block: Block) -> None:
        """Make room for the variables of several blocks before the first one."""
        if block is not self.firstblk:
            return
        self.builder.position_at_end(self.blkmap[block])
        for each in self.blocks.values():
            for assigned in each.find_insts(Assign):
                name = assigned.target.name
                self._alloca_var(name, self.typeof(name))

    def lower_block(self, block: Block) -> None:
        """Lower the statements."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)

    def lower_inst(self, inst: Stmt) -> None:
        """Lower one statement."""
        if isinstance(inst, Assign):
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)
        else:
            super().lower_inst(inst)

    def lower_binop(self, resty: object, expr: Expr, op: object) -> Any:
        """Lower an operator, whose version for the types of its operands is known from typing."""
        if expr.static_lhs is not UNDEFINED or expr.static_rhs is not UNDEFINED:
            return super().lower_binop(resty, expr, op)
        context, builder = self.context, self.builder
        function = context.typing_context.resolve_value_type(op)
        signature = self.fndesc.calltypes[expr]
        operands = [
            context.cast(builder, self.loadvar(each.name), self.typeof(each.name), kind)
            for each, kind in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        own = OperatorTypes(context.typing_context).resolve_function_type(
            function, signature.args, {}
        )
        result = context.get_function(function, own)(builder, operands)
        return context.cast(builder, result, signature.return_type, resty)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value, without a look at the one before."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))


class _Interpreter(interpreter.Interpreter):  # type: ignore[misc]
    """Translates functions without `with` statements and dictionaries."""

    def post_process(self, peepholes: Sequence[object], func_ir: object) -> Any:
        """Rewrite the translation, without those two, for which Numba would search all statements."""
        own = interpreter
        others = (own.peep_hole_delete_with_exit, own.peep_hole_fuse_dict_add_updates)
        return super().post_process([each for each in peepholes if each not in others], func_ir)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translation(FunctionPass):  # type: ignore[misc]
    """From Python's bytecode to Numba's form of loops and variables, without the variables' lifetimes."""

    _name = "colkern_translation"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Translate the function."""
        function = state.func_ir = _Interpreter(state.func_id).interpret(state.bc)
        function.blocks = canonicalize_cfg(function.blocks)
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite = kind(state)
            for label in [*function.blocks]:
                while rewrite.match(function, function.blocks[label], None, None):
                    function.blocks[label] = rewrite.apply()
        assign_once(function.blocks)
        function._definitions = build_definitions(function.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):  # type: ignore[misc]
    """To LLVM's code."""

    _name = "colkern_lowering"
    lowering_class = _Lower


_PASSES = (_Translation, FixupArgs, NopythonTypeInference, _Lowering, NoPythonBackend)
"""The passes for bodies and generated source, which have no closures, `with` or arrays' expressions; they
take a third of the time of Numba's."""


_UNRESOLVED = ".numba.unresolved$"
"""The prefix of Numba's symbols for addresses of functions that call each other in a circle."""

_ADDRESS = 'declare void @"{1}"()\n@"{0}" = constant ptr @"{1}"'
"""Sets such an address, as Numba does after loading code, but only in the process that compiles."""


_OWN = ".of_loop"
"""The end of the names of functions that a loop has for itself."""


LARGE = 96 << 10
"""The size of a large loop over rows, in bytes of LLVM's code. In one, inner loops are not unrolled, and
LLVM chooses where large helpers become a part of their callers: that takes half of the time, or a quarter,
and the loop 0.98 to 1.15 of it."""


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A library that is verified once, by Numba's parser or as the loop that it is part of."""

    def finalize(self) -> None:
        """Link the code of the functions that are called, and finish."""
        linked = list(dict.fromkeys(self._linking_libraries))
        for library in linked:
            if isinstance(library, _PartLibrary):
                called = dict.fromkeys(library._linking_libraries)
                linked += [each for each in called if each not in linked]
        # Helpers are last: the linker leaves out what nothing that it has linked calls.
        for library in sorted(linked, key=lambda each: not isinstance(each, _PartLibrary)):
            self._reload_init.update(library._reload_init)
            is_own = isinstance(library, _EmbeddedLibrary)
            module = library._final_module if is_own else library._get_module_for_linking()
            self._final_module.link_in(module, preserve=True)
        self._optimize_final_module()
        self._finalize_final_module()


MOST_INLINED = 400
"""The largest helper, in instructions with those of its own helpers, that becomes a part of each caller
also in a large loop."""

MOST_RARE = 100
"""The largest helper for rare cases that becomes a part of each caller in a loop that is not large."""


class _EmbeddedLibrary(_Library):
    """The code of a function, to be linked into other libraries, several of which may have it."""

    shared = Linkage.linkonce_odr

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        """Remove the code that Numba writes for variables and constants; callers optimise the rest."""
        ll_module.data_layout = self._codegen._data_layout
        passes = create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(ll_module, self._codegen._pass_builder())

    def _optimize_final_module(self) -> None:
        for function in _defined(self._final_module):
            if function.linkage is Linkage.external:
                function.linkage = self.shared

    def _finalize_final_module(self) -> None:
        """Finish without machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: there is no machine code."""
        return 0

    @property
    def codegen(self) -> object:
        """Stands for the engine to which Numba adds machine code, and environments of functions."""
        return self

    def set_env(self, name: str, env: object) -> None:
        """Do nothing: only a function that raises has an environment."""


class HelperLibrary(_EmbeddedLibrary):
    """The code of a helper, and of those that it calls.

    Attributes:
        size: The number of instructions that each call of it adds to a caller.
        is_apart: Whether it is for rare cases.
    """

    size = 0
    is_apart = False
    _shared_module: ModuleRef | None

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        super()._optimize_functions(ll_module)
        # There is an item of the list for each call. Numba's own functions are small.
        called = self._linking_libraries
        size = sum(each.size for each in called if isinstance(each, HelperLibrary))
        functions = _defined(ll_module)
        size += sum(1 for each in functions for block in each.blocks for _ in block.instructions)
        is_called = self.is_apart or size > MOST_INLINED
        self.size = 0 if is_called else size
        is_never_part = self.is_apart and size > MOST_RARE
        mark = "noinline" if is_never_part else _HINT if is_called else _INLINED
        for function in functions:
            function.add_function_attribute(mark)

    def _get_module_for_linking(self) -> ModuleRef:
        """The code as a part of callers that Numba's own compiler makes."""
        if self._shared_module is None:
            self._ensure_finalized()
            self._shared_module = self._final_module.clone()
            _inline_hinted(self._shared_module)
        return self._shared_module


class _ApartLibrary(HelperLibrary):
    """The code of a helper for rare cases."""

    is_apart = True


class _PartLibrary(_EmbeddedLibrary):
    """The code of a function of one loop, which links what the function calls.

    It is linked also if the call that is linked first was dead code, and is gone.
    """

    shared = Linkage.weak_odr

    def finalize(self) -> None:
        """Finish without the code of the functions that are called."""
        self._optimize_final_module()
        self._finalize_final_module()


class _LoopLibrary(_Library):
    """The code of a loop without reference counts, optimised once; Numba does it twice to drop counts."""

    makes_vectors = True

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for name in [each.name for each in self._final_module.global_variables]:
            if name.startswith(_UNRESOLVED):
                called = name.removeprefix(_UNRESOLVED)
                self._final_module.link_in(parse_assembly(_ADDRESS.format(name, called)))
                self._final_module.get_global_variable(name).linkage = Linkage.internal
        for function in _defined(self._final_module):
            # Functions of other libraries are only for this one: those that are called once are not
            # kept. LLVM may change their parameters, so they get names of their own: the loader of machine
            # code takes an internal function of a name for another library's.
            if function.linkage in (_EmbeddedLibrary.shared, _PartLibrary.shared):
                function.linkage = Linkage.internal
                function.name += _OWN
        is_large = not self.makes_vectors and len(self._final_module.as_bitcode()) > LARGE
        if not is_large:
            _inline_hinted(self._final_module)
        options = create_pipeline_tuning_options(speed_level=int(config.OPT))
        options.loop_vectorization = options.slp_vectorization = self.makes_vectors
        options.loop_unrolling = not is_large
        builder = create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)
        self._final_module.verify()


def _defined(module: ModuleRef) -> list[Any]:
    """The functions that a module has the code of."""
    return [function for function in module.functions if not function.is_declaration]


_INLINED, _HINT = "alwaysinline", "inlinehint"
"""The marks of a helper, and of one that is a part of its callers only in small loops."""


def _inline_hinted(module: ModuleRef) -> None:
    """Have large helpers become a part of all their callers, too."""
    for function in _defined(module):
        if any(_HINT.encode() in each.split() for each in function.attributes):
            function.add_function_attribute(_INLINED)


class _ScalarLibrary(_LoopLibrary):
    """As `_LoopLibrary`, without vectors, which are a third of the machine code if rows have many loops."""

    makes_vectors = False


class _Passes(PassManager):  # type: ignore[misc]
    """The passes in order, without analysing the function between them."""

    def _runPass(self, index: int, pss: CompilerPass, internal_state: object) -> None:
        pss.analysis = self._analysis
        pss.run_pass(internal_state)


_MOST_OPERATORS = 1 << 14
"""The most signatures that are kept; each constant operand has its own."""


class OperatorTypes:
    """A typing context that types each operator once for the types of its operands.

    Numba tries all templates of an operator for each place in the source. Templates that are compiled
    themselves depend on the caller's options, so only those that Numba lowers by the operator are kept.

    Args:
        context: Numba's context, which does everything else.
    """

    _known: ClassVar[dict[tuple[object, ...], object]] = {}

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: Iterable[object], kws: object) -> Any:
        """The signature of a call."""
        if kws or not isinstance(func, Function):
            return self._context.resolve_function_type(func, args, kws)
        call = (func, *args)
        signature = self._known.get(call)
        if signature is None:
            signature = self._context.resolve_function_type(func, args, kws)
            if signature is not None and func.get_impl_key(signature) is func.typing_key:
                if len(self._known) >= _MOST_OPERATORS:
                    self._known.clear()
                self._known[call] = signature
        return signature


class _ShortCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with few passes."""

    library: type[JITCodeLibrary]

    def __init__(
        self, typing: object, target: CPUContext, library: JITCodeLibrary | None, *rest: object
    ) -> None:
        if library is None:
            library = self.library(target.codegen(), "generated")
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)
        self.state.typingctx = OperatorTypes(typing)

    def define_pipelines(self) -> list[PassManager]:
        """The one sequence of passes."""
        passes = _Passes("nopython")
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


def _compiler_of(library: type[JITCodeLibrary]) -> type[_ShortCompiler]:
    return type(f"{library.__name__}Compiler", (_ShortCompiler,), {"library": library})


HelperCompiler = _compiler_of(HelperLibrary)
ApartCompiler = _compiler_of(_ApartLibrary)
PartCompiler = _compiler_of(_PartLibrary)
LoopCompiler = _compiler_of(_LoopLibrary)
ScalarLoopCompiler = _compiler_of(_ScalarLibrary)


# On disk


_HELPERS = "colkern.kernels"


def is_kept(function: Callable[..., object]) -> bool:
    """Whether a helper is in the package's files, or bound by it: name and file hash identify it."""
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith(_HELPERS):
        return False
    name = function.__qualname__
    is_bound = name != function.__name__
    return name.isidentifier() and (is_bound or function.__code__.co_filename[0] != "<")


class EmbeddedCache:
    """The bitcode of one helper, with a file for each signature."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def load_overload(
        self, sig: tuple[object, ...], target_context: CPUContext
    ) -> CompileResult | None:
        """The helper's code for a signature; None if it must be compiled."""
        try:
            content = read_whole(self._file(sig, target_context))
            if content is None:
                return None
            bitcode, description, signature, size = pickle.loads(content)
            module = parse_bitcode(bitcode)
        except (*UNUSABLE, RuntimeError):
            return None
        environment = bare_environment(
            description.modname, [], target_context.get_env_name(description)
        )
        library = HelperLibrary(target_context.codegen(), description.mangled_name)
        library._final_module, library.size = module, size
        library._finalize_final_module()
        return compile_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=target_context.get_executable(library, description, environment),
            signature=signature,
            library=library,
            fndesc=description,
            environment=environment,
            objectmode=False,
        )

    def save_overload(self, sig: tuple[object, ...], data: CompileResult) -> None:
        """Store compiled code; a full or read-only disk is no error."""
        if data.library.has_dynamic_globals:
            return
        description = data.fndesc
        types_of = description.typemap, description.calltypes
        description.typemap = description.calltypes = None
        try:
            bitcode = data.library._final_module.as_bitcode()
            payload = dumps((bitcode, description, data.signature, data.library.size))
        finally:
            description.typemap, description.calltypes = types_of
        with contextlib.suppress(OSError, LookupError):
            write_whole(self._file(sig, data.target_context), payload)

    def _file(self, sig: Iterable[object], target_context: CPUContext) -> Path:
        """The file for a signature; `LookupError` if a type is for an object of this process."""
        types_of = tuple(map(str, getattr(sig, "args", sig)))
        if any(" at 0x" in each for each in types_of):
            raise LookupError(f"{types_of}: no other process has them")
        content = (self._function.__module__, types_of, target_context.codegen().magic_tuple())
        key = hashlib.sha256(repr((content, _content())).encode()).hexdigest()[:32]
        return cache_dir("helpers") / f"{self._function.__qualname__}-{key}.helper"


@cache
def _content() -> str:
    return repr((source_key(_HELPERS), compiler_key()))
