"""Routes that take a picture as their body: ``/v1/classify``, ``/v1/detect`` and ``/v1/segment``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import anyio

from kuiper.errors import ImageError
from kuiper.serving.http.api_error import ApiError, of_kuiper, wrong_field
from kuiper.serving.http.body import announced_bytes, content_type, read_bytes, unless_gone
from kuiper.serving.http.in_thread import in_thread
from kuiper.serving.http.json_response import json_response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.network import ServedNetwork
    from kuiper.serving.picture_models import PictureModel

MOST_LABELS = 1000
_MOST_FIELDS = 8


class Decoding:
    """Makes inputs of pictures, of a few at the same time: each may take half a gigabyte while it is decoded."""

    def __init__(self, pictures: int) -> None:
        self._pictures = pictures

    @cached_property
    def _limiter(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self._pictures)  # of the event loop in which it is first asked for

    async def prepare(self, model: PictureModel, data: bytes, top: int) -> Any:
        """As ``PictureModel.prepare``, in another thread."""
        return await in_thread(model.prepare, data, top, limiter=self._limiter)


class PictureRoute:
    """An ASGI application that says what is on a picture, which is the body of a request.

    Parameters
    ----------
    task : "classify", "detect" or "segment"
    networks : all that are served, by name
    decoding : shared by all routes of a server
    limits : of the server
    """

    def __init__(self, task: str, networks: Mapping[str, ServedNetwork], decoding: Decoding, limits: Limits) -> None:
        self._task, self._decoding, self._limits = task, decoding, limits
        self._networks = {name: one for name, one in networks.items() if one.pictures and one.pictures.task == task}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        network, top = self._asked(scope)
        kind = content_type(scope)
        if not kind.startswith("image/") and kind != "application/octet-stream":
            raise wrong_field("content-type", "image/... or application/octet-stream", kind)

        most = self._limits.picture_bytes
        with network.seat(announced_bytes(scope, most)):
            data = await read_bytes(scope, receive, self._limits, most)

            async def work() -> None:
                answer = await self._answer(network, data, top)
                await json_response(answer)(scope, receive, send)

            await unless_gone(receive, work())

    async def _answer(self, network: ServedNetwork, data: bytes, top: int) -> dict[str, Any]:
        assert network.pictures is not None
        try:
            prepared = await self._decoding.prepare(network.pictures, data, top)
        except ImageError as error:
            raise of_kuiper(error, "picture") from error
        outputs = await network.infer([prepared.input])
        entry = await in_thread(prepared.entry, next(iter(outputs.values())))
        height, width = prepared.size
        return {"model": network.name, "width": width, "height": height, **entry}

    def _asked(self, scope: Any) -> tuple[ServedNetwork, int]:
        """The network and the number of labels that the query of an address names."""
        try:
            fields = dict(parse_qsl(scope["query_string"].decode("ascii"), max_num_fields=_MOST_FIELDS))
        except ValueError:
            raise wrong_field("query", f"at most {_MOST_FIELDS} fields", "something else") from None
        name, top = fields.pop("model", None), fields.pop("top", "5") if self._task == "classify" else "5"
        if fields:
            known = "the fields model and top" if self._task == "classify" else "the field model"
            raise wrong_field("query", known, next(iter(fields)))
        if not top.isascii() or not top.isdigit() or len(top) > 4 or not 1 <= int(top) <= MOST_LABELS:
            raise wrong_field("top", f"a whole number from 1 to {MOST_LABELS}", top)
        if name is None and len(self._networks) == 1:
            (name,) = self._networks
        if name not in self._networks:
            known = ", ".join(self._networks) or f"none: no model that is served is made to {self._task}"
            got = "none" if name is None else repr(name[:80])
            raise ApiError(404, f"model: expected one of {known}, got {got}", param="model", code="model_not_found")
        return self._networks[name], int(top)
