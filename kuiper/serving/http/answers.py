"""Answers with text: whole, or as server-sent events while it comes."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from kuiper.errors import ConstraintError
from kuiper.serving.http.api_error import ApiError, internal, of_kuiper
from kuiper.serving.http.body import read_json, unless_gone
from kuiper.serving.http.fields import Fields
from kuiper.serving.http.json_response import json_bytes, json_response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from kuiper.serving.drawing import Chance
    from kuiper.serving.http.asked import Asked
    from kuiper.serving.http.forms import Form
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.metrics import Metrics
    from kuiper.serving.http.served import Served
    from kuiper.serving.text_request import TextRequest
    from kuiper.serving.worker import Part

LOG = logging.getLogger("kuiper.serving.http")
_EVENTS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
_REASONS = {
    "token": "stop",
    "complete": "stop",
    "stop": "stop",
    "length": "length",
    "context": "length",
    "deadline": "length",
}


class TextRoute:
    """An ASGI application that answers requests for text in one form.

    Parameters
    ----------
    form : completions or chats
    find : the model of a name
    metrics, limits : of the server
    """

    def __init__(self, form: Form, find: Callable[[str], Served], metrics: Metrics, limits: Limits) -> None:
        self._form, self._find, self._metrics, self._limits = form, find, metrics, limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        fields = Fields(await read_json(scope, receive, self._limits))
        asked, count, prompts = self._form.read(fields, self._limits)
        served = self._find(asked.model)
        if count * asked.n > self._limits.choices:
            message = f"n: expected at most {self._limits.choices} texts of all prompts, got {count * asked.n}"
            raise ApiError(400, message, param="n")

        async def work() -> None:
            tokens = await run_in_threadpool(prompts, served.model)
            grammar = None if asked.schema is None else await run_in_threadpool(served.grammar, asked.schema)
            answer = _Answer(self._form, asked, served, served.texts(asked, tokens, grammar), scope["kuiper.id"])
            await answer.give(self._metrics, scope, receive, send)

        with served.seats(count * asked.n):
            await unless_gone(receive, work())


@dataclass
class _Answer:
    """The texts of one request, on their way to its sender."""

    form: Form
    asked: Asked
    served: Served
    texts: list[TextRequest]
    identity: str
    created: int = field(default_factory=lambda: int(time.time()))
    _unsent: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        spellings = () if self.asked.best is None else self.served.model.vocabulary.spellings
        self._logprobs = [self.form.logprobs(spellings) for _ in self.texts]

    async def give(self, metrics: Metrics, scope: Any, receive: Any, send: Any) -> None:
        """Begin with the texts, and send what they become; whatever happens, none of them is left behind."""
        parts: asyncio.Queue[tuple[int, Part]] = asyncio.Queue()
        self.served.mailbox.open()

        def listen(number: int, saw: Callable[[Part], None], part: Part) -> None:
            saw(part)
            self.served.mailbox.put(parts, (number, part))

        try:
            for number, text in enumerate(self.texts):
                saw = metrics.watch(self.served.name, text.prompt_tokens)
                self.served.worker.submit(text, partial(listen, number, saw))
            if self.asked.stream:
                await self._stream(parts, send)
            else:
                await (await self._whole(parts))(scope, receive, send)
        finally:
            for text in self.texts:
                self.served.worker.cancel(text)

    async def _parts(self, parts: asyncio.Queue[tuple[int, Part]]) -> AsyncIterator[tuple[int, Part]]:
        """All parts of all texts.

        Raises
        ------
        ApiError
            If one of them fails.
        """
        left = len(self.texts)
        while left:
            number, part = await parts.get()
            if isinstance(part.error, ConstraintError):
                raise of_kuiper(part.error, "response_format")
            if part.end == "failed":
                LOG.error("%s: a text has failed", self.identity, exc_info=part.error)
                raise internal(self.identity)
            if part.end == "cancelled":
                raise ApiError(503, "server: expected one that goes on, got one that stops", kind="server_error")
            left -= bool(part.end)
            yield number, part

    async def _whole(self, parts: asyncio.Queue[tuple[int, Part]]) -> Any:
        pieces: list[list[str]] = [[] for _ in self.texts]
        ends = [""] * len(self.texts)
        async for number, part in self._parts(parts):
            pieces[number].append(part.piece)
            ends[number] = part.end
        choices = [
            {
                "index": number,
                **self.form.whole("".join(pieces[number])),
                "logprobs": self._chances(number, text.chances),
                "finish_reason": _REASONS[ends[number]],
            }
            for number, text in enumerate(self.texts)
        ]
        return json_response({**self._head(self.form.whole_object), "choices": choices, "usage": self._usage()})

    async def _stream(self, parts: asyncio.Queue[tuple[int, Part]], send: Any) -> None:
        """Server-sent events. The first waits for the first part: until then a failure is an answer of its own."""
        has_begun = False
        try:
            async for number, part in self._parts(parts):
                if not has_begun:
                    has_begun = True
                    await send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
                    self._open()
                if part.piece or part.end or part.chances:
                    self._add_event(self._choice(number, part))
                if parts.empty():  # else the next one, which has come meanwhile, goes with it
                    await self._send_events(send)
        except ApiError as error:
            if not has_begun:
                raise
            self._add(json_bytes(error.body()))
            await self._send_events(send, is_last=True)
            return
        if self.asked.include_usage:
            self._add_event(None)
        self._add(b"[DONE]")
        await self._send_events(send, is_last=True)

    def _open(self) -> None:
        opening = self.form.opening()
        if opening:
            for number in range(len(self.texts)):
                self._add_event({"index": number, **opening, "logprobs": None, "finish_reason": None})

    def _choice(self, number: int, part: Part) -> dict[str, Any]:
        reason = _REASONS[part.end] if part.end else None
        logprobs = self._chances(number, part.chances) if part.chances else None
        return {"index": number, **self.form.part(part.piece), "logprobs": logprobs, "finish_reason": reason}

    def _chances(self, number: int, chances: Sequence[Chance]) -> dict[str, Any] | None:
        """How likely more tokens of a text were, if this is asked for."""
        return None if self.asked.best is None else self._logprobs[number].of(chances)

    def _add_event(self, choice: dict[str, Any] | None) -> None:
        """One event with a choice, or without one and with the usage."""
        content = {**self._head(self.form.part_object), "choices": [choice] if choice else []}
        if self.asked.include_usage:
            content["usage"] = None if choice else self._usage()
        self._add(json_bytes(content))

    def _add(self, data: bytes) -> None:
        self._unsent += [b"data: ", data, b"\n\n"]

    async def _send_events(self, send: Any, *, is_last: bool = False) -> None:
        """All that is not yet sent, in one piece."""
        body = b"".join(self._unsent)
        self._unsent.clear()
        if body or is_last:
            await send({"type": "http.response.body", "body": body, "more_body": not is_last})

    def _head(self, kind: str) -> dict[str, Any]:
        name = f"{self.form.prefix}{self.identity}"
        return {"id": name, "object": kind, "created": self.created, "model": self.served.name}

    def _usage(self) -> dict[str, Any]:
        """Tokens of each prompt, once, how many of them its first text found in pages, and of all texts."""
        firsts = self.texts[:: self.asked.n]
        prompts = sum(text.prompt_tokens for text in firsts)
        drawn = sum(text.tokens for text in self.texts)
        found = {"cached_tokens": sum(text.found_tokens for text in firsts)}
        counts = {"prompt_tokens": prompts, "completion_tokens": drawn, "total_tokens": prompts + drawn}
        return {**counts, "prompt_tokens_details": found}
