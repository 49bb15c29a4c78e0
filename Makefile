# Two commands for a newcomer: `make run` and `make test`. Each installs what it lacks.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PORT ?= 8501

.DEFAULT_GOAL := help
.PHONY: help install run test lint types tests browser reproduce bench clean

help: ## What can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /	/' | expand -t 12

install: $(INSTALLED) ## Make .venv and install the exact versions

# Bytecode is compiled at install: without it TensorFlow takes three times as long to import.
$(INSTALLED): requirements.txt requirements-dev.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is needed (set PYTHON=... to name it)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --compile -r requirements-dev.txt
	@touch $@

run: $(INSTALLED) ## Start the dashboard (PORT=8501)
	$(BIN)/python -m streamlit run app.py --server.port $(PORT)

test: lint types tests ## Lint, types and tests

lint: $(INSTALLED) ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED) ## Types of the core
	$(BIN)/mypy

# The browser has the machine to itself, and may try again what it was too slow for: a page that
# is late on two busy cores is no defect, one that is late three times is.
tests: $(INSTALLED) ## Tests only
	$(BIN)/python -m pytest -n 2 --ignore tests/browser
	$(BIN)/python -m pytest tests/browser --reruns 2

# Debian's package; as root or with sudo. Any Chromium or Chrome that is there already will do.
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
browser: ## Install Chromium for the tests in tests/browser, if there is none
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then \
		echo "make: that browser will do"; \
	elif command -v apt-get >/dev/null; then \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-liberation; \
	else \
		echo "make: no apt-get here. Install Chromium or Chrome as your system does it, so that"; \
		echo "      chromium, chromium-browser or google-chrome is on the PATH."; exit 1; \
	fi

reproduce: $(INSTALLED) ## Write docs/reproduction.md from the shipped scores
	$(BIN)/python -m fairfl_core reproduce --out docs/reproduction.md

bench: $(INSTALLED) ## Every benchmark, one after the other
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean: ## Remove what was installed and cached
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
