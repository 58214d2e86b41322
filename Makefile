# Two commands for a new machine: `make demo` and `make test`. Each sets up .venv when it is missing.
PYTHON ?= python3
BIN := .venv/bin

OLDEST := .venv-oldest/bin
SAMPLERS := .venv-samplers/bin
LINT := $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

.PHONY: demo test test-fast test-evidence test-oldest test-browser test-site test-samplers lint docs wheels mutate bench bench-large validate clean

demo: .venv/installed
	$(BIN)/unselected demo --force
	@echo
	@echo "The command unselected is in $(BIN). So that the shell finds it: . $(BIN)/activate"

# Tests run side by side; threads of one product of matrices would only wait for each other.
test test-fast test-evidence test-oldest test-site test-samplers: export OPENBLAS_NUM_THREADS = 1
# Every worker, and every command that a test starts, would compile all modules again.
test test-fast test-evidence test-oldest test-site test-samplers: export PYTHONDONTWRITEBYTECODE =

# Types are checked beside the first tests. scikit-learn skips its check of array libraries unless
# scipy is told to expect them.
test: .venv/installed-dev
	($(LINT)) & lint=$$!; \
		$(BIN)/python -m pytest -n auto --dist worksteal -m "not evidence"; tests=$$?; \
		wait $$lint && exit $$tests
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest tests/estimators/test_sklearn_checks.py -k array_api

# Statistical claims over many replicates, each with a wrong twin that must fail.
test-evidence: .venv/installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m evidence

# Without the mark `slow`: many draws or replicates, many fits, or a cluster of workers.
test-fast: .venv/installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

# The lowest versions that pyproject.toml declares; also without the mark `slow`.
test-oldest: .venv-oldest/installed
	$(OLDEST)/python -m pytest -n auto --dist worksteal -m "not slow"

# Report and calculator in a real browser: Debian's chromium, driven by playwright; skips where there
# is none.
test-browser: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --group browser
	$(BIN)/python -m pytest -o addopts="-ra --import-mode=importlib" tests/report/browser \
		tests/calculator/browser

# The adapters to NumPyro and PyMC, with these libraries, in an environment of their own.
test-samplers: .venv-samplers/installed
	$(SAMPLERS)/python -m pytest -n auto --dist worksteal -W default -o filterwarnings= \
		-o addopts="-ra --import-mode=importlib" tests/samplers

lint: .venv/installed-dev
	$(LINT)

# The site, in docs/_build/html: nothing is fetched, warnings are errors.
docs: .venv/installed-docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html"

# The commands that a page of the site shows, and what they print.
test-site: .venv/installed-dev
	$(BIN)/python -m pytest -o addopts="-ra --import-mode=importlib" tests/site

# The wheel, installed and checked on every Python from 3.11 to 3.14 that can be had.
wheels: .venv/installed
	$(BIN)/python validation/wheels.py

# Small changes to selection, events and omission probabilities, each of which a test must notice.
mutate: .venv/installed-dev
	$(BIN)/python validation/mutation.py

bench: .venv/installed-dev
	$(BIN)/python benchmarks/run.py

# Some gigabytes in a temporary folder, some minutes.
bench-large: .venv/installed-dev
	$(BIN)/python benchmarks/large.py

validate: .venv/installed-dev test-evidence
	$(BIN)/python validation/evidence.py
	$(BIN)/python validation/dependence.py
	$(BIN)/python validation/classifier.py
	$(BIN)/python validation/regressor.py
	$(BIN)/python validation/effects.py
	$(BIN)/python validation/covariates.py
	$(BIN)/python validation/binary_covariates.py
	$(BIN)/python validation/genotypes.py
	$(BIN)/python validation/latent.py
	$(BIN)/python validation/latent_factor.py
	$(BIN)/python validation/audit.py

clean:
	rm -rf docs/_build docs/gallery docs/api/generated docs/api/backreferences
	rm -rf .venv .venv-oldest .venv-samplers .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli,plots]"
	touch $@

.venv/installed-dev: .venv/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

.venv/installed-docs: .venv/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group docs
	touch $@

# Requirements of requirements are the newest; matplotlib 3.9 was written before pyparsing 3.3,
# which warns of it.
.venv-oldest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -m pip install --quiet uv
	$(OLDEST)/uv pip install --quiet --python $(OLDEST)/python --resolution lowest-direct \
		--editable ".[all]" --group test "pyparsing>=3.1,<3.3"
	touch $@

.venv-samplers/installed: pyproject.toml
	$(PYTHON) -m venv .venv-samplers
	$(SAMPLERS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(SAMPLERS)/python -m pip install --quiet --editable ".[numpyro,pymc]" --group samplers
	touch $@
