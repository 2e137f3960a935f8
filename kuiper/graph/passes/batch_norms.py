"""What the folding passes share: a batch norm as a factor and an addend for each channel, and weights that do both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.rewiring import sole_reader
from kuiper.graph.runtime_attribute import attribute_of
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


class Affine(NamedTuple):
    """Of each channel, (channels,) in float64: the batch norm is ``scale * x + shift``."""

    scale: np.ndarray
    shift: np.ndarray


def batch_norm_behind(op: RuntimeOperator, norm_type: str, registry: RegistryProtocol) -> RuntimeOperator:
    """The batch norm that alone reads the output of ``op``; declines unless both are kuiper's own layers."""
    norm = found(sole_reader(op))
    decline_if(norm.type != norm_type or len(op.inputs) != 1 or "weight" not in op.attrs)
    decline_if(not (registry.is_built_in(op.type) and registry.is_built_in(norm_type)))
    return norm


def scale_and_shift(norm: RuntimeOperator, channels: int) -> Affine:
    """What a batch norm does; declines if it keeps no statistics or has other channels: its layer is to say so."""
    decline_if(len(norm.inputs) != 1 or norm.int_param("num_features") != channels)
    affine = ("weight", "bias") if norm.bool_param("affine", True) else ()
    names = ("running_mean", "running_var", *affine)
    decline_if(any(name not in norm.attrs or norm.attrs[name].shape != (channels,) for name in names))
    numbers = {name: norm.attr(name).astype(np.float64) for name in names}
    with np.errstate(all="ignore"):
        scale = numbers.get("weight", 1.0) / np.sqrt(numbers["running_var"] + norm.float_param("eps", 1e-5))
        return Affine(scale, numbers.get("bias", 0.0) - scale * numbers["running_mean"])


def folded(op: RuntimeOperator, norm: RuntimeOperator, affine: Affine, word: str = "bn") -> RuntimeOperator:
    """``op`` with new weights that do what the old ones and the batch norm did; the old ones stay as they are.

        scale * (weight * x + bias) + shift  =  (scale * weight) * x + (scale * bias + shift)

    Computed in float64 and rounded once. ``word`` is what the name of the new operator says of it.
    Declines if a new number is not finite (a variance of 0 without eps): no weights do what the batch norm then does.
    """
    scale, shift = affine
    weight = op.attr("weight")
    bias = op.attr("bias") if op.bool_param("bias", "bias" in op.attrs) else np.zeros(len(scale), np.float32)
    decline_if(bias.shape != scale.shape)
    with np.errstate(all="ignore"):
        new = {"bias": (scale * bias + shift).astype(np.float32)}
        if not (scale == 1).all():  # else operators that share the weight go on sharing it
            new["weight"] = np.multiply(weight, _factors(op, scale), out=np.empty_like(weight), casting="same_kind")
    decline_if(not all(np.isfinite(array).all() for array in new.values()))
    return replace(
        op,
        name=f"{op.name}+{word}",
        outputs=norm.outputs,
        params={**op.params, **parameters(bias=True)},
        attrs={**op.attrs, **{key: attribute_of(array) for key, array in new.items()}},
        layer=None,
        grown_from=op.where,
    )


def _factors(op: RuntimeOperator, scale: np.ndarray) -> np.ndarray:
    """The scale of each output channel in a shape that broadcasts to that of the weight."""
    shape = op.attrs["weight"].shape
    ones = (1,) * (len(shape) - 2)
    if "Transpose" not in op.type:
        return scale.reshape(-1, 1, *ones)
    groups = op.int_param("groups", 1)
    # input channel i belongs to group i // (in_c / groups), and so do the output channels that it reaches
    return np.repeat(scale.reshape(groups, -1), shape[0] // groups, axis=0).reshape(*shape[:2], *ones)
