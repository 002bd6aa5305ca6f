# `make help` lists the targets. Needs a Rust toolchain, Python 3.9 or newer and a C++ compiler. Everything else is put
# into .venv.

VENV ?= .venv
# The interpreter the virtual environment is made from.
PYTHON ?= python3
export PYTHON
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Whatever virtual environment the caller is in, the project's own is the one to install into.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# A first build has nothing to be incremental against; without the bookkeeping it is quicker.
ifeq ($(wildcard target),)
export CARGO_INCREMENTAL := 0
endif

.PHONY: demo quick test test-extra test-real extra-tools setup packages develop release tables wheel wheels dist lint rust-test python-test
.PHONY: test-torch durations docs pictures bench deny stress compare clean

.PHONY: help
help:  ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(MAKEFILE_LIST) | sort | awk -F': ' '{ printf "make %-12s %s\n", $$1, $$2 }'

# Builds two operators, fuses them, runs the result on the simulator. On a fresh clone the build takes most of the time.
demo:  ## builds the package, fuses two operators, runs the result on the simulator
	@MAKE="$(MAKE)" VENV="$(VENV)" scripts/demo

quick: setup  ## the inner loop after a small change
	@scripts/quick

# First what the longest part, the Python tests, waits for. Then all parts side by side, since most of them keep only one
# core busy; all of them run even if one fails, and the last line tells.
test:  ## all tests, lints and checks
	@$(MAKE) --no-print-directory --jobs 3 develop setup packages \
	  && $(MAKE) --keep-going --no-print-directory --jobs 3 --output-sync=target --old-file=develop \
	    python-test rust-test lint \
	  && echo "make test: everything passed" \
	  || { echo "make test: FAILED, see above"; exit 1; }

setup: $(VENV)/.ready

$(VENV)/.ready: requirements-dev.txt scripts/setup-python $(VENV)/.builder
	scripts/setup-python $(VENV) -r requirements-dev.txt
	touch $@

# Building needs one package only, and takes long enough for the others to be installed beside it.
$(VENV)/.builder: scripts/setup-python requirements-dev.txt
	scripts/setup-python $(VENV) "$$(grep maturin requirements-dev.txt)"
	touch $@

# Tools some tests compare with. Installed where that is possible, otherwise named.
packages:
	@if [ -x scripts/test-packages ]; then scripts/test-packages; fi

# The development profile shares its dependencies with `cargo test` (Cargo.toml).
develop: $(VENV)/.builder  ## builds the package into .venv
	maturin develop --quiet

release: setup  ## the same, optimised
	maturin develop --quiet --release

# The listings that follow from the core's tables (CONTRIBUTING.md), written anew.
tables: develop setup  ## writes the listings of options, settings, statuses, ... anew
	SUPERKERNEL_BLESS=1 pytest -q tests/python/docs/test_tables.py tests/python/docs/test_errors.py -k "test_a_listing or SK0010"

# What every Python test costs, recorded anew; who costs half a second is left out by `make quick`.
durations: develop setup packages  ## records what every test costs, for `make quick`
	SUPERKERNEL_RECORD_DURATIONS=1 pytest -q -n auto --dist worksteal

wheel: setup  ## the wheel for this machine, in dist/
	scripts/wheels native

# All that is published, with a file of checksums.
dist: wheels  ## wheels, source archive and checksums, in dist/
	maturin sdist --quiet --out dist
	scripts/finish-package dist/*.tar.gz
	cd dist && sha256sum *.whl *.tar.gz > SHA256SUMS

# For the machines Ascend devices are in, and old enough C libraries; built with zig, checked by auditwheel and abi3audit.
wheels: setup extra-tools  ## wheels for x86-64 and aarch64
	scripts/wheels

extra-tools: setup
	@scripts/extra-tools

# The documents as a site; a link that leads nowhere, or a page that nobody lists, is an error.
docs: $(VENV)/.docs-ready  ## the documentation site, in target/site
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet --strict
	@echo "the site is in target/site: open target/site/index.html"

$(VENV)/.docs-ready: requirements-docs.txt | setup
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	touch $@

# Screenshots of the commands' pages, light and dark, in docs/images. Look at them before you commit them.
pictures: develop setup  ## makes the screenshots of the documents anew, with a browser
	@scripts/extra-tools browser
	scripts/pictures

# What needs a browser, an emulator, a cluster, wheels for other machines or the library as a crate of its own (examples
# in its comments). `make test` needs none of these.
test-extra: develop setup wheels $(VENV)/.docs-ready  ## what needs tools of other machines
	scripts/no-warnings cargo check --quiet
	cargo test --quiet --doc
	pytest tests/extra

# With objects of the vendor's compiler, from public wheels of 1.8 GB (or SUPERKERNEL_REAL_OBJECTS=folder of them).
test-real: develop setup  ## objects of the vendor's compiler, from public wheels
	pytest --timeout 3600 tests/real

# The dry run with every known TorchAir, in a virtual environment of its own. Wheels are taken by name and stay in `target`.
TORCH_VENV := target/venv-torch
TORCH_NPU := 2.7.1 2.9.0 2.14.0
test-torch: develop  ## TorchAir's releases without a device (downloads several gigabytes)
	[ -x $(TORCH_VENV)/bin/pip ] || $(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/pip install --quiet torch==2.14.1 numpy protobuf packaging pytest
	for version in $(TORCH_NPU); do \
	  $(TORCH_VENV)/bin/pip download --quiet --no-deps --dest target/torch-npu torch_npu==$$version && \
	  SUPERKERNEL_TORCH_NPU_WHEEL=$$(echo $(CURDIR)/target/torch-npu/torch_npu-$$version-*.whl) \
	  PYTHONPATH=$(CURDIR)/python $(TORCH_VENV)/bin/python -m pytest --quiet tests/dry_run/test_dry_run.py || exit 1; \
	done
	PYTHONPATH=$(CURDIR)/python $(TORCH_VENV)/bin/python -m pytest --quiet tests/dry_run/test_fx.py
	$(TORCH_VENV)/bin/pip install --quiet --no-deps target/torch-npu/torch_npu-$(lastword $(TORCH_NPU))-*.whl
	TORCH_DEVICE_BACKEND_AUTOLOAD=0 PYTHONPATH=$(CURDIR)/python $(TORCH_VENV)/bin/python -m pytest --quiet \
	  tests/dry_run/test_dry_run.py -k "quantised or one_kernel"; \
	status=$$?; $(TORCH_VENV)/bin/pip uninstall --quiet --yes torch_npu; exit $$status

lint: develop setup  ## format, lints, types, stubs
	cargo fmt --check
	cargo clippy --quiet --all-targets --features python -- -D warnings
	ruff check --quiet .
	ruff format --check --quiet .
	mypy
	stubtest superkernel._core --ignore-disjoint-bases
	python scripts/deny
	python scripts/licences --check

# Licences, bans and sources of the dependencies, and advisories where cargo-deny and their database are at hand.
deny: setup  ## the dependencies against deny.toml
	python scripts/deny

rust-test:  ## the Rust tests
	cargo test --quiet --lib

python-test: develop setup packages  ## the Python tests
	pytest -n auto --dist worksteal

# Times depend on optimisation: these run the release build. Fails if a ratio is a third worse than the one on record.
bench: release  ## times, as ratios measured in one run
	@python benches/run.py

# The same tests with far more inputs; each campaign takes its size from a variable.
stress: export SUPERKERNEL_ACTION_CASES ?= 1000
stress: export SUPERKERNEL_CAMPAIGN ?= 500
stress: export SUPERKERNEL_CAMPAIGN_SCHEDULES ?= 100
# More than 100,000 random instructions of the core; the end of the run says how many of every family.
stress: export SUPERKERNEL_CORE_ROUNDS ?= 3000
stress: export SUPERKERNEL_ELF_EDITS ?= 200000
stress: export SUPERKERNEL_ELF_MUTATIONS ?= 2000000
stress: export SUPERKERNEL_FORECASTS ?= 30
stress: export SUPERKERNEL_FOREIGN_FILES ?= 5000
stress: export SUPERKERNEL_FUZZ_EXAMPLES ?= 5000
stress: export SUPERKERNEL_KEY_CHANGES ?= 5000
stress: export SUPERKERNEL_MINIMAL_PROGRAMS ?= 3000
stress: export SUPERKERNEL_LONG_KERNEL ?= 10000
stress: export SUPERKERNEL_MUTATED_PROGRAMS ?= 5000
stress: export SUPERKERNEL_PROFILE_DAMAGE ?= 5000
stress: export SUPERKERNEL_PROGRAMS ?= 200000
stress: export SUPERKERNEL_SCOPE_CASES ?= 100000
stress: export SUPERKERNEL_SCOPE_MODELS ?= 10000
stress: export SUPERKERNEL_SIM_DAMAGE ?= 3000
stress: export SUPERKERNEL_STRESS_ROUNDS ?= 5000
stress: export SUPERKERNEL_THREAD_ROUNDS ?= 200
stress: export SUPERKERNEL_UNSAFE_MUTANTS ?= 10000
stress: release packages  ## the long test campaigns
	cargo test --release --quiet --no-fail-fast
	pytest --timeout 14400

# One model with and without super kernels, on the simulator.
compare: develop setup  ## a model with and without super kernels
	python examples/compare/superkernel_compare.py

clean:  ## removes everything that was built
	rm -rf target $(VENV) dist
