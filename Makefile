# `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-stamp
PEERS := .venv-peers
# An arena is many processes, and its tests are many more: none is to compile the program anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup up test test-long test-extras cover check catalogues fmt perft simulate drill cluster upgrade far load streams crowd endure playthroughs bench bench-peers scale clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## make .venv with everything in it

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; '$(PYTHON)' is older. Try: make PYTHON=python3.12 setup"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "'$(PYTHON)' has no venv module. On Debian: apt install python3-venv"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if command -v uv >/dev/null 2>&1; \
	  then uv pip install --quiet --python $(BIN)/python -e '.[test,dev]'; \
	  else $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,dev]'; fi
	@touch $@

up: setup  ## set up and run the arena on http://127.0.0.1:8000
	@$(BIN)/arena up

test: setup  ## set up and run the tests, but for long ones
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

test-long: setup  ## whole arenas that are killed, crawls over all, many games: what takes long
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "long and not extras" $(ARGS)

test-extras: setup  ## test what extras bring, where they are installed, and that benchmarks run
	@$(BIN)/python -m pytest -n auto --dist worksteal -m extras $(ARGS)

cover: setup  ## both once more, with the lines that they reach counted (takes half as long again)
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not deep and not extras" --cov --cov-report=term:skip-covered $(ARGS)

check: setup  ## lint, types, layers, languages, dependency audit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/catalogue --check
	$(BIN)/pip-audit --skip-editable --progress-spinner off

catalogues: setup  ## bring the catalogues of languages up to what the program says
	@$(BIN)/python .ci/catalogue

fmt: setup  ## format and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

perft: setup  ## count move trees deeply, every game (minutes)
	$(BIN)/python -m pytest -n auto -m deep tests/engine

simulate: setup  ## thousands of random schedules of an arena in which everything goes wrong
	SCHEDULES=2000 $(BIN)/python -m pytest -n auto --timeout 3600 -m "not deep" tests/arena/test_simulator.py

drill: setup  ## a tournament through every failure, for DRILL_SECONDS by the plan of DRILL_SEED
	$(BIN)/python -m tests.drills.drill

cluster: setup  ## the same over five hosts whose links are cut; needs root and iproute2
	$(BIN)/python -m tests.drills.cluster

upgrade: setup  ## an arena is changed from the last release to this one while it plays (minutes)
	$(BIN)/python -m tests.drills.upgrade

far: setup  ## a bot at home behind bad networks, made by tc; needs root and iproute2
	$(BIN)/python -m tests.drills.far_away

load: setup  ## many people browse and submit while matches are played, for LOAD_SECONDS
	$(BIN)/python -m tests.drills.load

streams: setup  ## thousands watch matches under way, and processes are killed meanwhile
	$(BIN)/python -m tests.drills.streams

crowd: setup  ## many people change everything at random for CROWD_SECONDS, and then all must be whole
	$(BIN)/python -m tests.drills.crowd

endure: setup  ## a ladder of 500 games on one machine, with a kill now and then (minutes)
	$(BIN)/python -m pytest -m deep tests/arena

playthroughs: setup  ## write the recorded playthroughs of every game anew
	$(BIN)/python -m tests.engine.games.playthroughs

bench: setup  ## measure, and print tables
	$(BIN)/python -m tests.benchmarks

bench-peers: setup  ## the same beside other programs, installed into a place of their own
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,pettingzoo]' \
	  chess open-spiel openskill pygame
	$(PEERS)/bin/python -m tests.benchmarks games ratings referee zoo

scale: setup  ## what thousands of workers, bots and ladders and millions of games cost; SCALE=full takes hours
	$(BIN)/python -m tests.scale $(ARGS)

clean:  ## remove what the targets made
	rm -rf $(VENV) $(PEERS) var .pytest_cache .mypy_cache .ruff_cache .hypothesis
