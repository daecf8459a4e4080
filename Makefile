# `make run` starts the playground, `make test` checks everything. Both may be run any number of times; neither
# touches the network once what it needs is installed. Portable sh only: a fresh machine may have no bash.
SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PORT ?= 8000
export PORT
# What Python compiles is kept: the tests start hundreds of servers and workers.
unexport PYTHONDONTWRITEBYTECODE
PY := .venv/bin/python
# The test lock holds the run lock and more, so either one may be installed into the same environment.
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r
# deno.json says what it checks. It keeps its cache here and asks nobody for a newer version.
DENO := DENO_DIR=.venv/deno DENO_NO_UPDATE_CHECK=1 .venv/bin/deno

# In the order written, whatever -j says: the checks first, pytest and its summary last.
.NOTPARALLEL:
.PHONY: help run watch test test-long audit lint style types contracts pytest migrate install install-test venv chromium redis postgresql conformance screenshots states messages sentences lock clean

help: ## what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

run: install migrate ## serve the playground at http://127.0.0.1:PORT/ (8000 unless PORT says otherwise)
	@exec $(PY) manage.py serve --port "$$PORT"

# A start compiles the catalogs whose words changed, which must not start the server again.
watch: install-test migrate ## serve, and start again whenever Python, templates, static files, or words change
	@exec .venv/bin/watchfiles --sigint-timeout 10 --ignore-paths "locale/zh_Hans/LC_MESSAGES/django.mo" \
	  "$(PY) manage.py serve --port $$PORT" playground scheduler_core templates static locale

test: install-test chromium redis postgresql lint types contracts pytest ## check everything: style, types, contracts, tests, browser

venv:
	@sh scripts/venv.sh

install: venv
	@cmp -s requirements/run.txt .venv/run.txt || cmp -s requirements/test.txt .venv/test.txt || { \
	  echo "make: installing requirements/run.txt into .venv"; \
	  $(INSTALL) requirements/run.txt; cp requirements/run.txt .venv/run.txt; }

install-test: venv
	@cmp -s requirements/test.txt .venv/test.txt || { \
	  echo "make: installing requirements/test.txt into .venv"; \
	  $(INSTALL) requirements/test.txt; cp requirements/test.txt .venv/test.txt; cp requirements/run.txt .venv/run.txt; }

migrate: install
	@$(PY) manage.py migrate --verbosity 0

chromium: ## find Chromium for the browser tests, or install it
	@sh scripts/chromium.sh

redis: ## find redis-server for the tests of several servers, or install it
	@sh scripts/redis.sh

postgresql: ## find PostgreSQL for the tests of a database that goes away, or install it
	@sh scripts/postgresql.sh

lint: install-test ## ruff, djangofmt and deno: style and formatting of Python, templates, style sheets and scripts
	@echo "make test: ruff check"; $(PY) -m ruff check .
	@echo "make test: ruff format --check"; $(PY) -m ruff format --check .
	@echo "make test: djangofmt --check"; .venv/bin/djangofmt --quiet --check templates
	@echo "make test: djangofmt check"; .venv/bin/djangofmt --quiet check templates
	@echo "make test: deno fmt --check"; $(DENO) fmt --quiet --check
	@echo "make test: deno lint"; $(DENO) lint --quiet
	@echo "make test: deno check"; $(DENO) check --quiet --no-remote static/playground

style: install-test ## mend what lint finds, as far as its tools can
	@$(PY) -m ruff check --fix --quiet . || true
	@$(PY) -m ruff format --quiet .
	@.venv/bin/djangofmt --quiet check --fix templates || true
	@.venv/bin/djangofmt --quiet templates
	@$(DENO) lint --fix --quiet || true
	@$(DENO) fmt --quiet

types: install-test ## mypy, strict on scheduler_core and playground
	@echo "make test: mypy"; $(PY) -m mypy

contracts: install-test ## import-linter: who may import whom
	@echo "make test: import contracts"; .venv/bin/lint-imports

# Up to three tests that fail run once more, and the summary lists them with the error: see CONTRIBUTING.
pytest: install-test ## the tests, browser tests included
	@echo "make test: pytest, browser tests included"; $(PY) -m pytest --reruns 1 --max-suite-reruns 3 --rerun-show-tracebacks $(PYTEST_ARGS)

conformance: install ## run the corpus and keep what the page /conformance shows
	@$(PY) manage.py conformance tests/corpus/cycle tests/corpus/large --json > playground/views/data/conformance.new; \
	  mv playground/views/data/conformance.new playground/views/data/conformance.json
	@$(PY) manage.py conformance tests/corpus/releases --json | $(PY) -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["releases"], indent=1))' \
	  > playground/views/data/releases.new; mv playground/views/data/releases.new playground/views/data/releases.json

screenshots: install-test chromium ## take the pictures in docs/images again
	@$(PY) scripts/screenshots.py

states: install-test chromium ## take pictures of the twelve main states, light and dark, at four widths, into build/states
	@$(PY) scripts/screenshots.py --states

audit: venv ## look up what is known to be unsafe in the pinned packages (needs the network)
	@sh scripts/audit.sh

test-long: install-test chromium redis ## the tests with many more examples, kills and fuzzed messages; takes hours
	@HYPOTHESIS_PROFILE=thorough $(PY) -m pytest $(PYTEST_ARGS)

messages: install-test ## bring the message catalogs up to date with the sources
	@$(PY) -m tests.messages

sentences: install-test ## put every sentence with real names and numbers into build/sentences.md, to be read through
	@$(PY) -m tests.sentences

lock: ## pin the newest allowed versions with hashes (needs the network)
	@sh scripts/lock.sh

clean: ## remove the environment and every cache, keep the database
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis staticfiles
