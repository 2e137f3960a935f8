"""Exercise 5.13: sampling, from scores to the next token.

A language model reads the text so far and gives one number for each token of its vocabulary: its score. A high score
says that the token fits well behind the text. Softmax makes probabilities of the scores, and then one token is drawn by
chance. A program that always takes the highest score soon repeats itself; one that draws from all tokens now and then
takes a token that does not fit at all. So the scores are changed before the token is drawn, in this order:

    scores          2.0    1.0    0.0   -1.0     four tokens; the text so far is token 0
    penalty 2       1.0    1.0    0.0   -1.0     token 0 is in the text already: its score becomes smaller
    temperature 0.5 2.0    2.0    0.0   -2.0     below 1: the probabilities lie further apart; above 1: closer together
    top-k 3         2.0    2.0    0.0   -inf     only the 3 highest scores stay
    top-p 0.9       2.0    2.0   -inf   -inf     only the likeliest tokens stay that together reach 0.9
    softmax         0.5    0.5    0.0    0.0
    chance 0.7              ^                    0.5 is not above 0.7, but 0.5 + 0.5 is: token 1

A token that was filtered out keeps its place with a score of -inf, minus infinity: its probability is exp(-inf) = 0.

All scores and probabilities are float64 arrays with one axis, (vocabulary,). Scores are numbers or -inf, and at least
one of them is a number. No function changes an array that it was given. The names and the rules are those of Hugging
Face's transformers, which most programs follow.
"""

from __future__ import annotations

import numpy as np


def penalise(scores: np.ndarray, text: list[int], penalty: float) -> np.ndarray:
    """The scores with those of the tokens in ``text`` made smaller, so that the model does not repeat itself.

    A positive score is divided by ``penalty``, a negative one is multiplied by it: both become smaller, because penalty
    is above 1 (a penalty of 1 changes nothing). A token that is in the text several times is penalised once. The scores
    of all other tokens stay as they are.

    >>> penalise(np.array([2.0, -2.0, 4.0]), [0, 1, 0], 2.0).tolist()
    [1.0, -4.0, 4.0]
    """
    # BEGIN SOLUTION
    penalised = scores.copy()
    for token in set(text):
        penalised[token] = scores[token] * penalty if scores[token] < 0 else scores[token] / penalty
    return penalised
    # END SOLUTION


def softmax(scores: np.ndarray, temperature: float) -> np.ndarray:
    """The probabilities of all tokens: divide the scores by ``temperature`` (above 0), and take softmax of the result.

    Softmax is exp(score) of each token, divided by the sum of exp(score) of all tokens, as in 5.2. Scores may be so
    large that exp overflows: take the highest score away from all of them first, which does not change the result. A
    score of -inf becomes a probability of 0.

    >>> softmax(np.array([1000.0, 1000.0, -np.inf]), 1.0).tolist()
    [0.5, 0.5, 0.0]
    >>> softmax(np.log([4.0, 1.0]), 0.5).round(3).tolist()    # 16 to 1 instead of 4 to 1
    [0.941, 0.059]
    """
    # BEGIN SOLUTION
    powers = np.exp((scores - scores.max()) / temperature)
    return powers / powers.sum()
    # END SOLUTION


def top_k(scores: np.ndarray, k: int) -> np.ndarray:
    """The scores, with -inf for all tokens but the ``k`` with the highest scores.

    Tokens whose scores are equal to the last of these k stay, too, so more than k may stay. All stay if k is 0 (which
    turns the filter off), or if the vocabulary has no more than k tokens.

    >>> top_k(np.array([1.0, 4.0, 3.0, 2.0]), 2).tolist()
    [-inf, 4.0, 3.0, -inf]
    >>> top_k(np.array([1.0, 4.0, 3.0, 3.0]), 2).tolist()
    [-inf, 4.0, 3.0, 3.0]
    """
    # BEGIN SOLUTION
    if k == 0 or k >= len(scores):
        return scores.copy()
    last = np.sort(scores)[-k]
    return np.where(scores < last, -np.inf, scores)
    # END SOLUTION


def top_p(scores: np.ndarray, p: float) -> np.ndarray:
    """The scores, with -inf for all tokens but the likeliest, as few as are needed so that they together reach ``p``.

    Go from the likeliest token to the unlikeliest, and add up their probabilities (softmax of the scores at temperature
    1). A token stays as long as the sum of those before it is below p. So the likeliest token always stays, and the one
    with which the sum reaches p stays as well. Of tokens with equal scores the smaller token comes first.

    p is above 0 and at most 1, and 1 turns the filter off: all stay.

    >>> top_p(np.log([0.5, 0.2, 0.3]), 0.6).round(2).tolist()    # 0.5 is below 0.6, 0.5 + 0.3 is not
    [-0.69, -inf, -1.2]
    """
    # BEGIN SOLUTION
    if p >= 1:
        return scores.copy()
    order = np.argsort(-scores, kind="stable")
    before = np.append(0.0, np.cumsum(softmax(scores, 1.0)[order])[:-1])
    kept = order[before < p]
    filtered = np.full_like(scores, -np.inf)
    filtered[kept] = scores[kept]
    return filtered
    # END SOLUTION


def draw(probabilities: np.ndarray, chance: float) -> int:
    """The token that ``chance``, a random number with 0 <= chance < 1, stands for.

    Think of the probabilities as pieces of a ruler of length 1, side by side in the order of the tokens. The token is
    the one whose piece holds the place ``chance``: the first one for which the sum of all probabilities up to and
    including its own is above chance. A piece of length 0 holds no place, so a token of probability 0 is never drawn.

    Because of rounding the sum of all may be a little below 1. If no sum is above chance, it is the last token whose
    probability is above 0.

    >>> probabilities = np.array([0.25, 0.0, 0.5, 0.25])
    >>> draw(probabilities, 0.0), draw(probabilities, 0.25), draw(probabilities, 0.9)
    (0, 2, 3)
    """
    # BEGIN SOLUTION
    above = np.flatnonzero(np.cumsum(probabilities) > chance)
    if len(above):
        return int(above[0])
    return int(np.flatnonzero(probabilities)[-1])
    # END SOLUTION


def next_token(
    scores: np.ndarray, text: list[int], temperature: float, k: int, p: float, penalty: float, chance: float
) -> int:
    """The token that goes on with ``text``, by the ``scores`` that a model has given for it.

    The steps come in the order of the drawing above: penalty, temperature, top-k, top-p, softmax, draw. top-p looks at
    the probabilities that temperature and top-k have left. A temperature of 0 means: after the penalty take the token
    with the highest score, and of equal ones the smallest token; k, p and chance do not matter then.

    >>> next_token(np.array([2.0, 1.0, 0.0, -1.0]), [0], 0.5, 3, 0.9, 2.0, chance=0.7)
    1
    >>> next_token(np.array([2.0, 1.0, 0.0, -1.0]), [0], 0.0, 3, 0.9, 2.0, chance=0.7)
    0
    """
    # BEGIN SOLUTION
    penalised = penalise(scores, text, penalty)
    if temperature == 0:
        return int(penalised.argmax())
    filtered = top_p(top_k(penalised / temperature, k), p)
    return draw(softmax(filtered, 1.0), chance)
    # END SOLUTION
