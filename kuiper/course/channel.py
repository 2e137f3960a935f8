"""Lines to and from a process that may do anything with its ends of the pipes: stop reading, flood, hand them on.

Two threads do the reading and writing, which may block for ever; nobody waits for them longer than he wants to, and
no more is kept than a few lines of bounded length.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

FLOOD = 4  # answers nobody has asked for are not piled up
LONGEST_LINE = 8 * 1024 * 1024
CHUNK = 1 << 16


class Channel:
    """The two pipes of a process, which must be unbuffered. Each thread closes its own: nobody else safely can."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._answers: queue.Queue[bytes | None] = queue.Queue(FLOOD)
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        threading.Thread(target=self._write, args=(process.stdin,), daemon=True).start()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def send(self, line: bytes) -> None:
        """Hand a line over; it is written whenever the process reads."""
        self._requests.put(line + b"\n")

    def receive(self, timeout: float) -> bytes | None:
        """The next line; None if the process has closed its end, or sent more than anyone should.

        Raises
        ------
        queue.Empty
            If nothing comes in time.
        """
        return self._answers.get(timeout=timeout)

    def close(self) -> None:
        """Let the threads end, as soon as what they wait for has happened."""
        self._closed.set()
        self._requests.put(None)

    def _write(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while (line := self._requests.get()) is not None:
                rest = memoryview(line)
                while len(rest):
                    rest = rest[pipe.write(rest) :]

    def _read(self, pipe: IO[bytes]) -> None:
        buffer = bytearray()
        with contextlib.suppress(OSError, ValueError), pipe:
            while not self._closed.is_set() and len(buffer) <= LONGEST_LINE and (chunk := pipe.read(CHUNK)):
                start = len(buffer)
                buffer += chunk
                while (end := buffer.find(b"\n", start)) >= 0:
                    if end > LONGEST_LINE:
                        break
                    self._put(bytes(buffer[:end]))
                    del buffer[: end + 1]
                    start = 0
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._answers.put(line, timeout=0.2)
                return
