"""Answers that hold to a schema, from a model of random weights: jsonschema says whether they do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tokenizers import Tokenizer as Oracle
from tokenizers import decoders, models

from kuiper.errors import ConstraintError
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.characters import Characters
from kuiper.models.text.sampling import Sampler
from kuiper.models.text.tokenizer import Tokenizer
from kuiper.serving import BatchEngine, TextRequest
from kuiper.serving.drawing import Drawing
from kuiper.serving.json_answers import LARGEST_SCHEMA, JsonAnswers
from tests.models.text.folders import chat_folder

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.models.text.language_model import LanguageModel

jsonschema = pytest.importorskip("jsonschema")  # in the extra "dev"
pytest.importorskip("llguidance")  # in the extra "serve"

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "kind": {"enum": ["cat", "dog", None, 3]},
        "tags": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        "place": {"$ref": "#/$defs/place"},
    },
    "required": ["name", "age", "kind", "tags", "place"],
    "additionalProperties": False,
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"x": {"type": "number", "multipleOf": 5, "minimum": -20, "maximum": 20}},
            "required": ["x"],
            "additionalProperties": False,
        }
    },
}
CHOICE = {"anyOf": [{"const": {"a": [1, 2]}}, {"type": "string", "pattern": "^[ab]{2,4}$"}, {"type": "null"}]}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    return language_model.load(chat_folder(tmp_path_factory.mktemp("models") / "chat"))


@pytest.fixture(scope="module")
def answers(model: LanguageModel) -> JsonAnswers:
    return JsonAnswers(model.vocabulary)


def written(model: LanguageModel, answers: JsonAnswers, schema: Any, sampler: Sampler, guesses: int = 0) -> str:
    """The answer of a model, which must end by itself."""
    constraint = answers.grammar(schema)
    prompt = model.vocabulary.encode("{'a': 1}, {'a': 1}, {'a': ")
    text = TextRequest(model.vocabulary, prompt, sampler, max_tokens=400, constraint=constraint)
    engine = BatchEngine(model.graph, pages=16, max_length=model.context, guesses=guesses)
    engine.submit(text.request)
    pieces = []
    while engine.has_work:
        pieces += [text.take(drawn.tokens) for drawn in engine.step()]
    assert text.error is None
    assert text.end in ("token", "complete")
    return "".join(pieces)


@pytest.mark.parametrize("schema", [PERSON, CHOICE])
@pytest.mark.parametrize("temperature", [0.0, 1.0, 2.0])
def test_random_weights_write_what_holds_to_the_schema(
    model: LanguageModel, answers: JsonAnswers, schema: Any, temperature: float
) -> None:
    texts = [written(model, answers, schema, Sampler(temperature, seed=seed)) for seed in range(6)]
    for text in texts:
        jsonschema.validate(json.loads(text), schema)
    assert temperature == 0 or len(set(texts)) > 1


@pytest.mark.parametrize("seed", range(3))
def test_guesses_do_not_change_an_answer(model: LanguageModel, answers: JsonAnswers, seed: int) -> None:
    texts = [written(model, answers, PERSON, Sampler(seed=seed), guesses) for guesses in (0, 6)]
    assert texts[0] == texts[1]


def test_a_grammar_can_be_used_again(answers: JsonAnswers, model: LanguageModel) -> None:
    first = answers.grammar({"const": 12})
    second = first.copy()
    one, two = model.vocabulary.encode("12")
    first.take(one)
    for answer, expected in ((first, two), (second, one)):
        scores = np.zeros(260)
        answer.forbid(scores)
        assert np.flatnonzero(scores == 0).tolist() == [expected]


def test_the_end_comes_only_where_the_answer_is_whole(answers: JsonAnswers, model: LanguageModel) -> None:
    answer = answers.grammar({"type": "integer"})
    (end,) = model.vocabulary.ends
    scores = np.zeros(270)  # more than the vocabulary has
    answer.forbid(scores)
    assert scores[end] == -np.inf
    assert (scores[260:] == -np.inf).all()
    answer.take(model.vocabulary.encode("7")[0])
    scores = np.zeros(270)
    answer.forbid(scores)
    assert scores[end] == 0
    assert not answer.is_complete


def test_a_schema_cannot_change_the_style(model: LanguageModel, answers: JsonAnswers) -> None:
    style = {"item_separator": ";", "key_separator": "=", "whitespace_flexible": True, "whitespace_pattern": "x+"}
    schema = {"x-guidance": style, "const": {"a": 1, "b": [2, 3]}}
    assert written(model, answers, schema, Sampler(seed=1)) == '{"a": 1, "b": [2, 3]}'


def test_names_of_tokens_are_spelled_out(model: LanguageModel, answers: JsonAnswers) -> None:
    schema = {"const": "a<|im_end|>b"}
    assert written(model, answers, schema, Sampler(seed=1)) == '"a<|im_end|>b"'


def test_a_vocabulary_without_an_end_ends_with_the_answer() -> None:
    shakespeare = language_model.load(bundled("shakespeare"))
    assert not shakespeare.vocabulary.ends
    answers = JsonAnswers(shakespeare.vocabulary)
    for seed in range(4):
        assert written_words(shakespeare, answers, {"type": ["boolean", "null"]}, seed) in ("true", "false", "null")


def written_words(model: LanguageModel, answers: JsonAnswers, schema: Any, seed: int) -> str:
    text = TextRequest(
        model.vocabulary,
        model.vocabulary.encode("ROMEO:"),
        Sampler(seed=seed),
        max_tokens=20,
        constraint=answers.grammar(schema),
    )
    engine = BatchEngine(model.graph, pages=4)
    engine.submit(text.request)
    pieces = []
    while engine.has_work:
        pieces += [text.take(drawn.tokens) for drawn in engine.step()]
    assert text.end == "complete"
    return "".join(pieces)


def test_what_has_to_come_is_spelled_as_the_model_has_learned_it(tmp_path: Path) -> None:
    oracle = Oracle(models.BPE({**{letter: n for n, letter in enumerate('abcn"')}, "ab": 5, "bc": 6}, [("b", "c")]))
    oracle.decoder = decoders.ByteLevel()
    oracle.add_special_tokens(["</s>"])
    oracle.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer(tmp_path / "tokenizer.json", {7})
    answer = JsonAnswers(tokenizer).grammar({"const": "abc"})
    for token in oracle.encode('"abc"').ids:
        scores = np.zeros(8)
        answer.forbid(scores)
        assert np.flatnonzero(scores == 0).tolist() == [token]
        answer.take(token)
    assert answer.is_complete


def nested(depth: int) -> Any:
    """A schema that is far too deep."""
    schema: Any = {"type": "null"}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nothing"},
        {"type": 3},
        {"type": "object", "properties": 3},
        {"$ref": "http://127.0.0.1:1/schema"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "file:///etc/passwd"},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"enum": []},
        {"type": "string", "pattern": "("},
        {"not": {"type": "string"}},
        {"x-guidance": {"lenient": True}, "not": {"type": "string"}},
        {"enum": ["a" * LARGEST_SCHEMA]},
        {"items": {"multipleOf": 999983}},
        {"items": {"multipleOf": 499300}},
        {"multipleOf": 1e300},
        {"multipleOf": 1e-300},
        {"allOf": [{"multipleOf": 97}, {"multipleOf": 0.001}]},
        {"allOf": [{"multipleOf": 1.01}, {"properties": {"a": {"multipleOf": 1003}}}]},
        {"type": "integer", "multipleOf": -5},
        nested(5000),
    ],
)
def test_a_schema_that_no_answer_can_hold_to_is_refused(answers: JsonAnswers, schema: Any) -> None:
    with pytest.raises(ConstraintError) as caught:
        answers.grammar(schema)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("response_format: expected a ")
    assert len(str(caught.value)) < 500


def test_a_schema_that_needs_other_characters_is_refused() -> None:
    answers = JsonAnswers(Characters(("a", "b", "{", "}")))
    with pytest.raises(ConstraintError, match="that the model's tokens can follow"):
        answers.grammar({"type": "boolean"})
    answer = answers.grammar({"type": "object", "minProperties": 1})
    answer.take(2)  # and a quotation mark has to come
    with pytest.raises(ConstraintError, match="that the model's tokens can follow"):
        Drawing(Sampler(seed=1), [], constraint=answer)(np.zeros(4))
