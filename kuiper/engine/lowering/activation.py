"""Activations as the numbers that kernels know them by."""

from __future__ import annotations

from typing import Any

from kuiper.engine.expression_code import instruction_of
from kuiper.layers.activation import Activation
from kuiper.layers.kernels.activations import CODES


def activation_numbers(layer: Any) -> dict[str, float]:
    """The fields ``activation``, ``alpha`` and ``beta`` of a kernel's numbers, for a fused layer or a plain one."""
    name, alpha, beta = instruction_of(getattr(layer, "activation", None) or Activation())
    return {"activation": CODES[name], "alpha": alpha, "beta": beta}


NO_ACTIVATION = activation_numbers(None)
