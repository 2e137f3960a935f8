"""Serve models over HTTP, by OpenAI's protocol and the Open Inference Protocol, until SIGTERM or Ctrl-C comes."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

import kuiper
from kuiper.cli.terminal import say
from kuiper.errors import ParameterError
from kuiper.machine.processes import need_processes
from kuiper.models.text.extra import package
from kuiper.serving.settings import bytes_of, read_api_key

LONGEST_DELAY = 10_000.0
LARGEST_BATCH = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    place = "a name, a .param or an .onnx file, or a folder with config.json"
    parser.add_argument("models", nargs="+", metavar="MODEL", help=place)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="0 takes one that is free (default: %(default)s)"
    )
    words = "a file with the key that clients must say (default: none is asked for)"
    parser.add_argument("--api-key-file", type=Path, metavar="FILE", help=words)
    words = "memory for the keys and values of each language model's texts, such as 512M or 2G (default: 1G)"
    parser.add_argument("--memory", type=_size, default="1G", metavar="SIZE", help=words)
    words = "of each number there; 8 hold nearly four times as many tokens as 32, a little less exactly (default: 32)"
    parser.add_argument("--page-bits", type=int, choices=(8, 32), default=32, help=words)
    words = "requests for a network that come within this time run as one batch (default: %(default)s)"
    parser.add_argument("--batch-delay", type=_milliseconds, default=2.0, metavar="MS", help=words)
    words = "rows of such a batch at most; 1 joins none (default: %(default)s)"
    parser.add_argument("--max-batch", type=_batch, default=16, metavar="N", help=words)
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def execute(arguments: argparse.Namespace) -> int:
    need_processes("HTTP", "and connections to clients")
    for name in ("starlette", "uvicorn", "prometheus_client"):
        package(name, "HTTP")
    from kuiper.serving.http.application import create_application
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.loading import load_models
    from kuiper.serving.http.network import Batching
    from kuiper.serving.http.server import open_socket, run

    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    limits, key = Limits(), read_api_key(arguments.api_key_file)
    with open_socket(arguments.host, arguments.port) as place:
        batching = Batching(arguments.max_batch, arguments.batch_delay / 1e3)
        memory, bits = arguments.memory, arguments.page_bits
        served = load_models(arguments.models, memory=memory, page_bits=bits, limits=limits, batching=batching)
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        application = create_application(served, api_key=key, limits=limits)
        host, port = place.getsockname()[:2]
        host = f"[{host}]" if ":" in host else host
        say(f"http://{host}:{port}/v1 serves {', '.join(model.name for model in served)}; Ctrl-C ends it")
        run(application, place, limits)
    return 0


def _size(text: str) -> int:
    try:
        return bytes_of(text)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(f"expected {error.expected}, got {error.got}") from error


def _milliseconds(text: str) -> float:
    """A delay.

    >>> _milliseconds("2.5")
    2.5
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= LONGEST_DELAY:
        raise argparse.ArgumentTypeError(f"expected milliseconds from 0 to {LONGEST_DELAY:g}, got {text!r}")
    return number


def _batch(text: str) -> int:
    """A number of rows.

    >>> _batch("8")
    8
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= LARGEST_BATCH:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {LARGEST_BATCH}, got {text!r}")
    return int(text)
