"""JupyterLite beside the live page: what its lock file and its settings say."""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))
lab_pages: Any = importlib.import_module("lab_pages")


def wheel(folder: Path) -> Path:
    """A wheel with a package, a module and data."""
    path = folder / "Some_thing-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (
            "pack/__init__.py",
            "pack/sub/a.py",
            "single.py",
            "Some_thing-1.2.data/x",
            "Some_thing-1.2.dist-info/RECORD",
        ):
            archive.writestr(name, "")
        archive.writestr("Some_thing-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: Some.thing\nVersion: 1.2\n")
    return path


def test_locked_says_what_a_wheel_has_and_where_it_is(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    entry = lab_pages.locked(path, "packages/x.whl")
    assert (entry["name"], entry["version"], entry["file_name"]) == ("some-thing", "1.2", "packages/x.whl")
    assert entry["imports"] == ["pack", "single"]
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_first_lock_has_the_packages_of_pyodide_only_where_it_comes_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = {"info": {"abi_version": "2026_0"}, "packages": {"six": {"file_name": "six-1.whl"}}}
    (tmp_path / "pyodide").mkdir()
    (tmp_path / "pyodide" / "pyodide-lock.json").write_text(json.dumps(lock))
    monkeypatch.setattr(lab_pages, "MODULES", tmp_path)
    assert lab_pages.first_lock("runtime/1/") == lock | {"packages": {}}
    there = lab_pages.first_lock("https://example.org/full/")
    assert there["info"] == lock["info"]
    assert there["packages"]["six"]["file_name"] == "https://example.org/full/six-1.whl"


@pytest.mark.parametrize("place", ["runtime/1/", "https://example.org/full/"])
def test_settings_take_python_from_where_the_live_page_does(place: str) -> None:
    settings = lab_pages.settings({"pyodide": place}, ["kuiper"], "zh")["jupyter-config-data"]
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    is_here = place == "runtime/1/"
    assert kernel["pyodideUrl"] == ("./../../live/runtime/1/pyodide.mjs" if is_here else f"{place}pyodide.mjs")
    assert kernel["disablePyPIFallback"] is is_here
    assert kernel["loadPyodideOptions"]["packages"] == ["kuiper"]
    assert settings["settingsOverrides"]["@jupyterlab/translation-extension:plugin"] == {"locale": "zh_CN"}


def test_add_languages_puts_the_words_of_others_into_the_wheel(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    (tmp_path / "languages").mkdir()
    with zipfile.ZipFile(tmp_path / "languages" / "zh.zip", "w") as archive:
        archive.writestr("pack/locale/zh.mo", "words")
    lab_pages.add_languages(path, tmp_path / "languages")
    with zipfile.ZipFile(path) as archive:
        assert archive.read("pack/locale/zh.mo") == b"words"
        assert archive.testzip() is None
