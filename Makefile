# SPDX-License-Identifier: MIT
# `make demo` and `make test` set up all they need by themselves; the other targets bring their own tools too.
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
BUILD  := $(CURDIR)/build
NATIVE := $(wildcard include/sated/*.h csrc/*.mk csrc/*/*.[ch] csrc/*/*.py csrc/*/models/*.toml)
C_FILES = $(wildcard include/sated/*.h csrc/*/*.[ch] tests/c/*.[ch] tests/tools/*.c)

DEMO := runs/demo

help:
	@echo 'make demo            review a simulated drive; the last line is the path of the report'
	@echo 'make test            the default tests: no root, no drive'
	@echo 'make check           format, lint, types, both compilers, sanitizers'
	@echo 'make test-long       what takes hours: a million random answers for each decoder, the guests over and over, and broken'
	@echo 'make test-tools      against fio, hdparm, nvme-cli, sdparm, sg3_utils and smartmontools'
	@echo 'make test-notebooks  every notebook'
	@echo 'make test-browser    the report in Chromium'
	@echo 'make test-vm         in guests with a real kernel, under QEMU; with RECORD=1 it records tests/corpus/trees anew'
	@echo 'make bench           tables, and build/bench.json'
	@echo 'make docs            the generated reference, docs/reference/'
	@echo 'make amplification   measures docs/explanation/write-amplification.md anew, for some minutes'
	@echo 'make format          lay out C and Python as `make check` wants them'
	@echo 'make constraints     newer versions of the Python packages'
	@echo 'make clean           away with what was built; .venv and runs/ stay'

# One stamp for the packages, one for the extension: changed C is compiled anew, nothing is fetched again.
$(VENV)/packages: constraints.txt .ci/setup
	@.ci/setup venv
	@touch $@

$(READY): $(VENV)/packages pyproject.toml setup.py VERSION $(NATIVE)
	@rm -f python/sated/*.so python/sated/native/*.so
	@echo 'sated: compiling' >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e . </dev/null
	@touch $@

ready: $(READY)

demo: $(READY)
	@rm -rf $(DEMO)
	@$(BIN)/sated review sim:x210,scale=1/64 --plan op-study --out $(DEMO)

test: $(READY)
	@$(BIN)/python -m pytest

test-c: $(READY)
	@$(BIN)/python -m pytest tests/c

check: check-python check-layout check-compilers check-sanitizers

check-python: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

check-layout:
	@.ci/setup need clang-format
	clang-format --dry-run -Werror $(C_FILES)

check-compilers:
	@.ci/setup need gcc clang
	@$(MAKE) -s --no-print-directory -C csrc CC=gcc OUT=$(BUILD)/gcc
	@$(MAKE) -s --no-print-directory -C csrc CC=clang OUT=$(BUILD)/clang
	@echo 'sated: no warnings from gcc and clang'

check-sanitizers: $(READY)
	$(BIN)/python -m pytest tests/c --sanitize

# Under the sanitizers, so that a byte read too many is seen.
test-long: $(READY)
	@$(BIN)/python -m pytest -m long --sanitize --durations=0
	@.ci/setup need fio
	@$(BIN)/python tests/vm/run.py --repeat 20 faults
	@$(BIN)/python tests/vm/run.py --repeat 5
	@$(BIN)/python tests/vm/mutate.py

test-tools: $(READY)
	@.ci/setup need fio hdparm nvme sdparm sg_inq smartctl valgrind
	@$(BIN)/python -m pytest tests/tools

test-notebooks: $(READY)
	@$(BIN)/python -m pytest tests/notebooks

test-browser: $(READY)
	@.ci/setup need chromium
	@$(BIN)/python -m pytest tests/browser

test-vm: $(READY)
	@.ci/setup need fio
	@$(BIN)/python tests/vm/$(if $(RECORD),record,run).py $(GUEST)

bench: $(READY)
	@$(BIN)/python tests/bench/bench.py

docs: $(READY)
	@$(BIN)/python docs/generate.py

amplification: $(READY)
	@$(BIN)/python docs/amplification.py

format: $(READY)
	@.ci/setup need clang-format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	clang-format -i $(C_FILES)

# Resolved under the oldest Python that is supported, without the pins that are there now.
constraints: $(READY)
	@rm -rf build/constraints
	@python3.11 -m venv build/constraints
	@build/constraints/bin/pip install -q --disable-pip-version-check setuptools cffi
	@build/constraints/bin/pip install -q --disable-pip-version-check --no-build-isolation '.[all]'
	@{ head -n 1 constraints.txt; build/constraints/bin/pip freeze --exclude sated --exclude pip --exclude wheel | \
	   LC_ALL=C sort -f; } > build/constraints.txt && mv build/constraints.txt constraints.txt

clean:
	rm -rf build dist python/sated.egg-info python/sated/*.so python/sated/native $(READY)

.PHONY: help ready demo test test-c check check-python check-layout check-compilers check-sanitizers test-long \
	test-tools test-notebooks test-browser test-vm bench docs amplification format constraints clean
