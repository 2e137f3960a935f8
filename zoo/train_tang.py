"""Train ``tang``, a language model of characters that writes Tang verse in four forms, with rhymes.

    pip install torch==2.13.0 safetensors && pip install -e .
    python -m zoo.train_tang --data tang_regular_verse.txt.xz --out DIR --minutes 22

``--data`` is a text file, plain or xz, with one poem a line, punctuation included; the poems are those of the complete
Tang poems in github.com/chinese-poetry/chinese-poetry that have four or eight lines of five or seven characters.
Poems with a character that is hardly ever seen are left out, and the last tenth of the others is held out. ``DIR`` gets
``config.json``, ``model.safetensors`` and ``tang.json``, the card. What a poem looks like to the model is said in
``tang_verse.py``. The seed fixes the initial weights and the order of the poems; the last digits still depend on the
machine's kernels.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import torch

from kuiper.models.zoo.architectures.llama import LlamaConfig, LlamaForCausalLM
from zoo import text_training
from zoo.tang_verse import FORMS, Poem, Rhymes, form_of, read, rhyme_groups

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "tang"
LEAST = 5  # occurrences of every character of a poem
CONTEXT = 96
BATCH_TOKENS = 1600
END, FREE = "<end>", "<free>"
SAMPLE_POEMS, SAMPLE_SEED, SAMPLE_TEMPERATURE = 200, 7, 0.8


def config(vocabulary: int) -> LlamaConfig:
    """2.3 million parameters, of which the embedding has 0.9."""
    return LlamaConfig(vocabulary, 192, 448, 4, 6, 2, 32, max_position_embeddings=CONTEXT)


class Verses:
    """The poems as tokens, and the vocabulary that they need."""

    def __init__(self, path: Path) -> None:
        poems = read(path, LEAST)
        held_out = len(poems) * 9 // 10
        self.training, self.validation = poems[:held_out], poems[held_out:]
        self.rhymes = Rhymes(rhyme_groups(self.training))
        self.form_tokens = [f"<{form}>" for form in FORMS]
        self.rhyme_tokens = [f"<rhyme {group[0]}>" for group in self.rhymes.groups]
        characters = sorted({character for poem in poems for character in poem.text})
        self.vocabulary = [END, *self.form_tokens, *self.rhyme_tokens, FREE, *characters]
        self.index = {token: i for i, token in enumerate(self.vocabulary)}

    def tokens(self, poem: Poem) -> list[int]:
        """Form, rhyme group, characters and the end."""
        group = self.rhymes.of(poem.text)
        rhyme = FREE if group is None else self.rhyme_tokens[group]
        return [self.index[token] for token in (f"<{poem.form}>", rhyme, *poem.text, END)]

    def by_form(self, poems: list[Poem]) -> list[torch.Tensor]:
        """The tokens (n, t) of the poems of each form: those have one length, so that no batch needs padding."""
        rows = defaultdict(list)
        for poem in poems:
            rows[poem.form].append(self.tokens(poem))
        return [torch.tensor(rows[form]) for form in FORMS]


def judged(verses: Verses, model: LlamaForCausalLM) -> dict[str, Any]:
    """How many of ``SAMPLE_POEMS`` drawn poems keep their form, and how many rhyme; the first of each form as text."""
    kept = rhymed = 0
    shown: list[str] = []
    for form, (width, lines) in FORMS.items():
        start = torch.full((SAMPLE_POEMS // len(FORMS), 1), verses.index[f"<{form}>"])
        drawn = text_training.sample(model, start, (width + 1) * lines + 2, SAMPLE_SEED, SAMPLE_TEMPERATURE)
        texts = ["".join(verses.vocabulary[token] for token in row[2:]).split(END)[0] for row in drawn.tolist()]
        kept += sum(form_of(text) == form for text in texts)
        rhymed += sum(verses.rhymes.of(text) is not None for text in texts)
        shown.append(texts[0])
    return {
        "form_kept": kept / SAMPLE_POEMS,
        "rhymes": rhymed / SAMPLE_POEMS,
        "rhymes_of_held_out_poems": round(verses.rhymes.share([poem.text for poem in verses.validation]), 4),
        "sample": {"seed": SAMPLE_SEED, "temperature": SAMPLE_TEMPERATURE, "text": "\n".join(shown)},
    }


def main(arguments: list[str] | None = None) -> None:
    options = text_training.parse(__doc__, NAME, arguments)
    verses = Verses(options.data)
    training, validation = verses.by_form(verses.training), verses.by_form(verses.validation)
    shares = torch.tensor([float(rows.numel()) for rows in training])

    def batch(generator: torch.Generator) -> torch.Tensor:
        rows = training[int(torch.multinomial(shares, 1, generator=generator))]
        return rows[torch.randint(0, len(rows), (BATCH_TOKENS // rows.shape[1],), generator=generator)]

    def batches(every: int) -> Iterator[torch.Tensor]:
        for rows in validation:
            yield from rows[::every].split(64)

    torch.manual_seed(options.seed)
    model = LlamaForCausalLM(config(len(verses.vocabulary)))
    state = text_training.train(model, text_training.Task(batch, lambda: batches(12)), options)
    loss = text_training.validation_loss(model, batches(1))
    predicted = sum(rows[:, 1:].numel() for rows in validation)
    characters = sum(len(poem.text) for poem in verses.validation)
    card = {
        "name": NAME,
        "task": "generate",
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "context": CONTEXT,
        "data": "Tang poems of four or eight lines of five or seven characters",
        "validation_loss": round(loss, 4),
        "bits_per_character": round(loss / math.log(2) * predicted / characters, 4),
        **text_training.account(state, options),
        **judged(verses, model),
        "end": END,
        "prefix": [verses.form_tokens, verses.rhyme_tokens],
        "rhyme_groups": verses.rhymes.groups,
        "vocabulary": verses.vocabulary,
    }
    text_training.write_folder(options.out, model, card, verses.index[END])
    print(f"{NAME}: validation loss {loss:.4f}, {card['bits_per_character']:.3f} bits per character")
    print(f"form kept: {card['form_kept']:.1%}, rhymes: {card['rhymes']:.1%}")
    print(card["sample"]["text"])


if __name__ == "__main__":
    main()
