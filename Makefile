# make demo · make test · make bench · make docs · make breast-cancer · make clean
# Each target builds .venv when it is missing or older than pyproject.toml; all it needs is Python >= 3.11.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.stamp

.PHONY: demo test bench docs breast-cancer clean

demo: $(STAMP)
	$(BIN)/spectralcit demo --out demo.png

# Two workers halve the time on two cores. Workers are fresh processes, not forks, so JAX is safe in them; one
# BLAS thread per worker keeps them from competing.
test: $(VENV)/.stamp-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2

bench: $(VENV)/.stamp-bench
	@set -e; for script in benchmarks/*_speed.py; do echo "== $$script"; $(BIN)/python "$$script"; done

docs: $(VENV)/.stamp-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'The documentation is in $(CURDIR)/site/index.html: open it in a browser, no server needed.'

# The study of real patients, from a fresh clone to its page.
breast-cancer: $(VENV)/.stamp-study
	$(BIN)/spectralcit reproduce breast-cancer

clean:
	rm -rf $(VENV) build dist site demo.png .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report]'
	touch $@

# The hosts of the adapters and other large packages: needed by the tests, not by users.
$(VENV)/.stamp-dev: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/.stamp-bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

$(VENV)/.stamp-study: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[study]'
	touch $@

$(VENV)/.stamp-docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@
