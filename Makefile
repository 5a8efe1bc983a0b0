# Every target makes its own environment first, from uv.lock; `make help` lists the targets.
#
# PYTHON=...  an interpreter that has the packages already: no set-up, no package index is asked
#             (all targets but run).
# ARGS=...    passed on to `colkern demo` (run), pytest (test, test-gpu), the harness (fuzz, mutants), the
#             benchmark (bench), that of Spark (bench-spark), of kernels (bench-gpu), or asv (track).

.DEFAULT_GOAL := help
SHELL := /bin/bash

ENV := .venv
GPU_ENV := .venv-gpu
# CUDA 12 or 13: which wheels `make test-gpu` and `make bench-gpu` install when PYTHON is not given.
CUDA := 13

# From the environment PYTHON counts for the GPU targets only: elsewhere it may be set by chance.
ifneq ($(filter command override,$(firstword $(origin PYTHON)))$(if $(filter %-gpu,$(MAKECMDGOALS)),$(PYTHON)),)
    PY := $(PYTHON)
    GPU_PY := $(PYTHON)
else
    PY := $(ENV)/bin/python
    GPU_PY := $(GPU_ENV)/bin/python
    DEV := $(ENV)/.made-dev
    DEMO := $(ENV)/.made-demo
    GPU := $(GPU_ENV)/.made-cuda$(CUDA)
endif

# Arrow's golden files, laid out as in apache/arrow-testing.
export ARROW_TEST_DATA ?= $(abspath ../shared/arrow-testing/data)

# Two workers: Spark and Numba's compiler dominate, and both want memory. The tests of one group
# (Spark's) share a worker.
PYTEST := $(PY) -m pytest
WORKERS := 2
# What is left to `make test-all`: tests/tiers.py.
BY_DAY := -m "not night"

# How long `make fuzz` runs, how often `make deaths` does, how many faults `make mutants` makes, and which
# inputs they make.
SECONDS := 600
RUNS := 200
COUNT := 100
SEED := 0

# asv keeps what it knows of the machine in the home directory, which need not be there; compiled
# kernels stay where they are.
ASV := mkdir -p .asv; XDG_CACHE_HOME=$${XDG_CACHE_HOME:-$$HOME/.cache} HOME=$(CURDIR)/.asv $(PY) -m asv

.PHONY: help run test test-all lint types unit unit-all suite types-and-suite test-pythons test-spark-reader \
	fuzz fuzz-rows deaths mutants test-gpu test-gpu-smoke bench-gpu docs bench bench-spark track wheel clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  \1\t/' | expand -t 14

run: $(DEMO)  ## the main job: `colkern demo` on TPC-H data in a local Spark
	$(ENV)/bin/colkern demo $(ARGS)

# What takes one process runs beside the first tests.
test: lint  ## lint, types, the tests of the day, and that asv runs: minutes
	@$(MAKE) --no-print-directory -j 2 types-and-suite unit

test-all: lint  ## the same with every test that needs no GPU, in every variant: for a night
	@$(MAKE) --no-print-directory -j 2 types-and-suite unit-all

lint: $(DEV)  ## ruff
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(DEV)  ## mypy, strict: the package and its tests
	$(PY) -m mypy

unit: $(DEV)  ## the tests of the day alone, the notebooks among them; COLKERN_TURN=0
	$(PYTEST) -n $(WORKERS) --nbmake $(BY_DAY) $(ARGS)

unit-all: export HYPOTHESIS_PROFILE := $(or $(HYPOTHESIS_PROFILE),night)
unit-all: export COLKERN_PTX := all
unit-all: $(DEV)
	$(PYTEST) -n $(WORKERS) --nbmake $(ARGS)

types-and-suite: types
	@$(MAKE) --no-print-directory suite

# asv starts processes for each benchmark, which take longer than little data do: one shows that it
# runs them. All are run by the tests.
suite: $(DEV)  ## the asv suite: checked, and one comparison run on little data
	$(ASV) machine --yes > /dev/null
	$(ASV) check --python=same
	export COLKERN_SUITE=usual; $(ASV) run --python=same --quick --show-stderr --bench count_set_bits

test-pythons:  ## the tests of the day on each Python from 3.11 to 3.14 of this machine; ARGS="tests/ipc"
	.ci/pythons -n $(WORKERS) $(BY_DAY) $(ARGS)

# `unit` runs a query of each kind so; this, all of them.
test-spark-reader: $(DEV)  ## Spark's tests, with colkern's own reader of streams in the workers
	COLKERN_SPARK_READER=1 $(PYTEST) --nbmake tests/spark notebooks/spark_udfs.ipynb $(ARGS)

fuzz: $(DEV)  ## damaged files and streams, read in guarded processes: SECONDS=600 SEED=0
	PYTHONPATH=tests $(PY) -m fuzz --seconds $(SECONDS) --seed $(SEED) --out .fuzz $(ARGS)

fuzz-rows: $(DEV)  ## random row functions, compiled and in plain Python: SECONDS=600 SEED=0
	$(PY) -m tests.corpus.programs $(SEED) --batches 200 --seconds $(SECONDS) $(ARGS)

deaths: $(DEV)  ## streams of which one side is killed at a random point: RUNS=200 SEED=0
	PYTHONPATH=tests $(PY) -m deaths --runs $(RUNS) --seed $(SEED) $(ARGS)

mutants: $(DEV)  ## which faults of the package the tests notice by day: COUNT=100 SEED=0
	PYTHONPATH=tests $(PY) -m mutation --count $(COUNT) --seed $(SEED) --jobs $(WORKERS) $(ARGS)

# What runs on a device: operations on its arrays, files read there, memory of another process, and each
# body in each type over the kernels' cases.
ON_GPU := -m gpu tests/cuda tests/dissociated tests/gpu tests/interchange/test_device_peers.py tests/ipc tests/jit tests/rows
SMOKE_ON_GPU := tests/gpu tests/interchange/test_device_peers.py
MATRIX_ON_GPU := tests/kernels/test_target.py tests/kernels/test_properties.py

test-gpu bench-gpu: export COLKERN_TEST_DEVICE := cuda
test-gpu-smoke: $(GPU)  ## whether a GPU works at all: two minutes
	$(GPU_PY) -m pytest -m "gpu and smoke" $(SMOKE_ON_GPU) $(ARGS)

test-gpu: $(GPU)  ## the tests that need a GPU, and the kernel matrix on it
	$(GPU_PY) -m pytest $(ON_GPU) $(ARGS)
	$(GPU_PY) -m pytest $(MATRIX_ON_GPU) $(ARGS)

# Figures are written as they come, also where a test fails; the exit status then says so. The GPU's name
# is part of the file's name: results of several machines lie side by side. For a GPU that is there for a
# few minutes, PART="kernels-1/4 bodies" runs steps of benchmarks/gpu_session.sh, into gpu-session/.
ifdef PART
bench-gpu: $(GPU)
	PYTHON=$(GPU_PY) benchmarks/gpu_session.sh "$(or $(OUT),gpu-session)" $(PART)
else
bench-gpu: $(GPU)  ## the same tests, then kernels and bodies of files next to measured copies
	reports=$$(mktemp -d); trap 'rm -rf "$$reports"' EXIT; \
	$(GPU_PY) -m pytest -q --junitxml "$$reports/operations.xml" $(ON_GPU); \
	$(GPU_PY) -m pytest -q --junitxml "$$reports/matrix.xml" $(MATRIX_ON_GPU); \
	gpu=$$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr -cs '[:alnum:]\n' '-'); \
	results="$${OUT:-benchmarks/results}/$${gpu:-gpu}"; \
	$(GPU_PY) -m benchmarks.gpu --json "$$results.json" \
	    --reports "$$reports/operations.xml" "$$reports/matrix.xml" $(ARGS); kernels=$$?; \
	$(GPU_PY) -m benchmarks.bodies --json "$$results-bodies.json"; exit $$((kernels | $$?))
endif

docs: $(DEV)  ## the documentation site, in docs/_build/html
	$(PY) -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(DEV)  ## colkern beside its peers, in one process
	$(PY) -m benchmarks.compare $(ARGS)

bench-spark: $(DEV)  ## functions and data source in a local Spark, beside Spark's own
	$(PY) -m benchmarks.spark $(ARGS)

track: $(DEV)  ## the asv suite on this commit, the site of all commits; fails if a chosen case is 10 % slower
	$(ASV) machine --yes > /dev/null
	$(ASV) run --python=same --set-commit-hash=$$(git rev-parse HEAD) $(ARGS)
	$(ASV) publish
	@echo ".asv/html/index.html"
	$(PY) -m benchmarks.regressions .asv/results

wheel: $(DEV)  ## dist/colkern-*.whl
	$(PY) -m hatchling build -t wheel -d dist

clean:  ## removes all that make has made, the environments too
	rm -rf $(ENV) $(GPU_ENV) .venv-3.* .cache .asv .fuzz build dist docs/_build docs/api
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find . -name __pycache__ -prune -exec rm -rf {} +

# The development environment holds the demo's packages too.
$(ENV)/.made-dev: pyproject.toml uv.lock .ci/setup
	.ci/setup $(ENV) dev
	@touch $(ENV)/.made-demo $@

$(ENV)/.made-demo: pyproject.toml uv.lock .ci/setup
	.ci/setup $(ENV) demo
	@touch $@

$(GPU_ENV)/.made-cuda$(CUDA): pyproject.toml uv.lock .ci/setup
	.ci/setup $(GPU_ENV) test cuda$(CUDA)
	@touch $@
