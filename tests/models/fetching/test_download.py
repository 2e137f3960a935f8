"""Downloads from a server with bad habits: what arrives is the file, or nothing."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import DownloadError
from kuiper.models.fetching.download import Patience, download, refuse_unencrypted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.models.fetching.network import Server

QUICK = Patience(attempts=3, pause=0)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "weights.pth"


def get(server: Server, habit: str, target: Path, patience: Patience = QUICK, **options: object) -> None:
    digest = hashlib.sha256(server.content).hexdigest()
    address = f"{server.url}/{habit}/{target.name}"
    download(address, target, digest, len(server.content), patience, **options)


def part_of(target: Path) -> Path:
    return target.with_name("weights.pth.part")


@pytest.mark.parametrize("habit", ["good", "without_ranges", "moved", "is_busy"])
def test_download_brings_the_file(server: Server, target: Path, habit: str) -> None:
    get(server, habit, target)
    assert target.read_bytes() == server.content
    assert not part_of(target).exists()


def test_download_reports_bytes(server: Server, target: Path) -> None:
    reports: list[tuple[int, int]] = []
    get(server, "good", target, report=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (5000, 5000)
    assert reports == sorted(reports)


def test_download_goes_on_where_it_was_interrupted(server: Server, target: Path) -> None:
    part_of(target).write_bytes(server.content[:1234])
    get(server, "good", target)
    assert server.requests == [("/good/weights.pth", "bytes=1234-")]
    assert target.read_bytes() == server.content


def test_download_begins_anew_where_the_server_cannot_go_on(server: Server, target: Path) -> None:
    part_of(target).write_bytes(server.content[:1234])
    get(server, "without_ranges", target)
    assert target.read_bytes() == server.content


def test_download_asks_again_for_what_a_server_left_out(server: Server, target: Path) -> None:
    get(server, "closes_early", target, Patience(attempts=5, pause=0))
    assert [asked for _, asked in server.requests] == ["", *(f"bytes={n}000-" for n in range(1, 5))]
    assert target.read_bytes() == server.content


def test_download_gives_up_and_keeps_what_it_has(server: Server, target: Path) -> None:
    message = r"127.0.0.1:\d+: expected all 5000 bytes of weights.pth, got 3000 \(the connection was closed\); the same"
    with pytest.raises(DownloadError, match=message):
        get(server, "closes_early", target)
    assert part_of(target).read_bytes() == server.content[:3000]
    assert not target.exists()


def test_download_does_not_wait_for_ever(server: Server, target: Path) -> None:
    with pytest.raises(DownloadError, match="timed out"):
        get(server, "stalls", target, Patience(timeout=0.1, attempts=2, pause=0))
    assert not target.exists()


@pytest.mark.parametrize("start", [0, 1234])
def test_download_deletes_what_has_another_hash(server: Server, target: Path, start: int) -> None:
    part_of(target).write_bytes(server.content[:start])
    with pytest.raises(DownloadError, match=r"expected SHA-256 [0-9a-f]{64}, got [0-9a-f]{64}; .* it was deleted"):
        get(server, "tampers", target)
    assert list(target.parent.iterdir()) == []


def test_download_deletes_a_part_that_was_of_another_file(server: Server, target: Path) -> None:
    part_of(target).write_bytes(b"x" * 1234)
    with pytest.raises(DownloadError, match="it was deleted"):
        get(server, "good", target)
    get(server, "good", target)
    assert target.read_bytes() == server.content


def test_download_stops_a_server_that_does_not(server: Server, target: Path) -> None:
    with pytest.raises(DownloadError, match="it was deleted"):
        get(server, "never_ends", target)
    assert list(target.parent.iterdir()) == []


def test_download_knows_a_file_of_another_size_at_once(server: Server, target: Path) -> None:
    with pytest.raises(DownloadError, match=r"expected a file of 5000 bytes, got 26; it is not the catalogue's"):
        get(server, "serves_another", target)
    assert list(target.parent.iterdir()) == []


def test_download_checks_where_an_answer_begins(server: Server, target: Path) -> None:
    part_of(target).write_bytes(server.content[:1234])
    with pytest.raises(DownloadError, match="expected a Content-Range from byte 1234 on, got bytes 0-4999/5000"):
        get(server, "starts_elsewhere", target)


def test_download_does_not_ask_twice_for_what_is_not_there(server: Server, target: Path) -> None:
    with pytest.raises(DownloadError, match=r"/has_nothing/weights.pth: expected a file, got HTTP 404 Not Found"):
        get(server, "has_nothing", target)
    assert len(server.requests) == 1


def test_download_does_not_follow_to_an_unencrypted_address(server: Server, target: Path) -> None:
    with pytest.raises(DownloadError, match=r"expected an https:// address, got http://example\.com/weights\.pth"):
        get(server, "moved_out_of_the_house", target)


def test_download_without_a_network_says_so(target: Path) -> None:
    message = (
        r"download.pytorch.org: expected an answer, got none \(.*Name or service not known\); is there a network\?"
    )
    with pytest.raises(DownloadError, match=message):
        download("https://download.pytorch.org/models/a.pth", target, "0" * 64, 1, QUICK)
    assert list(target.parent.iterdir()) == []


def test_download_asks_the_proxy_of_the_environment(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url)
    digest = hashlib.sha256(server.content).hexdigest()
    download("http://localhost:1/good/weights.pth", target, digest, len(server.content), QUICK)
    assert server.requests == [("http://localhost:1/good/weights.pth", "")]


@pytest.mark.parametrize("url", ["https://example.com/a", "http://127.0.0.1:80/a", "http://[::1]/a", "HTTPS://b/a"])
def test_refuse_unencrypted_lets_pass(url: str) -> None:
    refuse_unencrypted(url)


@pytest.mark.parametrize(
    "url", ["http://example.com/a", "http://127.0.0.1.example.com/a", "ftp://localhost/a", "file:///etc/passwd", "a"]
)
def test_refuse_unencrypted_refuses(url: str) -> None:
    with pytest.raises(DownloadError, match=f"download: expected an https:// address, got {re.escape(url)}"):
        refuse_unencrypted(url)


@pytest.mark.parametrize("url", ["https://a b/c", "https://a:b/c", "https://a/b c", "https://a/ä"])
def test_download_of_no_address(target: Path, url: str) -> None:
    with pytest.raises(DownloadError, match=rf"download: expected an address, got {re.escape(url)}; "):
        download(url, target, "0" * 64, 1, QUICK)


def test_refuse_unencrypted_of_no_address() -> None:
    with pytest.raises(DownloadError, match=r"expected an address, got http://\[::1"):
        refuse_unencrypted("http://[::1")
