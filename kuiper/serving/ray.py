"""The server as an application of Ray Serve: replicas in many processes and on many machines.

    serve run kuiper.serving.ray:app models=shakespeare,tang replicas=2

    a request --> door: reads the body, and how its prompt begins --> router --> replica: the whole application

A router sends prompts of one beginning to one replica, whose pages have it already, while that one has room. It needs
the packages of the extra ``ray``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ray import serve
from ray.serve.config import RequestRouterConfig
from ray.serve.request_router import RequestRouter
from starlette.responses import StreamingResponse

import kuiper
from kuiper.bounded_file import parse_json
from kuiper.errors import ParameterError
from kuiper.serving.http.api_error import ApiError
from kuiper.serving.http.application import create_application
from kuiper.serving.http.body import content_type, read_bytes
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.loading import load_models
from kuiper.serving.settings import bytes_of, read_api_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

BEGINNING = 256
"""Characters of a prompt by which it is sent to a replica: about one page of tokens."""

ROUND = 64
"""Messages of an answer that a replica has ready at most, while the door takes none."""

_DEFAULTS = {"replicas": "1", "threads": "1", "memory": "1G", "api_key_file": ""}


class PrefixRouter(RequestRouter):
    """Sends what begins alike to one replica, and to the next one in a fixed order when that one is busy."""

    async def choose_replicas(self, candidate_replicas: list[Any], pending_request: Any = None) -> list[list[Any]]:
        """The replicas in ranks, the first one best; within a rank Ray takes the shortest queue."""
        beginning = pending_request.kwargs.get("beginning", "") if pending_request else ""
        if not beginning:
            return [random.sample(candidate_replicas, len(candidate_replicas))]  # of equal queues, Ray takes the first
        names = {str(replica.replica_id): replica for replica in candidate_replicas}
        return [[names[name]] for name in ranked(beginning, list(names))]


def ranked(beginning: str, names: Sequence[str]) -> list[str]:
    """The names in an order that only the beginning decides on; a name more or less leaves that of the others.

    >>> ranked("Once", ["a", "b", "c"]) == [name for name in ranked("Once", ["d", "c", "b", "a"]) if name != "d"]
    True

    Source: D. Thaler and C. Ravishankar, "A Name-Based Mapping Scheme for Rendezvous", 1996.
    """
    return sorted(names, key=lambda name: hashlib.blake2b(json.dumps([beginning, name]).encode()).digest())


def beginning_of(path: str, body: bytes) -> str:
    """How the prompt of a request begins, with its model; "" if it has none.

    >>> beginning_of("/v1/completions", b'{"model": "tang", "prompt": "a"}')
    'tang: "a"'
    >>> beginning_of("/v1/completions", b"{")
    ''
    """
    if not path.startswith("/v1/"):
        return ""
    try:
        fields = parse_json(body)
    except ValueError:
        return ""
    prompt = fields.get("prompt", fields.get("messages")) if isinstance(fields, dict) else None
    return "" if prompt is None else f"{fields.get('model')}: {json.dumps(prompt)[:BEGINNING]}"


class Replica:
    """The application in a process of its own.

    Parameters
    ----------
    models : names, files or folders that this machine has
    memory : bytes for the keys and values of each language model
    threads : that kernels use
    api_key : what clients must say, or None
    """

    def __init__(self, models: Sequence[str], memory: int, threads: int, api_key: str | None) -> None:
        kuiper.set_num_threads(threads)
        limits = Limits()
        self._models = load_models(models, memory=memory, limits=limits)
        self._application = create_application(self._models, api_key=api_key, limits=limits)

    async def answer(self, scope: dict[str, Any], body: bytes, beginning: str = "") -> AsyncIterator[dict[str, Any]]:
        """The messages of an ASGI answer; ``beginning`` is for the router. Who stops listening has left."""
        messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(ROUND)
        requests = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not requests:
                await asyncio.Event().wait()  # until it is cancelled
            return requests.pop()

        async def run() -> None:
            try:
                await self._application(scope, receive, messages.put)
            finally:
                await messages.put(None)

        task = asyncio.ensure_future(run())
        try:
            while (message := await messages.get()) is not None:
                yield message
            await task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def __del__(self) -> None:
        for model in self._models:
            model.stop()


class Door:
    """Reads requests, and passes them on to the replica that the router chooses.

    Parameters
    ----------
    replicas : the handle of the deployment of ``Replica``
    """

    def __init__(self, replicas: Any) -> None:
        self._replicas = replicas.options(method_name="answer", stream=True)
        self._limits = Limits()

    async def __call__(self, request: Any) -> Any:
        """The answer to a request of Starlette's."""
        scope, most = request.scope, self._limits.body_bytes + self._limits.tensor_bytes
        try:
            body = await read_bytes(scope, request.receive, self._limits, most)
        except ApiError as error:
            return error.response(scope["path"])
        is_json = content_type(scope) == "application/json" and len(body) <= self._limits.body_bytes
        beginning = beginning_of(scope["path"], body) if is_json else ""
        messages = self._replicas.remote(portable(scope), body, beginning=beginning)
        head = await anext(messages)
        response = StreamingResponse(_bodies(messages), head["status"])
        response.raw_headers = [(bytes(name), bytes(value)) for name, value in head["headers"]]
        return response


async def _bodies(messages: AsyncIterator[dict[str, Any]]) -> AsyncIterator[bytes]:
    async for message in messages:
        if message.get("body"):
            yield message["body"]


def portable(scope: Mapping[str, Any]) -> dict[str, Any]:
    """What of a request's description another process can have."""
    names = ("type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "headers")
    return {**{name: scope[name] for name in names if name in scope}, "root_path": ""}


def app(arguments: dict[str, Any]) -> Any:
    """What ``serve run`` runs.

    Parameters
    ----------
    arguments : ``models``, separated by commas; ``replicas`` (1), ``threads`` of each (1), ``memory`` for each
        language model's texts (1G), ``api_key_file`` (none)

    Returns
    -------
    An application of Ray Serve.

    Raises
    ------
    ParameterError
        If one is missing, is not known, or is not as it must be.
    """
    known = {"models": "", **_DEFAULTS}
    if unknown := [name for name in arguments if name not in known]:
        raise ParameterError("kuiper.serving.ray", f"arguments among {', '.join(known)}", unknown[0])
    asked = {**known, **{name: str(value) for name, value in arguments.items()}}
    models = [name for name in asked["models"].split(",") if name]
    if not models:
        raise ParameterError("kuiper.serving.ray", "models=NAME,NAME,...", "none")
    replicas, threads = (_count(name, asked[name]) for name in ("replicas", "threads"))
    limits, key = Limits(), read_api_key(asked["api_key_file"] or None)
    deployment = serve.deployment(
        Replica,
        name="kuiper",
        num_replicas=replicas,
        max_ongoing_requests=limits.texts,
        ray_actor_options={"num_cpus": threads},
        request_router_config=RequestRouterConfig(request_router_class=PrefixRouter),
    )
    door = serve.deployment(
        Door, name="door", max_ongoing_requests=limits.connections, ray_actor_options={"num_cpus": 0}
    )
    return door.bind(deployment.bind(models, bytes_of(asked["memory"]), threads, key))


def _count(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise ParameterError(name, "a whole number from 1 to 1024", repr(text))
    return int(text)
