# The project's whole workflow. Everything needed is installed into .venv; nothing by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AGENTS := .cache/agents
# `make conformance AGENT=codex VERSION=latest` tries another version, and reports what is new in it.
AGENT := *
VERSION :=
ifneq ($(VERSION),)
AGENTS := .cache/agents-$(AGENT)-$(VERSION)
endif
CLAUDE := $(AGENTS)/node_modules/.bin/claude
CLAUDE_VERSION := 2.1.325
CODEX := $(AGENTS)/node_modules/.bin/codex
CODEX_VERSION := 0.166.0
OPENCODE := $(AGENTS)/node_modules/.bin/opencode
OPENCODE_VERSION := 1.18.33
GEMINI := $(AGENTS)/node_modules/.bin/gemini
GEMINI_VERSION := 0.61.0
QWEN := $(AGENTS)/node_modules/.bin/qwen
QWEN_VERSION := 0.24.4
NAMED := $(shell echo '$(AGENT)' | tr a-z A-Z)
ifneq ($(VERSION),)
$(NAMED)_VERSION := $(VERSION)
endif
define installed
$(1)_READY := $(AGENTS)/.$(2)@$($(1)_VERSION)
PACKAGE_$(2)@$($(1)_VERSION) := $(3)@$($(1)_VERSION)
endef
$(eval $(call installed,CLAUDE,claude,@anthropic-ai/claude-code))
$(eval $(call installed,CODEX,codex,@openai/codex))
$(eval $(call installed,OPENCODE,opencode,opencode-ai))
$(eval $(call installed,GEMINI,gemini,@google/gemini-cli))
$(eval $(call installed,QWEN,qwen,@qwen-code/qwen-code))
REAL_AGENTS := ROOKERY_TEST_CLAUDE=$(abspath $(CLAUDE)) ROOKERY_TEST_CODEX=$(abspath $(CODEX))

.PHONY: demo quick test check lint types imports unit test-portable bench compare soak protections conformance docs figures format clean pictures release

demo: $(VENV)/.installed ## the whole path with a scripted agent: no key, no network
	$(BIN)/rook demo --speed 4

quick: lint types imports ## checks that take at most a minute: all but tests that start processes
	$(BIN)/pytest -n auto -m quick

test: check ## everything CI runs: lint, types, import rules, all tests

check: lint types imports unit

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin src

imports: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev $(CLAUDE_READY) $(CODEX_READY)
	$(BIN)/pytest -n auto -m quick --cov --cov-report=
	$(BIN)/coverage report --fail-under=95
	$(REAL_AGENTS) $(BIN)/pytest -n auto -m 'not quick and not soak and not conformance'

test-portable: $(VENV)/.dev $(CLAUDE_READY) $(CODEX_READY) ## all tests that start processes, with Linux's own calls taken away
	$(REAL_AGENTS) $(BIN)/python scripts/portable.py -n auto \
		-m 'not quick and not soak and not conformance' --ignore=tests/scripts tests

soak: $(VENV)/.dev ## the long versions of the hostile tests
	$(BIN)/pytest -n auto -m soak
	$(BIN)/pytest -n auto -m quick --hypothesis-profile=search

protections: $(VENV)/.dev $(CLAUDE_READY) $(CODEX_READY) ## remove each protection in turn: a named test must fail
	$(REAL_AGENTS) $(BIN)/python scripts/protections.py $(WORDS)

TRIED := $(if $(filter *,$(AGENT)),$(CLAUDE_READY) $(CODEX_READY) $(OPENCODE_READY) $(GEMINI_READY) $(QWEN_READY),$($(NAMED)_READY))

conformance: $(VENV)/.dev $(TRIED) ## the real agents against scripted models, every scenario
	$(REAL_AGENTS) ROOKERY_TEST_OPENCODE=$(abspath $(OPENCODE)) \
		ROOKERY_TEST_GEMINI=$(abspath $(GEMINI)) ROOKERY_TEST_QWEN=$(abspath $(QWEN)) \
		$(BIN)/pytest -v -m 'not soak' $(wildcard tests/conformance/test_$(AGENT)*.py)

bench: $(VENV)/.bench .cache/others/.ready ## ratios against named references, taken in one run
	$(BIN)/python benchmarks/bench.py

.cache/others/.ready: ## other programs that report what agents used, to compare with
	npm install --silent --no-fund --no-audit --prefix .cache/others/20 @ccusage/ccusage-linux-x64@20.0.24
	chmod +x .cache/others/20/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage
	npm install --silent --no-fund --no-audit --prefix .cache/others/18 ccusage@18
	touch $@

compare: $(VENV)/.bench .cache/others/.ready .cache/others/.tokscale ## what other programs report on hard cases
	$(BIN)/python benchmarks/compare_tools.py --cases

.cache/others/.tokscale:
	npm install --silent --no-fund --no-audit --prefix .cache/others/tokscale tokscale@1.4.3 bun
	touch $@

pictures: $(VENV)/.pictures $(CLAUDE_READY) ## take the pictures of the docs again, in a real terminal
	ROOKERY_TEST_CLAUDE=$(abspath $(CLAUDE)) $(BIN)/python scripts/pictures.py

docs: $(VENV)/.dev ## write the generated pages again
	$(BIN)/python scripts/generate.py

release: $(VENV)/.dev ## check, build and tag the version in the source tree; publishes nothing
	$(BIN)/python scripts/release.py ready
	$(MAKE) test
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python scripts/wheel.py dist/*.whl
	$(BIN)/python scripts/release.py tag

figures: ## sizes, imports and public names of the source tree
	@$(PYTHON) scripts/figures.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# One stamp for each agent and version: another version above installs that version.
$(AGENTS)/.%: ## a real agent that tests run against a scripted model on loopback
	npm install --silent --no-fund --no-audit --prefix $(AGENTS) $(PACKAGE_$*)
	rm -f $(AGENTS)/.$(firstword $(subst @, ,$*))@*
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

$(VENV)/.pictures: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group pictures
	touch $@
