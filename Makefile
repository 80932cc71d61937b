.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/ready page ## install everything the project needs into .venv, and build the page

# The lock names every package, so pip resolves nothing: it would take the newest release for an extra that a package asks
# for (psycopg[binary]) and then refuse it, because that release is not in the lock. `pip check` tells what the lock lacks.
.venv/ready: requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit("Python 3.11 or newer is needed: make setup PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "Making the Python environment .venv"
	@"$(PYTHON)" -m venv .venv
	@echo "Installing Python packages into .venv (one to three minutes)"
	@$(BIN)/python scripts/pip_install.py --no-deps --require-hashes -r requirements.lock
	@echo "Installing Greenroom itself into .venv"
	@$(BIN)/python scripts/pip_install.py --no-deps --no-build-isolation -e .
	@$(BIN)/python -m pip check
	@touch .venv/ready

# The page needs Node.js to be built, and nothing to run.
ifneq ($(shell command -v npm),)
page: src/greenroom/page/panels.json ## build the web page into the package
else
page:
	@echo "Node.js is not installed: the web page is not built, the hub says so at /. Everything else works."
endif

web/node_modules/ready: web/package.json web/package-lock.json
	@echo "Installing the packages that the web page is built with"
	@npm ci --prefix web --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch web/node_modules/ready

src/greenroom/page/panels.json: web/node_modules/ready $(wildcard src/greenroom/sentences/*.json) $(shell find web/src web/public web/index.html web/vite.config.ts web/tsconfig.json -type f -not -name '*.test.ts')
	@echo "Building the web page (half a minute)"
	@npm run --prefix web --silent build -- --logLevel warn

shots: setup ## take screenshots of every panel into build/shots
	$(BIN)/python web/rig.py --shots build/shots

run: setup ## start the hub on embedded defaults
	$(BIN)/greenroom serve

# The real agent CLIs come as programs for this platform only; elsewhere the tests that need them are skipped.
clis: $(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),.clis/ready) ## install real agent CLIs for the tests into .clis

.clis/ready: tests/clis/package.json tests/clis/package-lock.json
	@echo "Installing real agent CLIs for the tests into .clis"
	@mkdir -p .clis
	@cp tests/clis/package.json tests/clis/package-lock.json .clis/
	@npm ci --prefix .clis --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch .clis/ready

# Programs that some tests need; where they cannot be installed, those tests are skipped and say so.
DEBIAN := bubblewrap chromium faketime fonts-noto-cjk iproute2 postgresql ripgrep tmux tree xdotool xterm xvfb zsh
debian: ## install the Debian packages that some tests need (as root)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! dpkg -s $(DEBIAN) >/dev/null 2>&1; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(DEBIAN); fi

test: setup clis debian ## run all checks and tests
	$(MAKE) check
	$(BIN)/python scripts/run_tests.py

test-anywhere: setup clis ## run the tests that start programs (CI does so again in a clone elsewhere)
	$(BIN)/python scripts/run_tests.py -m anywhere

test-clis: setup clis .clis/more/ready ## try every real agent CLI on the scripted model
	$(BIN)/python -m pytest -m clis

.clis/more/ready: tests/clis/more/package.json tests/clis/more/package-lock.json
	mkdir -p .clis/more
	cp tests/clis/more/*.json .clis/more/
	npm ci --prefix .clis/more --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch .clis/more/ready

check: setup ## format, lint, types, floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if [ -d web/node_modules ]; then npm run --prefix web --silent check && npm run --prefix web --silent test; fi

fix: setup ## format and repair what can be repaired by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@if [ -d web/node_modules ]; then npm run --prefix web --silent fix; fi

bench: setup ## measure against the peer and the raw building blocks
	$(BIN)/python -m bench

census: setup ## count what makes the code hard to read
	@$(BIN)/python scripts/census.py

docs: setup ## renew the tables of the reference in docs/users
	$(BIN)/python docs/write_reference.py

ASSIST := src/greenroom/doors/compat/assist
proto: setup ## renew the code that is made from agentassist.proto
	$(BIN)/python -m grpc_tools.protoc -I$(ASSIST) --python_out=$(ASSIST) --pyi_out=$(ASSIST) agentassist.proto

lock: setup ## renew requirements.lock from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --extra dev --extra postgres --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.lock

.PHONY: help setup page shots run clis debian test test-anywhere test-clis check fix bench census docs proto lock
