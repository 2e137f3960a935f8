"""Applications for the tests of the server, asked in this process."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from kuiper.serving.http.application import create_application
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.loading import load_models

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kuiper.serving.http.network import Batching, ServedNetwork
    from kuiper.serving.http.served import Served

LIMITS = Limits(body_bytes=100_000, tensor_bytes=400_000, picture_bytes=400_000, json_numbers=5000, calls=8)


@contextmanager
def served(
    *names: str | Path, limits: Limits = LIMITS, batching: Batching | None = None, api_key: str | None = None
) -> Iterator[tuple[TestClient, dict[str, Served | ServedNetwork]]]:
    """A client of an application with these models, and the models."""
    models = load_models(map(str, names), memory=1 << 20, limits=limits, batching=batching)
    application = create_application(models, limits=limits, api_key=api_key)
    with TestClient(application, raise_server_exceptions=False) as client:
        yield client, {model.name: model for model in models}
    assert all(model.open == 0 for model in models)
