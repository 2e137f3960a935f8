"""Serve language models over HTTP, by OpenAI's protocol, until SIGTERM or Ctrl-C comes."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from kuiper.bounded_file import read_text
from kuiper.cli.terminal import say
from kuiper.cli.text_arguments import load_model
from kuiper.errors import ParameterError
from kuiper.models.text.extra import package
from kuiper.models.text.language_model import graph_name

if TYPE_CHECKING:
    from kuiper.models.text.language_model import LanguageModel

LONGEST_KEY = 4096
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    place = "a name, a .param file, or a folder with config.json"
    parser.add_argument("models", nargs="+", metavar="MODEL", help=place)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="0 takes one that is free (default: %(default)s)"
    )
    words = "a file with the key that clients must say (default: none is asked for)"
    parser.add_argument("--api-key-file", type=Path, metavar="FILE", help=words)
    words = "memory for the keys and values of each model's texts, such as 512M or 2G (default: 1G)"
    parser.add_argument("--memory", type=_size, default="1G", metavar="SIZE", help=words)
    words = "of each number there; 8 hold nearly four times as many tokens as 32, a little less exactly (default: 32)"
    parser.add_argument("--page-bits", type=int, choices=(8, 32), default=32, help=words)
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def execute(arguments: argparse.Namespace) -> int:
    for name in ("starlette", "uvicorn", "prometheus_client"):
        package(name, "HTTP")
    from kuiper.serving.http.application import create_application
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.served import Served
    from kuiper.serving.http.server import open_socket, run

    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    limits, key = Limits(), api_key(arguments.api_key_file)
    with open_socket(arguments.host, arguments.port) as place:
        models = _load(arguments.models)
        served = [
            Served(name, model, memory=arguments.memory, limits=limits, page_bits=arguments.page_bits)
            for name, model in models.items()
        ]
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        application = create_application(served, api_key=key, limits=limits)
        host, port = place.getsockname()[:2]
        host = f"[{host}]" if ":" in host else host
        say(f"http://{host}:{port}/v1 serves {', '.join(models)}; Ctrl-C ends it")
        run(application, place, limits)
    return 0


def _load(names: list[str]) -> dict[str, LanguageModel]:
    """The models, by what clients call them."""
    models: dict[str, LanguageModel] = {}
    for name in names:
        short = graph_name(Path(name))
        if short in models:
            raise ParameterError("MODEL", "models with names of their own", f"{short} twice")
        models[short] = load_model(name)
    return models


def api_key(path: Path | None) -> str | None:
    """The key in a file, if there is one."""
    if path is None:
        return None
    key = read_text(path, ParameterError, "a file with an API key", most=LONGEST_KEY).strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ParameterError(str(path), "an API key: one line of letters, digits and signs", "something else")
    return key


def _size(text: str) -> int:
    """Bytes.

    >>> _size("512M")
    536870912
    """
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"expected a size such as 512M or 2G, got {text!r}")
    return int(found[1]) * _UNITS[found[2]]
