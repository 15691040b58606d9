# make run: open the app. make test: everything that CI runs. Both set up what they need, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup run check test train

setup: $(VENV)/requirements.stamp

run: setup
	$(BIN)/streamlit run app.py

check: $(VENV)/requirements-dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

test: check
	tests/browser/chromium.sh $(BIN)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --ignore=tests/browser --numprocesses=auto --dist=loadfile
	$(BIN)/python -m pytest tests/browser

train: setup
	checkpoints/train.sh $(BIN)/python

$(VENV)/%.stamp: %.txt requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r $<
	touch $@
