"""A conversation: messages that grow, on one session that has read all but the last of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.models.text.generation import Generation, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.models.text.chat import Message
    from kuiper.models.text.protocols import LanguageModel
    from kuiper.models.text.sampling import Sampler


class Conversation:
    """Questions and answers. When they no longer fit, the oldest are forgotten, but not what the system says.

    Parameters
    ----------
    model : a language model with a chat template
    sampler : draws the tokens
    system : what the model is told before the first question; empty for nothing
    max_tokens : of one answer
    stop : strings of which the first to appear ends an answer
    length : tokens that the model remembers at most; the model's context if that is less

    Raises
    ------
    ParameterError
        If the model has no chat template, or ``length`` leaves no room for a question.
    """

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler,
        *,
        system: str = "",
        max_tokens: int = 512,
        stop: Sequence[str] = (),
        length: int = 4096,
    ) -> None:
        if model.chat is None:
            hint = "kuiper generate continues a text with any model"
            raise ParameterError("chat", "a model with a chat template", "one without", hint)
        length = min(length, model.context)
        if max_tokens >= length:
            raise ParameterError("max_tokens", f"fewer than the {length} tokens of the conversation", max_tokens)
        self.messages: list[Message] = [{"role": "system", "content": system}] if system else []
        self.generation: Generation | None = None
        self._first = len(self.messages)  # the system's stays
        self._model, self._template, self._sampler = model, model.chat, sampler
        self._max_tokens, self._stop = max_tokens, stop
        self._reading = Reading(model, length)

    def ask(self, question: str) -> Iterator[str]:
        """The answer to a question, piece by piece. An answer that is interrupted is kept as far as it came.

        Raises
        ------
        ParameterError
            If the question alone is too long.
        """
        self.messages.append({"role": "user", "content": question})
        said: list[str] = []
        try:
            prompt = self._prompt()
            self.generation = Generation(
                self._model,
                prompt,
                self._sampler,
                max_tokens=self._max_tokens,
                stop=self._stop,
                reading=self._reading,
            )
            for piece in self.generation:
                said.append(piece)
                yield piece
        finally:
            if said:
                self.messages.append({"role": "assistant", "content": "".join(said)})
            else:
                self.messages.pop()  # as if it had not been asked

    def _prompt(self) -> list[int]:
        """The tokens of the messages, of which as many of the oldest are dropped as it needs for an answer to fit."""
        while True:
            text = self._template.prompt(self.messages)
            tokens = self._model.vocabulary.encode(text, is_complete=True)
            room = self._reading.length - self._max_tokens
            if len(tokens) <= room:
                return tokens
            if len(self.messages) - self._first < 3:  # the question alone
                raise ParameterError("question", f"at most {room} tokens with all that stands around it", len(tokens))
            del self.messages[self._first : self._first + 2]
