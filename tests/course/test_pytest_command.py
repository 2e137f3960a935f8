from __future__ import annotations

import configparser
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.course.material import CHECKOUT
from kuiper.course.places import pytest_environment
from kuiper.course.pytest_command import NOT_NEEDED, pytest_command

if TYPE_CHECKING:
    from pathlib import Path

TEST = """
import sys


def test_what_is_loaded(pytestconfig):
    assert pytestconfig.pluginmanager.hasplugin("kuiper.course.pytest_plugin")
    assert [name for name in {names} if pytestconfig.pluginmanager.hasplugin(name)] == []


def test_what_is_imported():
    assert [name for name in ("anyio", "hypothesis") if name in sys.modules] == []
"""


@pytest.mark.thorough
def test_pytest_command_loads_what_exercises_need_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "test_loaded.py").write_text(TEST.format(names=NOT_NEEDED))
    command = pytest_command(f"--rootdir={tmp_path}", str(tmp_path))
    done = subprocess.run(command, cwd=tmp_path, env=pytest_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pytest_command_alone_keeps_the_users_own_packages_out() -> None:
    assert pytest_command("x", alone=True)[:3] == [sys.executable, "-s", "-m"]
    assert pytest_command("x")[:2] == [sys.executable, "-m"]


def test_a_students_own_pytest_leaves_out_the_same_but_the_cache() -> None:
    settings = configparser.ConfigParser()
    settings.read(CHECKOUT / "student_folder" / "pytest.ini", encoding="utf-8")
    words = settings["pytest"]["addopts"].split()
    assert [word for word in words if word.startswith("no:")] == [f"no:{name}" for name in NOT_NEEDED[1:]]
