"""The models of a server, each with its worker, its seats and its vocabulary's size."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kuiper.errors import KuiperError
from kuiper.serving.batch_engine import BatchEngine
from kuiper.serving.http.api_error import ApiError, of_kuiper, too_many
from kuiper.serving.http.mailbox import Mailbox
from kuiper.serving.text_request import TextRequest
from kuiper.serving.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.models.text.language_model import LanguageModel
    from kuiper.serving.http.asked import Asked
    from kuiper.serving.http.limits import Limits

LONGEST_TEXT = 8192
"""Tokens that a text can have, if the model's context is longer."""


class Served:
    """A model that is served. Its seats belong to the thread of the event loop.

    Parameters
    ----------
    name : what clients call it
    model : the model
    memory : bytes of its pages
    limits : of the server
    page_bits : of a number in its pages, 32 or 8

    Raises
    ------
    KuiperError
        If the memory is too small for a page, or the model cannot run.
    """

    def __init__(self, name: str, model: LanguageModel, *, memory: int, limits: Limits, page_bits: int = 32) -> None:
        self.name, self.model = name, model
        self.created = int(time.time())
        self.open = 0
        """Texts that run, wait, or have an answer that is not yet sent."""
        self._limits = limits
        longest = min(model.context, LONGEST_TEXT)
        engine = BatchEngine(model.graph, memory=memory, page_bits=page_bits, max_length=longest)
        self._vocabulary_size = engine.vocabulary
        self.mailbox = Mailbox()
        self.worker = Worker(engine, f"kuiper serve {name}", self.mailbox.send)

    @contextmanager
    def seats(self, count: int) -> Iterator[None]:
        """Room for so many texts, as long as the block runs.

        Raises
        ------
        ApiError
            If there is none: 429.
        """
        if self.open + count > self._limits.texts:
            raise too_many(self._limits.texts, "texts", self._limits.retry_seconds)
        self.open += count
        try:
            yield
        finally:
            self.open -= count

    def texts(self, asked: Asked, prompts: list[list[int]]) -> list[TextRequest]:
        """What to submit for these prompts, ``asked.n`` for each.

        Raises
        ------
        ApiError
            If a prompt is empty and the model needs one, is too long, or has a token that the model does not.
        """
        return [self._text(asked, prompt, choice) for prompt in prompts for choice in range(asked.n)]

    def _text(self, asked: Asked, prompt: list[int], choice: int) -> TextRequest:
        vocabulary = self.model.vocabulary
        room = self.worker.engine.capacity - len(vocabulary.prefix)
        if len(prompt) > room:
            message = f"prompt: expected at most {room} tokens, got {len(prompt)}"
            raise ApiError(400, message, param="prompt", code="context_length_exceeded")
        if prompt and max(prompt) >= self._vocabulary_size:
            message = f"prompt: expected tokens below {self._vocabulary_size}, got {max(prompt)}"
            raise ApiError(400, message, param="prompt")
        max_tokens = asked.max_tokens or room
        try:
            return TextRequest(vocabulary, prompt, asked.sampler(choice), max_tokens=max_tokens, stop=asked.stop)
        except KuiperError as error:
            raise of_kuiper(error, error.where) from error

    def described(self) -> dict[str, Any]:
        """The model as ``/v1/models`` has it."""
        return described(self.name, self.created)

    def stop(self) -> None:
        """Give up what runs, and end the worker."""
        self.worker.stop(finish=False)


def described(name: str, created: int) -> dict[str, Any]:
    """A model as ``/v1/models`` has it; it was loaded at this time, in seconds since 1970."""
    return {"id": name, "object": "model", "created": created, "owned_by": "kuiper"}
