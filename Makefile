PYTHON ?= python3
VENV ?= .venv
PHOENIX ?= .phoenix
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.DELETE_ON_ERROR:
# Each of the many processes that the tests start would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo test kill-all check lint rules types phoenix viewer clean

help:    ## what there is to make
	@sed -n 's/^\([a-z-]*\): .*##/  make \1\t/p' $(MAKEFILE_LIST)

demo: $(VENV)/.runs    ## the reference investigation, offline, in a fresh environment
	$(BIN)/offing demo

test: $(VENV)/.tests    ## the tests, side by side on up to four cores, with branch coverage
	BFCL=$(VENV)/bfcl PHOENIX=$(PHOENIX) $(BIN)/pytest --cov -n auto --maxprocesses 4 --dist worksteal --inline-snapshot disable

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

phoenix: $(PHOENIX)/.built $(VENV)/.tests    ## Phoenix, in an environment of its own, started once: the tests ask it
	PHOENIX=$(PHOENIX) $(BIN)/python tests/phoenix_server.py

viewer: $(PHOENIX)/.built    ## Phoenix on 127.0.0.1:6006, to look at traces (docs/tracing.md)
	PHOENIX_HOST=127.0.0.1 PHOENIX_PORT=6006 PHOENIX_GRPC_PORT=4317 PHOENIX_WORKING_DIR=$(abspath $(PHOENIX))/data \
	PHOENIX_TELEMETRY_ENABLED=false PHOENIX_ALLOW_EXTERNAL_RESOURCES=false $(PHOENIX)/bin/phoenix serve

clean:    ## removes the environment and what building and checking leave
	rm -rf .venv .phoenix build dist *.egg-info .coverage* .*_cache .hypothesis

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

# Phoenix (Elastic-2.0) is for looking and for tests: 143 packages and 850 MB, never a dependency.
$(PHOENIX)/.built:
	@test ! -e $(PHOENIX) -o -e $(PHOENIX)/pyvenv.cfg || { echo "$(PHOENIX) is no environment"; exit 1; }
	$(PYTHON) -m venv --clear $(PHOENIX)
	$(PHOENIX)/bin/python -m pip --disable-pip-version-check install --quiet arize-phoenix==20.26.1
	@touch $@
