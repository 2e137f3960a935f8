"""What your engine can do after this course: it runs a network whose operators are formulas. ``kuiper race formulas``

The network below has no weights: a gate, a root mean square over three inputs, a mix. PNNX writes such formulas as
operators of the type pnnx.Expression. Exercise 5.9 puts your graph and your language together: until
you have solved it, the reference does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kuiper
from kuiper.course import load_exercise
from kuiper.language import _

NETWORK = """7767517
6 5
pnnx.Input x 0 1 0 #0=(2,3,32,32)f32
pnnx.Input y 0 1 1 #1=(2,3,32,32)f32
pnnx.Expression gate 2 1 0 1 2 expr=div(mul(@0,2.0),add(sqrt(mul(@1,@1)),1.5)) #2=(2,3,32,32)f32
pnnx.Expression size 3 1 0 1 2 3 expr=sqrt(div(add(mul(@0,@0),add(mul(@1,@1),mul(@2,@2))),3.0)) #3=(2,3,32,32)f32
pnnx.Expression mix 2 1 2 3 4 expr=sub(neg(@0),pow(@1,2.0)) #4=(2,3,32,32)f32
pnnx.Output out 1 0 4
"""
INPUTS = [np.random.default_rng(seed).standard_normal((2, 3, 32, 32), np.float32) for seed in (0, 1)]


def own() -> Callable[[], list[np.ndarray]]:
    """The network on your graph and your language (or on the reference where an exercise is not solved)."""
    with tempfile.TemporaryDirectory() as folder:
        network = load_exercise("5.9").Engine(written(folder), Path(folder, "network.bin"))
    return lambda: list(network(*INPUTS))


def reference() -> Callable[[], list[np.ndarray]]:
    """The same by kuiper."""
    with tempfile.TemporaryDirectory() as folder:
        network = kuiper.load(written(folder))
    return lambda: [np.asarray(network(*INPUTS))]


def written(folder: str) -> Path:
    """The network as a file in this folder."""
    path = Path(folder, "network.pnnx.param")
    path.write_text(NETWORK, encoding="utf-8")
    return path


def words(answer: list[np.ndarray]) -> str:
    """What came out."""
    (y,) = answer
    said = _("three formulas: {count} numbers from {least} to {most}")
    return said.format(count=y.size, least=f"{y.min():.2f}", most=f"{y.max():.2f}")
