"""Guesses of the tokens that come next, from the text itself: what followed the last time that it read like this.

    ... to be or not to be , that is ... to be or        the last three tokens stood there before:
        '------' not to be                               "not to be" is guessed

Several guessed tokens are read in one step, which costs hardly more than one where memory limits the speed, and each
answer says whether the next guess was right. The token is drawn from the model's scores as always, with the same random
numbers: so the text is the same, token by token, with and without guesses.

Source: A. Saxena, "Prompt Lookup Decoding", 2023; Y. Leviathan et al., "Fast Inference from Transformers via
Speculative Decoding", 2023 (a guess without chance in it is right as often as the model would draw it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH = 3
"""Tokens that must have stood there before: with fewer, more is guessed and less of it is right."""


class Guesser:
    """What one text has read, so that it can be guessed how it goes on.

    Examples
    --------
    >>> guesser = Guesser()
    >>> guesser.guess([1, 2, 3, 4, 5, 1, 2, 3], count=2)
    [4, 5]
    >>> guesser.guess([1, 2, 3, 4, 5, 1, 2, 3, 9], count=2)
    []
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, ...], int] = {}  # what stood in front of a place -> the last such place
        self._noted = LENGTH - 1

    def guess(self, tokens: Sequence[int], count: int) -> list[int]:
        """Up to ``count`` tokens that may come behind a text; none where it never read like this.

        The text must begin with that of the call before.
        """
        for end in range(self._noted + 1, len(tokens)):  # not the end of the text itself, with nothing behind it
            self._seen[tuple(tokens[end - LENGTH : end])] = end
        self._noted = max(self._noted, len(tokens) - 1)
        at = self._seen.get(tuple(tokens[-LENGTH:]))
        if at is None:
            return []
        longer = list(tokens)
        for place in range(at, at + count):  # it may go on into what is guessed: a text that goes round in circles
            longer.append(longer[place])
        return longer[len(tokens) :]
