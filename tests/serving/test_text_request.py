"""Text on the batch engine: the same as that of a session for one reader."""

from __future__ import annotations

import pytest

from kuiper.errors import ParameterError
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, TextRequest


@pytest.fixture(scope="module")
def models() -> dict[str, language_model.LanguageModel]:
    return {name: language_model.load(bundled(name)) for name in ("shakespeare", "tang")}


def written(engine: BatchEngine, texts: list[TextRequest]) -> list[str]:
    """What these texts become together."""
    pieces: dict[TextRequest, list[str]] = {text: [] for text in texts}
    owners = {text.request: text for text in texts}
    for text in texts:
        engine.submit(text.request)
    while engine.has_work:
        for request, tokens in engine.step():
            text = owners.pop(request)
            if text.end:
                continue
            pieces[text].append(text.take(tokens))
            owners[text.request] = text
            if text.request is not request:
                engine.submit(text.request)
            elif text.end:
                engine.cancel(request)
    return ["".join(pieces[text]) for text in texts]


@pytest.mark.parametrize(
    ("name", "prompts"),
    [
        ("shakespeare", ["ROMEO:", "J", "To be, or"]),
        ("tang", ["", "春", "<5x4>", "<7x4>春風", "<rhyme 風>", "<5x4><rhyme 風>月"]),
    ],
)
def test_texts_are_those_of_a_generation(
    models: dict[str, language_model.LanguageModel], name: str, prompts: list[str]
) -> None:
    model, stops = models[name], ["\n\n", "月月"]
    tokens = [model.vocabulary.encode(prompt) for prompt in prompts]
    expected, ends = [], []
    for seed, prompt in enumerate(tokens):
        generation = Generation(model, prompt, Sampler(seed=seed), max_tokens=60, stop=stops)
        expected.append("".join(generation))
        ends.append((generation.account.end, generation.account.tokens))
    texts = [
        TextRequest(model.vocabulary, prompt, Sampler(seed=seed), max_tokens=60, stop=stops)
        for seed, prompt in enumerate(tokens)
    ]
    engine = BatchEngine(model.graph, pages=32, max_length=model.context, page_size=16)
    assert written(engine, texts) == expected
    assert [(text.end, text.tokens) for text in texts] == ends
    assert engine.batch.pool.in_use == 0


def test_a_stop_string_ends_a_text(models: dict[str, language_model.LanguageModel]) -> None:
    model = models["shakespeare"]
    prompt = model.vocabulary.encode("ROMEO:")
    engine = BatchEngine(model.graph, pages=16)
    (free,) = written(engine, [TextRequest(model.vocabulary, prompt, Sampler(seed=2), max_tokens=50)])
    stop = free[20:23]
    text = TextRequest(model.vocabulary, prompt, Sampler(seed=2), max_tokens=50, stop=["never\0", stop])
    assert written(engine, [text]) == [free[: free.index(stop)]]
    assert text.end == "stop"
    assert text.tokens == free.index(stop) + 3


@pytest.mark.parametrize(
    ("prompt", "stop", "message"), [([], [], "at least one token, got none"), ([1], ["a", ""], "got an empty string")]
)
def test_text_request_says_what_it_needs(
    models: dict[str, language_model.LanguageModel], prompt: list[int], stop: list[str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        TextRequest(models["shakespeare"].vocabulary, prompt, Sampler(), max_tokens=1, stop=stop)
