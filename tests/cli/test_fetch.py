"""``kuiper fetch`` as it is typed."""

from __future__ import annotations

import hashlib
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kuiper.cli import main
from kuiper.models.fetching import fetch as steps
from kuiper.models.fetching.cache import keep_model, model_files
from kuiper.models.fetching.catalogue import CATALOGUE
from kuiper.models.fetching.checkpoints import CHECKPOINTS, Published
from kuiper.models.fetching.making import UNKNOWN_LABELS
from tests.models.fetching.network import Server, cut_off
from tests.models.text.folders import tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No network, no waiting, a cache of its own, and torch and pnnx as good as installed."""
    cut_off(monkeypatch)
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(steps, "_require_tools", lambda name: None)
    return tmp_path / "cache"


def keep(name: str, tmp_path: Path, **notes: object) -> Path:
    """A made-up model in the cache."""
    made = tmp_path / "made"
    made.mkdir()
    for file in model_files(name):
        (made / file).write_text(file, encoding="utf-8")
    known = {"sha256": CATALOGUE[name].sha256, "difference": 3e-7, "labels": "torchvision"}
    return keep_model(name, made, {**known, **notes})


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_fetch_of_what_is_there_says_how_to_use_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    param = keep("resnet18", tmp_path)
    assert main(["fetch", "resnet18"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0] == str(param)
    assert "differ by 3.0e-07" in out
    assert "BSD-3-Clause" in out
    assert "labels:" not in out
    assert out.splitlines()[-1] == "use it: kuiper classify PHOTO.jpg --model resnet18"


def test_fetch_says_that_labels_are_only_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep("resnet18", tmp_path, labels=UNKNOWN_LABELS)
    assert main(["fetch", "resnet18"]) == 0
    assert "pip install torchvision, then kuiper fetch resnet18 --force" in capsys.readouterr().out


def test_fetch_without_a_network_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("filelock")
    assert main(["fetch", "resnet18"]) == 1
    line = error_line(capsys)
    assert line.startswith("kuiper fetch: download.pytorch.org: expected an answer, got none (")
    assert "is there a network? --mirror names another server, --offline-file takes a file from elsewhere" in line


@pytest.mark.parametrize("missing", ["torch", "pnnx"])
def test_fetch_without_the_extra_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path, missing: str
) -> None:
    monkeypatch.undo()
    cut_off(monkeypatch)
    monkeypatch.setenv("KUIPER_CACHE", str(cache))
    for name in ("torch", "pnnx", "filelock"):
        monkeypatch.setitem(sys.modules, name, None if name == missing else sys)
    assert main(["fetch", "resnet18"]) == 1
    expected = (
        f"kuiper fetch: resnet18: expected PyTorch and pnnx, got no module {missing}; pip install torch pnnx filelock"
    )
    assert error_line(capsys).strip() == expected
    assert not cache.exists()


def test_fetch_of_a_wrong_mirror_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("filelock")
    with Server(bytes(CATALOGUE["yolov5n"].size)) as server:
        assert main(["fetch", "yolov5n", "--mirror", f"{server.url}/good"]) == 1
        assert "it was deleted" in error_line(capsys)
        assert main(["fetch", "yolov5n", "--mirror", f"{server.url}/has_nothing"]) == 1
        assert f"{server.url}/has_nothing/yolov5n.pt: expected a file, got HTTP 404 Not Found" in error_line(capsys)


def test_fetch_of_a_file_makes_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("filelock")
    (tmp_path / "mine.pt").write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    monkeypatch.setitem(CATALOGUE, "yolov5n", replace(CATALOGUE["yolov5n"], sha256=digest))

    def make_model(name: str, source: object, weights: Path, folder: Path) -> dict[str, object]:
        for file in model_files(name):
            (folder / file).write_bytes(weights.read_bytes())
        return {"sha256": digest, "difference": 0.0, "labels": "COCO"}

    monkeypatch.setattr(steps, "make_model", make_model)
    assert main(["fetch", "yolov5n", "--offline-file", str(tmp_path / "mine.pt")]) == 0
    assert "use it: kuiper detect PHOTO.jpg --model yolov5n" in capsys.readouterr().out


def test_fetch_of_a_language_model_says_how_to_use_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    pytest.importorskip("filelock")
    with Server(b"{}") as server:
        files = {"config.json": Published(2, hashlib.sha256(b"{}").hexdigest())}
        for name, use in (("SmolLM2-135M-Instruct", "kuiper chat --model"), ("gpt2", 'kuiper generate "Once" --model')):
            monkeypatch.setitem(CHECKPOINTS, name, replace(CHECKPOINTS[name], files=files))
            assert main(["fetch", name, "--mirror", f"{server.url}/good"]) == 0
            lines = capsys.readouterr().out.splitlines()
            assert lines[0] == str(cache / "models" / name)
            assert lines[-1] == f"use it: {use} {name}"
    assert main(["fetch", "--list"]) == 0
    assert str(cache / "models" / "gpt2") in capsys.readouterr().out


def test_a_fetched_language_model_generates_and_is_quantised_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    pytest.importorskip("filelock")
    monkeypatch.chdir(tmp_path)
    published = {path.name: path.read_bytes() for path in tiny_folder(tmp_path / "tiny").iterdir()}
    for name, content in published.items():
        with Server(content) as server:
            files = {name: Published(len(content), hashlib.sha256(content).hexdigest())}
            monkeypatch.setitem(CHECKPOINTS, "gpt2", replace(CHECKPOINTS["gpt2"], files=files))
            assert main(["fetch", "gpt2", "--mirror", f"{server.url}/good"]) == 0
    everything = {name: Published(len(it), hashlib.sha256(it).hexdigest()) for name, it in published.items()}
    monkeypatch.setitem(CHECKPOINTS, "gpt2", replace(CHECKPOINTS["gpt2"], files=everything))
    assert main(["fetch", "gpt2"]) == 0  # all files are there: nothing is asked for
    assert main(["generate", "ab", "--model", "gpt2", "--max-tokens", "4"]) == 0
    assert main(["quantize", "gpt2"]) == 0
    assert "wrote gpt2-8bit/gpt2-8bit.pnnx.param" in capsys.readouterr().out.replace("\\", "/")


def test_fetch_takes_no_single_file_for_a_language_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "gpt2", "--offline-file", "model.safetensors"]) == 1
    line = error_line(capsys)
    assert "--offline-file: expected weights of one file, got gpt2" in line
    assert "kuiper generate --model FOLDER" in line


def test_fetch_of_an_unknown_name_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "gpt5"]) == 1
    line = error_line(capsys)
    assert "resnet18" in line
    assert "TinyLlama-1.1B-Chat" in line


def test_list_says_what_is_in_the_cache(tmp_path: Path, capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    param = keep("resnet18", tmp_path)
    assert main(["fetch", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*CATALOGUE, *CHECKPOINTS, "cache:"]
    assert lines[0].split() == ["resnet18", "46.8", "MB", "classify", str(param)]
    assert lines[1].endswith("not in the cache")
    param.unlink()
    assert main(["fetch", "--list"]) == 0
    assert f"damaged: {param}: expected a file of the cache" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [[], ["resnet18", "--list"], ["resnet18", "--mirror", "https://a", "--offline-file", "b"]]
)
def test_wrong_use_is_answered_with_exit_code_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fetch", *words])
    assert stopped.value.code == 2


def test_fetch_of_an_unknown_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "alexnet"]) == 1
    assert "catalogue: expected one of resnet18" in error_line(capsys)
