"""What is asked of a runtime that writes text, and how one that can be stepped is timed.

Every peer reads the same prompt, then one token after the other, and keeps keys and values of what it has read. Where a
runtime can be stepped, the tokens are given, and the scores of the next one are ready as an array when ``read`` or
``step`` returns; openvino-genai can only be left to write, and its tokens are timed as they come. Of a prompt, only the
scores behind its last token are asked for.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.text_files import TextFiles


class TextPeer:
    """A runtime, set up for one decoder; ``packages`` are what it imports, ``bits`` the weights that it can have."""

    packages: ClassVar[tuple[str, ...]]
    bits: ClassVar[tuple[int, ...]]
    avx2_environment: ClassVar[dict[str, str]] = {}
    """Environment variables that keep the runtime to AVX2."""
    asking: ClassVar[tuple[str, ...]] = ()
    """Packages that ask the CPU what it has: copies of them, which ask us, keep the runtime to AVX2."""

    def __init__(self, threads: int) -> None:
        """Import the runtime and tell it how many threads it may use."""
        self.threads = threads

    def load(self, files: TextFiles, bits: int) -> None:
        """From the files to ready to read."""
        raise NotImplementedError

    def scores(self, tokens: np.ndarray) -> np.ndarray | None:
        """The scores (vocabulary,) behind the last of these tokens, if the runtime gives them."""
        raise NotImplementedError

    def greedy(self, tokens: np.ndarray, count: int) -> list[int]:
        """The next ``count`` tokens, each the most likely one."""
        raise NotImplementedError

    def time_prompt(self, tokens: np.ndarray) -> float:
        """Milliseconds from these tokens to the scores of the next."""
        raise NotImplementedError

    def time_steps(self, tokens: np.ndarray, count: int) -> list[float]:
        """Milliseconds of each of ``count`` tokens, one after the other, which come behind ``tokens[:-count]``."""
        raise NotImplementedError


class SteppingPeer(TextPeer):
    """A runtime that reads the tokens that it is given."""

    def read(self, tokens: np.ndarray) -> np.ndarray:
        """Forget everything, read these tokens; the scores (vocabulary,) behind the last one."""
        raise NotImplementedError

    def step(self, token: int) -> np.ndarray:
        """Read one more token; the scores behind it."""
        raise NotImplementedError

    def scores(self, tokens: np.ndarray) -> np.ndarray | None:
        return self.read(tokens)

    def greedy(self, tokens: np.ndarray, count: int) -> list[int]:
        scores = self.read(tokens)
        found = [int(scores.argmax())]
        while len(found) < count:
            found.append(int(self.step(found[-1]).argmax()))
        return found

    def time_prompt(self, tokens: np.ndarray) -> float:
        started = perf_counter()
        self.read(tokens)
        return (perf_counter() - started) * 1e3

    def time_steps(self, tokens: np.ndarray, count: int) -> list[float]:
        times = []
        self.read(tokens[:-count])
        for token in tokens[-count:].tolist():
            started = perf_counter()
            self.step(token)
            times.append((perf_counter() - started) * 1e3)
        return times
