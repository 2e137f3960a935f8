"""The network of these tests: a server with every bad habit that servers have, and nothing beyond this machine."""

from __future__ import annotations

import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def cut_off(patch: pytest.MonkeyPatch) -> None:
    """No host but this one is found, and no proxy of the environment is asked."""
    resolve = socket.getaddrinfo

    def refuse_others(host: str, *arguments: Any, **options: Any) -> Any:
        if host not in ("127.0.0.1", "localhost"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *arguments, **options)

    patch.setattr(socket, "getaddrinfo", refuse_others)
    patch.setenv("no_proxy", "*")


class Server(ThreadingHTTPServer):
    """Serves ``content`` under any file name; the first part of the path is a habit: ``/good/weights.pth``."""

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.requests: list[tuple[str, str]] = []
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def server_bind(self) -> None:
        """Without the look-up of this machine's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Server:
        self.thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()
        self.thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """That a client has hung up is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        habit = self.path.removeprefix("http://").split("/")[1]  # a proxy is asked for the whole address
        asked = self.headers.get("Range", "")
        self.server.requests.append((self.path, asked))
        getattr(self, habit)(re.match(r"bytes=(\d+)-$", asked))

    def log_message(self, *arguments: object) -> None:
        """Nothing on stderr."""

    def good(self, asked: re.Match[str] | None) -> None:
        self.answer(int(asked[1]) if asked else 0)

    def without_ranges(self, asked: re.Match[str] | None) -> None:
        self.answer(0)

    def closes_early(self, asked: re.Match[str] | None) -> None:
        self.answer(int(asked[1]) if asked else 0, most=1000)

    def stalls(self, asked: re.Match[str] | None) -> None:
        self.answer(int(asked[1]) if asked else 0, most=1000)
        self.wfile.flush()
        self.server.closing.wait(60)

    def tampers(self, asked: re.Match[str] | None) -> None:
        self.answer(0, content=b"x" + self.server.content[1:])

    def serves_another(self, asked: re.Match[str] | None) -> None:
        self.answer(0, content=b"<html>Please log in</html>")

    def never_ends(self, asked: re.Match[str] | None) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.content)
        while not self.server.closing.is_set():
            self.wfile.write(bytes(10_000))

    def starts_elsewhere(self, asked: re.Match[str] | None) -> None:
        assert asked
        self.answer(int(asked[1]), named=0)

    def is_busy(self, asked: re.Match[str] | None) -> None:
        if len(self.server.requests) == 1:
            self.send_error(503)
        else:
            self.answer(0)

    def has_nothing(self, asked: re.Match[str] | None) -> None:
        self.send_error(404)

    def moved(self, asked: re.Match[str] | None) -> None:
        self.redirect("/good/elsewhere.pth")

    def moved_out_of_the_house(self, asked: re.Match[str] | None) -> None:
        self.redirect("http://example.com/weights.pth")

    def redirect(self, location: str) -> None:
        self.send_response(302)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(
        self, start: int, *, most: int | None = None, content: bytes | None = None, named: int | None = None
    ) -> None:
        """The content from ``start`` on; ``most`` bytes of it, although the header promises all."""
        content = self.server.content if content is None else content
        self.send_response(206 if start else 200)
        if start:
            first = start if named is None else named
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][:most])
