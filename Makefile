# Two commands for a newcomer: `make run` and `make test`. Each installs what it lacks.
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
INSTALLED := $(VENV)/.installed
PORT ?= 8501

# Any Python from 3.11 to 3.13 will do; a name on the PATH is tried out, for it may lead nowhere.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
	$$name -c '$(FITS)' 2>/dev/null && { echo $$name; break; }; done)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --compile
# Kept, wherever the surroundings say otherwise: tests start a hundred processes of ours.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install run serve test lint types tests test-pythons wheel wheel-check audit browser nginx chaos reproduce holding federation federation-faults bench clean docs pictures

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /	/' | expand -t 14

install: $(INSTALLED) ## Make .venv with everything: training, tests, tools

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11, 3.12 or 3.13 is needed (name it: make PYTHON=...)"; exit 1; }
	@$(PYTHON) -c '$(FITS)' || { echo "make: $(PYTHON) is not Python 3.11, 3.12 or 3.13"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Running needs no TensorFlow and no test tools: 1.1 GB instead of 2.7.
$(RUNS): pyproject.toml requirements.txt | $(BIN)/python
	$(BIN)/python $(PIP_INSTALL) -c requirements.txt -e '.[app,report,privacy]'
	@touch $@

# Bytecode is compiled at install: without it TensorFlow takes three times as long to import. So is
# that of the tests, which are imported here, or else four workers would each do it at once.
$(INSTALLED): pyproject.toml requirements.txt requirements-dev.txt | $(BIN)/python
	$(BIN)/python $(PIP_INSTALL) -r requirements.txt -r requirements-dev.txt -e .
	-@$(BIN)/python -m pytest -q --collect-only > /dev/null
	@touch $(RUNS) $@

run: $(RUNS) ## Start the dashboard (PORT=8501)
	$(BIN)/fairfl app --port $(PORT)

serve: $(RUNS) ## Serve the dashboard to a class: two replicas behind nginx (PORT=8501 ADDRESS=127.0.0.1)
	PATH="$(CURDIR)/$(BIN):$$PATH" PORT=$(PORT) ADDRESS=$(or $(ADDRESS),127.0.0.1) deploy/replicas.sh

# At once: types take one core for half a minute in which many tests wait.
test: $(INSTALLED) ## Lint, types and tests
	@$(MAKE) --no-print-directory -j 3 lint types tests

lint: $(INSTALLED) ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(INSTALLED) ## Types
	$(BIN)/mypy

# Four at a time on two cores: two wait for browsers and servers while two work. A file stays
# together, for its tests share what they have prepared; tests/helpers/lanes.py says who runs what.
tests: $(INSTALLED) ## Tests only
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

# The core alone, without TensorFlow and browser, on each Python of this machine.
CORE_TESTS := $(filter-out tests/browser tests/training tests/federation tests/pages tests/package tests/__%, \
	$(patsubst %/,%,$(wildcard tests/*/)))
test-pythons: ## Tests of the core on every Python from 3.11 to 3.13 that is here
	@failed=""; for version in 3.11 3.12 3.13; do \
		for name in python$$version $$HOME/.pyenv/versions/$$version.*/bin/python; do \
			$$name -c '$(FITS)' 2>/dev/null || continue; \
			echo "== Python $$version: $$name"; \
			test -x .venvs/$$version/bin/python || $$name -m venv .venvs/$$version || exit 1; \
			.venvs/$$version/bin/python $(PIP_INSTALL) -c requirements.txt -r requirements-dev.txt -e . || exit 1; \
			.venvs/$$version/bin/python -m pytest -q -n 2 $(CORE_TESTS) || failed="$$failed $$version"; \
			continue 2; \
		done; \
		echo "== Python $$version: not here"; \
	done; test -z "$$failed" || { echo "make: the core's tests fail on Python$$failed"; exit 1; }

# An environment of its own: the site's tools are nobody else's matter.
docs: | $(BIN)/python ## Build the documentation into site/
	test -x .venvs/docs/bin/mkdocs || { $(BIN)/python -m venv .venvs/docs && \
		.venvs/docs/bin/python $(PIP_INSTALL) mkdocs-material==9.8.1 "mkdocstrings[python]==1.0.8"; }
	.venvs/docs/bin/mkdocs build --strict

pictures: $(INSTALLED) ## Take README's pictures from the running dashboard, into docs/pictures
	$(BIN)/python docs/make_pictures.py

chaos: $(INSTALLED) ## Make trouble on purpose: kills, full disks, 10,000 spoilt files a reader
	$(BIN)/python -m tests.chaos --out docs/reliability.md

wheel: $(INSTALLED) ## Build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

wheel-check: $(INSTALLED) ## Build the wheel, install it into an empty environment, open the app
	$(BIN)/python -m pytest -m "install or not install" tests/package

# Asks the network for known holes in the pinned versions; its own environment, so that it judges only them.
audit: | $(BIN)/python ## Look up the pinned versions among known vulnerabilities
	test -x .venvs/audit/bin/pip-audit || { $(BIN)/python -m venv .venvs/audit && \
		.venvs/audit/bin/python $(PIP_INSTALL) pip-audit; }
	@.venvs/audit/bin/pip-audit --strict -r requirements.txt -r requirements-dev.txt || { \
		echo "make: a version above has a known hole, or could not be judged: what is known of a version stands at"; \
		echo "      pypi.org/pypi/NAME/VERSION/json, which a mirror of packages may not have. Nothing was found safe."; \
		exit 1; }

# Debian's packages; as root or with sudo. Any Chromium or Chrome that is there already will do.
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
APT_INSTALL := $(SUDO) apt-get update -qq && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends
browser: nginx ## Install what tests need beside Python, if it is missing: Chromium and nginx
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then \
		echo "make: that browser will do"; \
	elif command -v apt-get >/dev/null; then \
		$(APT_INSTALL) chromium fonts-liberation; \
	else \
		echo "make: no apt-get here. Install Chromium or Chrome as your system does it, so that"; \
		echo "      chromium, chromium-browser or google-chrome is on the PATH."; exit 1; \
	fi

nginx: ## Install nginx for `make serve` and its tests, if there is none
	@if PATH="$$PATH:/usr/sbin" command -v nginx; then \
		echo "make: that nginx will do"; \
	elif command -v apt-get >/dev/null; then \
		$(APT_INSTALL) nginx-light; \
	else \
		echo "make: no apt-get here, and no nginx: tests of deploy/ will be skipped."; \
	fi

reproduce: $(RUNS) ## Write docs/reproduction.md from the shipped scores
	$(BIN)/python -m research reproduce --out docs/reproduction.md

holding: $(RUNS) ## Write docs/holding.md: whether limits hold on unseen people
	$(BIN)/python -m research holding --out docs/holding.md

EXAMPLE ?= adult
federation: $(INSTALLED) ## A federation of three on this machine, beside the same in one place (EXAMPLE=adult)
	@$(BIN)/fairfl federation demo --example $(EXAMPLE)

federation-faults: $(INSTALLED) ## Kill real nodes of a real federation in mid-round, before the statistics and after
	$(BIN)/python -m pytest -m faults -p no:xdist tests/training/flower

bench: $(INSTALLED) ## Every benchmark, one after the other
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean: ## Remove what was installed, built and cached
	rm -rf $(VENV) .venvs dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
