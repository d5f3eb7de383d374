# Needs python3 (3.11 or later) and make; uses uv where it is on the PATH.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.stamp

.PHONY: setup page demo test lint bench verify docs screenshots clean distclean

setup: $(STAMP)

$(STAMP): pyproject.toml verification/pyproject.toml
	@echo "Installing Impulsar and its tools into .venv (a minute or two the first time)"
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python '>=3.11' .venv && \
		uv pip install --quiet --python $(BIN)/python --editable '.[dev]' --editable verification; \
	else \
		$(PYTHON) -m venv .venv && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --editable verification; \
	fi
	@touch $@

page: setup
	$(BIN)/python hatch_build.py

demo: page
	$(BIN)/impulsar studio ten-pendula --set start=30deg

test: page
	$(BIN)/python -m pytest -q -n 2 -m 'not timed and not study' --reruns 2 --only-rerun Timeout --only-rerun 'timed out' --only-rerun 'waited .* s for' --only-rerun 'the line was held up'
	$(BIN)/python -m pytest -q -m 'timed and not study' --reruns 5 --reruns-delay 15  # clocks are others' too

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src verification
	$(BIN)/lint-imports
	$(BIN)/python hatch_build.py --check

bench: setup
	$(BIN)/impulsar bench

verify: setup
	$(BIN)/python -m pytest -q -n 2 -m study
	$(BIN)/python -m impulsar_verification.verify

docs: page
	@$(BIN)/python -c 'import furo, jupytext, myst_nb, nbclient, sphinx_copybutton' 2>/dev/null || \
		if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python --editable '.[docs]'; \
		else $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'; fi
	$(BIN)/python tools/site.py

screenshots: page
	$(BIN)/python tools/screenshots.py
	$(BIN)/python tools/animation.py

clean:
	rm -rf build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv client/node_modules src/impulsar/studio/page
