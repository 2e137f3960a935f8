"""From scores to the next token: what is filtered out, what is drawn, and why the same seed gives the same text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]


@dataclass
class Sampler:
    """Draws a token from scores, as Hugging Face's ``generate`` does.

    The order is theirs: repetition penalty, temperature, top-k, top-p. Each may be left at the value that does nothing.

    Parameters
    ----------
    temperature : scores are divided by it: below 1 the likely becomes likelier; 0 takes the token with the highest
    top_k : only this many of the highest scores stay, and those equal to the last of them; 0 keeps all
    top_p : only the likeliest tokens stay that together reach this probability; 1 keeps all
    repetition_penalty : the score of a token that is in the text already is divided by it, or multiplied if it is
        negative; 1 changes none
    seed : of the random numbers; None takes a new one each time

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> sampler = Sampler(temperature=1.0, top_k=2, seed=0)
    >>> [sampler(np.log([0.1, 0.6, 0.3])) for _ in range(8)]
    [1, 1, 1, 1, 2, 2, 1, 2]
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    _random: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0 <= self.temperature < math.inf, "a number of at least 0")
        _check("top_k", self.top_k, self.top_k >= 0, "a number of at least 0")
        _check("top_p", self.top_p, 0 < self.top_p <= 1, "a number above 0, and at most 1")
        penalty = self.repetition_penalty
        _check("repetition_penalty", penalty, 0 < penalty < math.inf, "a number above 0")
        _check("seed", self.seed, self.seed is None or self.seed >= 0, "an integer of at least 0")
        self._random = np.random.default_rng(self.seed)

    def __call__(self, scores: npt.ArrayLike, text: Iterable[int] = ()) -> int:
        """The next token.

        Parameters
        ----------
        scores : (vocabulary,), as a model gives them
        text : the tokens so far, for the repetition penalty

        Returns
        -------
        A token, drawn by its probability; the likeliest one if the temperature is 0.

        Raises
        ------
        ParameterError
            As ``probabilities``.

        Examples
        --------
        >>> Sampler(temperature=0)([1.0, 3.0, 2.0])
        1
        """
        found = self._checked(scores, text)
        if self.temperature == 0:
            return int(found.argmax())
        tokens, powers = self._kept(found)
        heights = np.cumsum(powers)
        # "right" never lands on a token whose chance is 0.
        at = int(np.searchsorted(heights, self._random.random() * heights[-1], side="right"))
        return at if tokens is None else int(tokens[at])

    def probabilities(self, scores: npt.ArrayLike, text: Iterable[int] = ()) -> Scores:
        """The probability of each token after all filters.

        Parameters
        ----------
        scores : (vocabulary,), as a model gives them
        text : the tokens so far, for the repetition penalty

        Returns
        -------
        Numbers (vocabulary,) whose sum is 1; a token that was filtered out has 0.

        Raises
        ------
        ParameterError
            If ``scores`` is empty, has more axes than one or a NaN, or has nothing but -inf.

        Examples
        --------
        >>> sampler = Sampler(temperature=0.5, top_k=2)
        >>> sampler.probabilities(np.log([0.1, 0.6, 0.3])).round(3).tolist()
        [0.0, 0.8, 0.2]
        """
        found = np.asarray(self._checked(scores, text), np.float64)
        if self.temperature == 0:
            chances = np.zeros_like(found)
            chances[found.argmax()] = 1
            return chances
        return softmax(kept_together(kept_best(found / self.temperature, self.top_k), self.top_p))

    def _checked(self, scores: npt.ArrayLike, text: Iterable[int]) -> npt.NDArray[np.floating]:
        """The scores behind the repetition penalty: in float32, if they are and there is none."""
        found = np.asarray(scores)
        if found.dtype != np.float32 or self.repetition_penalty != 1:
            found = found.astype(np.float64)
        if found.ndim != 1 or not found.size:
            raise ParameterError(
                "sampling", "scores of one axis, one for each token", f"an array of shape {found.shape}"
            )
        if not found.max() > -np.inf:  # which is NaN where one of them is
            raise ParameterError("sampling", "a score for each token", "NaN, or -inf for all of them")
        return penalised(found, text, self.repetition_penalty)

    def _kept(self, scores: npt.NDArray[np.floating]) -> tuple[npt.NDArray[np.int64] | None, Scores]:
        """The tokens that ``probabilities`` keeps, in order, or None for all, and numbers in their proportion.

        A vocabulary may have a hundred thousand tokens, of which few are likely: ``top_k`` selects, and for ``top_p``
        only what may be in it is sorted.
        """
        tokens: npt.NDArray[np.int64] | None = None
        if 0 < self.top_k < len(scores):
            tokens = np.flatnonzero(scores >= np.partition(scores, -self.top_k)[-self.top_k])
            scores = scores[tokens]
        scaled = scores.astype(np.float64)
        scaled /= self.temperature
        powers = _powers(scaled)
        if self.top_p < 1:
            among = _kept_together(scaled, powers, self.top_p)
            tokens, powers = among if tokens is None else tokens[among], powers[among]
        return tokens, powers


def _check(name: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise ParameterError(name, expected, value)


def softmax(scores: Scores) -> Scores:
    """exp(scores), divided by their sum; a score of +inf takes all.

    >>> softmax(np.array([0.0, -np.inf, 0.0])).tolist()
    [0.5, 0.0, 0.5]
    """
    powers = _powers(scores)
    chances: Scores = powers / powers.sum()
    return chances


def _powers(scores: Scores) -> Scores:
    """exp(scores), divided by the largest."""
    highest = scores.max()
    if highest == np.inf:
        powers: Scores = (scores == np.inf).astype(np.float64)
    else:
        powers = np.exp(scores - highest)
    return powers


def penalised(scores: npt.NDArray[Any], text: Iterable[int], penalty: float) -> npt.NDArray[Any]:
    """The scores, lower by the factor ``penalty`` for tokens that ``text`` has, however often (Keskar et al., 2019).

    >>> penalised(np.array([2.0, -2.0, 2.0]), [0, 1, 0], 2.0).tolist()
    [1.0, -4.0, 2.0]
    """
    if penalty != 1:
        there = np.unique(np.fromiter(text, np.int64))
        scores = scores.copy()
        scores[there] = np.where(scores[there] < 0, scores[there] * penalty, scores[there] / penalty)
    return scores


def kept_best(scores: Scores, count: int) -> Scores:
    """The ``count`` highest scores and those equal to the last of them; -inf for the others. 0 keeps all.

    >>> kept_best(np.array([1.0, 4.0, 3.0, 3.0]), 2).tolist()
    [-inf, 4.0, 3.0, 3.0]
    """
    if not 0 < count < len(scores):
        return scores
    least = np.partition(scores, -count)[-count]
    return np.where(scores < least, -np.inf, scores)


def kept_together(scores: Scores, share: float) -> Scores:
    """The highest scores whose probabilities together reach ``share``; -inf for the others (Holtzman et al., 2020).

    >>> kept_together(np.log([0.5, 0.2, 0.3]), 0.6).round(2).tolist()
    [-0.69, -inf, -1.2]
    """
    if share >= 1:
        return scores
    order = np.argsort(-scores, kind="stable")
    before = np.cumsum(softmax(scores)[order])
    before = np.concatenate(([0.0], before[:-1]))  # what those in front of each have together
    dropped = order[1:][before[1:] >= share]
    scores = scores.copy()
    scores[dropped] = -np.inf
    return scores


def _kept_together(scores: Scores, powers: Scores, share: float) -> npt.NDArray[np.int64]:
    """The places, in order, of what ``kept_together`` keeps."""
    total = powers.sum()
    # What is less likely than this adds up to less than half of 1 - share: the others reach the share without it.
    candidates = np.flatnonzero(powers >= total * (1 - share) / (2 * len(powers)))
    order = np.argsort(-scores[candidates], kind="stable")
    before = np.cumsum(powers[candidates[order]] / total)
    kept = 1 + int(np.searchsorted(before[:-1], share, side="left"))
    return np.sort(candidates[order[:kept]])
