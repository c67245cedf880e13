# Two commands from nothing: `make demo` and `make test`. Everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet
WORKERS ?= 2

.PHONY: demo test test-generic test-fast lint docs bench fuzz audit wheel clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev]'
	touch $@

demo: $(VENV)/.core  ## install and run the main job; ends by saying where the report and the pictures are
	$(BIN)/dalembert demo --out demo

test: $(VENV)/.dev  ## the whole suite, and the kernel tests once more without the compiler
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) -m nojit

test-generic: $(VENV)/.dev  ## the suite compiled for a processor without vector extensions: numbers must not depend on them
	NUMBA_CPU_NAME=generic $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-fast: $(VENV)/.dev  ## without the slow tests
	$(BIN)/python -m pytest -n $(WORKERS) -m 'not slow'

lint: $(VENV)/.dev  ## style, layers, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

docs: $(VENV)/.dev  ## HTML in docs/_build
	$(BIN)/sphinx-build -W -q -b html docs docs/_build
	@echo "docs/_build/index.html"

bench: $(VENV)/.dev  ## against peers, one thread; takes minutes and wants an idle machine
	$(BIN)/python benchmarks/cold_start.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/per_call.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/after_a_run.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/rigid_body.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/trees.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/variational_trees.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/linear_algebra.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/complementarity.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/lagrangians.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/contact_machines.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/contacts.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/collision.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/control.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/derivatives.py
	$(BIN)/python benchmarks/ensembles.py
	$(BIN)/python benchmarks/viewer.py --minutes 1

fuzz: $(VENV)/.dev  ## a million hostile calls of public functions
	$(BIN)/python -m tests.robustness.fuzzing 1000000

audit: $(VENV)/bin/python  ## known weaknesses of the pinned dependencies
	$(PIP) pip-audit
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip

wheel: $(VENV)/.dev  ## a release in dist/, with kernels optimised ahead for x86-64-v3
	rm -rf src/dalembert/kernels/stored
	$(BIN)/python -m dalembert.kernels._stored $(CURDIR)/src/dalembert/kernels/stored
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	rm -rf src/dalembert/kernels/stored
	@ls dist/*.whl

clean:
	rm -rf $(VENV) demo docs/_build docs/_generated
