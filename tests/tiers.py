"""Which tests run by day (`make test`), and which at night alone (`make test-all`): the mark `night`.

What no rule names runs by day. A rule names tests by how their ids begin:

- `NIGHT`: at night alone.
- `IN_QUARTERS`: by day a quarter of them.
- `IN_TURN`: by day a sixteenth of them.
- `SELDOM`: by day one of sixty.
- `EACH_KERNEL`: by day a variant of each kernel, each time another one.
- `EACH_PATTERN`: by day a variant of a kernel of each pattern, of those of files that have changed, and of
  a quarter of the others.

The commit says which: a commit has the same tests everywhere, and a few commits have all of them.
COLKERN_TURN, any number, chooses others. COLKERN_BASE is the commit before the changes: HEAD~1, if it is
not set.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

from colkern.kernels import KERNELS, Kernel

ROOT = Path(__file__).parent.parent

QUARTERS = 4
SIXTEENTHS = 16
SIXTIETHS = 60

MOST_CHANGED = 60
"""The number of kernels of changed files that run by day."""

NIGHT = (
    # Minutes of one thing, in processes of their own.
    "tests/deaths/test_harness.py::test_either_side_is_killed_in_every_way",
    "tests/fuzz/test_clean_memory.py",
    "tests/fuzz/test_harness.py::test_a_slice_of_the_mutations_ends_cleanly",
    # All kernels and functions compiled for a GPU.
    "tests/test_documents.py::test_blocks_run_as_they_stand[docs/gpu",
    # The corpus compiled for a GPU, a few seconds for each of its functions.
    "tests/rows/test_on_device.py::test_ptx_gives_what_python_gives",
    # A JVM or several for few tests, of what others show on the session that they share.
    "notebooks/spark_udfs.ipynb",
    "tests/spark/cluster/",
    "tests/spark/test_demo.py::test_the_demo_from_end_to_end",
    "tests/spark/test_example.py",
    "tests/spark/test_functions.py::test_functions_of_a_script_run_without_a_home",
    "tests/spark/test_leaks.py",
    "tests/spark/test_spark_benchmarks.py::test_all_ways_give_the_same_rows",
)

IN_QUARTERS = (
    # Several processes for each.
    "tests/cpu/test_forks.py",
    "tests/cuda/test_without_gpu.py",
    # Two compilations for each.
    "tests/kernels/test_together.py",
    # Functions of users or of the table of methods, each compiled for its test alone.
    "tests/functions/test_functions.py",
    "tests/functions/test_operators.py",
    "tests/jit/test_udf.py",
    "tests/rows/test_changing_instances.py",
    "tests/rows/test_exceptions.py",
    "tests/rows/test_functions.py",
    "tests/rows/test_instances.py",
    "tests/rows/test_iterators.py",
    "tests/rows/test_keywords.py",
    "tests/rows/test_library.py",
    "tests/rows/test_programs.py",
    "tests/rows/test_safety.py",
    # Queries of twenty seconds, or a session of their own; the functions of others run each day.
    "tests/spark/test_acceleration.py::test_iterators_of_batches",
    "tests/spark/test_acceleration.py::test_what_only_workers_can_tell_is_in_the_executors_log_once",
    "tests/spark/test_documents.py::test_blocks_run_as_they_stand[docs/from_pandas_udf",
)

IN_TURN = (
    # It starts a process that imports every test.
    "tests/cuda/test_gpu_machine.py::test_every_test_for_a_gpu_is_collected",
    # What is launched is proved kernel by kernel, and on the CPU.
    "tests/cuda/test_gpu_benchmarks.py::test_a_device_computes_what_a_cpu_does",
    "tests/cuda/test_gpu_benchmarks.py::test_a_gigabyte_can_be_described",
    # They restate tests for the CPU.
    "tests/jit/test_cuda_columns.py",
    "tests/jit/test_rows_on_device.py",
    "tests/rows/test_on_device.py::test_in_the_simulator",
    # What they call has tests of its own.
    "tests/test_cheat_sheet.py::test_a_line_runs",
    "tests/test_tpch.py::test_a_query_has_the_answer_of_duckdb",
    # Several processes for each; tests/cpu has the rules of the cache in one.
    "notebooks/",
    "tests/commands/test_warm.py::test_compiles_once_for_gpus",
    "tests/cpu/test_cached_features.py",
    "tests/cpu/test_embedded_cache.py::test_another_process_compiles_no_helper_again",
    "tests/cpu/test_extensions.py::test_entry_points_count_for_their_own_types_alone",
    "tests/cpu/test_warming.py::test_a_second_process_compiles_no_kernel_of_any_operation",
    "tests/cuda/test_device_code.py",
    "tests/jit/test_processes.py",
    "tests/spark/test_function_declarations.py::test_functions_of_a_notebook",
    "tests/spark/test_function_declarations.py::test_of_workers_that_start_cold",
    "tests/test_notebooks.py::test_columns_come_back_for_files_alone",
    "tests/test_notebooks.py::test_bytes_go_to_the_device_once_when_they_are_read",
    "tests/test_notebooks.py::test_the_same_cells_run_on_a_device",
    "tests/test_package.py::test_wheel_works_in_an_empty_environment",
    # Functions of users, each compiled for its test alone, which takes a second or more.
    "tests/jit/test_builders.py",
    "tests/jit/test_column_operations.py",
    "tests/jit/test_columns.py",
    "tests/jit/test_decimal_numbers.py",
    "tests/jit/test_generator.py",
    "tests/jit/test_moments.py",
    "tests/jit/test_nested_arguments.py",
    "tests/jit/test_reducer.py",
    "tests/jit/test_results.py",
    "tests/jit/test_strings.py",
    "tests/jit/test_udf.py::test_a_decorators_function_sees_the_arguments_that_are_given",
    "tests/rows/test_calls.py",
    "tests/rows/test_constructs.py",
    "tests/rows/test_deques.py::test_what_changes_at_its_ends_and_within_is_python_s",
    "tests/rows/test_enums.py::test_members_of_enums_are_python_s",
    "tests/rows/test_library.py::test_counters_are_added_and_compared",
    "tests/rows/test_library.py::test_json_is_written",
    "tests/rows/test_nested.py",
    "tests/rows/test_nested_results.py",
    # One test for all types, each of which takes seconds of compiling.
    "tests/jit/test_rows.py::test_threads_write_the_rows_of_one",
    "tests/jit/test_rows.py::test_rows_of_nested_values_come_out_as_they_went_in",
    "tests/jit/test_udf.py::test_floats_of_any_width_are_floats",
    "tests/jit/test_udf.py::test_integers_of_any_width_are_integers",
    "tests/jit/test_udf.py::test_results_of_each_number_type",
    "tests/jit/test_udf.py::test_text_of_integers_of_every_width_is_that_of_python",
    "tests/functions/test_text_casts.py",
    "tests/operations/test_exploding.py::test_explode_lists",
    "tests/operations/test_group_by.py::test_values_of_any_ordered_type",
    "tests/operations/test_statistics.py",
    "tests/arrays/test_chunked.py::test_operations_over_chunks_are_those_of_pyarrow",
    "tests/operations/test_aggregates.py::test_a_slot_is_null_at_whatever_level_of_its_encodings",
    "tests/operations/test_aggregates.py::test_numbers",
    "tests/operations/test_arithmetic.py::test_runs_stay_runs",
    "tests/operations/test_dictionaries.py::test_indices_of_any_type",
    "tests/operations/test_exploding.py::test_values_of_other_columns_are_repeated",
    "tests/rows/test_decimals.py::test_each_row_has_what_python_gives",
    "tests/rows/test_functions.py::test_compiled_is_python",
    "tests/rows/test_machine.py::test_functions_of_numpy",
    "tests/rows/test_library.py::test_an_address_that_is_split_lacks_no_part",
    "tests/rows/test_near_sums.py",
    "tests/rows/test_safety.py::test_no_page_is_read_that_has_nothing_of_a_text",
    "tests/rows/test_text.py::test_compiled",
    "tests/rows/test_zones.py::test_each_row_has_what_python_gives",
    "tests/rows/test_zones.py::test_the_table_of_a_zone_has_all_its_changes",
    "tests/spark/test_source_reading.py::test_values_of_types_that_spark_lacks_arrive",
    # A case for each pair of types, which run kernels of their own.
    "tests/operations/test_casts.py::test_a_safe_cast_that_succeeds_is_valid_and_goes_back_exactly",
    "tests/operations/test_casts.py::test_booleans",
    "tests/operations/test_casts.py::test_decimals[",
    "tests/operations/test_casts.py::test_decimals_as_floats",
    "tests/operations/test_casts.py::test_floats_as_integers",
    "tests/operations/test_casts.py::test_integers[",
    "tests/operations/test_casts.py::test_integers_and_decimals",
    "tests/operations/test_casts.py::test_integers_as_floats",
    "tests/operations/test_casts.py::test_times",
    # README and the page for users of pandas_udf run each day.
    "tests/test_documents.py::test_blocks_run_as_they_stand[docs",
    "tests/spark/test_documents.py::test_blocks_run_as_they_stand[README.md",
    # A query of seconds for each; test_functions.py runs each day.
    "tests/spark/test_function_kinds.py",
    "tests/spark/test_native_plans.py",
    "tests/spark/test_native_reducers.py",
    "tests/spark/test_read_compute.py",
    "tests/spark/test_acceleration.py::test_text",
    "tests/spark/test_acceleration_results.py::test_an_operation_gives_what_pandas_gives",
    "tests/spark/test_acceleration_results.py::test_each_operation_is_computed_in_the_type_that_numpy_has",
    "tests/spark/test_functions.py::test_a_function_of_a_row_gives_what_it_gives_in_python",
    "tests/spark/test_acceleration.py::test_results_and_use_are_those_of_the_original",
    "tests/spark/test_functions.py::test_values_of_all_types_go_in_and_out",
    "tests/spark/test_native_accelerate.py::test_results_are_those_of_pandas",
    "tests/spark/test_source_spark.py::test_a_stream_from_directory_to_directory",
    # What fails costs a worker process; the two settings differ in the driver alone.
    "tests/spark/test_acceleration.py::test_results_that_do_not_fit_are_treated_as_the_session_says[None",
    "tests/spark/test_acceleration.py::test_results_that_do_not_fit_are_treated_as_the_session_says[true",
    # Of the project's own tools.
    "tests/fuzz/test_harness.py::test_what_is_mutated_is_sound",
    "tests/spark/test_spark_benchmarks.py::test_the_figures",
    "tests/test_suite.py::test_a_comparison_of_the_suite_runs",
    # A query for each; the types are tested without a JVM, and the kinds with Spark's own reader.
    "tests/spark/test_worker_reader.py",
    # Every file, allocation or bit of many, or gigabytes.
    "tests/dissociated/test_device_memory.py::test_every_allocation_has_a_place_of_its_own",
    "tests/dissociated/test_device_memory.py::test_nothing_outside_of_an_allocation_is_reached",
    "tests/dissociated/test_golden.py::test_every_golden_file_as_it_is_read_directly",
    "tests/fuzz/test_regressions.py::test_regressions_end_cleanly_soon_and_small",
    "tests/ipc/test_bad_input.py::test_a_stream_cut_anywhere_ends_or_says_where_it_was_cut",
    "tests/ipc/test_bad_input.py::test_any_flipped_bit_is_an_error_or_reads",
)

SELDOM = (
    # A kernel compiled for each, and run by a machine in Python.
    "tests/cuda/test_memory_requests.py::test_threads_of_a_warp_share_sectors",
    # Kernels compiled for each; the launches of kernels have tests of their own.
    "tests/cuda/test_strict_device.py::test_operation",
    # The simulator takes twenty seconds to start for one of them.
    "tests/cuda/test_operations.py::test_simulated_operation",
    # Minutes of queries, or of one thing; their parts have tests of their own.
    "tests/ipc/test_writing.py::test_offsets_beyond_31_bits",
    "tests/spark/test_accelerate_corpus.py",
    "tests/spark/test_documents.py::test_blocks_run_as_they_stand[docs/spark",
    "tests/spark/test_native_rules.py",
    "tests/spark/test_pipelines.py",
    "tests/spark/test_python_of_workers.py",
    # A function for each, which takes a second to compile; tests/rows has a test of each construct.
    "tests/corpus/test_compiled.py::test_a_function_gives_what_python_gives",
    # A row function for each; those of the table of methods have tests of their own.
    "tests/functions/test_functions.py::test_in_the_simulator",
    "tests/functions/test_functions.py::test_on_the_host",
)

EACH_KERNEL = (
    "tests/kernels/test_plain.py::test_plain_python",
    "tests/kernels/test_target.py::test_compiled[",
    "tests/kernels/test_target.py::test_compiled_over_several_threads",
)

EACH_PATTERN = (
    "tests/kernels/test_machine.py::test_ptx_keeps_the_rules_and_computes_what_is_expected",
    "tests/kernels/test_ptx.py::test_ptx",
    "tests/kernels/test_simulator.py::test_simulated",
)


def tests_of_the_night(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Those of the tests that run at night alone."""
    of_kernels: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        test, _, case = item.nodeid.partition("[")
        if item.nodeid.startswith(EACH_KERNEL + EACH_PATTERN):
            kernel = case.rstrip("]").partition("[")[0]
            of_kernels.setdefault((test, kernel), []).append(item)
            continue
        # The rarest of the rules that name it counts.
        rules = ((SELDOM, SIXTIETHS), (IN_TURN, SIXTEENTHS), (IN_QUARTERS, QUARTERS))
        parts = next((parts for names, parts in rules if item.nodeid.startswith(names)), 1)
        if item.nodeid.startswith(NIGHT) or not _is_in_turn(case or test, parts):
            yield item
    for (_, kernel), variants in of_kernels.items():
        in_turn = variants.pop(turn() // QUARTERS % len(variants))
        yield from variants
        always = in_turn.nodeid.startswith(EACH_KERNEL) or kernel in kernels_of_day()
        if not always and not _is_in_turn(kernel, QUARTERS):
            yield in_turn


def _is_in_turn(name: str, parts: int) -> bool:
    return crc32(name.encode()) % parts == turn() % parts


@cache
def turn() -> int:
    """The number that chooses what runs by day."""
    chosen = os.environ.get("COLKERN_TURN")
    return int(chosen) if chosen else int(_git("rev-parse", "HEAD")[:8] or "0", 16)


@cache
def kernels_of_day() -> frozenset[str]:
    """A kernel of each pattern, and those that have changed."""
    return frozenset(kernels_of_patterns()) | changed_kernels()


def kernels_of_patterns() -> list[str]:
    """A kernel for each way in which targets launch kernels and combine what they return."""
    return list({_pattern(kernel): kernel.name for kernel in KERNELS.values()}.values())


def _pattern(kernel: Kernel) -> tuple[object, ...]:
    combined = kernel.combine if kernel.returns else ""
    written = kernel.arguments[-1].written
    return combined, written, kernel.sequential, kernel.grouped, kernel.most_lanes


@cache
def changed_kernels() -> frozenset[str]:
    """The kernels in files that differ from those of the commit before; some of them, if they are many."""
    base = os.environ.get("COLKERN_BASE") or "HEAD~1"
    files = _git("diff", "--name-only", base, "--", "colkern/kernels").split()
    modules = {Path(file).with_suffix("").as_posix().replace("/", ".") for file in files}
    changed = [k.name for k in KERNELS.values() if k.body.__module__ in modules]
    return frozenset(sorted(changed, key=lambda name: crc32(name.encode()))[:MOST_CHANGED])


def _git(*arguments: str) -> str:
    """Git's output; empty outside of a repository."""
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def selected_cases(request: pytest.FixtureRequest, parameter: str) -> list[str]:
    """The values of a parameter in the selected tests of a module that use the fixture of the request."""
    return [
        str(test.callspec.params[parameter])
        for test in request.session.items
        if isinstance(test, pytest.Function)
        and test.module is request.module
        and request.fixturename in test.fixturenames
    ]


def report_header() -> str:
    """Which of the tests run by day."""
    changed = len(changed_kernels())
    return f"by day: COLKERN_TURN={turn()} (sixteenth {turn() % SIXTEENTHS}), {changed} changed kernels"
