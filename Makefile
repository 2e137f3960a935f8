# make demo     set up on first use, then classify the bundled photo
# make test     set up on first use, then run all tests that need no PyTorch
# make gates    every exercise of every course: solution, skeleton, and the bugs that its tests must catch
# make notebooks  run every lecture, with the exercises' skeletons and with their solutions
# make site     build README, lectures, documents and reference into build/site (needs the network once)
# make check-site  open every page of it in a browser (chromium), narrow and wide, light and dark
# make nightly  all solutions, twenty times: a test that fails now and then is found here
# make lint     ruff and mypy
# make debug    run the engine's tests on a build with bounds checks, then build as usual again
# make sanitize run the kernels' tests while the compiler watches every access (gcc), then build as usual again
# make portable run the kernels' tests on builds for less than this machine has, then build as usual again
# make arm      build for ARM (NEON) and run the kernels' tests there in an emulator (TESTS=... for others)
# make export   install PyTorch and pnnx too, and run the tests that need them
# make bench    install onnxruntime, openvino, ncnn and PyTorch too, and time kuiper beside them (ten minutes)

VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

# What the compiled modules are made from; a newer file means another build.
SOURCES := setup.py pyproject.toml $(shell find kuiper -name '*.pyx' -o -name '*.pxd')

# What runs every kernel. That memory stays flat cannot be seen where freed memory is kept back to catch its use.
KERNEL_TESTS := tests/engine tests/layers tests/tensor tests/expression -m "not torch"
NO_MEMORY_TEST := --deselect tests/engine/test_plan.py::test_memory_stays_flat_over_many_shapes

BUILD := $(BIN)/python setup.py -q build_ext --inplace

.PHONY: demo test gates notebooks site check-site nightly lint debug sanitize portable arm export bench clean

demo: $(VENV)/built
	$(BIN)/kuiper classify kuiper/models/assets/cat.jpg

test: $(VENV)/built
	$(BIN)/python -m pytest -m "not torch and not gates"

gates: $(VENV)/built
	$(BIN)/python -m pytest -m gates tests/courses

notebooks: $(VENV)/built
	$(BIN)/python -m kuiper course notebooks --check

site: $(VENV)/built
	$(BIN)/pip install --quiet --no-build-isolation -e '.[site]'
	rm -rf build/site
	$(BIN)/sphinx-build --quiet -W --keep-going -E -c docs/site -d build/site-doctrees -b html . build/site
	@echo build/site/index.html

check-site: site
	$(BIN)/python docs/site/check_pages.py build/site

nightly: $(VENV)/built
	for i in $$(seq 20); do $(BIN)/python -m pytest -q course1_tensor course2_graph course3_layers \
		course4_expression course5_models --impl=solution || exit 1; done

lint: $(VENV)/built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

debug: $(VENV)/installed
	KUIPER_DEBUG=1 $(BUILD)
	$(BIN)/python -m pytest -m "not torch" --ignore tests/courses; status=$$?; $(BUILD); exit $$status

# Python itself is not built this way, so that the checks' library must be loaded before it, and be left to write its report.
sanitize: $(VENV)/installed
	CC=gcc KUIPER_SANITIZE=address,undefined $(BUILD)
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	$(BIN)/python -m pytest -q -p no:faulthandler --capture=sys $(NO_MEMORY_TEST) $(KERNEL_TESTS); status=$$?; \
	$(BUILD); exit $$status

portable: $(VENV)/installed
	KUIPER_ARCH=x86-64-v3 $(BUILD)
	$(BIN)/python -m pytest -q $(KERNEL_TESTS); status=$$?; $(BUILD); exit $$status
	KUIPER_ARCH=x86-64 KUIPER_NO_VECTORS=1 $(BUILD)
	$(BIN)/python -m pytest -q $(KERNEL_TESTS); status=$$?; $(BUILD); exit $$status

arm:
	PYTHON=$(PYTHON) .ci/arm/run $(TESTS)

export: $(VENV)/built
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --no-build-isolation -e '.[oracle]'
	$(BIN)/python -m pytest -m torch

bench: $(VENV)/built
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --no-build-isolation -e '.[bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build kuiper.egg-info kuiper/_build_config.py
	find kuiper -name '*.so' -delete

# The network is needed here only.
$(VENV)/installed: pyproject.toml
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'setuptools>=77' 'cython>=3.2.1'
	$(BIN)/pip install --quiet --no-build-isolation -e '.[dev]'
	touch $@

$(VENV)/built: $(VENV)/installed $(SOURCES)
	$(BUILD)
	touch $@
