"""Exercise 6.7: tokens over a wire, from the step to each reader, as soon as they are there.

A browser, ``curl`` or a program asks by HTTP, and the answer arrives piece by piece, as server-sent events: lines of text
in an answer that stays open.

    POST /generate                               HTTP/1.1 200 OK
    {"prompt": "ROMEO:", "max_tokens": 3}        content-type: text/event-stream

                                                 data: {"text": "I"}
                                                 (an empty line ends each event)
                                                 data: {"text": "'"}

                                                 data: {"text": "m"}

                                                 data: [DONE]

No framework is needed. A server such as uvicorn speaks HTTP and calls an application for each request, as ASGI says:
``await application(scope, receive, send)``. ``scope`` is a dict with the method and the path. ``await receive()`` gives the
next message of the client, ``await send(message)`` sends one. Messages are dicts:

    receive    {"type": "http.request", "body": b"...", "more_body": True}    a part of the body; more_body: another follows
               {"type": "http.disconnect"}                                    the client has gone away
    send       {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"...")]}
               {"type": "http.response.body", "body": b"...", "more_body": True}

All of it runs in one thread, on asyncio: a coroutine runs until it awaits something that is not there yet; then the others
have their turn. One task runs the steps of the engine. Each reader has a queue, in which the steps put its pieces.

The engine is what 6.2 to 6.5 have made. It has ``submit(prompt, max_tokens)``, which returns a request; ``has_work``;
``step()``, which returns a list of pairs: a request and a piece of its text, or the request and None when it has ended;
and ``cancel(request)``, which does nothing if it has ended already.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

MOST_BYTES = 65536  # of a body
MOST_TOKENS = 1000  # of an answer
EVENTS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
GONE = object()  # stands in a reader's queue when the reader has gone away


class ClientGoneError(Exception):
    """The client has gone away before its request was complete."""


class TooLargeError(Exception):
    """The body is larger than it may be."""


async def refuse(send: Send, status: int, words: str) -> None:
    """Answer that something is wrong: a status and a body in JSON, all at once."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": words}).encode()})


def event(text: str) -> bytes:
    r"""A server-sent event: each line of the text behind ``data: ``, a line feed behind each, and an empty line.

    A line ends with a line feed only (json.dumps writes no other one). The text is sent as UTF-8.

    >>> event("one\ntwo")
    b'data: one\ndata: two\n\n'
    """
    # BEGIN SOLUTION
    return "".join(f"data: {line}\n" for line in text.split("\n")).encode() + b"\n"
    # END SOLUTION


async def read_body(receive: Receive, most: int) -> bytes:
    """The body of a request: the parts that ``receive`` gives, joined, up to the one behind which no other follows.

    ``body`` and ``more_body`` may be left out of a message; then they are b"" and False.

    Raises
    ------
    ClientGoneError
        If a message says that the client has gone away.
    TooLargeError
        As soon as there are more than ``most`` bytes: what else comes is not read.
    """
    # BEGIN SOLUTION
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLargeError
        if not message.get("more_body", False):
            return body
    # END SOLUTION


def asked(body: bytes) -> tuple[str, int]:
    """What a body asks for: the prompt, and how many tokens (16 where it does not say).

    >>> asked(b'{"prompt": "ROMEO:"}')
    ('ROMEO:', 16)

    Raises
    ------
    ValueError
        If it is not JSON, or not an object; if "prompt" is not there, is not text, or is empty; if "max_tokens" is not
        an integer from 1 to MOST_TOKENS (true is not one, although Python takes it for 1). Where one of the two is
        wrong, the message has its name.
    """
    # BEGIN SOLUTION
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("expected an object in JSON")
    prompt, count = found.get("prompt"), found.get("max_tokens", 16)
    if not isinstance(prompt, str) or not prompt:
        raise ValueError("prompt: expected a text that is not empty")
    if type(count) is not int or not 1 <= count <= MOST_TOKENS:
        raise ValueError(f"max_tokens: expected an integer from 1 to {MOST_TOKENS}")
    return prompt, count
    # END SOLUTION


class Application:
    """What a server calls for each request; ``kuiper`` has a much longer one in ``kuiper/serving/http``."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.queues: dict[Any, asyncio.Queue[Any]] = {}  # of each request that somebody waits for
        self.work = asyncio.Event()  # is set when there is a new request

    async def live(self, receive: Receive, send: Send) -> None:
        """From the start of the server to its end, which it tells by messages of its own: run the steps meanwhile."""
        await receive()
        steps = asyncio.create_task(self.run_steps())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        steps.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def run_steps(self) -> None:
        """Run steps for ever, while the engine has work, and put each piece, or the None at the end, in its queue.

        Behind each step, let the others have their turn: await ``asyncio.sleep(0)``. If there is no work, wait until
        ``self.work`` is set, and clear it.
        """
        # BEGIN SOLUTION
        while True:
            await self.work.wait()
            self.work.clear()
            while self.engine.has_work:
                for request, piece in self.engine.step():
                    self.queues[request].put_nowait(piece)
                await asyncio.sleep(0)
        # END SOLUTION

    async def watch(self, receive: Receive, request: Any) -> None:
        """Receive messages until the client has gone away. Then cancel its request at once, and put GONE in its queue."""
        # BEGIN SOLUTION
        while (await receive())["type"] != "http.disconnect":
            pass
        self.engine.cancel(request)  # at once: pieces may stand in the queue before GONE
        self.queues[request].put_nowait(GONE)
        # END SOLUTION

    async def stream(self, receive: Receive, send: Send, prompt: str, max_tokens: int) -> None:
        """Answer with events: submit a request, make its queue, set ``self.work``, and send what comes into the queue.

        First comes the message that starts the answer, with the status 200 and the headers EVENTS. Then, for each piece, a
        body with the event of ``json.dumps({"text": piece})``, and with more_body True. When the None comes, the event of
        "[DONE]" is the last body, with more_body False. When GONE comes, nothing more is sent.

        A task of its own runs ``watch`` meanwhile. However this ends (``send`` may raise, where a client has gone away):
        the task is cancelled, the request, too, and its queue is not kept.
        """
        # BEGIN SOLUTION
        request = self.engine.submit(prompt, max_tokens)
        queue = self.queues[request] = asyncio.Queue()
        self.work.set()
        watching = asyncio.create_task(self.watch(receive, request))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": EVENTS})
            while (piece := await queue.get()) is not GONE:
                text = "[DONE]" if piece is None else json.dumps({"text": piece})
                await send({"type": "http.response.body", "body": event(text), "more_body": piece is not None})
                if piece is None:
                    break
        finally:
            watching.cancel()
            self.engine.cancel(request)  # which does nothing if it has ended
            del self.queues[request]
        # END SOLUTION

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request.

        A scope of the type "lifespan" is a matter for ``live``. Otherwise: another path than "/generate" is refused with
        404, another method than "POST" with 405, a body that is too large (more than MOST_BYTES) with 413, one that does
        not say what is asked for with 400 and the words of the error. A client that has gone away gets no answer. All
        others get a stream.
        """
        # BEGIN SOLUTION
        if scope["type"] == "lifespan":
            return await self.live(receive, send)
        if scope["path"] != "/generate":
            return await refuse(send, 404, f"no such path: {scope['path']}")
        if scope["method"] != "POST":
            return await refuse(send, 405, f"expected POST, got {scope['method']}")
        try:
            prompt, max_tokens = asked(await read_body(receive, MOST_BYTES))
        except ClientGoneError:
            return None
        except TooLargeError:
            return await refuse(send, 413, f"expected a body of at most {MOST_BYTES} bytes")
        except ValueError as error:
            return await refuse(send, 400, str(error))
        return await self.stream(receive, send, prompt, max_tokens)
        # END SOLUTION
