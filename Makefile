# Every target sets up its own virtual environment when it is missing; nothing else needs to be installed
# but python3.11 or newer and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready

.DEFAULT_GOAL := help
.PHONY: help demo test check bench fuzz reports notebooks data clean lint types imports

help:
	@echo "make demo       score the sample corpus and write out/demo/report.html"
	@echo "make test       install everything and run the tests"
	@echo "make check      the gate: format, lint, types, imports, tests, notebooks"
	@echo "make bench      speed, as ratios against peers, in one run"
	@echo "make fuzz       100,000 random inputs per scorer"
	@echo "make reports    run the Jupyter notebooks and write reports/ anew"
	@echo "make data       write data/ anew from its seed"
	@echo "make clean      remove the virtual environment and everything generated"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dojo_kit needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(READY): $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing dojo_kit (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	@touch $@

$(DEV_READY): $(READY)
	@echo "installing what the tests need (about two minutes the first time)"
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[lab,excel]' --group dev
	@touch $@

demo: $(READY)
	$(BIN)/dojo demo --out out/demo

test: $(DEV_READY)
	$(BIN)/python -m pytest -q

check: $(DEV_READY) lint types imports test notebooks

lint: $(DEV_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEV_READY)
	$(BIN)/mypy

imports: $(DEV_READY)
	$(BIN)/lint-imports --config pyproject.toml

notebooks: $(DEV_READY)
	$(BIN)/marimo check --strict notebooks/*.py
	$(BIN)/python -m pytest -q -o addopts= --nbval --nbval-current-env --nbval-sanitize-with tests/nbval.cfg \
	  --nbval-cell-timeout=120 notebooks/*.ipynb

fuzz: $(DEV_READY)
	$(BIN)/python -m tests.fuzz

bench: $(DEV_READY)
	@$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m tests.bench

data: $(READY)
	$(BIN)/python -m dojo_kit.samples data

reports: $(DEV_READY)
	$(BIN)/python -m tests.notebooks.refresh
	$(BIN)/python -m dojo_kit.cli.published reports

clean:
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
