"""A socket, and uvicorn on it. SIGTERM and Ctrl-C finish what runs, and take nothing new."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.serving.http.limits import Limits

GRACE_SECONDS = 300
"""How long what runs may take to finish; then it is given up."""


def open_socket(host: str, port: int) -> socket.socket:
    """A socket at this place; port 0 takes one that is free. Nobody can connect until the server runs.

    Raises
    ------
    ParameterError
        If the place is taken, or is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere this would let two servers have one port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        found.close()
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ParameterError("--host and --port", "a free place on this machine", f"{host}:{port}", words) from error
    return found


def run(application: Any, place: socket.socket, limits: Limits) -> None:
    """Serve until SIGTERM or Ctrl-C comes.

    Raises
    ------
    KeyboardInterrupt
        Behind Ctrl-C, when all is finished.
    """
    server = uvicorn.Server(config_of(application, limits))
    application.state.is_leaving = lambda: server.should_exit
    with _sigterm_ends_well():
        server.run(sockets=[place])


def config_of(application: Any, limits: Limits) -> Any:
    """What uvicorn is to do."""

    class Protocol(_PatientProtocol):
        head_seconds = limits.head_seconds

    return uvicorn.Config(
        application,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # the guard's log has more
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


@contextmanager
def _sigterm_ends_well() -> Iterator[None]:
    """uvicorn raises the signal anew once all is done; as it had no other handler, it would kill the process."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _PatientProtocol(H11Protocol):
    """uvicorn's protocol, which waits for the head of a request for a while, and not for ever."""

    head_seconds: float
    _head_timer: Any = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait_for_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self.transport.abort()
