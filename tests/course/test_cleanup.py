from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from kuiper.course.cleanup import remove, temporary_folder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and rights as POSIX has them")


def test_remove_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    outside.chmod(0o555)
    (outside / "file").chmod(0o444)
    with temporary_folder() as folder:
        (folder / "to a folder").symlink_to(outside, target_is_directory=True)
        (folder / "to a file").symlink_to(outside / "file")
        (folder / "inner").mkdir()
        (folder / "inner" / "again").symlink_to(outside, target_is_directory=True)
        (folder / "inner").chmod(0)
        os.mkfifo(folder / "pipe")
    assert not folder.exists()
    assert (outside / "file").read_text() == "kept"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o555
    assert stat.S_IMODE((outside / "file").stat().st_mode) == 0o444


@pytest.mark.thorough
def test_remove_takes_folders_of_any_depth_and_name(tmp_path: Path) -> None:
    with temporary_folder() as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            for _ in range(3000):
                os.mkdir("d")
                os.chdir("d")
        finally:
            os.chdir(here)
        for name in (b"\xff\xfe", b"a\nb", b"-rf"):
            (folder / os.fsdecode(name)).mkdir()
            (folder / os.fsdecode(name) / "file").touch()
    assert not folder.exists()


def test_remove_of_nothing_is_nothing(tmp_path: Path) -> None:
    remove(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
