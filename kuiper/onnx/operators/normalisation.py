"""Normalisations and softmaxes: torch's layers where the numbers are float32, and ONNX's own elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_SOFTMAXES = {"Softmax": "F.softmax", "LogSoftmax": "F.log_softmax"}


@operator("BatchNormalization")
def batch_normalization(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """By running statistics; in training by the input's own. Before operator set 14 nobody can ask for training."""
    values = [node.value(place) for place in range(5)]
    x, scale, bias, mean, var = values
    epsilon = node.float("epsilon", 1e-5)
    if node.int("training_mode", 0):
        params = {"epsilon": epsilon, "momentum": node.float("momentum", 0.9), "training_mode": True}
        return build.ops("BatchNormalization", *values, outputs=3, params=params)
    if not x.is_float32 or mean.rank not in (1, None):
        return (build.op("BatchNormalization", *values, params={"epsilon": epsilon}),)
    if x.rank in (2, 3, 4, 5) and all(value.constant is not None and value.rank == 1 for value in values[1:]):
        attrs = {"weight": scale, "bias": bias, "running_mean": mean, "running_var": var}
        kind = f"nn.BatchNorm{max(x.rank - 2, 1)}d"
        sizes = {"num_features": _length(mean), "affine": True}
        return (build.op(kind, x, params={"eps": epsilon, **sizes}, attrs=_arrays(attrs)),)
    names = ["input", "running_mean", "running_var", "weight", "bias"]
    return (build.op("F.batch_norm", x, mean, var, scale, bias, names=names, params={"eps": epsilon}),)


@operator("InstanceNormalization")
def instance_normalization(node: Node, build: GraphBuilder) -> Value:
    x, scale, bias = node.value(0), node.value(1), node.value(2)
    epsilon = node.float("epsilon", 1e-5)
    if not x.is_float32:
        return build.op(node.type, x, scale, bias, params={"epsilon": epsilon})
    if x.rank in (3, 4, 5) and _are_vectors(scale, bias):
        params = {"eps": epsilon, "num_features": _length(scale), "affine": True}
        return build.op(
            f"nn.InstanceNorm{x.rank - 2}d", x, params=params, attrs=_arrays({"weight": scale, "bias": bias})
        )
    return build.op("F.instance_norm", x, scale, bias, names=["input", "weight", "bias"], params={"eps": epsilon})


@operator("GroupNormalization")
def group_normalization(node: Node, build: GraphBuilder) -> Value:
    """Scale and bias are for each channel since operator set 21, for each group before."""
    x, scale, bias = node.value(0), node.value(1), node.value(2)
    epsilon, groups = node.float("epsilon", 1e-5), node.int("num_groups")
    if not x.is_float32 or node.opset < 21:
        return build.op(node.type, x, scale, bias, params={"epsilon": epsilon, "num_groups": groups})
    params = {"num_groups": groups, "eps": epsilon}
    if _are_vectors(scale, bias):
        sizes = {"num_channels": _length(scale), "affine": True}
        return build.op("nn.GroupNorm", x, params={**params, **sizes}, attrs=_arrays({"weight": scale, "bias": bias}))
    return build.op("F.group_norm", x, scale, bias, names=["input", "weight", "bias"], params=params)


@operator("LayerNormalization")
def layer_normalization(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """torch's layer, if the scale has the shape of the axes that are normalised and nobody asks for mean and spread."""
    x, scale, bias = node.value(0), node.value(1), node.optional(2)
    epsilon = node.float("epsilon", 1e-5)
    shape = _normalized_shape(node, x, [scale] if bias is None else [scale, bias])
    count = 3 if node.wants(2) else 2 if node.wants(1) else 1
    if shape is None or count > 1:
        params = {"epsilon": epsilon, "axis": node.int("axis", -1), "stash_type": node.int("stash_type", 1)}
        values = build.ops(node.type, x, scale, *([bias] if bias else []), outputs=count, params=params)
        for value in values[1:]:
            value.type = node.int("stash_type", 1)
        return values
    return (_torch_norm(build, "LayerNorm", x, scale, bias, {"normalized_shape": shape, "eps": epsilon}),)


@operator("RMSNormalization")
def rms_normalization(node: Node, build: GraphBuilder) -> Value:
    x, scale = node.value(0), node.value(1)
    epsilon = node.float("epsilon", 1e-5)
    shape = _normalized_shape(node, x, [scale])
    if shape is None:
        return build.op(node.type, x, scale, params={"epsilon": epsilon, "axis": node.int("axis", -1)})
    return _torch_norm(build, "RMSNorm", x, scale, None, {"normalized_shape": shape, "eps": epsilon})


@operator("LRN")
def local_response_normalization(node: Node, build: GraphBuilder) -> Value:
    """torch's window reaches as far to both sides only if its size is odd."""
    size = node.int("size")
    settings = {key: node.float(key, default) for key, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))}
    if size % 2 == 0 or not node.value(0).is_float32:
        return build.op("LRN", node.value(0), params={"size": size, **settings})
    params = {"size": size, "alpha": settings["alpha"], "beta": settings["beta"], "k": settings["bias"]}
    return build.op("F.local_response_norm", node.value(0), params=params)


@operator("LpNormalization")
def lp_normalization(node: Node, build: GraphBuilder) -> Value:
    return build.op("LpNormalization", node.value(0), params={"axis": node.int("axis", -1), "p": node.int("p", 2)})


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(node: Node, build: GraphBuilder) -> Value:
    """Along one axis; before operator set 13 over all axes from that one on."""
    x = node.value(0)
    axis = node.int("axis", -1 if node.opset >= 13 else 1)
    if node.opset >= 13 or axis == -1 or (x.rank is not None and axis == x.rank - 1):
        return _along(node, build, x, axis)
    if x.rank is not None and not -x.rank <= axis <= x.rank:
        raise node.unsupported(f"an axis within {x.rank}", axis)
    if x.rank is None or axis == x.rank:
        raise node.unsupported("an input whose number of axes is known, and an axis of it", f"axis {axis}")
    flat = build.op("torch.flatten", x, params={"start_dim": axis, "end_dim": -1})
    return build.op("Tensor.view_as", _along(node, build, flat, -1), x, names=["input", "other"], type=x.type)


def _along(node: Node, build: GraphBuilder, x: Value, axis: int) -> Value:
    """The softmax along one axis."""
    if x.is_float32 and node.type in _SOFTMAXES:
        return build.op(_SOFTMAXES[node.type], x, params={"dim": axis})
    return build.op(node.type, x, params={"axis": axis})


def _normalized_shape(node: Node, x: Value, weights: Sequence[Value]) -> list[int] | None:
    """The sizes of the normalised axes, if float32 is normalised and all weights have just these sizes."""
    axis, shape = node.int("axis", -1), weights[0].known_shape
    if shape is None or not x.is_float32 or any(weight.known_shape != shape for weight in weights):
        return None
    rank = x.rank
    count = -axis if axis < 0 else None if rank is None else rank - axis
    if count != len(shape) or (rank is not None and count > rank):
        return None
    sizes = x.shape[-count:] if x.shape is not None else (None,) * count
    is_broadcast = any(ours == 1 != theirs for ours, theirs in zip(shape, sizes, strict=True))
    return None if is_broadcast else list(shape)


def _torch_norm(
    build: GraphBuilder, word: str, x: Value, weight: Value, bias: Value | None, params: dict[str, Any]
) -> Value:
    """nn.LayerNorm or nn.RMSNorm, or the function of the same name if the graph computes the weights."""
    given = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    if all(value.constant is not None for value in given.values()):
        sizes = {"elementwise_affine": True, **({"bias": bias is not None} if word == "LayerNorm" else {})}
        return build.op(f"nn.{word}", x, params={**params, **sizes}, attrs=_arrays(given))
    function = {"LayerNorm": "F.layer_norm", "RMSNorm": "F.rms_norm"}[word]
    return build.op(function, x, *given.values(), names=["input", *given], params=params)


def _are_vectors(*values: Value) -> bool:
    """Whether all are constants with one axis."""
    return all(value.constant is not None and value.rank == 1 for value in values)


def _length(vector: Value) -> int:
    """How many numbers a constant vector has."""
    return 0 if vector.constant is None else int(vector.constant.size)


def _arrays(values: dict[str, Value]) -> dict[str, Any]:
    """The numbers of constants, by name."""
    return {name: value.constant for name, value in values.items()}
