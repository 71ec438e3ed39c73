# Works with GNU make 3.81 (macOS) and newer. `make` alone lists the targets.

PYTHON ?= python3
ARGS ?=

ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

# Programs are started as `python -m ...`: that works wherever .venv lies, in any shell.
PY := $(BIN)/python
SETUP := $(PYTHON) packaging/make_venv.py

# The targets share .venv, so two of them must not set it up at the same time.
.NOTPARALLEL:
.PHONY: help run test coverage snapshots demo lint format bench pocket clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile
	@echo
	@echo '  ARGS="..."        more arguments for the program that the target starts'
	@echo '  PYTHON=python3.12 the Python to make .venv with'
	@echo '  CMAKE_ARGS="..."  how to build llama.cpp, such as -DGGML_CUDA=on'

run: ## set .venv up and start gemma-local: ARGS="--model FILE"
	@$(SETUP)
	@$(BIN)/gemma-local $(ARGS)

test: ## set .venv up and run the tests, on all CPUs
	@$(SETUP) test
	$(PY) -m pytest -n auto --dist worksteal $(ARGS)

# Whether the tests pass is for `make test` to say: measured, all takes twice as long.
coverage: ## say which branches no test takes, and fail below the floor
	@$(SETUP) coverage test
	-$(PY) -m pytest -q -n auto --dist worksteal --ignore tests/packaging --cov --cov-report= $(ARGS)
	$(PY) -m coverage report --show-missing --skip-covered

snapshots: ## compare pictures of all screens with the last ones; UPDATE=1 draws them anew
	@$(SETUP) test
	$(PY) -m pytest tests/snapshots/test_snapshots.py $(ARGS)

demo: ## fetch a small model (94 MiB) and ask it a question
	@$(SETUP)
	@model=$$($(PY) packaging/demo.py) && \
	$(BIN)/gemma-local --model "$$model" -p "What is gravity?" --stats $(ARGS)

lint: ## check style, types, which module imports which, and what is left over
	@$(SETUP) lint test
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) packaging/typecheck.py
	PYTHONPATH=.venv/typing $(BIN)/lint-imports
	$(PY) packaging/leftovers.py

format: ## put the sources into the form that lint wants
	@$(SETUP) lint test
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

bench: ## measure a pair with and without drafting: ARGS="--model FILE"
	@$(SETUP)
	@$(BIN)/gemma-local bench $(ARGS)

pocket: ## train the pocket pair anew (hours): ARGS="--size smoke" tries it in a minute
	@$(SETUP) pocket
	$(PY) -m gemma_local.models.pocket.train.make .pocket $(ARGS)

clean: ## remove what builds and checks leave behind; .venv stays
	rm -rf build dist gemma_local.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -f .coverage .coverage.*
	find app engine models packaging tests -type d -name __pycache__ -prune -exec rm -rf {} +
