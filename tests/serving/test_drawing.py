"""Drawing: what is left out, what is noted, and that guesses change neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, TextRequest
from kuiper.serving.drawing import Drawing, chance

if TYPE_CHECKING:
    from kuiper.serving.drawing import Scores


class Even:
    """Lets only even tokens come, and 13 of them."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    @property
    def is_complete(self) -> bool:
        return len(self.taken) >= 13

    def forbid(self, scores: Scores) -> None:
        scores[1::2] = -np.inf

    def take(self, token: int) -> None:
        self.taken.append(token)


@pytest.fixture(scope="module")
def shakespeare() -> language_model.LanguageModel:
    return language_model.load(bundled("shakespeare"))


def test_drawing_leaves_out_what_cannot_come() -> None:
    constraint = Even()
    drawing = Drawing(Sampler(seed=3), [0, 2], constraint=constraint, best=2)
    scores = np.log([0.4, 0.3, 0.2, 0.05, 0.03, 0.01, 0.01])
    drawn = [drawing(scores) for _ in range(40)]
    assert set(drawn) == {4, 6}
    assert constraint.taken == drawn
    assert drawing.is_complete
    assert [noted.token for noted in drawing.chances] == drawn
    assert {round(float(np.exp(noted.logprob)), 6) for noted in drawing.chances} == {0.03, 0.01}
    assert all([token for token, _ in noted.best] == [0, 1] for noted in drawing.chances)


@pytest.mark.parametrize("best", [0, 1, 3, 7, 9])
def test_chance_is_by_the_scores_alone(best: int) -> None:
    scores = np.array([1.0, 3.0, 3.0, -np.inf, 0.0, 2.0, 3.0], np.float32)
    shares = np.exp(scores.astype(np.float64)) / np.exp(scores.astype(np.float64)).sum()
    found = chance(scores, 5, best)
    assert np.isclose(np.exp(found.logprob), shares[5], rtol=1e-12)
    assert [token for token, _ in found.best] == [1, 2, 6, 5, 0, 4, 3][:best]
    assert np.allclose(np.exp([logprob for _, logprob in found.best]), np.sort(shares)[::-1][:best], rtol=1e-12)


def run(engine: BatchEngine, text: TextRequest) -> str:
    engine.submit(text.request)
    pieces = []
    while engine.has_work:
        pieces += [text.take(drawn.tokens) for drawn in engine.step()]
    return "".join(pieces)


@pytest.mark.parametrize("guesses", [0, 5])
def test_chances_are_those_of_the_tokens_of_a_text(shakespeare: language_model.LanguageModel, guesses: int) -> None:
    prompt = shakespeare.vocabulary.encode("to be or not to be or not to be or")
    text = TextRequest(shakespeare.vocabulary, prompt, Sampler(temperature=0.3, seed=1), max_tokens=60, best=3)
    written = run(BatchEngine(shakespeare.graph, pages=8, guesses=guesses), text)
    spelled = b"".join(shakespeare.vocabulary.spellings[noted.token].written for noted in text.chances)
    assert spelled.decode() == written
    session = shakespeare.start(max_length=256)
    scores = np.asarray(session(np.array([*prompt, *(noted.token for noted in text.chances)])))
    for noted, row in zip(text.chances, scores[len(prompt) - 1 :], strict=False):
        shares = np.exp(row.astype(np.float64) - row.max())
        shares /= shares.sum()
        assert abs(np.exp(noted.logprob) - shares[noted.token]) < 1e-5
        assert noted.best[0][0] == shares.argmax()


@pytest.mark.parametrize("guesses", [0, 5])
def test_a_constraint_ends_a_text_at_once(shakespeare: language_model.LanguageModel, guesses: int) -> None:
    prompt = shakespeare.vocabulary.encode("to be or not to be")
    constraint = Even()
    text = TextRequest(shakespeare.vocabulary, prompt, Sampler(seed=2), max_tokens=200, constraint=constraint)
    engine = BatchEngine(shakespeare.graph, pages=8, guesses=guesses)
    run(engine, text)
    assert (text.end, text.tokens, len(constraint.taken)) == ("complete", 13, 13)
    assert all(token % 2 == 0 for token in constraint.taken)
    assert engine.batch.pool.in_use == 0
