"""The language models that come with kuiper: what their cards and the README say of them is so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.perplexity import perplexity
from kuiper.models.text.sampling import Sampler
from zoo.tang_verse import FORMS, form_of

NAMES = ["shakespeare", "tang"]


def card_of(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(bundled(name).with_name(f"{name}.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("name", NAMES)
def test_readme_says_what_the_card_says(name: str) -> None:
    card = card_of(name)
    readme = bundled(name).with_name("README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}`"))
    assert f"{card['parameters']:,}" in row
    assert f"{card['validation_loss']} nats" in row
    assert f"{card['steps']:,} steps" in row
    assert f"context {card['context']}" in row
    assert {"seed", "seconds", "sample"} <= card.keys()


@pytest.mark.parametrize("name", NAMES)
def test_models_are_small(name: str) -> None:
    assert sum(path.stat().st_size for path in bundled(name).parent.glob(f"{name}.*")) < 5_000_000


@pytest.mark.parametrize("name", NAMES)
def test_models_predict_their_own_sample(name: str) -> None:
    """A text drawn from the model is likely to it, and its characters in another order are not."""
    model, text = language_model.load(bundled(name)), card_of(name)["sample"]["text"]
    tokens = model.vocabulary.encode(text.split("\n")[1] if name == "tang" else text)
    shuffled = np.random.default_rng(0).permutation(tokens).tolist()
    assert perplexity(model, tokens) < 0.2 * perplexity(model, shuffled)


def test_a_seed_gives_the_same_text_with_any_number_of_steps_before_it() -> None:
    model = language_model.load(bundled("shakespeare"))
    prompt = model.vocabulary.encode("ROMEO:")
    first = "".join(Generation(model, prompt, Sampler(seed=5), max_tokens=80))
    assert "".join(Generation(model, prompt, Sampler(seed=5), max_tokens=80)) == first
    assert "".join(Generation(model, prompt, Sampler(seed=6), max_tokens=80)) != first
    assert "\n" in first


def test_poems_keep_their_form() -> None:
    model = language_model.load(bundled("tang"))
    for seed, form in enumerate(FORMS):
        for number in range(4):
            sampler = Sampler(temperature=0.8, top_p=0.95, seed=10 * seed + number)
            poem = "".join(Generation(model, model.vocabulary.encode(f"<{form}>"), sampler, max_tokens=90))
            assert form_of(poem) == form


def test_a_poem_begins_with_the_prompt() -> None:
    model = language_model.load(bundled("tang"))
    generation = Generation(
        model, model.vocabulary.encode("<7x4>春風"), Sampler(temperature=0.8, seed=1), max_tokens=90
    )
    poem = "春風" + "".join(generation)
    assert (form_of(poem), generation.account.end) == ("7x4", "token")


def test_the_zoo_stores_no_text_to_learn_from() -> None:
    """The scripts take the path of the data; it is not part of the repository."""
    folder = Path(language_model.__file__).parents[1] / "zoo"
    assert not [path.name for path in folder.iterdir() if path.suffix in (".txt", ".xz", ".safetensors", ".pt")]
