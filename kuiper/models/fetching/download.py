"""Download one file: whole, with the right hash, and from where the last attempt broke off.

    https://host/resnet18.pth  --->  resnet18.pth.part  --->  resnet18.pth
                               Range: what is missing  rename, once size and SHA-256 are right

Proxies come from the environment (``https_proxy``, ``no_proxy``), as always with urllib.
"""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from kuiper.errors import DownloadError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPMessage, HTTPResponse
    from pathlib import Path
    from typing import IO

    Report = Callable[[int, int], None]

_CHUNK = 1 << 16
# Answers that may be another one in a second: timeouts, too many requests, a server that is overloaded or restarts.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Patience:
    """How long to wait: ``timeout`` seconds without a byte end an attempt, and before the next one comes a pause of
    ``pause`` seconds, each twice as long as the one before."""

    timeout: float = 30.0
    attempts: int = 4
    pause: float = 0.5


class _BrokenOff(Exception):
    """A transfer came to nothing, or not to its end; the next one may."""


def download(
    url: str,
    target: Path,
    sha256: str,
    size: int,
    patience: Patience | None = None,
    report: Report | None = None,
) -> None:
    """Bring the file at ``url``, which has ``size`` bytes, to ``target``.

    ``report`` is called with the bytes that are there and ``size``. An interrupted download leaves ``<target>.part``,
    and the next one goes on from there if the server lets it.

    Raises
    ------
    DownloadError
        If the address is not encrypted, nobody answers, or what comes is not the file; a part with the wrong hash is
        deleted.
    """
    refuse_unencrypted(url)
    part = target.with_name(f"{target.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    found = _persist(url, part, size, patience or Patience(), report or (lambda done, total: None))
    if found != sha256:
        part.unlink()
        hint = "another file than the catalogue's, or one damaged on the way; it was deleted"
        raise DownloadError(url, f"SHA-256 {sha256}", found, hint)
    os.replace(part, target)


def refuse_unencrypted(url: str) -> None:
    """Only https is safe on the way; without it the host must be this machine.

    >>> refuse_unencrypted("http://localhost:8000/resnet18.pth")

    Raises
    ------
    DownloadError
        If the address is another one.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise DownloadError("download", "an address", url, str(error)) from error
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and _is_this_machine(host))):
        raise DownloadError("download", "an https:// address", url)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Redirects(HTTPRedirectHandler):
    """Follow only where ``refuse_unencrypted`` has nothing against it."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        try:
            refuse_unencrypted(newurl)
        except DownloadError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _persist(url: str, part: Path, size: int, patience: Patience, report: Report) -> str:
    """Complete ``part`` in as many attempts as it takes and patience allows; its SHA-256."""
    reason = ""
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.pause * 2 ** (attempt - 1))
        try:
            return _receive(url, part, size, patience.timeout, report)
        except _BrokenOff as broken:
            reason = str(broken)
    host = urlsplit(url).netloc
    if part.exists() and part.stat().st_size:
        expected, hint = f"all {size} bytes of {part.stem}", "the same command goes on from there"
        raise DownloadError(host, expected, f"{part.stat().st_size} ({reason})", hint)
    hint = "is there a network? --mirror names another server, --offline-file takes a file from elsewhere"
    raise DownloadError(host, "an answer", f"none ({reason})", hint)


def _receive(url: str, part: Path, size: int, timeout: float, report: Report) -> str:
    """One attempt to append to ``part`` what it lacks; the SHA-256 of the whole."""
    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        return sha256_of(part).hexdigest()
    with _open(url, have, timeout) as response:
        have = _first_byte(url, response, have, size)
        with part.open("ab") as file:
            file.truncate(have)
            digest = sha256_of(part)
            for chunk in _chunks(response):
                file.write(chunk)
                digest.update(chunk)
                have += len(chunk)
                report(have, size)
                if have > size:
                    break  # the hash will say so
    if have < size:
        raise _BrokenOff("the connection was closed")
    return digest.hexdigest()


def _open(url: str, start: int, timeout: float) -> HTTPResponse:
    """The server's answer to the request for all bytes from ``start`` on."""
    request = Request(url, headers={"User-Agent": "kuiper"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        response: HTTPResponse = build_opener(_Redirects).open(request, timeout=timeout)
    except DownloadError:
        raise
    except (ValueError, http.client.InvalidURL) as error:  # ValueError: host or path cannot be encoded
        raise DownloadError("download", "an address", url, str(error)) from error
    except HTTPError as error:
        answer = f"HTTP {error.code} {error.reason}"
        error.close()
        if error.code in _PASSING:
            raise _BrokenOff(answer) from error
        raise DownloadError(url, "a file", answer) from error
    except URLError as error:
        raise _BrokenOff(str(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise _BrokenOff(str(error) or type(error).__name__) from error
    return response


def _first_byte(url: str, response: HTTPResponse, asked: int, size: int) -> int:
    """Where in the file the answer begins: where it was asked to, or at 0 if the server cannot do that."""
    start = 0
    if response.status == http.client.PARTIAL_CONTENT:
        content_range = response.headers.get("Content-Range", "none")
        start = asked
        if not re.match(rf"bytes {asked}-", content_range):
            raise DownloadError(url, f"a Content-Range from byte {asked} on", content_range)
    if response.length is not None and start + response.length != size:
        raise DownloadError(url, f"a file of {size} bytes", start + response.length, "it is not the catalogue's")
    return start


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            chunk = response.read1(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _BrokenOff(str(error) or type(error).__name__) from error
        if not chunk:
            return
        yield chunk


def sha256_of(path: Path) -> hashlib._Hash:
    """The running SHA-256 of what a file holds."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest
