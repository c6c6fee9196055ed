.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
TORCH := .venv-torch
BIN := $(VENV)/bin
pip = $(1)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PIP := $(call pip,$(VENV))
SPREAD := -n auto --maxprocesses 8 --dist worksteal

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

# PyTorch in a venv of its own, so that all else is tested as the core is installed: without it.
$(TORCH)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(TORCH)
	$(call pip,$(TORCH)) --upgrade 'pip>=25.1'
	$(call pip,$(TORCH)) -e '.[neural]' --group test-torch
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.core
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) -e '.[arrow]' --group test --group lint --group docs
	@touch $@

install: $(VENV)/.core  ## Install the core into .venv

demo: $(VENV)/.core  ## Install, then run an honest benchmark on the bundled data
	$(BIN)/fullrank demo

test: $(VENV)/.dev  ## Install everything, run all tests
	$(BIN)/python -m pytest $(SPREAD)

test-torch: $(TORCH)/.ready  ## Install PyTorch into .venv-torch, run the tests that need it
	OMP_NUM_THREADS=1 $(TORCH)/bin/python -m pytest $(SPREAD) tests/rank/test_*backend*.py tests/models/neural tests/advise/test_gin.py tests/advise/test_samples.py tests/advise/test_networks.py

check: $(VENV)/.dev  ## Format, lint, types, layers, public API
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_public_api.py

docs: $(VENV)/.dev  ## Build the documentation into site/
	$(BIN)/python docs/build.py site

bench: $(VENV)/.dev  ## Print the benchmark table
	$(BIN)/python -m benchmarks

.PHONY: help install demo test test-torch check docs bench
