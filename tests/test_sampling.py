"""What CI runs of what takes long: no test may be left to nobody, and a seed draws the same sample each time."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests import sampling

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
NIGHTLY = (ROOT / ".ci" / "nightly").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository of two commits, a day apart; the younger one adds b.py."""
    monkeypatch.setattr(sampling, "ROOT", tmp_path)
    for name in ("KUIPER_BASE", "KUIPER_SEED"):
        monkeypatch.delenv(name, raising=False)
    forget()
    git(tmp_path, "init", "-q")
    for name, date in (("a.py", "2026-01-01T00:00:00"), ("b.py", "2026-01-02T00:00:00")):
        (tmp_path / name).write_text(name)
        git(tmp_path, "add", name)
        monkeypatch.setenv("GIT_COMMITTER_DATE", date)
        git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", name)
    yield tmp_path
    forget()


def forget() -> None:
    for function in (sampling.seed, sampling.base, sampling.changed):
        function.cache_clear()


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_changed_is_what_the_last_hours_and_the_working_tree_add(repository: Path) -> None:
    assert sampling.base() == git(repository, "rev-parse", "HEAD~1")
    (repository / "c.py").touch()
    assert sampling.changed() == {"b.py", "c.py"}


def test_changed_is_compared_with_the_commit_that_is_asked_for(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUIPER_BASE", "HEAD")
    (repository / "a.py").write_text("other")
    assert sampling.changed() == {"a.py"}


def test_base_refuses_what_is_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUIPER_BASE", "nowhere")
    with pytest.raises(ValueError, match="KUIPER_BASE: expected a commit of this repository, got 'nowhere'"):
        sampling.base()


def test_seed_is_that_of_the_commit_unless_one_is_asked_for(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sampling.seed() == git(repository, "rev-parse", "--short=12", "HEAD")
    forget()
    monkeypatch.setenv("KUIPER_SEED", "mine")
    assert sampling.seed() == "mine"


def test_nothing_is_changed_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_git", lambda *words: "")
    for name in ("KUIPER_BASE", "KUIPER_SEED"):
        monkeypatch.delenv(name, raising=False)
    forget()
    assert (sampling.base(), sampling.changed(), sampling.seed()) == ("", frozenset(), "0")
    forget()


def test_chosen_files_are_the_touched_ones_and_a_sample() -> None:
    names = [f"{number:02}.ipynb" for number in range(20)]
    sample = sampling.chosen_files(names, [], 4, "seed")
    assert 1 <= len(sample) < 20
    other = next(name for name in names if name not in sample)
    assert sampling.chosen_files(names, [f"notebooks/{other}"], 4, "seed") == sorted([*sample, other])
    assert sampling.chosen_files(names, [], 1, "seed") == names


def test_one_in_keeps_touched_files_and_a_sample(monkeypatch: pytest.MonkeyPatch, two_hundred_tests: list[Any]) -> None:
    monkeypatch.setattr(sampling, "changed", lambda: frozenset({"kuiper/graph/touched.py"}))
    monkeypatch.setattr(sampling, "seed", lambda: "seed")
    left_out = sampling.left_out(two_hundred_tests, 4)
    assert not [name for name in left_out if name.startswith("test_touched.py")]
    assert 60 < len(left_out) < 90
    assert sampling.left_out(two_hundred_tests, 4) == left_out
    with pytest.raises(pytest.UsageError, match="--one-in: expected a number from 1 on, got 0"):
        sampling.left_out(two_hundred_tests, 0)


@pytest.fixture
def two_hundred_tests() -> list[Any]:
    """Tests of a touched file and of another one, as far as a sample looks at them."""

    class Item:
        def __init__(self, file: str, number: int) -> None:
            self.path, self.nodeid = Path(file), f"{file}::test_{number}"

    return [Item(file, number) for file in ("test_touched.py", "test_other.py") for number in range(100)]


def test_ci_runs_a_part_of_what_nightly_runs() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
    of_ci = {
        word
        for command in re.findall(r'^step "[^"]*" make (.*)$', RUN, re.MULTILINE)
        for word in command.split()
        if "=" not in word
    }
    nightly = re.search(r"STEPS=\(([^)]*)\)", NIGHTLY)
    assert nightly
    assert of_ci - {"own-wheel"} < set(nightly[1].split()) <= targets  # nightly's wheel holds that one


def test_what_make_test_leaves_out_is_run_by_ci_and_nightly() -> None:
    marks = re.search(r'^test:.*\n.*-m "([^"]*)"', MAKEFILE, re.MULTILINE)
    assert marks
    assert marks[1] == "not torch and not gates and not thorough"
    assert all(f"make {left_out}" in RUN for left_out in ("thorough", "gates", "export"))


def test_files_that_make_test_leaves_out_exist() -> None:
    patterns = runpy.run_path(str(ROOT / "conftest.py"))["THOROUGH"]
    assert [pattern for pattern in patterns if not list(ROOT.glob(pattern))] == []


def test_files_are_marked_by_their_place_in_the_checkout_wherever_that_lies(tmp_path: Path) -> None:
    root = tmp_path / "benchmarks"
    root.mkdir()
    shutil.copy(ROOT / "conftest.py", root)
    marks: dict[str, list[str]] = {}

    class Item:
        def __init__(self, name: str) -> None:
            self.path, self.add_marker = root / name, marks.setdefault(name, []).append

    names = ["tests/tensor/test_tensor.py", "benchmarks/run.py", "kuiper/models/zoo/cnn.py", "tests/test_docs.py"]
    config = SimpleNamespace(getoption=lambda name: 1)
    runpy.run_path(str(root / "conftest.py"))["pytest_collection_modifyitems"](config, [Item(name) for name in names])
    assert list(marks.values()) == [[], ["thorough"], ["torch"], ["thorough"]]
