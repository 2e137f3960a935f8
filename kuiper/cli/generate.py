"""Continue a text with a language model, and say how fast it went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.terminal import say, say_json
from kuiper.cli.text_arguments import add_text_arguments, load_chosen, pace, sampler_of, show
from kuiper.models.text.generation import Generation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from kuiper.models.text.protocols import Vocabulary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", default="", metavar="PROMPT", help="the beginning of the text")
    add_text_arguments(parser, model="shakespeare", max_tokens=300)
    parser.add_argument("--json", action="store_true", help="print one JSON object when the text is complete instead")


def execute(arguments: argparse.Namespace) -> int:
    sampler, model = sampler_of(arguments), load_chosen(arguments)
    prompt = model.vocabulary.encode(arguments.prompt)
    generation = Generation(model, prompt, sampler, max_tokens=arguments.max_tokens, stop=arguments.stop)
    account = generation.account
    if arguments.json:
        text = "".join(generation)
        say_json(
            {
                "prompt": arguments.prompt,
                "text": text,
                "end": account.end,
                "seed": arguments.seed,
                "tokens": account.tokens,
                "tokens_per_second": account.tokens_per_second,
                "prompt_tokens": account.prompt_tokens,
                "prompt_seconds": account.prompt_seconds,
            }
        )
        return 0
    try:
        show(whole(model.vocabulary, prompt, generation))
    finally:
        say(f"{pace(account)}; seed {arguments.seed}", error=True)
    return 0


def whole(vocabulary: Vocabulary, prompt: list[int], generation: Generation) -> Iterator[str]:
    """The prompt, without tokens that are no text, and what is generated behind it."""
    decoder = vocabulary.decoder()
    yield "".join([*map(decoder.piece, prompt), decoder.rest()])
    yield from generation
