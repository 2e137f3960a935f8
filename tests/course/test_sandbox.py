"""What is in the sandbox, seen by programs of the system; tests/course/attacks.py looks from within Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kuiper
from kuiper.course.errors import CourseError
from kuiper.course.sandbox import Mode, Sandbox, chosen_mode, works

PACKAGE = Path(kuiper.__file__).parent
SCHEDULE = PACKAGE / "graph" / "schedule.py"
WORKER = 4  # words


@pytest.fixture(params=["bubblewrap", "namespaces"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    mode: Mode = request.param
    if not works(mode):
        pytest.skip(f"no {mode} here")
    for name in ("given", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "given" / "cover.py").write_text("covered")
    (tmp_path / "other.py").write_text("other")
    hidden = (Path(kuiper.__file__).parent / "tensor",)
    return Sandbox(
        mode, (tmp_path / "given",), tmp_path / "scratch", hidden, {SCHEDULE: tmp_path / "given" / "cover.py"}
    )


def behind(sandbox: Sandbox, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*sandbox.command()[:-WORKER], "/usr/bin/env", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_covers_stand_for_files(sandbox: Sandbox) -> None:
    assert behind(sandbox, "cat", str(SCHEDULE)).stdout == "covered"
    assert behind(sandbox, "ls", str(SCHEDULE.parent / "__pycache__")).stdout == ""
    assert "queue_order" in SCHEDULE.read_text(encoding="utf-8")


def test_hidden_folders_are_empty(sandbox: Sandbox) -> None:
    assert behind(sandbox, "ls", "-A", str(sandbox.hidden[0])).stdout == ""
    assert "errors.py" in behind(sandbox, "ls", str(SCHEDULE.parents[1])).stdout


def test_nothing_else_exists(sandbox: Sandbox) -> None:
    other = sandbox.scratch.parent / "other.py"
    assert behind(sandbox, "cat", str(other)).returncode != 0
    assert behind(sandbox, "ls", "-A", str(sandbox.scratch.parent)).stdout.split() == ["given", "scratch"]
    needed = [Path(place).resolve() for place in (sys.prefix, sys.base_prefix, Path(np.__file__).parents[1], PACKAGE)]
    for folder in (Path("/home"), Path.home()):  # where Python or kuiper is in one, only the way to them
        way = {path.relative_to(folder).parts[0] for path in needed if path != folder and path.is_relative_to(folder)}
        assert set(behind(sandbox, "ls", "-A", str(folder)).stdout.split()) == way


@pytest.mark.parametrize(
    "folder", ["/", "/usr", "/tmp", "/dev", "/dev/shm", "/proc", "{given}", "{package}", "{hidden}"]
)
def test_only_the_scratch_folder_can_be_written(sandbox: Sandbox, folder: str) -> None:
    places = {"given": sandbox.given[0], "package": SCHEDULE.parent, "hidden": sandbox.hidden[0]}
    assert behind(sandbox, "touch", folder.format(**places) + "/new").returncode != 0
    assert behind(sandbox, "touch", str(sandbox.scratch / "new")).returncode == 0
    assert (sandbox.scratch / "new").is_file()


def test_no_privilege_is_left(sandbox: Sandbox) -> None:
    status = behind(sandbox, "cat", "/proc/self/status").stdout
    rights = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (rights["CapPrm"], rights["CapEff"], rights["NoNewPrivs"]) == ("0" * 16, "0" * 16, "1")


def test_there_is_no_network_but_the_own(sandbox: Sandbox) -> None:
    assert [line.split(":")[0].strip() for line in behind(sandbox, "cat", "/proc/net/dev").stdout.splitlines()[2:]] in (
        ["lo"],
        [],
    )


def test_chosen_mode_is_what_works() -> None:
    assert chosen_mode("limits") == "limits"
    assert works(chosen_mode(None))
    with pytest.raises(CourseError, match="expected one of those that work"):
        chosen_mode("moat")
