"""What tests of lowerings have in common: the numbers of the readable layers, without a stop in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kuiper
from tests.engine.models import algorithms, assert_close, both, plan_of
from tests.graph.pass_graphs import OUTPUT

if TYPE_CHECKING:
    import numpy as np

_TYPES = {"float32": "f32", "int64": "i64", "bool": "bool"}


def steps_of(*lines: str, inputs: list[np.ndarray]) -> list[str]:
    """What runs between import and export, for a graph that reads x0, x1, ... and ends with y; see ``algorithms``.

    The engine must give the numbers of the layers, and the same bits for one and two threads.
    """
    declared = [
        f"pnnx.Input in{i} 0 1 x{i} #x{i}=({','.join(map(str, array.shape))}){_TYPES[array.dtype.name]}"
        for i, array in enumerate(inputs)
    ]
    fast, plain = both(*declared, *lines, OUTPUT)
    before, results = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2):
            kuiper.set_num_threads(threads)
            results.append(fast(*inputs))
    finally:
        kuiper.set_num_threads(before)
    assert_close(results[0], plain(*inputs))
    assert_close(results[1], results[0], tolerance=0)
    return [word for word in algorithms(plan_of(fast, inputs)) if word not in ("import", "export")]


def computing(steps: list[str]) -> list[str]:
    """Without copies: whether a factor of a product is turned round first depends on how wide vectors are."""
    return [step for step in steps if step != "copy"]
