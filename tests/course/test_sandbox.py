"""What is behind the walls, seen by programs of the system; tests/course/attacks.py looks from within Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import kuiper
from kuiper.course.errors import CourseError
from kuiper.course.sandbox import Mode, Walls, chosen_mode, works

SCHEDULE = Path(kuiper.__file__).parent / "graph" / "schedule.py"
WORKER = 4  # words


@pytest.fixture(params=["bubblewrap", "namespaces"])
def walls(request: pytest.FixtureRequest, tmp_path: Path) -> Walls:
    mode: Mode = request.param
    if not works(mode):
        pytest.skip(f"no {mode} here")
    for name in ("given", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "given" / "cover.py").write_text("covered")
    (tmp_path / "other.py").write_text("other")
    hidden = (Path(kuiper.__file__).parent / "tensor",)
    return Walls(mode, (tmp_path / "given",), tmp_path / "scratch", hidden, {SCHEDULE: tmp_path / "given" / "cover.py"})


def behind(walls: Walls, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*walls.command()[:-WORKER], "/usr/bin/env", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_covers_stand_for_files(walls: Walls) -> None:
    assert behind(walls, "cat", str(SCHEDULE)).stdout == "covered"
    assert behind(walls, "ls", str(SCHEDULE.parent / "__pycache__")).stdout == ""
    assert "queue_order" in SCHEDULE.read_text(encoding="utf-8")


def test_hidden_folders_are_empty(walls: Walls) -> None:
    assert behind(walls, "ls", "-A", str(walls.hidden[0])).stdout == ""
    assert "errors.py" in behind(walls, "ls", str(SCHEDULE.parents[1])).stdout


def test_nothing_else_exists(walls: Walls) -> None:
    other = walls.scratch.parent / "other.py"
    assert behind(walls, "cat", str(other)).returncode != 0
    assert behind(walls, "ls", "-A", str(walls.scratch.parent)).stdout.split() == ["given", "scratch"]
    assert "home" not in behind(walls, "ls", "/").stdout.split()


@pytest.mark.parametrize(
    "folder", ["/", "/usr", "/tmp", "/dev", "/dev/shm", "/proc", "{given}", "{package}", "{hidden}"]
)
def test_only_the_scratch_folder_can_be_written(walls: Walls, folder: str) -> None:
    places = {"given": walls.given[0], "package": SCHEDULE.parent, "hidden": walls.hidden[0]}
    assert behind(walls, "touch", folder.format(**places) + "/new").returncode != 0
    assert behind(walls, "touch", str(walls.scratch / "new")).returncode == 0
    assert (walls.scratch / "new").is_file()


def test_no_privilege_is_left(walls: Walls) -> None:
    status = behind(walls, "cat", "/proc/self/status").stdout
    rights = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (rights["CapPrm"], rights["CapEff"], rights["NoNewPrivs"]) == ("0" * 16, "0" * 16, "1")


def test_there_is_no_network_but_the_own(walls: Walls) -> None:
    assert [line.split(":")[0].strip() for line in behind(walls, "cat", "/proc/net/dev").stdout.splitlines()[2:]] in (
        ["lo"],
        [],
    )


def test_chosen_mode_is_what_works() -> None:
    assert chosen_mode("limits") == "limits"
    assert works(chosen_mode(None))
    with pytest.raises(CourseError, match="expected one of those that work"):
        chosen_mode("moat")
