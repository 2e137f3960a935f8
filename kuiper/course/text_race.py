"""The race of a language model: the bundled shakespeare writes a text on the student's own layers.

kuiper writes the text first, and every draw is noted. Then the student's layers read the same tokens, and each operator
is compared with kuiper's layers; the student's sampling draws from the same scores with the same chances. At last both
together write the text alone, which should come out the same.

All of it runs on one thread: a step of this model is one row, too little for threads to be worth waking.

An exercise that provides NEXT_TOKEN has a class in its course's ``adapters.py`` that is made from a ``Sampler`` and
draws tokens as that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course import race
from kuiper.course.ladder import BY_LAYER, KUIPERS_ENGINE, OF_THE_REFERENCE, YOUR_LAYERS
from kuiper.course.own_layers import OwnLayerError, begun, build, course_module, providers, split, without_failures
from kuiper.course.quiet import one_thread
from kuiper.course.race import Comparison, Divergence, Result, solutions_of
from kuiper.course.selection import Selection, selected
from kuiper.errors import KuiperError
from kuiper.language import _, noop
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from kuiper.course.manifest import Exercise
    from kuiper.models.text.language_model import LanguageModel

    Sampling = Callable[[], Sampler]

SHAKESPEARE = "shakespeare"
NEXT_TOKEN = noop("next token")
"""What stands for the drawing of a token among the operator types of ``provides``."""

PROMPT, TOKENS = "JULIET:\n", 160
SHOWN = 40  # characters of kuiper's text behind the place where the student's has left it


def sampler() -> Sampler:
    """What draws the tokens: every filter has something to do, and the seed is always the same."""
    return Sampler(temperature=0.8, top_k=20, top_p=0.95, repetition_penalty=1.02, seed=5)


def load(optimize: bool) -> LanguageModel:
    """The model that runs."""
    return language_model.load(bundled(SHAKESPEARE), optimize=optimize)


def text_race(
    selection: Selection,
    entered: Callable[[str], None] = lambda place: None,
    load: Callable[[bool], LanguageModel] = load,
    prompt: str = PROMPT,
    tokens: int = TOKENS,
) -> Result:
    """Let a language model write on the student's layers; what raises is replaced by the reference's, and named.

    Parameters
    ----------
    selection : the courses with the student's files
    entered : is told where the race is
    load : the model, on the engine or one layer after the other
    prompt : the beginning of the text
    tokens : how many are written behind it
    """
    with one_thread():
        return _text_race(selection, entered, load, prompt, tokens)


def _text_race(
    selection: Selection,
    entered: Callable[[str], None],
    load: Callable[[bool], LanguageModel],
    prompt: str,
    tokens: int,
) -> Result:
    reference = load(False)
    known = providers(selection, reference.graph.operators)
    known.update((NEXT_TOKEN, exercise) for exercise in selection.syllabus if NEXT_TOKEN in exercise.provides)
    engine = load(True)
    written = Written(reference, reference.vocabulary.encode(prompt), tokens)
    text = written.by(engine, lambda: Noted(written.draws))
    fast = replace(selection, mode="fast")

    def filled(by: Selection, own: dict[str, Exercise]) -> tuple[LanguageModel, Sampling]:
        """The model and the sampling with the layers of a selection."""
        layers = {type_name: exercise for type_name, exercise in own.items() if type_name != NEXT_TOKEN}
        graph = build(by, lambda optimize: load(optimize).graph, layers, entered)
        own_sampling = partial(OwnSampler, by, own[NEXT_TOKEN], entered) if NEXT_TOKEN in own else sampler
        return replace(reference, graph=graph), own_sampling

    def times(own: dict[str, Exercise], divergence: Divergence | None) -> dict[str, float]:
        contestants = {YOUR_LAYERS: filled(fast, own)}
        if divergence is None and own == known and (solved := solutions_of(fast, own.values())):
            contestants[OF_THE_REFERENCE[YOUR_LAYERS]] = filled(solved, own)
        found = race.in_turns(*(partial(seconds_of_token, written, *each) for each in contestants.values()))
        return dict(zip(contestants, found, strict=True))

    def attempt(own: dict[str, Exercise]) -> tuple[str, Divergence | None, dict[str, float]]:
        if not own:
            return text, None, {}
        model, sampling = filled(fast, own)
        divergence = written.first_divergence(model, own)
        try:
            divergence = divergence or written.first_other_draw(sampling())
            return written.by(model, sampling), divergence, times(own, divergence)
        except KuiperError:
            if divergence is None:
                raise
            return "", divergence, {}  # what differs is why the rest cannot run

    own, (own_text, divergence, ladder), failures = without_failures(begun(selection, known), attempt)
    for name, model in ((BY_LAYER, reference), (KUIPERS_ENGINE, engine)):
        ladder[name] = race.in_turns(partial(seconds_of_token, written, model, sampler))[0]
    yours, others = split(selection, known, own)
    answer = own_text and prompt + own_text + _other_way(own_text, text)
    return Result(SHAKESPEARE, yours, others, failures, divergence, ladder, answer, per="token")


class Noted(Sampler):
    """The reference's sampler, which notes its draws: scores, the text before, and the token."""

    def __init__(self, draws: list[Draw]) -> None:
        super().__init__(**_settings(sampler()))
        self.draws = draws

    def __call__(self, scores: npt.ArrayLike, text: Iterable[int] = ()) -> int:
        before = list(text)
        token = super().__call__(scores, before)
        self.draws.append(Draw(np.array(scores, np.float64), before, token))
        return token


@dataclass(frozen=True)
class Draw:
    """One token that was drawn, and from what."""

    scores: np.ndarray
    text: list[int]
    token: int


class OwnSampler(Sampler):
    """The student's sampling in the place of kuiper's; what goes wrong in it is the exercise's."""

    def __init__(self, selection: Selection, exercise: Exercise, entered: Callable[[str], None]) -> None:
        super().__init__(**_settings(sampler()))
        self.exercise, self.entered = exercise, entered
        entered(f"{_(NEXT_TOKEN)} -> {exercise.label}")
        try:
            with selected(selection):
                self.drawn = getattr(course_module(exercise.course, "adapters"), exercise.provides[NEXT_TOKEN])(self)
        except (Exception, SystemExit) as error:
            raise OwnLayerError(exercise, NEXT_TOKEN, _(NEXT_TOKEN), error) from error

    def __call__(self, scores: npt.ArrayLike, text: Iterable[int] = ()) -> int:
        self.entered(f"{_(NEXT_TOKEN)} -> {self.exercise.label}")
        found, before = np.array(scores, np.float64), list(text)
        try:
            token = self.drawn(found, before)
            if not 0 <= token < len(found):
                raise ValueError(f"expected a token from 0 to {len(found) - 1}, got {token!r}")
            return int(token)
        except Exception as error:
            raise OwnLayerError(self.exercise, NEXT_TOKEN, _(NEXT_TOKEN), error) from error


@dataclass
class Written:
    """A text that the reference has written, with all its draws: what the student's layers are compared with."""

    reference: LanguageModel
    prompt: list[int]
    tokens: int
    draws: list[Draw] = field(default_factory=list)

    def by(self, model: LanguageModel, sampling: Sampling) -> str:
        """The text that this model writes behind the prompt."""
        return "".join(self.generation(model, sampling))

    def generation(self, model: LanguageModel, sampling: Sampling) -> Generation:
        """What writes it."""
        return Generation(model, self.prompt, sampling(), max_tokens=self.tokens)

    def first_divergence(self, model: LanguageModel, own: dict[str, Exercise]) -> Divergence | None:
        """Read the text with both, the prompt in one call and then a token in each, and compare all outputs.

        The first operator that differs comes first in the order of execution, in the first call where one differs.
        """
        if not own:
            return None
        length = len(self.prompt) + len(self.draws)
        wanted, got = self.reference.start(length), model.start(length)
        for number, call in enumerate([self.prompt, *([draw.token] for draw in self.draws)]):
            comparison = Comparison(own)
            tokens = np.array(call, np.int64)
            wanted(tokens, comparison.remember)
            try:
                got(tokens, comparison.compare)
            except KuiperError:
                if comparison.found is None:
                    raise
            if comparison.found:
                place = _("{operator} at token {number}") if number else _("{operator} while reading the prompt")
                operator = place.format(operator=comparison.found.operator, number=number)
                return replace(comparison.found, operator=operator)
        return None

    def first_other_draw(self, sampler: Sampler) -> Divergence | None:
        """Draw from the reference's own scores, and compare the tokens."""
        if not isinstance(sampler, OwnSampler):
            return None
        names = self.reference.vocabulary.decoder()
        for number, draw in enumerate(self.draws, 1):
            token = sampler(draw.scores, draw.text)
            if token != draw.token:
                other, right = names.piece(token), names.piece(draw.token)
                words = _("{other} drawn where the reference draws {right} from the same scores")
                detail, place = words.format(other=repr(other), right=repr(right)), _("token {number}")
                return Divergence(place.format(number=number), NEXT_TOKEN, sampler.exercise.label, float("inf"), detail)
        return None


def seconds_of_token(written: Written, model: LanguageModel, sampling: Sampling) -> float:
    """The time of a token behind the first, in one text."""
    generation = written.generation(model, sampling)
    for _piece in generation:
        pass
    return generation.account.seconds / max(1, generation.account.tokens - 1)


def _other_way(own: str, reference: str) -> str:
    """A line about where the student's text leaves the reference's, if it does."""
    if own == reference:
        return ""
    pairs = zip(own, reference, strict=False)  # either may have ended first
    same = sum(1 for pair in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = reference[same : same + SHOWN]
    words = _("(from character {number} behind the prompt, kuiper goes on: {text})")
    return f"\n{words.format(number=same + 1, text=repr(rest))}"


def _settings(sampler: Sampler) -> dict[str, Any]:
    """What a sampler is made with."""
    return {item.name: getattr(sampler, item.name) for item in fields(sampler) if item.init}
