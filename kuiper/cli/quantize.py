"""Write a model with its weights in 8 or 4 bits."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.bounded_file import read_json, read_text
from kuiper.cli.terminal import say
from kuiper.errors import ModelFormatError, ParameterError
from kuiper.graph import pnnx
from kuiper.graph.quantized_weight import GROUP
from kuiper.models.cards.model_card import card_path, model_name
from kuiper.models.lookup import find_model
from kuiper.models.quantization import quantize_graph
from kuiper.models.text import language_model
from kuiper.models.text.perplexity import perplexity
from kuiper.onnx.reader import read_onnx
from kuiper.onnx.source import is_onnx
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
"""What goes along with a language model, as it is."""

MAX_TOKENS = 4096
"""Of a text, for its perplexity."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help="a .param or .onnx file, the name of a model, or a folder with config.json"
    )
    bits = "8: a scale for each output; 4: for linear layers, a scale for 32 numbers"
    parser.add_argument("--bits", type=int, choices=(8, 4), default=8, help=f"{bits} (default: %(default)s)")
    group = f"a scale for {GROUP} numbers in 8 bits, too: closer to float32, linear layers only"
    parser.add_argument("--group", type=int, choices=(GROUP,), help=group)
    folders = f"NAME-8bit, NAME-8bit-group{GROUP}, or NAME-4bit"
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help=f"the folder to write (default: {folders})")
    text = f"a text; the perplexity of its first {MAX_TOKENS} tokens is printed, before and after"
    parser.add_argument("--text", type=Path, metavar="FILE", help=text)


def execute(arguments: argparse.Namespace) -> int:
    group = f"-group{arguments.group}" if arguments.group and arguments.bits == 8 else ""
    name = f"{model_name(Path(arguments.model))}-{arguments.bits}bit{group}"
    folder = arguments.output or Path(name)
    source = Path(arguments.model) if Path(arguments.model).is_dir() else find_model(arguments.model)
    make_graph, beside, card = language_model.of_folder(source) if source.is_dir() else _of_file(source)
    graph = make_graph()
    text = None if arguments.text is None else read_text(arguments.text, ModelFormatError, "a text")
    savings = quantize_graph(graph, arguments.bits, arguments.group)
    folder.mkdir(parents=True, exist_ok=True)
    param = folder / f"{name}.pnnx.param"
    if param.exists() and param.samefile(source):
        raise ParameterError("--output", "another folder than that of the model", folder)
    pnnx.save(graph, param)
    if card is not None:
        (folder / f"{name}.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for file in TOKENIZER_FILES:
        if (beside / file).exists() and beside != folder:
            shutil.copyfile(beside / file, folder / file)
    share = savings.after / savings.before
    say(f"{savings.weights} weights in {arguments.bits} bits: {savings.before / 1e6:,.1f} MB to "
        f"{savings.after / 1e6:,.1f} MB, {share:.0%}")  # fmt: skip
    if text is not None:
        before, after = (_perplexity(place, text) for place in (source, param))
        say(f"perplexity of {arguments.text}: {before:.3f} before, {after:.3f} after")
    say(f"wrote {printable(str(param))}")
    return 0


def _of_file(param: Path) -> tuple[Callable[[], pnnx.Graph], Path, object]:
    """What reads a graph, its folder, and its card if it has one."""
    card = card_path(param)
    content = read_json(card, ModelFormatError, "a model card in JSON") if card.exists() else None
    return partial(read_onnx if is_onnx(param) else pnnx.load, param), param.parent, content


def _perplexity(place: Path, text: str) -> float:
    model = language_model.load(place)
    return perplexity(model, model.vocabulary.encode(text)[:MAX_TOKENS])
