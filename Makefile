VENV ?= .venv
PYTHON := $(VENV)/bin/python
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.PHONY: demo test setup develop lint rust-test python-test clean

demo: develop
	superkernel version

test: develop lint rust-test python-test

# The Python side of the project lives in a virtual environment of its own.
$(VENV)/.ready: pyproject.toml requirements-dev.txt
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --upgrade -r requirements-dev.txt
	touch $@

setup: $(VENV)/.ready

develop: setup
	maturin develop --quiet --release

lint: develop
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo clippy --all-targets --features python -- -D warnings
	ruff check .
	ruff format --check .
	stubtest superkernel._core --ignore-disjoint-bases

rust-test:
	cargo test --quiet

python-test: develop
	pytest

clean:
	rm -rf target $(VENV)
