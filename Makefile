# Two commands for a new machine: `make demo` and `make test`. Each sets up .venv when it is missing.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-browser lint bench bench-large validate clean

demo: .venv/installed
	$(BIN)/unselected demo

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

# The report in a real browser: Debian's chromium, driven by playwright; skips where there is none.
test-browser: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --group browser
	$(BIN)/python -m pytest -o addopts="-ra --import-mode=importlib" tests/browser

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed-dev
	$(BIN)/python benchmarks/run.py

# Some gigabytes in a temporary folder, some minutes.
bench-large: .venv/installed-dev
	$(BIN)/python benchmarks/large.py

validate: .venv/installed-dev
	$(BIN)/python validation/evidence.py
	$(BIN)/python validation/dependence.py
	$(BIN)/python validation/latent.py
	$(BIN)/python validation/latent_factor.py

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	touch $@

.venv/installed-dev: .venv/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@
