"""What Prometheus reads at ``/metrics``: how long readers wait, and what the models are busy with."""

from __future__ import annotations

import secrets
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import prometheus_client
from starlette.responses import Response

import kuiper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from kuiper.serving.http.network import ServedNetwork
    from kuiper.serving.http.served import Served
    from kuiper.serving.worker import Part

_FIRST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_NEXT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1)


class Metrics:
    """The numbers of one server, in a registry of their own.

    Parameters
    ----------
    models : the language models that are served
    networks : all others
    """

    def __init__(self, models: Iterable[Served], networks: Iterable[ServedNetwork] = ()) -> None:
        self._registry = registry = prometheus_client.CollectorRegistry()
        prometheus_client.ProcessCollector(registry=registry)  # memory, CPU, files; on Linux
        server = prometheus_client.Info("kuiper_server", "Which of several servers answers", registry=registry)
        server.info({"id": secrets.token_hex(8), "version": kuiper.__version__})

        def histogram(name: str, words: str, buckets: tuple[float, ...]) -> Any:
            return prometheus_client.Histogram(name, words, ["model"], registry=registry, buckets=buckets)

        def counter(name: str, words: str, *labels: str) -> Any:
            return prometheus_client.Counter(name, words, ["model", *labels], registry=registry)

        self._first = histogram("kuiper_time_to_first_token_seconds", "From a request to its first token", _FIRST)
        self._next = histogram("kuiper_time_per_token_seconds", "Between two tokens of a text", _NEXT)
        self._texts = counter("kuiper_texts", "Texts that have ended, by why", "end")
        self._prompts = counter("kuiper_prompt_tokens", "Tokens of prompts")
        self._tokens = counter("kuiper_tokens", "Tokens that were drawn")
        self._embedded = counter("kuiper_embedded_texts", "Texts whose vectors were sent")
        self._gauges: dict[str, Any] = {}
        for model in models:
            engine = model.worker.engine
            pool = engine.batch.pool
            self._gauge("running", "Texts that have pages", model.name, partial(getattr, engine, "running"))
            self._gauge("waiting", "Texts that wait for pages", model.name, partial(getattr, engine, "waiting"))
            self._gauge("pages", "Pages of the pool", model.name, partial(getattr, pool, "pages"))
            self._gauge("pages_in_use", "Pages that belong to texts", model.name, partial(getattr, pool, "in_use"))
            self._gauge("pages_evicted", "Kept pages that had to go", model.name, partial(getattr, pool, "evicted"))

        for network in networks:
            batcher = network.batcher
            self._gauge("open", "Requests that run or wait", network.name, partial(getattr, network, "open"))
            self._gauge("network_runs", "Batches that have run", network.name, partial(getattr, batcher, "runs"))
            self._gauge("network_rows", "Rows of these batches", network.name, partial(getattr, batcher, "rows"))

    def watch(self, model: str, prompt_tokens: int) -> Callable[[Part], None]:
        """What is to be told each part of a text that begins now."""
        self._prompts.labels(model).inc(prompt_tokens)
        first, following, tokens = (metric.labels(model) for metric in (self._first, self._next, self._tokens))
        times = [perf_counter()]
        counts = [0]

        def saw(part: Part) -> None:
            now = perf_counter()
            for count in range(counts[0], part.tokens):  # several may come at once
                (following if count else first).observe(now - times[0])
                tokens.inc()
                times[0], counts[0] = now, count + 1
            if part.end:
                self._texts.labels(model, part.end).inc()

        return saw

    def embedded(self, model: str, texts: int, tokens: int) -> None:
        """Count texts whose vectors are sent, and their tokens."""
        self._embedded.labels(model).inc(texts)
        self._prompts.labels(model).inc(tokens)

    def response(self) -> Any:
        """The numbers as Prometheus reads them."""
        text = prometheus_client.generate_latest(self._registry)
        return Response(text, media_type=prometheus_client.CONTENT_TYPE_LATEST)

    def _gauge(self, name: str, words: str, model: str, value: Callable[[], int]) -> None:
        full = f"kuiper_{name}"
        gauge = self._gauges.get(full)
        if gauge is None:
            gauge = prometheus_client.Gauge(full, words, ["model"], registry=self._registry)
            self._gauges[full] = gauge
        gauge.labels(model).set_function(value)
