"""Routes of the Open Inference Protocol, version 2: what is served, and ``infer``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

import kuiper
from kuiper.errors import ExecutionError, KuiperError
from kuiper.serving.http.api_error import ApiError, of_kuiper
from kuiper.serving.http.body import announced_bytes, content_type, read_bytes, unless_gone
from kuiper.serving.http.in_thread import in_thread
from kuiper.serving.http.inference_form import HEAD_LENGTH, answer, in_order, read_inference
from kuiper.serving.http.json_response import json_response

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.network import ServedNetwork

LOG = logging.getLogger("kuiper.serving.http")
_KINDS = ("", "application/json", "application/octet-stream")  # clients in binary form do not always say which


def inference_routes(networks: Mapping[str, ServedNetwork], others: Collection[str], limits: Limits) -> list[Any]:
    """The routes.

    Parameters
    ----------
    networks : by name
    others : names of models that are served by another protocol
    limits : of the server
    """

    async def health(request: Any) -> Any:
        return json_response({})

    async def server(request: Any) -> Any:
        extensions = ["binary_tensor_data"]
        return json_response({"name": "kuiper", "version": kuiper.__version__, "extensions": extensions})

    async def metadata(request: Any) -> Any:
        return json_response(_found(networks, others, request.path_params["name"]).metadata())

    async def ready(request: Any) -> Any:
        name = request.path_params["name"]
        if name not in others:
            _found(networks, others, name)
        return json_response({"name": name, "ready": True})

    return [
        Route("/v2", server),
        Route("/v2/health/live", health),
        Route("/v2/health/ready", health),
        Route("/v2/models/{name}", metadata),
        Route("/v2/models/{name}/ready", ready),
        Route("/v2/models/{name}/infer", InferRoute(networks, others, limits), methods=["POST"]),
    ]


class InferRoute:
    """An ASGI application that runs a network on the arrays of a request.

    Parameters
    ----------
    networks, others, limits : as of ``inference_routes``
    """

    def __init__(self, networks: Mapping[str, ServedNetwork], others: Collection[str], limits: Limits) -> None:
        self._networks, self._others, self._limits = networks, others, limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        network = _found(self._networks, self._others, scope["path_params"]["name"])
        kind = content_type(scope)
        if kind not in _KINDS:
            message = f"content-type: expected application/json or application/octet-stream, got {kind[:80]!r}"
            raise ApiError(415, message)
        head = dict(scope["headers"]).get(HEAD_LENGTH.encode())
        most = self._limits.body_bytes + (0 if head is None else self._limits.tensor_bytes)
        with network.seat(announced_bytes(scope, most)):
            data = await read_bytes(scope, receive, self._limits, most)

            async def work() -> None:
                response = await self._answer(network, data, head, scope["kuiper.id"])
                await response(scope, receive, send)

            await unless_gone(receive, work())

    async def _answer(self, network: ServedNetwork, data: bytes, head: bytes | None, identity: str) -> Any:
        text = None if head is None else head.decode("latin-1")
        asked = await in_thread(read_inference, data, text, self._limits)
        try:
            outputs = await network.infer(in_order(asked.inputs, network.inputs))
        except ExecutionError:  # of a layer, or of the memory
            raise
        except KuiperError as error:
            LOG.info("%s: %s", identity, error)
            raise of_kuiper(error, network.name) from error
        return await in_thread(answer, network.name, asked, outputs, self._limits)


def _found(networks: Mapping[str, ServedNetwork], others: Collection[str], name: str) -> ServedNetwork:
    """The network of a name.

    Raises
    ------
    ApiError
        If there is none.
    """
    if name in others:
        message = f"model: expected one that takes arrays, got {name}, which takes text"
        raise ApiError(400, message, param="model", code="model_not_supported")
    if name not in networks:
        known = ", ".join(networks) or "none"
        raise ApiError(404, f"model: expected one of {known}, got {name[:80]!r}", param="model", code="model_not_found")
    return networks[name]
