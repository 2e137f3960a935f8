"""The server as an ASGI application: what stands at which path."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from kuiper.models.predictor import TASKS
from kuiper.serving.http.answers import TextRoute
from kuiper.serving.http.api_error import ApiError
from kuiper.serving.http.embeddings import EmbeddingRoute
from kuiper.serving.http.forms import ChatForm, CompletionForm
from kuiper.serving.http.guard import Guard
from kuiper.serving.http.inference import inference_routes
from kuiper.serving.http.json_response import json_response
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.metrics import Metrics
from kuiper.serving.http.network import ServedNetwork
from kuiper.serving.http.page import page_response
from kuiper.serving.http.pictures import Decoding, PictureRoute
from kuiper.serving.http.served import Served
from kuiper.serving.http.served_encoder import ServedEncoder
from kuiper.serving.http.steps import StepRoute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    Model = Served | ServedEncoder | ServedNetwork


def create_application(models: Sequence[Model], *, api_key: str | None = None, limits: Limits | None = None) -> Any:
    """An application that serves these models, and stops their threads at its end.

    Parameters
    ----------
    models : each with a name of its own
    api_key : what clients must say; None lets everybody in
    limits : what a client can have at most

    Returns
    -------
    An ASGI application (Starlette's).
    """
    limits = limits or Limits()
    named = {model.name: model for model in models}
    writers = {model.name: model for model in models if isinstance(model, Served)}
    encoders = {model.name: model for model in models if isinstance(model, ServedEncoder)}
    networks = {model.name: model for model in models if isinstance(model, ServedNetwork)}
    metrics = Metrics(writers.values(), networks.values())
    decoding = Decoding(limits.pictures)

    def find(name: str, group: Mapping[str, Any], what: str) -> Any:
        if name not in named:
            message = f"model: expected one of {', '.join(named)}, got {name[:80]!r}"
            raise ApiError(404, message, param="model", code="model_not_found")
        if name not in group:
            message = f"model: expected one that {what}, got {name!r}, which does not"
            raise ApiError(400, message, param="model", code="model_not_supported")
        return group[name]

    find_writer = partial(find, group=writers, what="writes text")

    async def list_models(request: Any) -> Any:
        return json_response({"object": "list", "data": [model.described() for model in models]})

    async def show_model(request: Any) -> Any:
        return json_response(find(request.path_params["name"], named, "").described())

    async def show_metrics(request: Any) -> Any:
        return metrics.response()

    async def show_page(request: Any) -> Any:
        return page_response(request.headers.get("accept-language", ""))

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        for model in models:
            await run_in_threadpool(model.stop)  # those with a reader have ended by now

    def text_route(path: str, form: Any) -> Any:
        return Route(path, TextRoute(form, find_writer, metrics, limits), methods=["POST"])

    embeddings = EmbeddingRoute(partial(find, group=encoders, what="makes vectors"), metrics, limits)

    def picture_route(task: str) -> Any:
        return Route(f"/v1/{task}", PictureRoute(task, networks, decoding, limits), methods=["POST"])

    return Starlette(
        routes=[
            Route("/", show_page),
            Route("/v1/models", list_models),
            Route("/v1/models/{name:path}", show_model),
            text_route("/v1/completions", CompletionForm()),
            text_route("/v1/chat/completions", ChatForm()),
            Route("/v1/embeddings", embeddings, methods=["POST"]),
            *map(picture_route, TASKS),
            Route("/v1/kuiper/steps", StepRoute(find_writer), methods=["GET"]),
            Route("/metrics", show_metrics),
            *inference_routes(networks, {**writers, **encoders}, limits),
        ],
        middleware=[Middleware(Guard, limits=limits, api_key=api_key)],
        exception_handlers={HTTPException: _of_router},
        lifespan=lifespan,
    )


async def _of_router(request: Any, error: Any) -> Any:
    """A path that is not there, or not with this method."""
    message = f"path: expected one of this server, got {request.method} {request.url.path[:200]}"
    return ApiError(error.status_code, message, headers=error.headers).response(request.url.path)
