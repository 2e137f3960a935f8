"""Talk with a language model that was trained for conversation; an empty line or the end of input ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.terminal import read_line, say
from kuiper.cli.text_arguments import add_text_arguments, load_chosen, pace, sampler_of, show
from kuiper.errors import ParameterError
from kuiper.models.text.conversation import Conversation

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text_arguments(parser, max_tokens=512)
    parser.add_argument("--system", default="", metavar="TEXT", help="what the model is told before the first question")
    parser.add_argument(
        "--memory",
        type=int,
        default=4096,
        metavar="N",
        help="tokens that the model remembers at most; the oldest are forgotten (default: %(default)s)",
    )


def execute(arguments: argparse.Namespace) -> int:
    talk = Conversation(
        load_chosen(arguments),
        sampler_of(arguments),
        system=arguments.system,
        max_tokens=arguments.max_tokens,
        stop=arguments.stop,
        length=arguments.memory,
    )
    while question := read_line("> "):
        try:
            show(talk.ask(question))
        except KeyboardInterrupt:  # ends the answer; between answers it ends the program
            say("(interrupted)", error=True)
        except ParameterError as error:  # the question was too long: another one may do
            say(str(error), error=True)
            continue
        if talk.generation:
            say(pace(talk.generation.account), error=True)
    return 0
