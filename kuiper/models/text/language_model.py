"""A language model from its files: a graph with state, and its vocabulary.

    NAME.pnnx.param        a graph; beside it a card NAME.json, or the tokenizer.json that it was made with
    a folder               of Hugging Face's form: config.json, weights of safetensors, tokenizer.json

The card of a model of characters names its tokens (characters.py). Any card may have ``context``, how many tokens the
model can read, and ``end_tokens``, a list of those that end a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kuiper
from kuiper.bounded_file import read_json
from kuiper.errors import ModelFormatError
from kuiper.models.cards.model_card import card_path
from kuiper.models.text.characters import Characters, read_card
from kuiper.models.text.chat import ChatTemplate
from kuiper.models.text.checkpoint import Checkpoint
from kuiper.models.text.decoder_config import read_config
from kuiper.models.text.decoder_graph import decoder_graph
from kuiper.models.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from kuiper.graph import RuntimeGraph, pnnx
    from kuiper.graph.session import Session
    from kuiper.models.text.protocols import Vocabulary

LONGEST_CONTEXT = 1 << 20
"""Tokens that a card may say a model can read."""

TOKENIZER = "tokenizer.json"
_SUFFIX = ".pnnx.param"


@dataclass(frozen=True)
class LanguageModel:
    """A graph that gives scores for the next token, and what turns text into tokens.

    Attributes
    ----------
    graph : tokens (b, s) to scores (b, s, vocabulary), with state
    vocabulary : between text and tokens
    context : how many tokens it can read at most
    chat : how messages become a prompt; None if the model was not trained for conversation
    """

    graph: RuntimeGraph
    vocabulary: Vocabulary
    context: int
    chat: ChatTemplate | None = None

    def start(self, max_length: int) -> Session:
        """A session of at most ``max_length`` tokens that has read nothing yet."""
        return self.graph.start(max_length)


def load(path: str | PathLike[str], *, optimize: bool = True) -> LanguageModel:
    """The language model in this file or in this folder.

    Parameters
    ----------
    path : of a ``.param`` file, or of a folder of Hugging Face's form
    optimize : False runs every operator as it stands in the file

    Returns
    -------
    The model, ready to start sessions.

    Raises
    ------
    ModelFormatError
        If a file is missing, or is not what it should be.
    UnsupportedOperatorError
        If the network is of a kind that kuiper lacks.
    ImportError
        If a folder needs a package of the extra ``text`` that is not installed.

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> model = load(bundled("shakespeare"))
    >>> session = model.start(max_length=16)
    >>> session(model.vocabulary.encode("ROMEO:")).shape
    (6, 65)
    """
    path = Path(path)
    source: Path | Callable[[], pnnx.Graph]
    if path.is_dir():
        source, folder, content = of_folder(path)
        card = _Card.of(content, str(folder / "config.json"))
    else:
        source, folder, card = path, path.parent, _card_of(path)
    model = kuiper.load(source, optimize=optimize)
    model.name = graph_name(path)
    return LanguageModel(model, _vocabulary(folder, card), card.context, _chat(folder))


@dataclass(frozen=True)
class _Card:
    """What is to be known beside a graph; ``where`` is the file that says it, and ``content`` all of it."""

    where: str
    context: int
    ends: tuple[int, ...]
    content: dict[str, Any]

    @classmethod
    def of(cls, content: dict[str, Any], where: str) -> _Card:
        """What a card's JSON says."""
        ends = content.get("end_tokens", [])
        if not isinstance(ends, list) or any(type(end) is not int or end < 0 for end in ends):
            raise ModelFormatError(where, "'end_tokens': a list of integers", repr(ends)[:80])
        return cls(where, _whole(content, "context", where, LONGEST_CONTEXT), tuple(ends), content)


def graph_name(path: Path) -> str:
    """What messages call the model at this place.

    >>> graph_name(Path("models/tiny.pnnx.param")), graph_name(Path("smollm/"))
    ('tiny', 'smollm')
    """
    return path.name.removesuffix(_SUFFIX)


def _card_of(param: Path) -> _Card:
    """The card beside a graph."""
    path = card_path(param)
    return _Card.of(read_card(path), str(path))


def of_folder(folder: Path) -> tuple[Callable[[], pnnx.Graph], Path, dict[str, Any]]:
    """What makes the graph of a checkpoint of Hugging Face's form, its folder, and what a card would say of it.

    Raises
    ------
    ModelFormatError, UnsupportedOperatorError, ImportError
        As ``load``.
    """
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint.config, str(folder / "config.json"))
    ends = end_tokens(checkpoint.config, folder)
    card = {"task": "generate", "context": min(config.positions, LONGEST_CONTEXT), "end_tokens": list(ends)}
    return partial(decoder_graph, config, checkpoint, str(folder)), folder, card


def end_tokens(config: dict[str, Any], folder: Path) -> tuple[int, ...]:
    """The tokens that end a text, by ``generation_config.json`` if there is one, else by the configuration."""
    path = folder / "generation_config.json"
    found = config.get("eos_token_id")
    if path.exists():
        content = read_json(path, ModelFormatError, "a configuration in JSON", finite=False)
        found = content.get("eos_token_id", found) if isinstance(content, dict) else found
    ends = found if isinstance(found, list) else [] if found is None else [found]
    if any(type(end) is not int or end < 0 for end in ends):
        raise ModelFormatError(str(path), "eos_token_id as an integer or a list of them", repr(found)[:80])
    return tuple(ends)


def _vocabulary(folder: Path, card: _Card) -> Vocabulary:
    if "vocabulary" in card.content:
        return Characters.of_card(card.content, card.where)
    return Tokenizer(folder / TOKENIZER, card.ends)


def _chat(folder: Path) -> ChatTemplate | None:
    return ChatTemplate.read(folder) if (folder / TOKENIZER).exists() else None


def _whole(content: dict[str, Any], key: str, where: str, most: int) -> int:
    value = content.get(key)
    if type(value) is not int or not 0 < value <= most:
        raise ModelFormatError(where, f"'{key}': an integer of 1 to {most}", repr(value)[:80])
    return value
