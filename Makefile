# make demo     set up on first use, then classify the bundled photo
# make test     set up on first use, then run all tests that need no PyTorch
# make gates    every exercise of every course: solution, skeleton, and the bugs that its tests must catch
# make nightly  all solutions, twenty times: a test that fails now and then is found here
# make lint     ruff and mypy
# make debug    run the engine's tests on a build with bounds checks, then build as usual again
# make export   install PyTorch and pnnx too, and run the tests that need them

VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

# What the compiled modules are made from; a newer file means another build.
SOURCES := setup.py pyproject.toml $(shell find kuiper -name '*.pyx' -o -name '*.pxd')

.PHONY: demo test gates nightly lint debug export clean

demo: $(VENV)/built
	$(BIN)/kuiper classify kuiper/models/assets/cat.jpg

test: $(VENV)/built
	$(BIN)/python -m pytest -m "not torch and not gates"

gates: $(VENV)/built
	$(BIN)/python -m pytest -m gates tests/courses

nightly: $(VENV)/built
	for i in $$(seq 20); do $(BIN)/python -m pytest -q course1_tensor course2_graph course3_layers \
		course4_expression course5_models --impl=solution || exit 1; done

lint: $(VENV)/built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

debug: $(VENV)/installed
	KUIPER_DEBUG=1 $(BIN)/python setup.py -q build_ext --inplace --force
	$(BIN)/python -m pytest -m "not torch" --ignore tests/courses; status=$$?; \
	$(BIN)/python setup.py -q build_ext --inplace --force; exit $$status

export: $(VENV)/built
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --no-build-isolation -e '.[export]'
	$(BIN)/python -m pytest -m torch

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
	$(BIN)/python setup.py -q build_ext --inplace
	touch $@
