"""Compiled code that only ever runs as part of its callers'.

Numba optimises each function by itself and makes machine code of it, before it does the same with those
that call it. What is linked into callers needs neither: their optimisation sees all of it. This halves
what a function of many small helpers takes to compile.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage, create_new_module_pass_manager, parse_assembly
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import CompilerPass, PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
)
"""Numba's own passes for bodies and generated source, which have no closures, `with` or arrays'
expressions; these take a third of the time of all of them."""


_UNRESOLVED = ".numba.unresolved$"
"""How Numba's names of addresses begin of functions that call each other in turn."""

_ADDRESS = 'declare void @"{1}"()\n@"{0}" = constant ptr @"{1}"'
"""Gives such an address its value, which Numba does once code is loaded, in the process that compiles."""


class _NoEngine:
    """Stands for the engine that machine code would be added to."""

    def set_env(self, name: str, env: object) -> None:
        """Only a function that raises has an environment to look at."""


class EmbeddedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, for other libraries to link."""

    @classmethod
    def of(cls, codegen: Any, name: str, module: Any) -> EmbeddedLibrary:
        """A library of a module that is ready to be linked."""
        library = cls(codegen, name)
        library._final_module = library._shared_module = module
        library._finalize_final_module()
        return library

    def _optimize_functions(self, ll_module: Any) -> None:
        """Drop what Numba writes for each variable and constant; all else is left to the callers."""
        ll_module.data_layout = self._codegen._data_layout
        passes = create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(ll_module, self._codegen._pass_builder())

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        """Ready as it is."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """The engine that Numba asks for a function's environment."""
        return _NoEngine()


class _LoopLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a loop that counts no references, optimised once: Numba does it twice to drop counts."""

    makes_vectors = True

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for name in [each.name for each in self._final_module.global_variables]:
            if name.startswith(_UNRESOLVED):
                called = name.removeprefix(_UNRESOLVED)
                self._final_module.link_in(parse_assembly(_ADDRESS.format(name, called)))
                self._final_module.get_global_variable(name).linkage = Linkage.internal
        for function in self._final_module.functions:
            # What is linked from other libraries is for this one alone: of one call, it is not kept.
            if not function.is_declaration and function.linkage is Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        vectors = self.makes_vectors
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=vectors, slp_vectorize=vectors
        )
        passes.run(self._final_module, builder)


class _ScalarLibrary(_LoopLibrary):
    """The same without vectors, which are a third of the machine code where each row has many loops."""

    makes_vectors = False


class _Passes(PassManager):  # type: ignore[misc]
    """The passes, one after the other, without looking at the function between them."""

    def _runPass(self, index: int, pss: CompilerPass, internal_state: Any) -> None:
        pss.analysis = self._analysis
        pss.run_pass(internal_state)


class _ShortCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with few passes."""

    library: type[JITCodeLibrary]

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = self.library(target.codegen(), "generated")
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)

    def define_pipelines(self) -> list[PassManager]:
        """The one sequence of passes."""
        passes = _Passes("nopython")
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class EmbeddedCompiler(_ShortCompiler):
    """Compiles functions without wrappers, which become part of their callers."""

    library = EmbeddedLibrary


class LoopCompiler(_ShortCompiler):
    """Compiles loops that count no references."""

    library = _LoopLibrary


class ScalarLoopCompiler(_ShortCompiler):
    """Compiles loops over rows of which no vectors can be made."""

    library = _ScalarLibrary
