"""The models of a server, each with its worker, its seats and its vocabulary's size."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from kuiper.errors import KuiperError
from kuiper.serving.batch_engine import BatchEngine
from kuiper.serving.http.api_error import SERVER, ApiError, of_kuiper
from kuiper.serving.http.mailbox import Mailbox
from kuiper.serving.http.served_model import ServedModel
from kuiper.serving.json_answers import JsonAnswers
from kuiper.serving.text_request import TextRequest
from kuiper.serving.worker import Worker

if TYPE_CHECKING:
    from kuiper.models.text.language_model import LanguageModel
    from kuiper.serving.http.asked import Asked
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.json_answers import JsonAnswer

LONGEST_TEXT = 8192
"""Tokens that a text can have, if the model's context is longer."""


class Served(ServedModel):
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
        super().__init__(name, limits, most=limits.texts)
        self.model = model
        self._answers: JsonAnswers | None = None  # made when it is first asked for: large vocabularies take a second
        self._lock = Lock()
        longest = min(model.context, LONGEST_TEXT)
        engine = BatchEngine(model.graph, memory=memory, page_bits=page_bits, max_length=longest)
        self._vocabulary_size = engine.vocabulary
        self.mailbox = Mailbox()
        self.worker = Worker(engine, f"kuiper serve {name}", self.mailbox.send)

    def grammar(self, schema: dict[str, Any]) -> JsonAnswer:
        """What holds answers to a schema; it takes time, and may be called in any thread.

        Raises
        ------
        ApiError
            If it is no schema, or no answer of the model can hold to it; if the package for it is not installed.
        """
        try:
            with self._lock:
                self._answers = self._answers or JsonAnswers(self.model.vocabulary)
            return self._answers.grammar(schema)
        except KuiperError as error:
            raise of_kuiper(error, "response_format") from error
        except ImportError as error:
            raise ApiError(501, str(error), kind=SERVER, param="response_format") from error

    def texts(self, asked: Asked, prompts: list[list[int]], grammar: JsonAnswer | None = None) -> list[TextRequest]:
        """What to submit for these prompts, ``asked.n`` for each, each held to the grammar.

        Raises
        ------
        ApiError
            If a prompt is empty and the model needs one, is too long, or has a token that the model does not.
        """
        return [self._text(asked, prompt, choice, grammar) for prompt in prompts for choice in range(asked.n)]

    def _text(self, asked: Asked, prompt: list[int], choice: int, grammar: JsonAnswer | None) -> TextRequest:
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
            return TextRequest(
                vocabulary,
                prompt,
                asked.sampler(choice),
                max_tokens=max_tokens,
                stop=asked.stop,
                constraint=None if grammar is None else grammar.copy(),
                best=asked.best,
            )
        except KuiperError as error:
            raise of_kuiper(error, error.where) from error

    def described(self) -> dict[str, Any]:
        """The model as ``/v1/models`` has it, and what else the page wants to know."""
        paging = self.worker.engine.batch.paging
        more = {
            "has_template": self.model.chat is not None,
            "context": self.worker.engine.capacity,
            "pages": paging.pages,
            "page_size": paging.page_size,
            "step_tokens": paging.rows,
        }
        return {**super().described(), "kuiper": more}

    def stop(self) -> None:
        """Give up what runs, and end the worker."""
        self.worker.stop(finish=False)
