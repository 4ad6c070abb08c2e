.DEFAULT_GOAL := help
.PHONY: help setup run test check format bench
.SILENT:

PORT ?= 8000
PYTHON ?=
export PORT PYTHON

venv := .venv/bin
install = python=$$(sh ops/find-python) && "$$python" ops/setup.py
production = HTTPS=on ALLOWED_HOSTS=concord.example.org SECRET_KEY=$$($(venv)/python -c 'import secrets; print(secrets.token_hex(48))')

help: ## list these commands
	echo "Concord: label bugs, agree, publish"
	sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

setup: ## make the environment in .venv/
	$(install) requirements.txt

run: setup ## start everything on http://127.0.0.1:8000 (PORT=8000) with a demo study
	exec $(venv)/python -m ops.run

test: ## install what the tests need and run all of them, on SQLite and on PostgreSQL
	$(install) requirements-dev.txt
	exec $(venv)/python -m tests.services.passes

check: ## format, lint, types, imports, migrations, deploy check, then the tests
	$(install) requirements-dev.txt
	$(venv)/ruff format --check .
	$(venv)/ruff check .
	git ls-files -z 'frontend/templates/*.html' | xargs -0 -r $(venv)/djade --check --target-version 5.2
	$(venv)/mypy .
	$(venv)/lint-imports
	$(venv)/python manage.py makemigrations --check --dry-run
	$(production) $(venv)/python manage.py check --deploy --fail-level WARNING
	$(MAKE) test

format: ## let the tools settle looks
	$(install) requirements-dev.txt
	$(venv)/ruff format .
	$(venv)/ruff check --fix .
	git ls-files -z 'frontend/templates/*.html' | xargs -0 -r $(venv)/djade --target-version 5.2

bench: ## measure speed and memory beside their floors; writes bench/results.json
	$(install) requirements-dev.txt
	exec $(venv)/python -m bench
