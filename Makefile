# make plan   create an environment, install, and plan the bundled case
# make test   the same, then lint, types, documentation and tests
# make docs   the documentation, into build/docs
# make validate  25 runs of both engines against dynamic programming, with a t-test

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: plan test lint types docs tests validate clean

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
	$(BIN)/python -m pytest -n auto --dist loadfile

validate: $(VENV)/installed
	$(BIN)/reservoir validate --runs 25

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/developing: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
