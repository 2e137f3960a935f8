"""``/v1/embeddings``: vectors of texts."""

from __future__ import annotations

import asyncio
import base64
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.concurrency import run_in_threadpool

from kuiper.serving.http.api_error import ApiError, internal, wrong_field
from kuiper.serving.http.body import read_json, unless_gone
from kuiper.serving.http.fields import Fields
from kuiper.serving.http.json_response import json_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.metrics import Metrics
    from kuiper.serving.http.served_encoder import ServedEncoder

LOG = logging.getLogger("kuiper.serving.http")
_FORMATS = ("float", "base64")
_WIDEST = 1 << 20


@dataclass(frozen=True)
class Asked:
    """What a request asks for."""

    model: str
    inputs: list[str] | list[list[int]]
    dimensions: int | None
    is_base64: bool


def read_asked(fields: Fields, limits: Limits) -> Asked:
    """The fields of a request.

    Raises
    ------
    ApiError
        If one is not as it must be, or is not known.
    """
    encoding = fields.take("encoding_format")
    if encoding not in (None, *_FORMATS):
        raise wrong_field("encoding_format", f"one of {', '.join(_FORMATS)}", encoding)
    asked = Asked(
        model=fields.text("model"),
        inputs=_inputs(fields.take("input"), limits),
        dimensions=fields.whole("dimensions", None, 1, _WIDEST),
        is_base64=encoding == "base64",
    )
    fields.take("user")
    for name in fields.left():
        raise ApiError(400, f"body: expected fields of this request, got {name[:80]!r}", param=name[:80])
    return asked


def _inputs(given: object, limits: Limits) -> Any:
    """The texts: one or a list of them, each as a text or as tokens."""
    inputs = [given] if isinstance(given, str) or _is_tokens(given) else given
    if not isinstance(inputs, list) or not 0 < len(inputs) <= limits.inputs:
        raise wrong_field("input", f"a text, a list of tokens, or a list of 1 to {limits.inputs} of these", given)
    for one in inputs:
        if not isinstance(one, str) and not _is_tokens(one):
            raise wrong_field("input", "texts or lists of tokens", one)
    return inputs


def _is_tokens(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(type(one) is int and one >= 0 for one in value)


class EmbeddingRoute:
    """An ASGI application that answers requests for vectors.

    Parameters
    ----------
    find : the model of a name
    metrics, limits : of the server
    """

    def __init__(self, find: Callable[[str], ServedEncoder], metrics: Metrics, limits: Limits) -> None:
        self._find, self._metrics, self._limits = find, metrics, limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        asked = read_asked(Fields(await read_json(scope, receive, self._limits)), self._limits)
        served = self._find(asked.model)
        width = served.model.width
        if asked.dimensions not in (None, width):
            message = f"dimensions: expected {width}, those of the model, got {asked.dimensions}"
            raise ApiError(400, message, param="dimensions", code="unsupported_value")

        async def work() -> None:
            tokens = await run_in_threadpool(served.tokens, asked.inputs)
            vectors = await _vectors(served, tokens, scope["kuiper.id"])
            count = sum(map(len, tokens))
            self._metrics.embedded(served.name, len(tokens), count)
            answer = await run_in_threadpool(_answer, asked, served.name, vectors, count)  # many numbers take a while
            await answer(scope, receive, send)

        with served.seats(len(asked.inputs)):
            await unless_gone(receive, work())


async def _vectors(served: ServedEncoder, tokens: list[list[int]], identity: str) -> np.ndarray:
    """What the worker makes of the texts; if this task is given up, it makes no more.

    Raises
    ------
    ApiError
        If the model fails, or gives something else than numbers, which JSON does not have.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[np.ndarray | Exception] = loop.create_future()

    def put(result: np.ndarray | Exception) -> None:
        if not found.done():
            found.set_result(result)

    def listen(result: np.ndarray | Exception) -> None:
        loop.call_soon_threadsafe(put, result)

    job = served.worker.submit(tokens, listen)
    try:
        result = await found
    finally:
        served.worker.cancel(job)
    if isinstance(result, Exception):
        LOG.error("%s: texts could not be encoded", identity, exc_info=result)
        raise internal(identity)
    if not np.isfinite(result).all():
        LOG.error("%s: expected vectors of numbers, got NaN or infinity", identity)
        raise internal(identity)
    return result


def _answer(asked: Asked, name: str, vectors: np.ndarray, count: int) -> Any:
    """All vectors as one answer."""
    numbers: list[Any] = vectors.tolist()
    if asked.is_base64:
        numbers = [base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii") for vector in vectors]
    data = [{"object": "embedding", "index": index, "embedding": one} for index, one in enumerate(numbers)]
    usage = {"prompt_tokens": count, "total_tokens": count}
    return json_response({"object": "list", "data": data, "model": name, "usage": usage})
