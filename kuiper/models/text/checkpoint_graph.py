"""A graph that is made of the weights of a checkpoint: what decoders and encoders have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ModelFormatError
from kuiper.models.text.graph_writer import GraphWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from kuiper.graph.pnnx import Operand


class CheckpointGraph:
    """Adds operators on rows (b, s, ...) to a graph, with weights by their names in a checkpoint.

    Parameters
    ----------
    weights : the weights
    where : what messages call the checkpoint
    prefix : what names begin with where the network is a part of another one; operators go without it
    """

    def __init__(self, weights: Mapping[str, np.ndarray], where: str, prefix: str = "") -> None:
        self.weights, self.where = weights, where
        self.prefix = prefix if any(name.startswith(prefix) for name in weights) else ""
        self.writer = GraphWriter()

    def weight(self, name: str, *shape: int) -> np.ndarray:
        """A weight of this shape.

        Raises
        ------
        ModelFormatError
            If there is none, or it has another shape.
        """
        name = f"{self.prefix}{name}"
        data = self.weights.get(name)
        if data is None:
            raise ModelFormatError(self.where, f"a weight '{name}'", "none of this name")
        if data.shape != shape:
            raise ModelFormatError(self.where, f"'{name}' of shape {shape}", data.shape)
        return data

    def rows(self, *shape: int) -> tuple[int | None, ...]:
        """A shape behind text and position."""
        return (None, None, *shape)

    def linear(self, name: str, x: Operand, weight: np.ndarray, bias: np.ndarray | None) -> Operand:
        """A linear layer with a weight (out, in)."""
        out_features, in_features = weight.shape
        attrs = {"weight": weight} if bias is None else {"bias": bias, "weight": weight}
        params = {"bias": bias is not None, "in_features": in_features, "out_features": out_features}
        return self.writer.add("nn.Linear", name, x, shape=self.rows(out_features), params=params, attrs=attrs)

    def layer_norm(self, name: str, x: Operand, width: int, eps: float) -> Operand:
        """A layer norm over the last axis."""
        params = {"elementwise_affine": True, "eps": eps, "normalized_shape": [width]}
        attrs = {"bias": self.weight(f"{name}.bias", width), "weight": self.weight(f"{name}.weight", width)}
        return self.writer.add("nn.LayerNorm", name, x, shape=x.shape, params=params, attrs=attrs)

    def expression(self, name: str, text: str, *inputs: Operand) -> Operand:
        """A ``pnnx.Expression`` whose result has the shape of the first input."""
        shape = inputs[0].shape
        return self.writer.add("pnnx.Expression", name, *inputs, shape=shape, params={"expr": text})

    def heads(self, name: str, x: Operand, count: int, width: int) -> Operand:
        """(b, s, count * width) -> (b, count, s, width)."""
        sizes = {"dim": 2, "sizes": [count, width]}
        split = self.writer.add("Tensor.unflatten", f"{name}.split", x, shape=self.rows(count, width), params=sizes)
        shape = (None, count, None, width)
        return self.writer.add("torch.permute", f"{name}.heads", split, shape=shape, params={"dims": [0, 2, 1, 3]})

    def joined(self, name: str, mixed: Operand, count: int, width: int) -> Operand:
        """(b, count, s, width) -> (b, s, count * width)."""
        rows = self.writer.add(
            "torch.permute", f"{name}.rows", mixed, shape=self.rows(count, width), params={"dims": [0, 2, 1, 3]}
        )
        params = {"end_dim": 3, "start_dim": 2}
        return self.writer.add("torch.flatten", f"{name}.joined", rows, shape=self.rows(count * width), params=params)
