"""``kuiper serve`` as a process of its own, and clients of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
WAIT = 60.0
KEY = "k3y"


def start(key_file: Path, model: str = "shakespeare") -> tuple[subprocess.Popen[str], str]:
    """A server on a free port, and its address."""
    command = [sys.executable, "-m", "kuiper", "serve", model, "--port", "0", "--api-key-file", str(key_file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    assert server.stdout is not None
    address = server.stdout.readline().split("/v1")[0]
    assert address.startswith("http://127.0.0.1:")
    return server, address


def client_of(address: str) -> httpx.Client:
    """A client with the key. It waits until the server listens."""
    client = httpx.Client(base_url=address, headers={"authorization": f"Bearer {KEY}"}, timeout=WAIT, trust_env=False)
    until = time.monotonic() + WAIT
    while True:
        try:
            assert client.get("/v2/health/ready").status_code == 200
            return client
        except httpx.ConnectError:
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("key") / "key"
    path.write_text(f"{KEY}\n")
    return path


@pytest.fixture(scope="module")
def address(key_file: Path) -> Iterator[str]:
    server, address = start(key_file)
    client_of(address).close()  # which waits for it
    yield address
    server.kill()
    server.communicate()
