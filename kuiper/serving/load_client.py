"""Sends a load to a server that speaks OpenAI's protocol: each call on a connection and a thread of its own.

The prompts are tokens, not text, so that they have the lengths that were asked for. All that is measured is what a
client sees: when an answer's pieces arrive.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event, Lock
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from kuiper.errors import ParameterError
from kuiper.serving.load import LoadFigures, Timing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from http.client import HTTPResponse

    from kuiper.serving.load import Call

SECONDS = 300.0
"""How long a server may be silent."""
MOST_AT_ONCE = 512
"""Calls of an open load that are under way at once; those that come then wait, and their time counts."""
_LONGEST = 1 << 20  # of an answer's line, and of an error


class Refused(Exception):
    """What a server has answered instead of text. ``is_final`` says that it would answer so to any call."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class LoadResult(NamedTuple):
    """What came of a load."""

    figures: LoadFigures | None
    """Of the calls that were answered; None if none was."""
    answered: int
    failures: list[str]
    """Why the others failed."""


class TextServer:
    """A server at an address.

    Parameters
    ----------
    url : such as ``http://127.0.0.1:8000``; a path before ``/completions`` other than ``/v1`` is part of it
    key : what it wants as ``Authorization: Bearer KEY``, if anything

    Raises
    ------
    ParameterError
        If the address is none.
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        expected = "an address such as http://127.0.0.1:8000"
        try:
            parts = urlsplit(url)
            self._port = parts.port
        except ValueError as error:
            raise ParameterError("--serve", expected, url, str(error)) from error
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or not url.isprintable():
            raise ParameterError("--serve", expected, url)
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._path = parts.hostname, parts.path.rstrip("/") or "/v1"
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self._path}"
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def models(self) -> list[str]:
        """The names of its models.

        Raises
        ------
        ParameterError
            If there is no such server.
        """
        expected = f"a server at {self.url} that speaks OpenAI's protocol"
        try:
            with self._asked("GET", "models") as answer:
                content = answer.read(_LONGEST)
                if answer.status == 200:
                    return [str(model["id"]) for model in json.loads(content)["data"]]
                got = _said(answer.status, content)
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            got = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ParameterError("--serve", expected, got)

    def answer(self, model: str, call: Call) -> Iterator[int]:
        """Send a call; as each piece of its answer comes, how many tokens are known to have come: of the last piece,
        those that the server counts, if it does.

        Raises
        ------
        Refused
            If the server answers with anything else, or breaks off.
        """
        body = {
            "model": model, "prompt": call.prompt, "max_tokens": call.tokens, "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True},
        }  # fmt: skip
        try:
            with self._asked("POST", "completions", json.dumps(body)) as answer:
                if answer.status != 200:
                    final = answer.status in (400, 401, 403, 404, 405, 415, 422)
                    raise Refused(_said(answer.status, answer.read(_LONGEST)), is_final=final)
                yield from _counts(answer)
        except (OSError, HTTPException, ValueError) as error:
            raise Refused(str(error) or type(error).__name__) from error

    @contextmanager
    def _asked(self, method: str, path: str, body: str | None = None) -> Iterator[HTTPResponse]:
        """What the server answers, on a connection that ends with the block."""
        with closing(self._kind(self._host, self._port, timeout=SECONDS)) as connection:
            connection.request(method, f"{self._path}/{path}", body, self._headers)
            with connection.getresponse() as answer:
                yield answer


def _counts(answer: Any) -> Iterator[int]:
    """How many tokens have come, at each server-sent event that has a piece of text, and at the end."""
    pieces, said = 0, None
    while line := answer.readline(_LONGEST):
        word, _, data = line.strip().partition(b":")
        if word != b"data":
            continue
        if data.strip() == b"[DONE]":
            yield said or pieces
            return
        event = json.loads(data)
        if not isinstance(event, dict) or "error" in event:
            raise Refused(str(event)[:200])
        said = (event.get("usage") or {}).get("completion_tokens") or said
        if event.get("choices"):
            pieces += 1
            yield pieces
    raise Refused("the server broke off")


def _said(status: int, content: bytes) -> str:
    """An answer that is an error, in few words."""
    try:
        message = json.loads(content)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = content.decode("utf-8", "replace")
    return f"{status}: {' '.join(str(message).split())[:200]}"


class LoadRun:
    """A load on its way to a server.

    Parameters
    ----------
    server : where it goes
    model : the name of the model
    calls : what is sent
    """

    def __init__(self, server: TextServer, model: str, calls: Sequence[Call]) -> None:
        self._server, self._model, self._calls = server, model, calls
        self._following, self._lock, self._stopped = iter(calls), Lock(), Event()
        self._answered: list[tuple[Call, Timing, int]] = []
        self._failures: list[str] = []
        self._refused: Refused | None = None

    def of_readers(self, readers: int) -> LoadResult:
        """So many readers, each of whom sends the next call behind its last answer and the call's pause.

        Raises
        ------
        ParameterError
            If the server refuses what it would always refuse.
        """
        with _Pool(self._stopped, readers) as pool:
            for _ in range(readers):
                pool.submit(self._read)
        return self._result()

    def at_rate(self) -> LoadResult:
        """Each call as soon as its pause behind the one before is over, whatever the server does meanwhile.

        Raises
        ------
        ParameterError
            As ``of_readers``.
        """
        due = perf_counter()
        with _Pool(self._stopped, min(len(self._calls), MOST_AT_ONCE)) as pool:
            for call in self._calls:
                due += call.pause
                sleep(max(0.0, due - perf_counter()))
                if self._stopped.is_set():
                    break
                pool.submit(self._send, call, due)
        return self._result()

    def _read(self) -> None:
        while not self._stopped.is_set():
            with self._lock:
                call = next(self._following, None)
            if call is None:
                return
            sleep(call.pause)
            self._send(call, perf_counter())

    def _send(self, call: Call, sent: float) -> None:
        timing, tokens = Timing(sent), 0
        try:
            for count in self._server.answer(self._model, call):
                if self._stopped.is_set():
                    return
                tokens = max(tokens, count)
                timing.tokens.append(perf_counter())
            timing.tokens.pop()  # the end has no token
            if not timing.tokens:
                raise Refused("an answer without text")
        except Refused as error:
            with self._lock:
                self._failures.append(str(error))
                if error.is_final:
                    self._refused = error
                    self._stopped.set()
            return
        with self._lock:
            self._answered.append((call, timing, tokens))

    def _result(self) -> LoadResult:
        if self._refused is not None:
            raise ParameterError("--serve", f"answers of {self._server.url}", str(self._refused))
        if not self._answered:
            return LoadResult(None, 0, self._failures)
        calls, timings, tokens = zip(*self._answered, strict=True)
        figures = LoadFigures.of(calls, timings)._replace(written=sum(tokens))
        return LoadResult(figures, len(calls), self._failures)


class _Pool(ThreadPoolExecutor):
    """Threads that end early when the block is left by an error, such as Ctrl-C."""

    def __init__(self, stopped: Event, threads: int) -> None:
        super().__init__(threads)
        self._stopped_by = stopped

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        if kind is not None:
            self._stopped_by.set()
        return super().__exit__(kind, error, trace)
