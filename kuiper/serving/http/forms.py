"""The two forms of a request for text, completions and chats: their prompts, and the objects of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kuiper.errors import KuiperError
from kuiper.serving.http.api_error import ApiError, of_kuiper, wrong_field
from kuiper.serving.http.asked import Asked, read_asked
from kuiper.serving.http.logprobs import MOST, ChatLogprobs, CompletionLogprobs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.models.text.language_model import LanguageModel
    from kuiper.models.text.protocols import Spelling
    from kuiper.serving.http.fields import Fields
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.logprobs import Logprobs

    Prompts = Callable[[LanguageModel], list[list[int]]]
    """Makes the tokens of each prompt with a model; it takes time."""

MOST_MESSAGES = 1000
DEFAULT_TOKENS = 16
"""Of a completion, as OpenAI has it."""


class Form(Protocol):
    """What is different between the forms."""

    prefix: str
    """Of the ids of answers."""
    whole_object: str
    part_object: str

    def read(self, fields: Fields, limits: Limits) -> tuple[Asked, int, Prompts]:
        """What is asked, of how many prompts, and what makes their tokens."""

    def opening(self) -> dict[str, Any] | None:
        """What a choice of a stream begins with, or None."""

    def part(self, piece: str) -> dict[str, Any]:
        """A piece of text in a choice of a stream."""

    def whole(self, text: str) -> dict[str, Any]:
        """A text in a choice."""

    def logprobs(self, spellings: Sequence[Spelling], /) -> Logprobs:
        """What tells how likely the tokens of one text are."""


class CompletionForm:
    """``/v1/completions``: a prompt is text or tokens, and there may be several."""

    prefix = "cmpl-"
    whole_object = part_object = "text_completion"

    def read(self, fields: Fields, limits: Limits) -> tuple[Asked, int, Prompts]:
        prompts = _prompts(fields.take("prompt"), limits)
        best = fields.whole("logprobs", None, 0, MOST)
        asked = read_asked(fields, limits, DEFAULT_TOKENS, best)
        return asked, len(prompts), lambda model: [_encoded(model, prompt) for prompt in prompts]

    def opening(self) -> dict[str, Any] | None:
        return None

    def part(self, piece: str) -> dict[str, Any]:
        return {"text": piece}

    whole = part
    logprobs = CompletionLogprobs


class ChatForm:
    """``/v1/chat/completions``: messages, which the model's template makes a prompt of."""

    prefix = "chatcmpl-"
    whole_object, part_object = "chat.completion", "chat.completion.chunk"

    def read(self, fields: Fields, limits: Limits) -> tuple[Asked, int, Prompts]:
        messages = _messages(fields.take("messages"))
        most = fields.whole("max_completion_tokens", None, 1, 1 << 20)
        asked = read_asked(fields, limits, most, _best(fields))
        return asked, 1, lambda model: [_chat_prompt(model, messages)]

    def opening(self) -> dict[str, Any] | None:
        return {"delta": {"role": "assistant", "content": ""}}

    def part(self, piece: str) -> dict[str, Any]:
        return {"delta": {"content": piece} if piece else {}}

    def whole(self, text: str) -> dict[str, Any]:
        return {"message": {"role": "assistant", "content": text, "refusal": None}}

    logprobs = ChatLogprobs


def _best(fields: Fields) -> int | None:
    """How many tokens a chat asks for beside each one."""
    wants, best = fields.switch("logprobs"), fields.whole("top_logprobs", None, 0, MOST)
    if best and not wants:
        raise wrong_field("top_logprobs", "logprobs to be true", False)
    return (best or 0) if wants else None


def _prompts(given: object, limits: Limits) -> list[str | list[int]]:
    """The prompts of a completion: a text, tokens, or a list of either."""
    prompts: Sequence[Any] = [given] if isinstance(given, str) or _is_tokens(given) else given  # type: ignore[assignment]
    if not isinstance(prompts, list) or not 0 < len(prompts) <= limits.choices:
        raise wrong_field("prompt", f"a text, a list of tokens, or a list of 1 to {limits.choices} of these", given)
    for prompt in prompts:
        if not isinstance(prompt, str) and not _is_tokens(prompt):
            raise wrong_field("prompt", "texts or lists of tokens", prompt)
    return list(prompts)


def _is_tokens(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(type(one) is int and one >= 0 for one in value)


def _encoded(model: LanguageModel, prompt: str | list[int]) -> list[int]:
    """The tokens of a prompt."""
    if isinstance(prompt, list):
        return prompt
    try:
        return model.vocabulary.encode(prompt)
    except KuiperError as error:
        raise of_kuiper(error, "prompt") from error


def _messages(given: object) -> list[dict[str, str]]:
    if not isinstance(given, list) or not 0 < len(given) <= MOST_MESSAGES:
        raise wrong_field("messages", f"a list of 1 to {MOST_MESSAGES} messages", given)
    return [_message(one) for one in given]


def _message(given: object) -> dict[str, str]:
    """A message whose content is one text, or a list of parts that are text."""
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise wrong_field("messages", "objects with a role and a content", given)
    content = given.get("content")
    if isinstance(content, list):
        parts = [
            part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content
        ]
        content = "".join(parts) if all(isinstance(part, str) for part in parts) else None  # type: ignore[arg-type]
    if not isinstance(content, str):
        raise wrong_field("messages", "a content that is text", given.get("content"))
    return {"role": given["role"], "content": content}


def _chat_prompt(model: LanguageModel, messages: list[dict[str, str]]) -> list[int]:
    if model.chat is None:
        message = "model: expected one with a chat template, got one without; /v1/completions continues a text with any"
        raise ApiError(400, message, param="model", code="model_not_supported")
    try:
        return model.vocabulary.encode(model.chat.prompt(messages), is_complete=True)
    except KuiperError as error:
        raise of_kuiper(error, "messages") from error
