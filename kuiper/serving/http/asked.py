"""What a request asks for: the fields that completions and chats share."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.models.text.sampling import Sampler
from kuiper.serving.http.api_error import ApiError, wrong_field
from kuiper.serving.http.response_format import read_schema

if TYPE_CHECKING:
    from kuiper.serving.http.fields import Fields
    from kuiper.serving.http.limits import Limits

LARGEST_SEED = (1 << 63) - 1
MOST_TOKENS = 1 << 20
ANY_SEED = 1 << 31

_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "best_of": (1,), "echo": (False,), "frequency_penalty": (0,), "logit_bias": ({},),
    "parallel_tool_calls": (True, False), "presence_penalty": (0,), "suffix": ("",), "tool_choice": ("none", "auto"),
    "tools": ([],),
}  # fmt: skip
"""Fields of the protocol that this server lacks, and the values with which they ask for nothing."""

_NOTES = ("user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key")
"""Fields that change no answer here."""


@dataclass(frozen=True)
class Asked:
    """What decides on the texts, whatever they are texts of."""

    model: str
    n: int
    max_tokens: int | None
    """None for as many as the context has room for."""
    temperature: float
    top_p: float
    top_k: int
    repetition_penalty: float
    seed: int | None
    stop: list[str]
    stream: bool
    include_usage: bool
    schema: dict[str, Any] | None
    """What the answers must hold to; None for text."""
    best: int | None
    """How many of the likeliest tokens are told beside each one; None tells nothing of tokens."""

    def sampler(self, choice: int) -> Sampler:
        """What draws the tokens of one of the ``n`` texts; the first has the seed itself, the others the next ones."""
        seed = secrets.randbelow(ANY_SEED) if self.seed is None else self.seed + choice
        return Sampler(self.temperature, self.top_k, self.top_p, self.repetition_penalty, seed)


def read_asked(fields: Fields, limits: Limits, max_tokens: int | None, best: int | None) -> Asked:
    """The shared fields; ``max_tokens`` is what is meant where a request does not say, ``best`` as ``Asked`` has it.

    Raises
    ------
    ApiError
        If one is not as it must be, is not known, or asks for what this server lacks.
    """
    stream = fields.switch("stream")
    asked = Asked(
        model=fields.text("model"),
        n=fields.whole("n", 1, 1, limits.choices) or 1,
        max_tokens=fields.whole("max_tokens", max_tokens, 1, MOST_TOKENS),
        temperature=fields.number("temperature", 1.0, 0, 2),
        top_p=fields.number("top_p", 1.0, 0, 1, above=True),
        top_k=fields.whole("top_k", 0, 0, MOST_TOKENS) or 0,
        repetition_penalty=fields.number("repetition_penalty", 1.0, 0, 10, above=True),
        seed=fields.whole("seed", None, 0, LARGEST_SEED),
        stop=fields.texts("stop", limits.stop_strings, limits.stop_characters),
        stream=stream,
        include_usage=_includes_usage(fields.take("stream_options"), stream),
        schema=read_schema(fields.take("response_format")),
        best=best,
    )
    for name in fields.left():
        value = fields.take(name)
        if name in _NEUTRAL and value not in _NEUTRAL[name]:
            raise wrong_field(name, "no such field; this server does not have it", value, code="unsupported_parameter")
        if name not in _NEUTRAL and name not in _NOTES:
            raise ApiError(400, f"body: expected fields of this request, got {name[:80]!r}", param=name[:80])
    return asked


def _includes_usage(options: object, stream: bool) -> bool:
    if options is None:
        return False
    if not stream:
        raise wrong_field("stream_options", "stream to be true", False)
    if not isinstance(options, dict) or not isinstance(options.get("include_usage", False), bool):
        raise wrong_field("stream_options", "an object with include_usage as true or false", options)
    return bool(options.get("include_usage"))
