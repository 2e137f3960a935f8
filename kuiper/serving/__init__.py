"""Many requests that share one model: who joins a step, who waits, who is put back.

    engine = BatchEngine(model.graph, pages=64)
    engine.submit(Request(tokens, Sampler(seed=1), max_tokens=100))
    while engine.has_work:
        for drawn in engine.step():
            ...

Tokens go in and tokens come out. Above that, a ``TextRequest`` turns a prompt into a request and tokens into text, and
a ``Worker`` is a thread that runs the steps for all others; an ``EmbeddingWorker`` is that of an encoder, which makes
vectors of texts. Models without state have a ``DynamicBatcher``. ``http`` is the server, ``ray`` the same on a cluster.
"""

from kuiper.serving.batch_engine import BatchEngine, Drawn
from kuiper.serving.dynamic_batcher import DynamicBatcher
from kuiper.serving.embedding_worker import EmbeddingWorker
from kuiper.serving.guesses import DraftModel, LookUp
from kuiper.serving.request import Request
from kuiper.serving.text_request import TextRequest
from kuiper.serving.worker import Part, Worker

__all__ = [
    "BatchEngine",
    "DraftModel",
    "Drawn",
    "DynamicBatcher",
    "EmbeddingWorker",
    "LookUp",
    "Part",
    "Request",
    "TextRequest",
    "Worker",
]
