"""The steps of a fetch, without torch: what is made is made up here."""

from __future__ import annotations

import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import DownloadError, ExportError, ParameterError
from kuiper.models.fetching import fetch as steps
from kuiper.models.fetching.cache import model_files, read_manifest
from kuiper.models.fetching.catalogue import CATALOGUE, Official
from kuiper.models.fetching.download import Patience
from kuiper.models.fetching.fetch import fetch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.models.fetching.network import Server

NAME = "squeezenet1_1"
FILE = "squeezenet1_1-b8a52dc0.pth"


@pytest.fixture
def entry(server: Server, monkeypatch: pytest.MonkeyPatch) -> Official:
    """The catalogue names what the server has."""
    digest = hashlib.sha256(server.content).hexdigest()
    url = f"{server.url}/good/{FILE}"
    monkeypatch.setitem(
        CATALOGUE, NAME, replace(CATALOGUE[NAME], url=url, sha256=digest, size=len(server.content), input_size=64)
    )
    return CATALOGUE[NAME]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The weights that models were made from, instead of models."""
    pytest.importorskip("filelock")
    weights_used = []

    def make_model(name: str, source: Official, weights: Path, folder: Path) -> dict[str, Any]:
        weights_used.append(weights.read_bytes())
        for file in model_files(name):
            (folder / file).write_text(f"{file} number {len(weights_used)}", encoding="utf-8")
        return {"source": source.url, "sha256": source.sha256}

    monkeypatch.setattr(steps, "_require_tools", lambda name: None)
    monkeypatch.setattr(steps, "make_model", make_model)
    return weights_used


def test_fetch_puts_a_model_into_the_cache(server: Server, entry: Official, made: list[bytes], cache: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    param = fetch(NAME, report=lambda *report: reports.append(report))
    assert param == cache / "models" / NAME / f"{NAME}.pnnx.param"
    assert made == [server.content]
    assert read_manifest(NAME)["source"] == entry.url
    assert ("downloading", 5000, 5000) in reports
    assert reports[-1][0] == "converting, and comparing with torch"
    assert sorted(path.name for path in cache.iterdir()) == ["downloads", "models"]


def test_fetch_of_what_is_there_does_nothing(
    server: Server, entry: Official, made: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fetch(NAME)
    monkeypatch.setattr(steps, "_require_tools", lambda name: pytest.fail("torch is not needed"))
    assert fetch(NAME) == first
    assert len(server.requests) == len(made) == 1


def test_fetch_makes_a_model_of_other_weights_anew(
    entry: Official, made: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(NAME)
    (tmp_path / "corrected.pth").write_bytes(b"corrected")
    monkeypatch.setitem(CATALOGUE, NAME, replace(entry, sha256=hashlib.sha256(b"corrected").hexdigest()))
    fetch(NAME, offline_file=tmp_path / "corrected.pth")
    assert made[1] == b"corrected"


def test_fetch_by_force_makes_it_anew_from_the_same_download(
    server: Server, entry: Official, made: list[bytes]
) -> None:
    fetch(NAME)
    assert fetch(NAME, force=True).read_text(encoding="utf-8") == f"{NAME}.pnnx.param number 2"
    assert len(server.requests) == 1


@pytest.mark.parametrize("file", [*model_files(NAME), "manifest.json"])
def test_fetch_makes_a_damaged_model_anew(entry: Official, made: list[bytes], file: str) -> None:
    param = fetch(NAME)
    param.with_name(file).write_bytes(b"damaged")
    assert fetch(NAME).read_text(encoding="utf-8") == f"{NAME}.pnnx.param number 2"
    fetch(NAME)
    assert len(made) == 2


def test_fetch_downloads_damaged_weights_anew(server: Server, entry: Official, made: list[bytes], cache: Path) -> None:
    fetch(NAME)
    (cache / "downloads" / FILE).write_bytes(b"damaged")
    fetch(NAME, force=True)
    assert made == [server.content] * 2
    assert len(server.requests) == 2


def test_fetch_from_a_mirror(server: Server, entry: Official, made: list[bytes]) -> None:
    fetch(NAME, mirror=f"{server.url}/good/below/")
    assert server.requests == [(f"/good/below/{FILE}", "")]


def test_fetch_from_a_file(server: Server, entry: Official, made: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "mine.pth").write_bytes(server.content)
    fetch(NAME, offline_file=tmp_path / "mine.pth")
    assert made == [server.content]
    assert server.requests == []


def test_fetch_from_a_wrong_file_leaves_it_alone(entry: Official, made: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "mine.pth").write_bytes(b"other weights")
    with pytest.raises(DownloadError, match=rf"mine.pth: expected SHA-256 \w+, that of {FILE}, got \w+"):
        fetch(NAME, offline_file=tmp_path / "mine.pth")
    assert (tmp_path / "mine.pth").exists()
    with pytest.raises(DownloadError, match=f"nothing.pth: expected the file {FILE}, got No such file"):
        fetch(NAME, offline_file=tmp_path / "nothing.pth")
    assert made == []


def test_fetch_that_fails_leaves_nothing_behind(
    entry: Official, made: list[bytes], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise ExportError(NAME, "the same", "something else")

    monkeypatch.setattr(steps, "make_model", fail)
    with pytest.raises(ExportError):
        fetch(NAME)
    assert sorted(path.name for path in cache.iterdir()) == ["downloads", "models"]
    assert [path for path in (cache / "models").iterdir() if path.is_dir()] == []


def test_two_fetches_at_once_download_and_make_one_model(
    server: Server, entry: Official, made: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first has the lock before the second comes, and does not finish before the second waits for it."""
    first_is_making, second_is_waiting = threading.Event(), threading.Event()
    make = steps.make_model

    def make_slowly(*arguments: Any) -> Any:
        first_is_making.set()
        assert second_is_waiting.wait(60)
        return make(*arguments)

    monkeypatch.setattr(steps, "make_model", make_slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch, NAME)
        assert first_is_making.wait(60)
        second = pool.submit(fetch, NAME, report=lambda step, done, total: second_is_waiting.set())
        assert first.result(60) == second.result(60)
    assert len(server.requests) == len(made) == 1


def test_fetch_of_an_unknown_name() -> None:
    with pytest.raises(ParameterError, match=r"catalogue: expected one of resnet18, .*, got alexnet"):
        fetch("alexnet")


@pytest.mark.parametrize("missing", ["torch", "pnnx", "filelock"])
def test_fetch_without_the_extra_downloads_nothing(
    server: Server, entry: Official, cache: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in ("torch", "pnnx", "filelock"):
        monkeypatch.setitem(sys.modules, name, None if name == missing else sys)
    expected = f"{NAME}: expected PyTorch and pnnx, got no module {missing}; pip install torch pnnx filelock"
    with pytest.raises(ExportError, match=expected):
        fetch(NAME)
    assert server.requests == []
    assert not cache.exists()


def test_fetch_waits_as_long_as_it_is_told_to(server: Server, entry: Official, made: list[bytes]) -> None:
    with pytest.raises(DownloadError, match="the connection was closed"):
        fetch(NAME, mirror=f"{server.url}/closes_early", patience=Patience(attempts=2, pause=0))
    assert len(server.requests) == 2
    fetch(NAME)
    assert server.requests[-1] == (f"/good/{FILE}", "bytes=2000-")
