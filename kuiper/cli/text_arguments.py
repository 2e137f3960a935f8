"""What the commands that make text have in common: the model, how tokens are drawn, and how text is shown."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from kuiper.cli.terminal import say
from kuiper.errors import ParameterError
from kuiper.models.lookup import find_model
from kuiper.models.text import language_model
from kuiper.models.text.sampling import Sampler

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from kuiper.models.text.generation import Account
    from kuiper.models.text.protocols import LanguageModel

_TAB = "    "  # a terminal's own tabs depend on the column, and no other control character is shown


def add_text_arguments(parser: argparse.ArgumentParser, *, max_tokens: int, model: str | None = None) -> None:
    """--model, which must be given where there is no default, and all that decides which token is drawn."""
    place = "a name, a .param file, or a folder with config.json" + (" (default: %(default)s)" if model else "")
    parser.add_argument("--model", default=model, required=model is None, metavar="MODEL", help=place)
    parser.add_argument(
        "--max-tokens", type=int, default=max_tokens, metavar="N", help="how many at most (default: %(default)s)"
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        metavar="T",
        help="lower is more predictable; 0 takes the likeliest token (default: %(default)s)",
    )
    parser.add_argument(
        "--top-k", type=int, default=0, metavar="K", help="draw from the K likeliest tokens (default: from all)"
    )
    parser.add_argument(
        "--top-p",
        type=float,
        default=0.95,
        metavar="P",
        help="draw from the likeliest tokens that together have this probability (default: %(default)s)",
    )
    parser.add_argument(
        "--repetition-penalty",
        type=float,
        default=1.0,
        metavar="R",
        help="above 1, tokens that the text has already become less likely (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same text (default: a new one)")
    words = "end in front of this text, in which \\n is an end of line; may be given again"
    parser.add_argument("--stop", action="append", default=[], type=_with_line_ends, metavar="TEXT", help=words)
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def _with_line_ends(text: str) -> str:
    """A shell passes the two signs of a backslash and an n on as they are."""
    return text.replace("\\n", "\n")


def load_chosen(arguments: argparse.Namespace) -> LanguageModel:
    """The model that --model means, and kuiper on as many threads as --threads says."""
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    return load_model(arguments.model)


def load_model(model: str) -> language_model.LanguageModel:
    """The model that a name, a file or a folder means."""
    return language_model.load(model if Path(model).is_dir() else find_model(model))


def sampler_of(arguments: argparse.Namespace) -> Sampler:
    """What draws the tokens. Without --seed it gets a new one, which can be told afterwards."""
    if arguments.seed is None:
        arguments.seed = secrets.randbelow(1 << 31)
    try:
        return Sampler(
            arguments.temperature, arguments.top_k, arguments.top_p, arguments.repetition_penalty, arguments.seed
        )
    except ParameterError as error:  # which names the parameter, where a user knows the option
        option = f"--{error.where.replace('_', '-')}"
        raise ParameterError(option, error.expected, error.got, error.hint) from error


def show(pieces: Iterable[str]) -> None:
    """Print pieces of text as they come, and end the line behind the last one, also if Ctrl-C was pressed."""
    try:
        for piece in pieces:
            say(piece.replace("\t", _TAB), end="")
    except KeyboardInterrupt:
        say()
        raise
    say()


def pace(account: Account) -> str:
    """How fast it went.

    >>> from kuiper.models.text.generation import Account
    >>> pace(Account(prompt_tokens=6, tokens=101, prompt_seconds=0.012, seconds=0.5))
    '101 tokens, 200.0 tokens/s; the prompt: 6 tokens, 12 ms'
    """
    return (
        f"{account.tokens} tokens, {account.tokens_per_second:.1f} tokens/s; "
        f"the prompt: {account.prompt_tokens} tokens, {account.prompt_seconds * 1e3:.0f} ms"
    )
