"""Turn texts into vectors with an encoder, and show how similar they are."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

import kuiper
from kuiper.bounded_file import MAX_TEXT, read_text
from kuiper.cli.similarity import show_similarity
from kuiper.cli.terminal import say, say_json
from kuiper.errors import KuiperError, ParameterError
from kuiper.models.text import embedding_model
from kuiper.models.text.embedding_folder import POOLINGS
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.models.text.embedding_model import EmbeddingModel, Tokens

_STDIN = "-"


@dataclass(frozen=True)
class Source:
    """A text, and what it is known by: a text of the command line, or of a line, by itself."""

    text: str
    file: str | None = None

    @property
    def name(self) -> str:
        return self.text if self.file is None else self.file

    def described(self) -> dict[str, str]:
        return {"text": self.text} if self.file is None else {"file": self.file}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = "a folder of an encoder, with config.json, model.safetensors and tokenizer.json"
    parser.add_argument("model", metavar="MODEL", help=words)
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="a text")
    words = "a file that is one text, - for stdin; may be given again"
    parser.add_argument("--file", dest="files", action="append", default=[], metavar="FILE", help=words)
    words = "a file of which each line is a text, - for stdin; may be given again"
    parser.add_argument("--lines", action="append", default=[], metavar="FILE", help=words)
    words = "write the vectors: an array (n, width), or one JSON object in a line for each text"
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.npy|OUT.jsonl", help=words)
    parser.add_argument("--json", action="store_true", help="print one JSON object in a line for each text instead")
    words = "how the vectors of tokens become one: their mean, the first, the last (default: as the folder says)"
    parser.add_argument("--pooling", choices=POOLINGS, help=words)
    words = "whether vectors get the length 1 (default: as the folder says)"
    parser.add_argument("--normalize", action=argparse.BooleanOptionalAction, help=words)
    words = "tokens that are read of a text, at most (default: as many as the model was made for)"
    parser.add_argument("--max-length", type=int, metavar="N", help=words)
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.output is not None and arguments.output.suffix not in (".npy", ".jsonl"):
        raise ParameterError("-o", "a file name that ends in .npy or .jsonl", arguments.output)
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    sources = [*_sources(arguments)]
    if not sources:
        raise ParameterError("TEXT", "a text, --file or --lines with one", "none")
    model = embedding_model.load(
        arguments.model,
        pooling=arguments.pooling,
        normalize=arguments.normalize,
        max_length=arguments.max_length,
    )
    started = perf_counter()
    tokens = [_tokens(model, source) for source in sources]
    vectors = model.vectors([one.ids for one in tokens])
    _tell(model, tokens, perf_counter() - started)
    if arguments.output is not None:
        _write(arguments.output, sources, tokens, vectors)
        say(f"wrote {printable(str(arguments.output))}", error=True)
    if arguments.json or (len(sources) == 1 and arguments.output is None):
        for record in _records(sources, tokens, vectors):
            say_json(record)
    elif len(sources) > 1:
        show_similarity([source.name for source in sources], vectors)
    return 0


def _sources(arguments: argparse.Namespace) -> Iterator[Source]:
    """The texts: those of the command line, then files, then lines."""
    for text in arguments.texts:
        yield Source(text)
    for file in arguments.files:
        yield Source(_read(file), file)
    for file in arguments.lines:
        yield from (Source(line) for line in _read(file).splitlines() if line.strip())


def _read(file: str) -> str:
    """The text of a file, or of stdin."""
    if file != _STDIN:
        return read_text(file, ParameterError, "a text")
    data = sys.stdin.buffer.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise ParameterError("stdin", f"a text of at most {MAX_TEXT} bytes", "more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError("stdin", "a text, in UTF-8", f"the byte 0x{data[error.start]:02x}") from error


def _tokens(model: EmbeddingModel, source: Source) -> Tokens:
    """The tokens of a text; an error names the file that it is in."""
    try:
        (found,) = model.tokens([source.text])
        if not found.ids:
            raise ParameterError("text", "at least one token", "none")
    except KuiperError as error:
        raise error if source.file is None else error.within(source.file) from error
    return found


def _tell(model: EmbeddingModel, tokens: list[Tokens], seconds: float) -> None:
    """What was done, and what was left off."""
    cut = sum(one.left_off > 0 for one in tokens)
    if cut:
        say(embedding_model.truncation(cut, len(tokens), model), error=True)
    count, texts = sum(len(one.ids) for one in tokens), f"{len(tokens)} text{'s' if len(tokens) > 1 else ''}"
    say(f"{texts}, {count} tokens, {seconds * 1e3:.1f} ms, {kuiper.get_num_threads()} threads", error=True)


def _records(sources: list[Source], tokens: list[Tokens], vectors: np.ndarray) -> Iterator[dict[str, object]]:
    """What is said of each text as JSON."""
    for source, one, vector in zip(sources, tokens, vectors, strict=True):
        said: dict[str, object] = {**source.described(), "tokens": len(one.ids), "left_off": one.left_off}
        yield {**said, "embedding": vector.tolist()}


def _write(path: Path, sources: list[Source], tokens: list[Tokens], vectors: np.ndarray) -> None:
    if path.suffix == ".npy":
        np.save(path, vectors)
        return
    with path.open("w", encoding="utf-8") as file:
        for record in _records(sources, tokens, vectors):
            file.write(f"{json.dumps(record)}\n")
