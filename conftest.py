"""The one place that loads the classroom's pytest plugin, and what pytest must not import where PyTorch is missing."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

# One worker runs on each core, and threads that wait for work without sleeping take the core from the other workers: of
# OpenMP, which kuiper's layers use, and of NumPy's OpenBLAS. Both read this when they are loaded, which is after this
# line; the programs that tests start inherit it.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A mistake of kuiper's that would only make a model slower is an error here, and in the programs that tests start.
os.environ.setdefault("KUIPER_STRICT", "1")

# For pytest-timeout, which students need not install: an option in pyproject.toml would be an error without it.
os.environ.setdefault("PYTEST_TIMEOUT", "120")

pytest_plugins = ["kuiper.course.pytest_plugin"]

# --doctest-modules imports every module that it finds.
NEED_TORCH = [
    "kuiper/models/zoo/*",
    "zoo/*",
    "tests/fixtures/*",
    "tests/networks/*",
    "benchmarks/architectures/*",
    "benchmarks/operator_modules.py",
]
# What needs the extra "serve".
NEED_SERVE = ["kuiper/serving/http", "tests/serving/http"]

# What make test leaves to make thorough: whether kuiper is right in every corner, whether its documents are true, and
# whether the tools of its authors and instructors work. In other files, single tests have the mark.
THOROUGH = [
    "benchmarks/*",
    "kuiper/course/pictures/*",
    "tests/benchmarks/*",
    "tests/cli/test_explore.py",
    "tests/course/test_any_answer.py",
    "tests/course/test_causes.py",
    "tests/course/test_channel.py",
    "tests/course/test_engine_race.py",
    "tests/course/test_gates.py",
    "tests/course/test_grade*.py",
    "tests/course/test_intake.py",
    "tests/course/test_material.py",
    "tests/course/test_notebooks.py",
    "tests/course/test_peak.py",
    "tests/course/test_pictures*.py",
    "tests/course/test_report_speaks.py",
    "tests/course/test_sandbox.py",
    "tests/course/test_solutions_shown.py",
    "tests/course/test_spot_check.py",
    "tests/course/test_text_race.py",
    "tests/course/test_variants.py",
    "tests/course/test_vscode.py",
    "tests/courses/*",
    "tests/engine/test_planning_work.py",
    "tests/explore/test_page_scripts.py",
    "tests/fuzz/*",
    "tests/hostile/*",
    "tests/models/many/*",
    "tests/test_building_again.py",
    "tests/test_c*.py",
    "tests/test_docs.py",
    "tests/test_glossary.py",
    "tests/test_hosted.py",
    "tests/test_links.py",
    "tests/test_mutants.py",
    "tests/test_operator*.py",
    "tests/test_processes.py",
    "tests/test_python_threads.py",
    "tests/test_readme.py",
    "tests/test_reference.py",
    "tests/test_reliability.py",
    "tests/test_shell_lines.py",
    "tests/test_site.py",
    "tests/test_soak.py",
    "tests/test_statements.py",
    "tests/test_stations.py",
    "tests/test_structure.py",
    "tests/test_sweeps.py",
    "tests/test_tour.py",
]
collect_ignore = [
    "tests/fuzz/search.py",  # a program: importing it instruments kuiper, and needs atheris
    "tests/real",  # programs of make real, which has an environment of its own
    "tests/cluster",  # the same of make cluster
    "kuiper/serving/ray.py",  # needs ray
]
NEED_POSIX = ["tests/process_memory.py", "tests/soak.py", "tests/soak_acts.py", "tests/test_soak.py"]
collect_ignore_glob = [] if importlib.util.find_spec("torch") else NEED_TORCH
collect_ignore_glob += (
    [] if all(map(importlib.util.find_spec, ("starlette", "uvicorn", "prometheus_client"))) else NEED_SERVE
)
collect_ignore_glob += NEED_POSIX if sys.platform == "win32" else []


def pytest_addoption(parser: pytest.Parser) -> None:
    words = (
        "run the tests whose files the change touches, and of the others one in N, drawn by a seed: tests/sampling.py"
    )
    parser.addoption("--one-in", type=int, default=1, metavar="N", help=words)


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs that the tests start, also where a shell started pytest in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Examples in docstrings are English, whatever the language of the terminal; tests/conftest.py says so of tests."""
    import pytest

    if isinstance(item, pytest.DoctestItem):
        os.environ["KUIPER_LANG"] = "en"


def pytest_report_header(config: pytest.Config) -> str | None:
    """What a sample was drawn by: the same words draw it again."""
    if (one_in := config.getoption("--one-in")) == 1:
        return None
    from tests import sampling

    return f"one in {one_in} of the tests, {sampling.words()}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks of whole files, and the sample of --one-in.

    The examples of a module that needs PyTorch need it, too: "not torch" means the same tests everywhere.
    """
    here = Path(__file__).parent  # which may lie in a folder that is called like one of these
    names = {path: path.relative_to(here).as_posix() for path in {item.path for item in items} if here in path.parents}
    for mark, patterns in (("torch", NEED_TORCH), ("thorough", THOROUGH)):
        marked = {path for path, name in names.items() if any(fnmatch(name, pattern) for pattern in patterns)}
        for item in items:
            if item.path in marked:
                item.add_marker(mark)
    if (one_in := config.getoption("--one-in")) != 1:
        from tests import sampling

        left_out = sampling.left_out(items, one_in)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
