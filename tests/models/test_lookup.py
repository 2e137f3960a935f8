"""Models by path and by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models import bundled
from kuiper.models.fetching.cache import keep_model, model_files
from kuiper.models.lookup import find_model


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model called net in a cache of this test's own."""
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "made").mkdir()
    for file in model_files("net"):
        (tmp_path / "made" / file).write_text(file, encoding="utf-8")
    (tmp_path / "cache" / "models").mkdir(parents=True)
    return keep_model("net", tmp_path / "made", {})


def test_find_model_takes_a_path(kept: Path) -> None:
    assert find_model(kept) == kept
    assert find_model(str(kept)) == kept


def test_find_model_takes_a_file_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net").touch()
    assert find_model("net") == Path("net")


@pytest.mark.parametrize("path", ["nothing.pnnx.param", "folder/net", "./net"])
def test_find_model_leaves_paths_to_nothing_to_the_loader(path: str) -> None:
    assert find_model(path) == Path(path)


def test_find_model_knows_what_is_bundled() -> None:
    assert find_model("cifar_resnet20") == bundled("cifar_resnet20")


def test_find_model_knows_what_is_in_the_cache(kept: Path) -> None:
    assert find_model("net") == kept


def test_find_model_checks_what_is_in_the_cache(kept: Path) -> None:
    kept.with_name("net.pnnx.bin").write_text("changed", encoding="utf-8")
    message = r"net.pnnx.bin: expected SHA-256 .*; the file has changed; kuiper fetch net makes it anew"
    with pytest.raises(ModelFormatError, match=message):
        find_model("net")


def test_find_model_lists_what_there_is() -> None:
    message = r"model: expected a .param or an .onnx file, or one of .*cifar_resnet20.*, net, got alexnet; kuiper fetch"
    with pytest.raises(ParameterError, match=message):
        find_model("alexnet")


def test_find_model_says_what_can_be_fetched() -> None:
    with pytest.raises(ParameterError, match="got resnet18; kuiper fetch resnet18 brings it here"):
        find_model("resnet18")
