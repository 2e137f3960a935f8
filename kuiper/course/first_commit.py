"""A student's folder under git, where git is there: what was handed out is the first commit."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from kuiper.language import _

if TYPE_CHECKING:
    from pathlib import Path

# The commit needs no configuration, and runs nothing that a configuration may ask for.
SETTINGS = {
    "user.name": "kuiper course start",
    "user.email": "course@kuiper.invalid",
    "commit.gpgsign": "false",
    "core.hooksPath": os.devnull,
    "init.defaultBranch": "main",
}


def first_commit(folder: Path, message: str) -> str:
    """Make a repository with one commit; in words, what came of it."""
    if shutil.which("git") is None:
        return _("git is not there, so the folder is not under version control")
    if _git(folder, "rev-parse", "--is-inside-work-tree").returncode == 0:
        return _("the folder lies in a git repository already: commit it there")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", message)):
        done = _git(folder, *words)
        if done.returncode:
            complaint = (done.stderr.strip().splitlines() or [_("nothing said")])[-1]
            failed = _("{command} failed, so the folder is not under version control: {complaint}")
            return failed.format(command=f"git {words[0]}", complaint=complaint)
    return _("under git, with the course as the first commit")


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """git in a folder, whatever repository the environment names (a hook's does)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    return subprocess.run(
        ["git", *settings, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
