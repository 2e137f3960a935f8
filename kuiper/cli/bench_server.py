"""Time a server of text: a load of seeded requests, by OpenAI's protocol, and how long its readers wait."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.cli.terminal import say, say_json
from kuiper.errors import ParameterError
from kuiper.printable import printable
from kuiper.serving.load import CallSizes, draw_calls
from kuiper.serving.load_client import LoadRun, TextServer
from kuiper.serving.settings import read_api_key

if TYPE_CHECKING:
    from kuiper.serving.load import LoadFigures
    from kuiper.serving.load_client import LoadResult

PAUSE = 0.1
"""Seconds between an answer and its reader's next request, on average."""


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a server of text", "MODEL is then what the server calls it (default: its first)")
    group.add_argument("--serve", metavar="URL", help="time the server at this address, by OpenAI's protocol")
    words = "who send the next request behind the last answer (default: %(default)s)"
    group.add_argument("--readers", type=int, default=4, metavar="N", help=words)
    words = "instead: requests per second, at random times, whether or not the server keeps up"
    group.add_argument("--rate", type=float, metavar="R", help=words)
    group.add_argument("--requests", type=int, default=32, metavar="N", help="how many (default: %(default)s)")
    sizes = CallSizes()
    for name, size in {"prompt": sizes.prompts, "answer": sizes.answers}.items():
        words = f"tokens of {'a prompt' if name == 'prompt' else 'an answer'} (default: {size[0]}-{size[1]})"
        group.add_argument(f"--{name}-tokens", type=_span, default=size, metavar="A-B", help=words)
    words = "with which every second prompt begins (default: %(default)s)"
    group.add_argument("--shared-tokens", type=int, default=sizes.shared, metavar="N", help=words)
    words = "prompts are tokens from 1 to below this number (default: %(default)s)"
    group.add_argument("--vocabulary", type=int, default=60, metavar="N", help=words)
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the requests (default: %(default)s)")
    group.add_argument("--api-key-file", type=Path, metavar="FILE", help="a file with the server's key")


def execute(arguments: argparse.Namespace) -> int:
    for name, least in {"readers": 1, "requests": 1, "vocabulary": 2, "seed": 0, "shared_tokens": 0}.items():
        if getattr(arguments, name) < least:
            option = f"--{name.replace('_', '-')}"
            raise ParameterError(option, f"a number of at least {least}", getattr(arguments, name))
    rate = arguments.rate
    if rate is not None and not 0 < rate < float("inf"):
        raise ParameterError("--rate", "a number above 0", rate)
    server = TextServer(arguments.serve, read_api_key(arguments.api_key_file))
    models = server.models()
    model = str(arguments.model) if arguments.model else next(iter(models), "")
    if model not in models:
        raise ParameterError("MODEL", f"one of {', '.join(map(printable, models)) or 'its models'}", model)
    sizes = CallSizes(arguments.prompt_tokens, arguments.answer_tokens, arguments.shared_tokens)
    pause = PAUSE if rate is None else 1 / rate
    calls = draw_calls(arguments.requests, sizes, vocabulary=arguments.vocabulary, pause=pause, seed=arguments.seed)
    run = LoadRun(server, model, calls)
    result = run.of_readers(min(arguments.readers, len(calls))) if rate is None else run.at_rate()
    if result.figures is None:
        raise ParameterError("--serve", f"answers of {server.url}", result.failures[0])
    if arguments.json:
        say_json(_as_json(server.url, model, arguments, result, result.figures), indent=2)
        return 0
    load = f"{arguments.readers} readers" if rate is None else f"{rate:g} requests per second"
    say(f"{printable(server.url)}  {printable(model)}")
    say(f"{load}; {result.answered} requests answered, {len(result.failures)} failed")
    say(_table(result.figures))
    if result.failures:
        say(f"the first failure: {printable(result.failures[0])}")
    return 0


def _table(figures: LoadFigures) -> str:
    """The figures in lines of at most 80 columns."""
    lines = [f"{'':24}{'median':>12}{'95 %':>12}{'99 %':>12}"]
    rows = {
        "time to first token, ms": figures.first,
        "time per token, ms": figures.each,
        "whole answer, ms": figures.whole,
    }
    lines += [f"{name:24}" + "".join(f"{number:12.1f}" for number in row) for name, row in rows.items()]
    written, read = figures.written / figures.seconds, figures.read / figures.seconds
    lines.append(f"tokens per second: {written:.1f} written, {read:.1f} read, in {figures.seconds:.2f} s")
    return "\n".join(lines)


def _as_json(
    url: str, model: str, arguments: argparse.Namespace, result: LoadResult, figures: LoadFigures
) -> dict[str, Any]:
    waits = {"first_ms": figures.first, "each_ms": figures.each, "whole_ms": figures.whole}
    return {
        "url": url,
        "model": model,
        "readers": arguments.readers if arguments.rate is None else None,
        "rate": arguments.rate,
        "answered": result.answered,
        "failed": len(result.failures),
        "seconds": figures.seconds,
        "read": figures.read,
        "written": figures.written,
        "written_per_second": figures.written_per_second,
        **{name: wait._asdict() for name, wait in waits.items()},
    }


def _span(text: str) -> tuple[int, int]:
    """Two numbers.

    >>> _span("32-512"), _span("16")
    ((32, 512), (16, 16))
    """
    found = re.fullmatch(r"([0-9]{1,7})(?:-([0-9]{1,7}))?", text)
    if not found or not 1 <= int(found[1]) <= int(found[2] or found[1]):
        raise argparse.ArgumentTypeError(f"expected numbers such as 32-512, got {text!r}")
    return int(found[1]), int(found[2] or found[1])
