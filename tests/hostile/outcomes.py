"""What comes of a graph: a result, a KuiperError or what must not be, on the engine and on the layers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry

if TYPE_CHECKING:
    from kuiper.graph import pnnx

Outcome = tuple[str, Any]
"""("result", arrays), ("error", text) or ("fault", text)."""


def outcome(graph: pnnx.Graph, inputs: list[np.ndarray], optimize: bool) -> Outcome:
    """Build the graph and run it once."""
    try:
        model = RuntimeGraph(graph, name="hostile")
        model.build(registry, optimize, None, Engine if optimize else None)
        return "result", _arrays(model(*inputs))
    except kuiper.KuiperError as error:
        return "error", f"{type(error).__name__}: {error}"
    except Exception as error:  # what must not be
        return "fault", f"{type(error).__name__}: {error}"


def complaint(graph: pnnx.Graph, inputs: list[np.ndarray]) -> str:
    """What is wrong with the outcomes of both ways; "" if nothing is."""
    (fast, of_engine), (plain, of_layers) = (outcome(graph, inputs, optimize) for optimize in (True, False))
    if "fault" in (fast, plain) or fast != plain:
        return f"engine: {fast} {of_engine!s:.300}; layers: {plain} {of_layers!s:.300}"
    if fast == "result":
        return "" if _alike(of_engine, of_layers) else "results differ"
    same = _without_inputs(of_engine) == _without_inputs(of_layers) or _is_of_an_addition(of_engine)
    return "" if same and "'" in of_engine else f"engine: {of_engine}; layers: {of_layers}"


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in _arrays(item)]
    return [np.asarray(value)]


def _alike(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Equal shapes and types, and numbers as near as float32 allows to numbers that may be extreme."""
    if [(x.shape, x.dtype) for x in one] != [(x.shape, x.dtype) for x in other]:
        return False
    for x, y in zip(one, other, strict=True):
        if x.dtype.kind not in "fc":
            if not np.array_equal(x, y):
                return False
            continue
        scale = np.abs(y[np.isfinite(y)]).max(initial=1e-30)
        with np.errstate(all="ignore"):
            if not np.allclose(x, y, rtol=1e-3, atol=1e-4 * scale, equal_nan=True):
                return False
    return True


def _without_inputs(text: str) -> str:
    """Without the last hint: an operator that took in an addition has one input more."""
    return re.sub(r"; inputs: .*$", "", text)


def _is_of_an_addition(text: str) -> bool:
    """An addition that a convolution or a linear layer took in goes by their name, and is described as they would."""
    return "expected a residual that broadcasts with" in text
