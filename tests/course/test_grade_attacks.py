"""The table of attacks, in every kind of sandbox that this machine can build, as an ordinary user and as root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, get_args

import pytest

from kuiper.course.sandbox import Mode, are_alike, works
from tests.course.attacks import ATTACKS

ROOT = Path(__file__).parents[2]
NOBODY = 65534
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


def grade(folder: Path, mode: Mode, user: int | None, *words: str) -> dict[str, Any]:
    """What the attacks came to, graded in a process of this user or of another one."""
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    rights: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
    command = [sys.executable, "-m", "tests.course.attacks", str(folder), mode, *words]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, **rights)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def others_can_run() -> bool:
    """Whether another user can read this Python and this checkout."""
    command = [sys.executable, "-c", "import kuiper, pytest"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, user=NOBODY, group=NOBODY, extra_groups=[])
    except OSError:
        return False
    return done.returncode == 0


def planted() -> dict[Path, bytes]:
    """What attacks leave where the grader's code is, if they can; Debian's Python has a sitecustomize.py of its own."""
    places = [ROOT / "kuiper" / "course", Path(sysconfig.get_paths()["purelib"]), Path(os.__file__).parent]
    names = ("planted.py", "planted.pth", "sitecustomize.py")
    files = [path / name for path in places for name in names]
    return {file: file.read_bytes() for file in files if file.exists()}


BEFORE = planted()


def check(found: dict[str, Any], mode: Mode, user: int | None) -> None:
    """Honest exercises have their points, attacks have none, and nothing is left of them."""
    assert found["mode"] == mode
    assert found["user"] == (os.getuid() if user is None else user)
    points, verdicts = found["points"], found["verdicts"]
    unpaid = {name: verdicts[name] for name in points if name.startswith("honest") and points[name] == 0}
    paid = {name: verdicts[name] for name in points if not name.startswith("honest") and points[name] > 0}
    assert not unpaid
    assert not paid
    assert found["threads"] == 0
    assert planted() == BEFORE
    assert "planted" not in (ROOT / "kuiper" / "course" / "comparison.py").read_text()


def modes(user: int | None) -> list[Mode]:
    """Those that work here. Where a submission has all the rights of root, nothing of this is run."""
    return [mode for mode in get_args(Mode) if works(mode) and not (user is None and IS_ROOT and are_alike(mode))]


@pytest.mark.timeout(600)
def test_attacks_of_each_class_get_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In the best sandbox that works here, as an ordinary user; all attacks, modes and users are a gate.

    As root only where the ordinary user can read nothing of this.
    """
    user = NOBODY if IS_ROOT and others_can_run() else None
    if not (possible := modes(user)):
        pytest.skip("a sandbox cannot be built here, or not against one who has all rights")
    found = grade(_open_folder(tmp_path_factory), possible[0], user)
    print(f"{len(found['points'])} exercises, user {found['user']}, {possible[0]}")
    check(found, possible[0], user)
    assert len(found["points"]) >= 14


@pytest.mark.gates
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize("user", [None, NOBODY] if IS_ROOT else [None], ids=["self", "nobody"][: 2 if IS_ROOT else 1])
def test_all_attacks_get_nothing(tmp_path_factory: pytest.TempPathFactory, mode: Mode, user: int | None) -> None:
    folder = _open_folder(tmp_path_factory)
    if mode not in modes(user) or (user and not others_can_run()):
        pytest.skip(f"a sandbox of the kind {mode} cannot be built here for this user")
    found = grade(folder, mode, user, "everything")
    check(found, mode, user)
    assert len(found["points"]) >= 60


def _open_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder that every user can reach: pytest's own are for one alone."""
    folder = factory.mktemp("attacks")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    folder.chmod(0o777)
    return folder / "work"


def test_table_has_attacks_of_every_class() -> None:
    assert len(ATTACKS) >= 80
