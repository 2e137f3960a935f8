"""From texts to vectors: an encoder, its tokenizer, and how the vectors of tokens become one.

    texts -> tokens, cut where they are too long -> encoder: vectors of tokens -> pooling -> length 1, or not

A model lies in a folder of Hugging Face's form: config.json, weights of safetensors, tokenizer.json, and what
sentence-transformers adds to that (embedding_folder.py).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import kuiper
from kuiper.errors import ParameterError
from kuiper.graph.packed_batch import PackedBatch
from kuiper.models.text.checkpoint import Checkpoint
from kuiper.models.text.checkpoint import read_config as read_object
from kuiper.models.text.embedding_folder import POOLINGS, network_of, read_folder
from kuiper.models.text.encoder_config import is_encoder, read_config
from kuiper.models.text.encoder_graph import encoder_graph
from kuiper.models.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from kuiper.graph import RuntimeGraph
    from kuiper.models.text.embedding_folder import Pooling

CALL_TOKENS = 512
"""Tokens of a call of the network: enough for products to be limited by arithmetic. A longer text has its own call."""

_SMALLEST = 1e-12  # a shorter vector is not made longer than by this factor, as in torch.nn.functional.normalize


class TruncationWarning(UserWarning):
    """Texts have more tokens than the model reads: their vectors are those of their beginnings."""


class Tokens(NamedTuple):
    """A text as a model reads it."""

    ids: list[int]
    left_off: int
    """How many tokens at its end are too many."""


class EmbeddingModel:
    """Turns texts into vectors; the closer two texts are in meaning, the closer their vectors. ``load`` makes one.

    A text gets the same vector alone and beside any others, bit by bit. Threads may share a model.

    Parameters
    ----------
    graph : tokens (b, s) to vectors (b, s, width), built, of a network that reads whole texts
    tokenizer : between text and tokens
    width : numbers of a vector
    vocabulary_size : how many tokens the network knows
    max_length : the most tokens of a text, those around it counted
    pooling : "mean" of the vectors of all tokens, "cls" for that of the first one, "last" for that of the last one
    normalize : whether vectors get the length 1, so that their products are their cosines
    lowercase : whether texts are put into lower case first
    prompt : what stands in front of every text

    Raises
    ------
    ParameterError
        If ``pooling`` or ``max_length`` is not as it must be.
    GraphStateError
        If the graph does not read whole texts.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from kuiper.models.text.random_encoder import random_encoder
    >>> letters = SimpleNamespace(added=0, encode_within=lambda text, most: ([ord(sign) % 32 for sign in text], 0))
    >>> graph = kuiper.load(random_encoder(seed=1))
    >>> model = EmbeddingModel(graph, letters, width=24, vocabulary_size=32, max_length=64)
    >>> model.encode(["a cat sleeps", "une chatte dort"]).shape
    (2, 24)
    """

    def __init__(
        self,
        graph: RuntimeGraph,
        tokenizer: Tokenizer,
        *,
        width: int,
        vocabulary_size: int,
        max_length: int,
        pooling: Pooling = "mean",
        normalize: bool = False,
        lowercase: bool = False,
        prompt: str = "",
    ) -> None:
        if pooling not in POOLINGS:
            raise ParameterError("pooling", f"one of {', '.join(POOLINGS)}", repr(pooling))
        if max_length <= tokenizer.added:
            raise ParameterError("max_length", f"more than the {tokenizer.added} tokens around a text", max_length)
        self.graph, self.tokenizer, self.max_length = graph, tokenizer, max_length
        self.width, self.vocabulary_size = width, vocabulary_size
        self.pooling, self.normalize, self.lowercase, self.prompt = pooling, normalize, lowercase, prompt
        self._batch = PackedBatch(graph, max(CALL_TOKENS, max_length))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """A vector for each text.

        Parameters
        ----------
        texts : any number of them; a model that was trained with words in front of texts ("query: ") wants them here

        Returns
        -------
        (n, width) of float32.

        Raises
        ------
        ParameterError
            If it is one text, and not a list, or one of them is longer than ``tokenizer.LONGEST_PROMPT``, half a
            character, or empty where the tokenizer adds nothing.

        Warns
        -----
        TruncationWarning
            If texts have more than ``max_length`` tokens: only their beginnings are encoded.
        """
        tokens = self.tokens(texts)
        cut = sum(one.left_off > 0 for one in tokens)
        if cut:
            warnings.warn(f"{self.graph.name}: {truncation(cut, len(tokens), self)}", TruncationWarning, stacklevel=2)
        return self.vectors([one.ids for one in tokens])

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, at most ``max_length``; errors as ``encode``."""
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise ParameterError("texts", "a list of texts", repr(texts)[:80])
        whole = (f"{self.prompt}{text}" for text in texts)
        folded = (text.lower() for text in whole) if self.lowercase else whole
        return [Tokens(*self.tokenizer.encode_within(text, self.max_length)) for text in folded]

    def vectors(self, tokens: Sequence[Sequence[int]]) -> np.ndarray:
        """A vector for each text, given its tokens.

        Parameters
        ----------
        tokens : of each text, 1 to ``max_length``

        Returns
        -------
        (n, width) of float32.

        Raises
        ------
        ParameterError
            If a text has no token, or too many.
        KuiperError
            If the network lacks a token.
        """
        for text in tokens:
            if not 0 < len(text) <= self.max_length:
                raise ParameterError("texts", f"1 to {self.max_length} tokens of each", len(text))
        found = np.empty((len(tokens), self.width), np.float32)
        for texts in self._calls(tokens):
            found[texts] = self._pooled(tokens[texts])
        if self.normalize:
            lengths = np.sqrt(np.square(found, dtype=np.float64).sum(axis=1, keepdims=True))
            found = (found / np.maximum(lengths, _SMALLEST)).astype(np.float32)
        return found

    def _calls(self, tokens: Sequence[Sequence[int]]) -> Iterator[slice]:
        """Neighbours that are encoded together."""
        first = count = 0
        for at, text in enumerate(tokens):
            if count and count + len(text) > CALL_TOKENS:
                yield slice(first, at)
                first, count = at, 0
            count += len(text)
        if count:
            yield slice(first, len(tokens))

    def _pooled(self, tokens: Sequence[Sequence[int]]) -> np.ndarray:
        """The vectors of a few texts, as long as they are."""
        if self.pooling != "mean":
            return self._batch.run(tokens, "first" if self.pooling == "cls" else "last")
        rows = self._batch.run(tokens)
        ends = np.cumsum([len(text) for text in tokens])
        parts = np.split(rows, ends[:-1])
        return np.stack([part.mean(axis=0, dtype=np.float64) for part in parts]).astype(np.float32)


def truncation(cut: int, count: int, model: EmbeddingModel) -> str:
    """What is said of texts that are too long."""
    which = f"{cut} of {count} texts" if count > 1 else "the text"
    have, their = ("have", "their") if cut > 1 else ("has", "its")
    return f"{which} {have} more than {model.max_length} tokens: only {their} beginning is encoded"


def is_in(path: Path) -> bool:
    """Whether the folder at this path says that it has an encoder.

    Raises
    ------
    ModelFormatError, UnsupportedOperatorError
        If its files are not what they should be, or ask for what kuiper lacks.

    Examples
    --------
    >>> is_in(Path("nowhere"))
    False
    """
    config = network_of(path) / "config.json"
    return config.exists() and is_encoder(read_object(config))


def load(
    path: str | PathLike[str],
    *,
    pooling: Pooling | None = None,
    normalize: bool | None = None,
    max_length: int | None = None,
    optimize: bool = True,
) -> EmbeddingModel:
    """The embedding model in this folder.

    Parameters
    ----------
    path : of a folder of Hugging Face's form
    pooling, normalize, max_length : as of ``EmbeddingModel``; by default what the folder's files say, and without
        any the mean, as it is, of the longest text that the network can read
    optimize : False runs every operator as it stands in the graph

    Returns
    -------
    The model, ready to encode.

    Raises
    ------
    ModelFormatError
        If a file is missing, or is not what it should be.
    UnsupportedOperatorError
        If the network, or something behind it, is of a kind that kuiper lacks.
    ParameterError
        If there is no such pooling, or ``max_length`` is more than the network can read.
    ImportError
        If a package of the extra ``text`` is not installed.
    """
    path = Path(path)
    folder = read_folder(path)
    checkpoint, where = Checkpoint(folder.network), str(folder.network / "config.json")
    config = read_config(checkpoint.config, where)
    if max_length is not None and max_length > config.positions:
        raise ParameterError("max_length", f"at most the {config.positions} tokens that the network reads", max_length)
    graph = kuiper.load(lambda: encoder_graph(config, checkpoint, str(folder.network)), optimize=optimize)
    graph.name = path.absolute().name
    if max_length is None:
        max_length = min(config.positions, folder.max_length or config.positions)
    return EmbeddingModel(
        graph,
        Tokenizer(folder.network / "tokenizer.json"),
        width=config.width,
        vocabulary_size=config.vocabulary,
        max_length=max_length,
        pooling=pooling or folder.pooling,
        normalize=folder.normalize if normalize is None else normalize,
        lowercase=folder.lowercase,
        prompt=folder.prompt,
    )
