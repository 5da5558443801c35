# The two commands are `make serve` and `make test`. BACKEND=cuda|rocm|vulkan|metal|cpu picks the build.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
export BACKEND
# Tests whose code is not kept are compiled anew in every process, which takes longer than to run them.
export PYTHONDONTWRITEBYTECODE =

.PHONY: serve test check soak clients bench fmt docs clean setup-serve setup-test

serve: setup-serve
	@exec $(BIN)/ds4-server $(ARGS)

test: setup-test
	@$(BIN)/python -m pytest $(ARGS)

check: setup-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -n auto -m "not engine and not server"

soak: setup-test
	@SOAK_REQUESTS=$${SOAK_REQUESTS:-10000} $(BIN)/python -m pytest tests/soak

# Installs real clients into .cache/clients, once (3 to 4 GB), and drives them on the scripted engine.
clients: setup-test
	@$(BIN)/python -m clients $(ARGS)

# Wants a quiet machine; see bench/RESULTS.md. llama-server is built first, once.
bench: setup-test
	@test -x .cache/bench/llama-server || test -n "$$LLAMA_SERVER" || $(BIN)/python -m bench.build_peer
	@$(BIN)/python -m bench.lookup
	@$(BIN)/python -m bench.overhead
	@$(BIN)/python -m bench.versus
	@$(BIN)/python -m bench.stall
	@$(BIN)/python -m bench.agents --engine inside
	@$(BIN)/python -m bench.agents --engine scripted
	@$(BIN)/python -m bench.agents
	@$(BIN)/python -m bench.restore
	@$(BIN)/python -m bench.amplification
	@$(BIN)/python -m bench.trace_cost
	@$(BIN)/python -m bench.constrain
	@$(BIN)/python -m bench.forced

fmt: setup-test
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup-test
	@$(BIN)/python scripts/docs.py

# Leaves the wheels in ~/.cache/ds4, so that the next set-up is quick.
clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-serve setup-test: setup-%:
	@command -v $(PYTHON) >/dev/null || { echo "setup: $(PYTHON) is not installed; Python 3.11 or newer is needed" >&2; exit 1; }
	@$(PYTHON) scripts/setup.py $*
