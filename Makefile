.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/ready ## install everything the project needs into .venv

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch .venv/ready

run: setup ## start the hub on embedded defaults
	$(BIN)/greenroom serve

test: setup ## run all checks and tests
	$(MAKE) check
	$(BIN)/python -m pytest -n 2

check: setup ## lint, types, floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: setup ## format and repair what can be repaired by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## measure against the peer and the raw building blocks
	$(BIN)/python -m bench

lock: setup ## renew requirements.lock from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --extra dev --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.lock

.PHONY: help setup run test check fix bench lock
