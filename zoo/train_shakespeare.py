"""Train ``shakespeare``, a language model of characters that writes plays in Shakespeare's manner.

    pip install torch==2.13.0 safetensors && pip install -e .
    python -m zoo.train_shakespeare --data tinyshakespeare.txt --out DIR --minutes 22

``--data`` is a text file, such as ``data/tinyshakespeare/input.txt`` of github.com/karpathy/char-rnn (public domain).
The last tenth of it is held out. ``DIR`` gets ``config.json``, ``model.safetensors`` and a card, ``shakespeare.json``.
The seed fixes the initial weights and the order of the text; the last digits still depend on the machine's kernels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from kuiper.models.zoo.architectures.llama import LlamaConfig, LlamaForCausalLM
from zoo import text_training

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "shakespeare"
CONTEXT = 256
BATCH = 8
SAMPLE_PROMPT, SAMPLE_LENGTH, SAMPLE_SEED, SAMPLE_TEMPERATURE = "ROMEO:", 500, 7, 0.8


def config(vocabulary: int) -> LlamaConfig:
    """1.1 million parameters."""
    return LlamaConfig(vocabulary, 160, 448, 4, 4, 2, 32, max_position_embeddings=CONTEXT)


def windows(text: torch.Tensor, batch: int = 32) -> Iterator[torch.Tensor]:
    """All of a text (n,) as tokens (b, CONTEXT + 1), one window behind the other."""
    rows = text[: (len(text) - 1) // CONTEXT * CONTEXT + 1].unfold(0, CONTEXT + 1, CONTEXT)
    yield from rows.split(batch)


def main(arguments: list[str] | None = None) -> None:
    options = text_training.parse(__doc__, NAME, arguments)
    text = options.data.read_text(encoding="utf-8")
    vocabulary = sorted(set(text))
    tokens = torch.tensor([vocabulary.index(character) for character in text])
    held_out = len(tokens) * 9 // 10
    training, validation = tokens[:held_out], tokens[held_out:]

    def batch(generator: torch.Generator) -> torch.Tensor:
        starts = torch.randint(0, len(training) - CONTEXT, (BATCH, 1), generator=generator)
        return training[starts + torch.arange(CONTEXT + 1)]

    torch.manual_seed(options.seed)
    model = LlamaForCausalLM(config(len(vocabulary)))
    part = validation[: 128 * CONTEXT + 1]  # while it learns, a third of the held-out text is enough
    state = text_training.train(model, text_training.Task(batch, lambda: windows(part)), options)
    loss = text_training.validation_loss(model, windows(validation))
    prompt = torch.tensor([[vocabulary.index(character) for character in SAMPLE_PROMPT]])
    drawn = text_training.sample(model, prompt, SAMPLE_LENGTH, SAMPLE_SEED, SAMPLE_TEMPERATURE)
    card = {
        "name": NAME,
        "task": "generate",
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "context": CONTEXT,
        "data": "tinyshakespeare: plays of William Shakespeare",
        "validation_loss": round(loss, 4),
        "bits_per_character": round(loss / math.log(2), 4),
        **text_training.account(state, options),
        "sample": {
            "prompt": SAMPLE_PROMPT,
            "seed": SAMPLE_SEED,
            "temperature": SAMPLE_TEMPERATURE,
            "text": "".join(vocabulary[token] for token in drawn[0].tolist()),
        },
        "vocabulary": vocabulary,
    }
    text_training.write_folder(options.out, model, card)
    print(f"{NAME}: validation loss {loss:.4f}, {loss / math.log(2):.3f} bits per character")
    print(card["sample"]["text"])


if __name__ == "__main__":
    main()
