# make run: open the app. make test: everything that CI runs. Both set up what they need, once.
PYTHON ?= python3
VENV := .venv
ALONE := tests/test_experiments_init.py tests/test_sweep_killed.py tests/test_server.py  # they start processes, and time them
SPREAD := --numprocesses=auto --dist=loadfile  # a process a core, a file in one of them
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE  # Python compiles what it imports, once, instead of pip all that there is

.PHONY: setup run check test train

setup: $(VENV)/requirements.stamp

run: setup
	$(BIN)/streamlit run app.py

check: $(VENV)/requirements-dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

test: check
	tests/browser/chromium.sh $(BIN)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(SPREAD) --ignore=tests/browser $(ALONE:%=--ignore=%)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(SPREAD) tests/browser
	$(BIN)/python -m pytest $(ALONE)

train: setup
	checkpoints/train.sh $(BIN)/python

$(VENV)/%.stamp: %.txt requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --no-compile --quiet --disable-pip-version-check -r $<
	touch $@
