"""Activations as the numbers that kernels know them by."""

from __future__ import annotations

import math
from typing import Any

from kuiper.engine.kernels.convolution import ACTIVATION_CODES

NO_ACTIVATION: dict[str, float] = {"activation": ACTIVATION_CODES["none"], "alpha": 0.0, "beta": 0.0}


def activation_numbers(layer: Any) -> dict[str, float]:
    """The fields ``activation``, ``alpha`` and ``beta`` of a kernel's numbers, for a fused layer or a plain one."""
    activation = getattr(layer, "activation", None)
    if activation is None:
        return NO_ACTIVATION
    if activation.name == "relu":
        return {"activation": ACTIVATION_CODES["clip"], "alpha": 0.0, "beta": math.inf}
    return {"activation": ACTIVATION_CODES[activation.name], "alpha": activation.alpha, "beta": activation.beta}
