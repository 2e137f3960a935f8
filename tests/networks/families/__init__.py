"""The families of operators: each function draws one call, on values that there are.

Importing a module is what registers its families.
"""

from __future__ import annotations

from tests.networks.families import (
    activations,
    attention,
    convolutions,
    elementwise,
    images,
    indices,
    matrices,
    normalisation,
    pooling,
    recurrent,
    reductions,
    shapes,
)
from tests.networks.families.registry import FAMILIES, Call

__all__ = [
    "FAMILIES",
    "Call",
    "activations",
    "attention",
    "convolutions",
    "elementwise",
    "images",
    "indices",
    "matrices",
    "normalisation",
    "pooling",
    "recurrent",
    "reductions",
    "shapes",
]
