# `make help` lists what can be made. Everything runs in .venv, which is made when it is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install train evaluate test test-slow test-all check bench bench-growth tensorboard clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(INSTALLED) ## Make .venv and install the pinned set

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "latimer needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

train: $(INSTALLED) ## Train on the embedded corpus, score it, show translations (ARGS="key=value ...")
	$(BIN)/python train.py $(ARGS)

evaluate: $(INSTALLED) ## Score a checkpoint with BLEU (ARGS="checkpoint=PATH ...")
	$(BIN)/python evaluate.py $(ARGS)

test: $(INSTALLED) ## Pass the quick tests, in under ten minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" $(ARGS)

test-slow: $(INSTALLED) ## Pass the slow tests: whole trainings
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow $(ARGS)

test-all: $(INSTALLED) ## Pass all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

check: $(INSTALLED) ## Lint, formatting, types
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(INSTALLED) ## Measure speed and memory beside other toolkits (ARGS="--size small ...")
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks run $(ARGS)

bench-growth: $(INSTALLED) ## Measure how time and memory grow with the sizes (ARGS="--plots FOLDER ...")
	$(BIN)/python -m benchmarks growth $(ARGS)

tensorboard: $(INSTALLED) ## Show all runs in TensorBoard
	$(BIN)/tensorboard --logdir runs

clean: ## Remove .venv and all caches; runs and data stay
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache
