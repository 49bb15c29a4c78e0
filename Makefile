# Two commands for a newcomer: `make run` and `make test`. Each installs what it lacks.
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
INSTALLED := $(VENV)/.installed
PORT ?= 8501

# Any Python from 3.11 to 3.14 will do; a name on the PATH is tried out, for it may lead nowhere.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$name -c '$(FITS)' 2>/dev/null && { echo $$name; break; }; done)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --compile
# Kept, wherever the surroundings say otherwise: tests start a hundred processes of ours.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install run serve test test-oldest test-newest browser docs pictures federation \
	federation-faults wheel release-check

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /	/' | expand -t 19

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 to 3.14 is needed (name it: make PYTHON=...)"; exit 1; }
	@$(PYTHON) -c '$(FITS)' || { echo "make: $(PYTHON) is not Python 3.11 to 3.14"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Running needs no TensorFlow and no test tools: 1.1 GB instead of 2.7.
$(RUNS): pyproject.toml requirements.txt | $(BIN)/python
	$(BIN)/python $(PIP_INSTALL) -c requirements.txt -e '.[app,report,privacy]'
	@touch $@

# Bytecode is compiled at install: without it TensorFlow takes three times as long to import. So is
# that of the tests, which are imported here, or else three workers would each do it at once.
$(INSTALLED): pyproject.toml requirements.txt requirements-dev.txt | $(BIN)/python
	$(BIN)/python $(PIP_INSTALL) -r requirements.txt -r requirements-dev.txt -e .
	-@$(BIN)/python -m pytest -q --collect-only > /dev/null
	@touch $(RUNS) $@

run: $(RUNS) ## Start the dashboard (PORT=8501)
	$(BIN)/fairfl app --port $(PORT)

# Three at a time on two cores: some wait for browsers and servers while others work. Each begins with
# its own third of the tests and takes from the others' when it is done.
# Types take one core for half a minute in which many tests wait.
test: $(INSTALLED) ## Style, types and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy & $(BIN)/python -m pytest -n 3 --dist worksteal; \
		tests=$$?; wait $$! && exit $$tests

install: $(INSTALLED) ## Make .venv with everything: training, federation, tests, tools

serve: $(RUNS) ## Serve the dashboard to a class: two replicas behind nginx (PORT=8501 ADDRESS=127.0.0.1)
	PATH="$(CURDIR)/$(BIN):$$PATH" PORT=$(PORT) ADDRESS=$(or $(ADDRESS),127.0.0.1) deploy/replicas.sh

# Debian's packages; as root or with sudo. Any Chromium or Chrome that is there already will do.
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
browser: ## Install what tests need beside Python, if it is missing: Chromium and nginx
	@missing=""; \
	command -v chromium || command -v chromium-browser || command -v google-chrome || missing="chromium fonts-liberation"; \
	PATH="$$PATH:/usr/sbin" command -v nginx || missing="$$missing nginx-light"; \
	test -z "$$missing" || { command -v apt-get >/dev/null && $(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing; } || { \
		echo "make: install$$missing as your system does it; tests that need it are skipped without."; exit 1; }

# The core's and the pages' tests in an environment of their own: without TensorFlow, Flower and browser.
OTHER_TESTS := $(filter-out tests/browser tests/training tests/federation tests/research tests/package tests/deploy tests/__%, \
	$(patsubst %/,%,$(wildcard tests/*/)))
TEST_TOOLS = $(shell grep -E '^(adbc-driver-sqlite|fairlearn|hypothesis|pypdf|pytest|pyyaml)' requirements-dev.txt)
define test_with
	test -x .venvs/$(1)/bin/uv || { $(BIN)/python -m venv .venvs/$(1) && .venvs/$(1)/bin/python $(PIP_INSTALL) uv; }
	.venvs/$(1)/bin/uv pip install --quiet --python .venvs/$(1)/bin/python --upgrade \
		--resolution $(2) -e '.[app,report,privacy]'
	.venvs/$(1)/bin/uv pip install --quiet --python .venvs/$(1)/bin/python $(TEST_TOOLS)
	.venvs/$(1)/bin/python -m pytest -q -n 2 --dist worksteal $(OTHER_TESTS)
endef

test-oldest: | $(BIN)/python ## Core and pages with the oldest versions that pyproject.toml allows
	$(call test_with,oldest,lowest-direct)

test-newest: | $(BIN)/python ## Core and pages with the newest versions that pyproject.toml allows
	$(call test_with,newest,highest)

federation: $(INSTALLED) ## Show that two nodes of a real federation agree with one place
	$(BIN)/fairfl federation demo

federation-faults: $(INSTALLED) ## Kill nodes of a real federation in mid-run, and see it end well
	$(BIN)/python -m pytest -m faults -p no:xdist tests/federation

pictures: $(INSTALLED) ## Take the README's pictures from the running dashboard
	$(BIN)/python docs/make_pictures.py

# An environment of its own: the site's tools are nobody else's matter.
docs: | $(BIN)/python ## Build the documentation into site/
	test -x .venvs/docs/bin/mkdocs || { $(BIN)/python -m venv .venvs/docs && \
		.venvs/docs/bin/python $(PIP_INSTALL) mkdocs-material==9.8.1 "mkdocstrings[python]==1.0.8"; }
	.venvs/docs/bin/mkdocs build --strict --quiet

wheel: | $(BIN)/python ## Build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

release-check: $(INSTALLED) ## Build, twine check, the wheel in an empty environment on every Python here
	test -x .venvs/release/bin/twine || { $(BIN)/python -m venv .venvs/release && \
		.venvs/release/bin/python $(PIP_INSTALL) build twine; }
	rm -rf dist
	.venvs/release/bin/python -m build --outdir dist .
	.venvs/release/bin/twine check --strict dist/*
	@failed=""; for version in 3.11 3.12 3.13 3.14; do \
		for name in python$$version $$HOME/.pyenv/versions/$$version.*/bin/python; do \
			$$name -c '$(FITS)' 2>/dev/null || continue; \
			echo "== Python $$version: $$name"; \
			FAIRFL_PYTHON=$$name $(BIN)/python -m pytest -q -m install tests/package || failed="$$failed $$version"; \
			continue 2; \
		done; \
		echo "== Python $$version: not here"; \
	done; test -z "$$failed" || { echo "make: the wheel fails on Python$$failed"; exit 1; }
