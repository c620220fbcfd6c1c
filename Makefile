# Two commands are all the set-up: `make demo` and `make test`. Each installs what it needs into .venv.
PYTHON ?= python3
BIN := .venv/bin
# The demo has a home of its own, so that it never touches your knowledge bases, and no LLM, whatever is set.
DEMO := BANYAN_HOME=.banyan/demo BANYAN_LLM_BASE_URL= $(BIN)/banyan
PACKAGES := agents cli evaluation export graph_store ingest models prompts runtime schemas server subagent text tools

.PHONY: demo test unit check lint types clean

demo: .venv/installed
	$(DEMO) build examples/en --kb english
	$(DEMO) build examples/zh --kb chinese
	@printf '\n--- one hop ---\n'
	$(DEMO) ask "When was Marie Curie born?" --kb english
	@printf '\n--- three hops ---\n'
	$(DEMO) ask "On which river does the birthplace of the discoverer of polonium lie?" --kb english
	@printf '\n--- in Chinese ---\n'
	$(DEMO) ask "屠呦呦出生在哪个城市？" --kb chinese
	@printf '\n--- not in the documents ---\n'
	$(DEMO) ask "What was Niels Bohr's favourite food?" --kb english

# Files stay whole, for what their tests share, and in order: the long ones, of the integration tests, begin.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test: .venv/installed
	$(PYTEST)

# What needs no process, no model but the bundled one, and no socket.
unit: .venv/installed
	$(PYTEST) tests/unit

check: lint types test

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

# The repository's root is the package: mypy finds it as `banyan` through links, without the tests.
types: .venv/installed
	rm -rf .typecheck && mkdir -p .typecheck/banyan
	cd .typecheck/banyan && ln -s ../../*.py ../../py.typed $(PACKAGES:%=../../%) .
	$(BIN)/mypy -p banyan

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev,server,studio]"
	touch $@

clean:
	rm -rf .venv .typecheck build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
