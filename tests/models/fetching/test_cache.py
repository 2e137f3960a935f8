"""What is in the cache, and how damage is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ModelFormatError
from kuiper.models.fetching.cache import cached_names, check_model, keep_model, model_files, read_manifest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def kept(cache: Path, tmp_path: Path) -> Path:
    return keep(tmp_path, "first")


def keep(tmp_path: Path, text: str) -> Path:
    made = tmp_path / text
    made.mkdir()
    for file in model_files("net"):
        (made / file).write_text(f"{text} {file}", encoding="utf-8")
    return keep_model("net", made, {"source": text})


def test_keep_model_notes_hashes(kept: Path, cache: Path) -> None:
    assert kept == cache / "models" / "net" / "net.pnnx.param" == check_model("net")
    manifest = read_manifest("net")
    assert manifest["source"] == "first"
    assert list(manifest["files"]) == list(model_files("net"))
    assert cached_names() == ["net"]


def test_keep_model_replaces_an_older_one(kept: Path, tmp_path: Path) -> None:
    keep(tmp_path, "second")
    assert check_model("net").read_text(encoding="utf-8") == "second net.pnnx.param"
    assert read_manifest("net")["source"] == "second"


@pytest.mark.parametrize("file", model_files("net"))
def test_check_model_finds_a_changed_file(kept: Path, file: str) -> None:
    path = kept.with_name(file)
    path.write_text(path.read_text(encoding="utf-8").replace("first", "f1rst"), encoding="utf-8")
    with pytest.raises(
        ModelFormatError, match=rf"{file}: expected SHA-256 \w{{64}}, got \w{{64}}; the file has changed"
    ):
        check_model("net")


@pytest.mark.parametrize("file", model_files("net"))
def test_check_model_finds_a_missing_file(kept: Path, file: str) -> None:
    kept.with_name(file).unlink()
    with pytest.raises(ModelFormatError, match=f"{file}: expected a file of the cache, got nothing there"):
        check_model("net")


def test_check_model_of_one_that_is_not_there(cache: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"manifest.json: expected a manifest in JSON"):
        check_model("net")
    assert cached_names() == []


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps({"files": ["net.json"]})])
def test_check_model_refuses_a_broken_manifest(kept: Path, content: str) -> None:
    kept.with_name("manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"manifest\.json: expected a manifest"):
        check_model("net")


def test_check_model_refuses_a_manifest_that_leaves_a_file_out(kept: Path) -> None:
    manifest = read_manifest("net")
    del manifest["files"]["net.json"]
    kept.with_name("manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"net\.json: expected SHA-256 None"):
        check_model("net")
