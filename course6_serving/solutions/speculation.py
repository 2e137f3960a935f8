"""Exercise 6.6: guess several tokens, and check them in one step.

To read one token, a small computer fetches all weights of a model from memory. To read five tokens of a text in one step
costs hardly more. But the next token is known only when the one before it was drawn. So guess:

    the model has read  a b c     drawn: d     guessed behind it: e f g      one step reads   d e f g
    its scores behind           d        e        f        g
    say that this comes next    e        f        x        .
    so                          right    right    wrong: x in place of g     e f x were drawn in one step

Whether a guess is right, the model's own scores say: what is drawn is what would have been drawn without guesses. For
greedy text (the highest score always wins) this is plain. Where tokens are drawn by chance it needs a rule, by which each
token comes with exactly the probability that the model gives it, however bad the guesses are:

    a guess g, which was drawn with the probability draft[g], is taken with the probability target[g] / draft[g] (or
    always, if that is more than 1); if it is not taken, a token is drawn from what draft has too little of:
    max(target - draft, 0), divided by its sum

``target`` has the probabilities of the model, ``draft`` those by which the guesses were made: those of a smaller model,
or 1 for the guess and 0 for all others where something else guesses, as ``guess`` below does. Probabilities are float64.

Sources: Y. Leviathan, M. Kalman, Y. Matias, "Fast Inference from Transformers via Speculative Decoding", 2023; A. Saxena,
"Prompt Lookup Decoding", 2023.
"""

from __future__ import annotations

import numpy as np


def guess(tokens: list[int], longest: int, count: int) -> list[int]:
    """What may come behind ``tokens``: what followed the last time that the text read like this; free of cost.

    Look for an earlier place with the same last ``longest`` tokens before it; if there is none, with the same last
    ``longest - 1`` tokens, and so on down to 1. Of several such places take the last. The ``count`` tokens from there on
    are the guess. If the text ends before, it goes on with the guess itself: a text that goes round in circles is
    guessed as far as one likes. If the last token did not come before, the guess is empty.

    >>> guess([5, 6, 7, 8, 5, 6], 2, 3)    # 5 6 stood there before, and 7 8 5 followed
    [7, 8, 5]
    >>> guess([4, 9, 9], 2, 4)
    [9, 9, 9, 9]
    """
    # BEGIN SOLUTION
    for length in range(min(longest, len(tokens) - 1), 0, -1):
        for place in range(len(tokens) - 1, length - 1, -1):
            if tokens[place - length : place] == tokens[-length:]:
                longer = list(tokens)
                for each in range(place, place + count):
                    longer.append(longer[each])
                return longer[len(tokens) :]
    return []
    # END SOLUTION


def accept_greedy(guesses: list[int], scores: np.ndarray) -> list[int]:
    """The tokens that one step adds to a greedy text.

    ``scores`` (k + 1, v) are those behind the last drawn token and behind each of the k ``guesses``. Behind each place,
    the token with the highest score comes (of equal scores the first). Go on while this is the one that was guessed.
    The first that is not is the last one of the step: the scores behind it belong to a text that does not come. If all
    guesses are right, one more token comes behind them.

    >>> accept_greedy([1, 0], np.array([[0.0, 3.0], [0.0, 5.0], [7.0, 0.0]]))
    [1, 1]
    """
    # BEGIN SOLUTION
    tokens: list[int] = []
    for place, row in enumerate(scores):
        tokens.append(int(row.argmax()))
        if place < len(guesses) and tokens[place] != guesses[place]:
            break
    return tokens
    # END SOLUTION


def residual(target: np.ndarray, draft: np.ndarray) -> np.ndarray:
    """The probabilities (v,) by which a token is drawn in the place of a guess that was not taken.

    What ``target`` has more than ``draft``, divided by the sum of it. If the two are equal, nothing is left, and the
    answer is ``target`` itself. (Then every guess is taken, but for rounding.)

    >>> residual(np.array([0.5, 0.25, 0.25]), np.array([0.0, 1.0, 0.0])).round(3).tolist()
    [0.667, 0.0, 0.333]
    """
    # BEGIN SOLUTION
    missing = np.maximum(target - draft, 0)
    total = missing.sum()
    return missing / total if total > 0 else target.copy()
    # END SOLUTION


def draw(probabilities: np.ndarray, chance: float) -> int:
    """The token on which ``chance``, from 0 to below 1, falls: as in 5.13."""
    sums = np.cumsum(probabilities)
    return int(np.searchsorted(sums, chance * sums[-1], side="right"))


def accept_sampled(guesses: list[int], draft: np.ndarray, target: np.ndarray, chances: list[float]) -> list[int]:
    """The tokens that one step adds to a text that is drawn by chance.

    ``draft`` (k, v) are the probabilities by which each of the k ``guesses`` was drawn, ``target`` (k + 1, v) those of the
    model behind the last drawn token and behind each guess. ``chances`` are k + 1 numbers from 0 to below 1. Guess i is
    taken if chances[i] * draft[i, guess] is below target[i, guess]. (So it is taken with the probability that the rule
    above asks for, and nothing is divided by 0.) For the first one that is not taken, a token is drawn from the residual,
    and is the last one of the step. If all are taken, one more is drawn behind them. Either is drawn with the last chance.

    >>> accept_sampled([1], np.array([[0.0, 1.0]]), np.array([[0.5, 0.5], [1.0, 0.0]]), [0.4, 0.9])
    [1, 0]
    >>> accept_sampled([1], np.array([[0.0, 1.0]]), np.array([[0.5, 0.5], [1.0, 0.0]]), [0.6, 0.9])
    [0]
    """
    # BEGIN SOLUTION
    for place, token in enumerate(guesses):
        if chances[place] * draft[place, token] >= target[place, token]:
            return [*guesses[:place], draw(residual(target[place], draft[place]), chances[-1])]
    return [*guesses, draw(target[-1], chances[-1])]
    # END SOLUTION


def expected_tokens(rate: float, count: int) -> float:
    """How many tokens a step of ``count`` guesses adds on average, if each guess is right with the probability ``rate``.

    One always comes. A second one comes if the first guess is right, a third one if the first two are, and so on.

    >>> expected_tokens(0.5, 2)
    1.75
    """
    # BEGIN SOLUTION
    return sum(rate**right for right in range(count + 1))
    # END SOLUTION


def best_count(rate: float, cost: float, most: int) -> int:
    """How many guesses, 0 to ``most``, give the most tokens in a second; of equally good numbers the smallest.

    A step without guesses takes the time 1, and each guess makes it longer by ``cost``: to guess it and to check it.

    >>> best_count(0.8, 0.1, 10), best_count(0.2, 0.5, 10)
    (6, 0)
    """
    # BEGIN SOLUTION
    return max(range(most + 1), key=lambda count: expected_tokens(rate, count) / (1 + cost * count))
    # END SOLUTION
