"""What fewer bits cost: perplexity, and the divergence from what the same model predicts with float32 weights.

    divergence = mean over the tokens of sum over v of p(v) * ln(p(v) / q(v))        p in float32, q in fewer bits

Three models: the decoder that is timed, with its random weights; the bundled one; and a trained one that is asked for.
Weights that are stored in 8 bits count as float32 here, so that 8 bits with a scale for each row lose nothing of them.

Source: S. Kullback, R. Leibler, "On Information and Sufficiency", 1951.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from benchmarks.errors import BenchmarkError
from kuiper.bounded_file import read_text
from kuiper.graph import pnnx
from kuiper.graph.quantized_weight import GROUP, SCALES, quantized_weight
from kuiper.models import bundled
from kuiper.models.quantization import quantize_graph
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.text_files import TextFiles

BUNDLED = "shakespeare"
TOKENS, WINDOW = 1024, 256
"""Of a text, the most that are predicted; how many are read at once, from the beginning of a session."""

FORMS: dict[str, tuple[int, int | None]] = {
    "float32": (32, None),
    "8 bits, a scale for a row": (8, None),
    f"8 bits, a scale for {GROUP} numbers": (8, GROUP),
    f"4 bits, a scale for {GROUP} numbers": (4, GROUP),
}
"""kuiper's weights by their names: bits, and how many numbers share a scale."""


@dataclass(frozen=True)
class TextQuality:
    """A model with weights of one form; ``perplexity`` is None for random weights, which predict nothing."""

    model: str
    text: str
    form: str
    tokens: int
    perplexity: float | None
    divergence: float


def qualities(files: TextFiles, trained: Path | None, text: Path | None) -> list[TextQuality]:
    """Of the decoder in ``files``, the bundled model, and a trained one, if there is one, on a text of its language.

    Raises
    ------
    BenchmarkError
        If there is only one of ``trained`` and ``text``, or the text has fewer than two tokens.
    """
    if (trained is None) != (text is None):
        raise BenchmarkError("--trained", "a --text with it, and with a text a model", text or trained)
    with np.load(files.arrays) as arrays:
        tokens = arrays["tokens"]
    found = list(_of_model("random weights", "random tokens", lambda: pnnx.load(files.param(32)), tokens, False))
    path = bundled(BUNDLED)
    found += _of_model(BUNDLED, "written by itself", lambda: in_floats(pnnx.load(path)), own_text(path), True)
    if trained is not None and text is not None:
        model = language_model.load(trained)
        tokens = np.array(model.vocabulary.encode(read_text(text, BenchmarkError, "a text"))[:TOKENS], np.int64)
        if len(tokens) < 2:
            raise BenchmarkError(str(text), "at least two tokens", len(tokens))
        make = language_model.of_folder(trained)[0] if trained.is_dir() else lambda: in_floats(pnnx.load(trained))
        found += _of_model(language_model.graph_name(trained), text.name, make, tokens, True)
    return found


def in_floats(graph: pnnx.Graph) -> pnnx.Graph:
    """The graph with the weights that are stored in 8 or 4 bits as float32, in place."""
    for op in graph.operators:
        for key in [key for key in op.attrs if key + SCALES in op.attrs]:
            scales, numbers = op.attrs.pop(key + SCALES).data, op.attrs[key].data
            if scales is None or numbers is None:
                raise BenchmarkError(op.name, "a graph with its weights", "one without")
            weight = quantized_weight(numbers, scales, f"'{op.name}.{key}'").dequantized()
            op.attrs[key] = pnnx.Attribute(pnnx.DataType.F32, weight.shape, weight)
    return graph


def own_text(path: Path) -> np.ndarray:
    """What a model writes, as tokens that fill its context; drawn with a seed."""
    model = language_model.load(path)
    start = model.vocabulary.encode("ROMEO:")
    text = "".join(Generation(model, start, Sampler(temperature=1.0, seed=1), max_tokens=model.context - len(start)))
    return np.array([*start, *model.vocabulary.encode(text)], np.int64)


def _of_model(
    name: str, text: str, make: Callable[[], pnnx.Graph], tokens: np.ndarray, predicts: bool
) -> Iterator[TextQuality]:
    expected: list[np.ndarray] = []
    for form, (bits, group) in FORMS.items():
        graph = make()
        if bits < 32:
            quantize_graph(graph, bits, group)
        found = log_probabilities(_loaded(graph), tokens)
        expected = expected or found
        p, q = np.concatenate(expected), np.concatenate(found)
        surprise = float(-np.mean(q[np.arange(len(q)), followers(tokens)]))
        yield TextQuality(
            name,
            text,
            form,
            len(q),
            round(math.exp(surprise), 4) if predicts else None,
            float(f"{divergence(p, q):.3e}"),
        )


def _loaded(graph: pnnx.Graph) -> kuiper.RuntimeGraph:
    return kuiper.load(lambda: graph)


def followers(tokens: np.ndarray) -> np.ndarray:
    """The tokens that are predicted: of each window all but the first.

    >>> followers(np.arange(4)).tolist()
    [1, 2, 3]
    """
    return np.concatenate([tokens[first + 1 : first + WINDOW] for first in range(0, len(tokens) - 1, WINDOW - 1)])


def log_probabilities(model: Any, tokens: np.ndarray) -> list[np.ndarray]:
    """ln p (n, vocabulary) of what may follow each token of a window but the last, for each window."""
    session, found = model.start(WINDOW), []
    for first in range(0, len(tokens) - 1, WINDOW - 1):
        session.rewind(0)
        scores = np.asarray(session(tokens[first : first + WINDOW][:-1])).astype(np.float64)
        scores -= scores.max(axis=-1, keepdims=True)
        found.append((scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))).astype(np.float32))
    return found


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    """The mean over rows of the Kullback-Leibler divergence of q from p, both as logarithms (n, vocabulary).

    >>> divergence(np.log([[0.5, 0.5]]), np.log([[0.5, 0.5]]))
    0.0
    """
    found = float(np.mean(np.sum(np.exp(p) * (p - q), axis=-1, dtype=np.float64)))
    return max(0.0, found)  # logarithms are rounded to float32
