"""Published language models: from the server to a folder in the cache that runs."""

from __future__ import annotations

import hashlib
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import DownloadError, ModelFormatError
from kuiper.models.fetching.cache import cached_names, check_model, read_manifest
from kuiper.models.fetching.checkpoints import CHECKPOINTS, OfficialCheckpoint, Published
from kuiper.models.fetching.download import Patience, refuse_unencrypted
from kuiper.models.fetching.fetch_checkpoint import fetch_checkpoint
from kuiper.models.lookup import find_model
from kuiper.models.text.checkpoint import CONFIG, SINGLE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.models.fetching.network import Server

NAME = "SmolLM2-135M-Instruct"
ENTRIES = pytest.mark.parametrize("source", CHECKPOINTS.values(), ids=list(CHECKPOINTS))


@ENTRIES
def test_checkpoint_has_what_its_use_needs(source: OfficialCheckpoint) -> None:
    needed = {CONFIG, SINGLE, "tokenizer.json"} | ({"tokenizer_config.json"} if source.chats else set())
    assert needed <= set(source.files)
    assert not [file for file in source.files if not file.endswith((".json", ".safetensors"))]
    assert len(bytes.fromhex(source.revision)) == 20
    for file, published in source.files.items():
        refuse_unencrypted(source.url(file))
        assert len(bytes.fromhex(published.sha256)) == 32
        assert published.size > 0
    assert list(source.files)[-1] == SINGLE  # the small ones first: who is refused waits seconds, not minutes


@pytest.fixture
def entry(server: Server, monkeypatch: pytest.MonkeyPatch) -> OfficialCheckpoint:
    """The catalogue names what the server has."""
    pytest.importorskip("filelock")
    published = Published(len(server.content), hashlib.sha256(server.content).hexdigest())
    monkeypatch.setattr("kuiper.models.fetching.checkpoints.HUB", server.url)
    source = replace(CHECKPOINTS[NAME], repository="good", files={CONFIG: published, SINGLE: published})
    monkeypatch.setitem(CHECKPOINTS, NAME, source)
    return source


def test_fetch_checkpoint_puts_all_files_into_the_cache(server: Server, entry: OfficialCheckpoint, cache: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    folder = fetch_checkpoint(NAME, report=lambda *report: reports.append(report))
    assert folder == cache / "models" / NAME == find_model(NAME)
    assert (folder / SINGLE).read_bytes() == server.content
    assert [path for path, _ in server.requests] == [
        f"/good/resolve/{entry.revision}/{file}" for file in (CONFIG, SINGLE)
    ]
    assert read_manifest(NAME)["licence"] == "Apache-2.0"
    assert (f"downloading {SINGLE}", 5000, 5000) in reports
    fetch_checkpoint(NAME)
    assert len(server.requests) == 2


def test_fetch_checkpoint_brings_only_what_is_missing_or_damaged(server: Server, entry: OfficialCheckpoint) -> None:
    folder = fetch_checkpoint(NAME)
    (folder / CONFIG).write_bytes(b"{}")
    with pytest.raises(ModelFormatError, match=rf"config\.json: expected SHA-256 .*; .*kuiper fetch {NAME}"):
        find_model(NAME)
    fetch_checkpoint(NAME)
    assert check_model(NAME) == folder
    assert [path.rpartition("/")[2] for path, _ in server.requests] == [CONFIG, SINGLE, CONFIG]


def test_fetch_checkpoint_brings_what_the_catalogue_has_besides(
    server: Server, entry: OfficialCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_checkpoint(NAME)
    monkeypatch.setitem(CHECKPOINTS, NAME, replace(entry, files={**entry.files, "more.json": entry.files[CONFIG]}))
    assert (fetch_checkpoint(NAME) / "more.json").is_file()


def test_fetch_checkpoint_brings_what_the_catalogue_has_corrected(
    server: Server, entry: OfficialCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fetch_checkpoint(NAME)
    server.content = b"corrected"
    corrected = Published(9, hashlib.sha256(b"corrected").hexdigest())
    monkeypatch.setitem(CHECKPOINTS, NAME, replace(entry, files={**entry.files, SINGLE: corrected}))
    fetch_checkpoint(NAME)
    assert (folder / SINGLE).read_bytes() == b"corrected"
    assert len(server.requests) == 3


def test_fetch_checkpoint_that_breaks_off_goes_on(server: Server, entry: OfficialCheckpoint) -> None:
    with pytest.raises(DownloadError, match="the connection was closed"):
        fetch_checkpoint(NAME, mirror=f"{server.url}/closes_early", patience=Patience(attempts=1, pause=0))
    assert NAME not in cached_names()
    fetch_checkpoint(NAME, mirror=f"{server.url}/good")
    assert server.requests[1] == (f"/good/{CONFIG}", "bytes=1000-")
    assert check_model(NAME).is_dir()


def test_fetch_checkpoint_of_another_file_keeps_nothing_of_it(
    server: Server, entry: OfficialCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**entry.files, SINGLE: Published(len(server.content), "0" * 64)}
    monkeypatch.setitem(CHECKPOINTS, NAME, replace(entry, files=wrong))
    with pytest.raises(DownloadError, match=f"model.safetensors: expected SHA-256 {'0' * 64}, got"):
        fetch_checkpoint(NAME)
    assert NAME not in cached_names()


@pytest.mark.parametrize("missing", ["filelock", "safetensors", "tokenizers", "jinja2"])
def test_fetch_checkpoint_without_the_extra_downloads_nothing(
    server: Server, entry: OfficialCheckpoint, cache: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=f"kuiper fetch {NAME}: expected the package {missing}"):
        fetch_checkpoint(NAME)
    assert server.requests == []
    assert not cache.exists()


def test_checkpoint_whose_manifest_names_a_file_that_is_gone(entry: OfficialCheckpoint, cache: Path) -> None:
    folder = fetch_checkpoint(NAME)
    (folder / SINGLE).unlink()
    with pytest.raises(ModelFormatError, match=r"model\.safetensors: expected a file of the cache, got nothing there"):
        check_model(NAME)
    shutil.rmtree(folder)
    assert cached_names() == []
