"""Which files are pictures, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kuiper.models.many.picture_files import find_pictures, picture_suffixes


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def found(folder: Path) -> list[str]:
    return [Path(path).relative_to(folder).as_posix() for path in find_pictures([folder])]


def test_find_pictures_walks_folders_in_natural_order(tmp_path: Path) -> None:
    touch(tmp_path, "10.png", "9.png", "b/2.JPG", "b/1.jpeg", "a10/x.tif", "a9/x.webp")
    assert found(tmp_path) == ["9.png", "10.png", "a9/x.webp", "a10/x.tif", "b/1.jpeg", "b/2.JPG"]


def test_find_pictures_takes_only_pictures_from_a_folder(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "1.png",
        "notes.txt",
        "out.jsonl",
        "film.mpg",
        "paper.pdf",
        "plot.eps",
        "png",
        ".hidden.png",
        ".x/1.png",
    )
    (tmp_path / "folder.png").mkdir()
    assert found(tmp_path) == ["1.png"]


def test_find_pictures_takes_a_file_whatever_its_name_is(tmp_path: Path) -> None:
    touch(tmp_path, "photo", ".hidden.txt")
    places = [str(tmp_path / "photo"), str(tmp_path / ".hidden.txt"), str(tmp_path / "missing.png")]
    assert find_pictures(places) == places


def test_find_pictures_gives_each_picture_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "a/1.png", "a/2.png")
    monkeypatch.chdir(tmp_path)
    assert find_pictures(["a/2.png", "a", tmp_path / "a" / "1.png"]) == ["a/2.png", os.path.join("a", "1.png")]


def test_find_pictures_follows_links_but_in_no_circle(tmp_path: Path) -> None:
    touch(tmp_path, "photos/1.png", "elsewhere/2.png")
    try:
        (tmp_path / "photos" / "loop").symlink_to(tmp_path / "photos", target_is_directory=True)
        (tmp_path / "photos" / "more").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
        (tmp_path / "photos" / "self.png").symlink_to(tmp_path / "photos" / "self.png")
    except OSError:
        pytest.skip("links need a privilege here")
    assert found(tmp_path / "photos") == ["1.png", "self.png", "more/2.png"]  # a link to itself fails when it is read


def test_find_pictures_leaves_a_folder_out(tmp_path: Path) -> None:
    touch(tmp_path, "1.png", "drawn/1.png", "drawn/deep/1.png")
    assert find_pictures([tmp_path], leave_out=tmp_path / "drawn") == [str(tmp_path / "1.png")]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nobody keeps this user out of a folder")
def test_find_pictures_says_which_folder_it_cannot_read(tmp_path: Path) -> None:
    touch(tmp_path, "shut/1.png")
    (tmp_path / "shut").chmod(0)
    with pytest.raises(PermissionError, match="shut"):
        find_pictures([tmp_path])
    (tmp_path / "shut").chmod(0o700)


def test_picture_suffixes_are_those_that_pillow_reads_by_itself() -> None:
    assert {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm"} <= picture_suffixes()
    assert not {".pdf", ".eps", ".ps", ".h5", ".hdf", ".mpg", ".wmf", ".txt", ""} & picture_suffixes()
