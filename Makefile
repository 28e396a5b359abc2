PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.DELETE_ON_ERROR:
# Each of the many processes that the tests start would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo test kill-all check lint rules types clean

help:    ## what there is to make
	@sed -n 's/^\([a-z-]*\): .*##/  make \1\t/p' $(MAKEFILE_LIST)

demo: $(VENV)/.runs    ## the reference investigation, offline, in a fresh environment
	$(BIN)/offing demo

test: $(VENV)/.tests    ## the tests, side by side on up to four cores, with branch coverage
	BFCL=$(VENV)/bfcl $(BIN)/pytest --cov -n auto --maxprocesses 4 --dist worksteal --inline-snapshot disable

kill-all: $(VENV)/.tests    ## every kill point of the scenario and of the demo, on SQLite and PostgreSQL
	$(BIN)/python tests/kill_all.py

check: lint rules types    ## all that holds without running anything; each also by itself

lint: $(VENV)/.tests    ## format and idiom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

rules: $(VENV)/.tests    ## layers, one place where state changes, folders
	$(BIN)/lint-imports
	$(BIN)/python tests/checks/record_only.py
	$(BIN)/python tests/checks/rooms.py

types: $(VENV)/.tests    ## both type checkers
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/mypy

clean:    ## removes the environment and what building and checking leave
	rm -rf .venv build dist *.egg-info .coverage* .*_cache .hypothesis

# One environment, in two steps: what a user installs, then the dev extra on top. Both are made anew
# when a pin or a dependency has changed. setuptools goes first and the build is not isolated, so
# that its release too is the one in constraints.txt. The public tool sets of tests/test_bfcl.py stand
# apart: they require thirty packages that the tests have no use for.
$(VENV)/.runs: pyproject.toml constraints.txt
	@test ! -e $(VENV) -o -e $(VENV)/pyvenv.cfg || { echo "$(VENV) is no environment"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) setuptools
	$(PIP) --no-build-isolation -e .
	@touch $@

$(VENV)/.tests: $(VENV)/.runs
	$(PIP) --no-build-isolation -e '.[dev]'
	$(PIP) --no-deps --target $(VENV)/bfcl bfcl-eval
	@touch $@
