"""A load for what serves text: which calls come when, and what came of them.

    draw_calls   prompts of random tokens, some of which begin alike, and lengths of answers: the same for the same seed
    Timing       when a call was sent, and when each token of its answer came
    LoadFigures  how many tokens in a second, how long readers waited for the first one, and for each of the others

Load of readers (closed): each sends its next call a moment after its last answer has ended, so that a slow server is
asked less. Load at a rate (open): calls come at random times, whatever the server does, as from many strangers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Call(NamedTuple):
    """A prompt, and how many tokens are to come behind it."""

    prompt: list[int]
    tokens: int
    pause: float
    """Seconds before it is sent: behind the one before, or behind the end of a reader's last answer."""


@dataclass(frozen=True)
class CallSizes:
    """What calls are like: each size is drawn, as likely as any other in its range.

    Raises
    ------
    ParameterError
        If a range is empty or begins below 1.
    """

    prompts: tuple[int, int] = (32, 512)
    answers: tuple[int, int] = (16, 256)
    shared: int = 256
    """Tokens with which every second prompt begins, or as many of them as leave it one of its own."""

    def __post_init__(self) -> None:
        for name, (least, most) in {"prompts": self.prompts, "answers": self.answers}.items():
            if not 1 <= least <= most:
                raise ParameterError(name, "a range from at least 1, such as 32-512", f"{least}-{most}")


def draw_calls(count: int, sizes: CallSizes, *, vocabulary: int, pause: float, seed: int = 0) -> list[Call]:
    """Calls with random prompts.

    Parameters
    ----------
    count : how many
    sizes : what they are like
    vocabulary : tokens are drawn from 1 to below this number
    pause : seconds between two calls, on average: they are drawn from the exponential distribution
    seed : of all that is drawn

    Returns
    -------
    The calls, in the order in which they are sent.

    Examples
    --------
    >>> calls = draw_calls(4, CallSizes((4, 9), (2, 3), shared=3), vocabulary=60, pause=0.1)
    >>> calls[0].prompt[:3] == calls[2].prompt[:3], {call.tokens for call in calls} <= {2, 3}
    (True, True)
    """
    rng = np.random.default_rng(seed)
    beginning = rng.integers(1, vocabulary, sizes.shared).tolist()
    calls = []
    for number in range(count):
        prompt = rng.integers(1, vocabulary, rng.integers(sizes.prompts[0], sizes.prompts[1] + 1)).tolist()
        if number % 2 == 0:
            shared = min(sizes.shared, len(prompt) - 1)
            prompt[:shared] = beginning[:shared]
        tokens = int(rng.integers(sizes.answers[0], sizes.answers[1] + 1))
        calls.append(Call(prompt, tokens, float(rng.exponential(pause))))
    return calls


@dataclass
class Timing:
    """When a call was sent, and when its tokens came, in seconds by one clock."""

    sent: float
    tokens: list[float] = field(default_factory=list)


class Percentiles(NamedTuple):
    """Of some times, in milliseconds."""

    median: float
    p95: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Percentiles:
        """Those of times in seconds; NaN where there are none.

        >>> Percentiles.of([0.001, 0.002, 0.003])
        Percentiles(median=2.0, p95=2.9, p99=2.98)
        """
        if not len(seconds):
            return cls(np.nan, np.nan, np.nan)
        return cls(*(round(float(found) * 1e3, 4) for found in np.percentile(seconds, (50, 95, 99))))


class LoadFigures(NamedTuple):
    """What came of a load."""

    seconds: float
    """From the first call to the last token."""
    read: int
    """Tokens of prompts, those that were not computed anew among them."""
    written: int
    first: Percentiles
    """From a call to its first token."""
    each: Percentiles
    """Between two tokens of an answer; those that come together have nothing between them."""
    whole: Percentiles
    """From a call to its last token."""

    @property
    def written_per_second(self) -> float:
        """Tokens of answers."""
        return self.written / self.seconds

    @classmethod
    def of(cls, calls: Sequence[Call], timings: Sequence[Timing]) -> LoadFigures:
        """The figures of calls that were answered, and their timings in the same order.

        >>> LoadFigures.of([Call([1, 2], 2, 0.0)], [Timing(1.0, [1.5, 2.0])]).written_per_second
        2.0
        """
        gaps = [gap for one in timings for gap in np.diff(one.tokens).tolist()]
        return cls(
            max(one.tokens[-1] for one in timings) - min(one.sent for one in timings),
            sum(len(call.prompt) for call in calls),
            sum(len(one.tokens) for one in timings),
            Percentiles.of([one.tokens[0] - one.sent for one in timings]),
            Percentiles.of(gaps),
            Percentiles.of([one.tokens[-1] - one.sent for one in timings]),
        )
