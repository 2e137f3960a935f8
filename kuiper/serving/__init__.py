"""Many requests that share one language model: who joins a step, who waits, who is put back.

    engine = BatchEngine(model.graph, pages=64)
    engine.submit(Request(tokens, Sampler(seed=1), max_tokens=100))
    while engine.has_work:
        for drawn in engine.step():
            ...

Tokens go in and tokens come out: nothing here knows of text.
"""

from kuiper.serving.batch_engine import BatchEngine, Drawn
from kuiper.serving.guesses import DraftModel, LookUp
from kuiper.serving.request import Request

__all__ = ["BatchEngine", "DraftModel", "Drawn", "LookUp", "Request"]
