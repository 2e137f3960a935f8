"""What your engine can do after this course: it runs a file, test_linear. ``kuiper race linear``

The file is read, wired, ordered and run by your exercises. Exercise 5.9 puts them together: until you
have solved it, the reference does. The layers are those of the next course; the sigmoid that 5.9 lacks stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import kuiper
from kuiper.course import load_exercise
from kuiper.language import _

PARAM = Path(__file__).parent / "data" / "test_linear.pnnx.param"
INPUT = np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 32)


def own() -> Callable[[], list[np.ndarray]]:
    """The network on your graph (or on the reference where an exercise is not solved)."""
    engine = load_exercise("5.9")
    if "F.sigmoid" not in engine.layers.types():
        engine.layers.register("F.sigmoid")(lambda op: lambda x: 1 / (1 + np.exp(-x)))
    network = engine.Engine(PARAM, PARAM.with_suffix(".bin"))
    return lambda: list(network(INPUT))


def reference() -> Callable[[], list[np.ndarray]]:
    """The same by kuiper."""
    network = kuiper.load(PARAM)
    return lambda: [np.asarray(network(INPUT))]


def words(answer: list[np.ndarray]) -> str:
    """What came out."""
    (y,) = answer
    said = _("sigmoid(linear(x)): {count} numbers from {least} to {most}")
    return said.format(count=y.size, least=f"{y.min():.2f}", most=f"{y.max():.2f}")
