"""What each operator reads of a picture, for receptive fields: by the layer's own geometry, where it keeps places.

An operator that is not listed here mixes everything, as far as anybody knows: each output may depend on every input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.explore.fields import (
    Reads,
    adaptive_reads,
    broadcast_reads,
    folded_reads,
    pixelwise_reads,
    resampled_reads,
    shifted_reads,
    transposed_reads,
    window_reads,
)
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.operators.upsample import Upsample
from kuiper.layers.resampled_axis import cubic_table, linear_table, nearest_table
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Shape = tuple[int, ...]

_CHANNELS = 1  # the axis of a picture (n, c, h, w)

# Types that give each pixel from the same pixel of their inputs, whatever they do with its channels.
_PIXELWISE = frozenset({
    "pnnx.Expression", "kuiper.FusedExpression", "nn.BatchNorm2d", "F.batch_norm", "nn.Dropout", "nn.Dropout2d",
    "F.dropout", "nn.Identity", "Tensor.clone", "Tensor.contiguous", "nn.ChannelShuffle", "torch.channel_shuffle",
    "nn.PReLU", "F.prelu", "torch.clamp", "nn.LocalResponseNorm", "F.local_response_norm", "nn.Softmax2d",
    "torch.where", "Tensor.to", "Tensor.type_as", "aten::to",
})  # fmt: skip

# Types that give each pixel from the same pixel if they work along the channels, by the parameter ``dim``.
_ALONG_CHANNELS = frozenset({
    "torch.cat", "torch.split", "torch.chunk", "torch.tensor_split", "nn.Softmax", "F.softmax", "nn.LogSoftmax",
    "F.log_softmax", "nn.GLU", "F.glu", "Tensor.narrow", "torch.narrow",
})  # fmt: skip


def pair_of_reads(op: RuntimeOperator, source: Shape, target: Shape) -> tuple[Reads, Reads] | None:
    """What output rows and columns of an operator read of one input's; None if everything may mix.

    Parameters
    ----------
    op : the operator, with its layer
    source : the shape of the input, (n, c, h, w)
    target : the shape of the output, (n, c, h, w)

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> conv = kuiper.load(bundled("cifar_resnet20")).order[1]
    >>> rows, columns = pair_of_reads(conv, (1, 3, 32, 32), (1, 16, 32, 32))
    >>> rows.first[:3].tolist(), rows.low, rows.high
    ([0, 0, 1], -1.0, 1.0)
    """
    layer: Any = op.layer
    sizes = list(zip(source[2:], target[2:], strict=True))
    found = _by_geometry(op, layer, sizes)
    if found is None and _is_pixelwise(op, layer):
        if any(i not in (o, 1) for i, o in sizes):
            return None
        found = [pixelwise_reads(o) if i == o else broadcast_reads(o) for i, o in sizes]
    return (found[0], found[1]) if found else None


def is_convolution(op: RuntimeOperator) -> bool:
    """Whether the operator lays a kernel of its own on an image."""
    return isinstance(getattr(op.layer, "window", None), Window) and "weight" in op.attrs


def residual_reads(source: Shape, target: Shape) -> tuple[Reads, Reads] | None:
    """What a fused operator reads of what it adds: the same pixel, or the only one of an axis."""
    sizes = list(zip(source[2:], target[2:], strict=True))
    if any(i not in (o, 1) for i, o in sizes):
        return None
    rows, columns = (pixelwise_reads(o) if i == o else broadcast_reads(o) for i, o in sizes)
    return rows, columns


def _by_geometry(op: RuntimeOperator, layer: Any, sizes: list[tuple[int, int]]) -> list[Reads] | None:
    """Of layers that have a window, or another geometry of their own."""
    word = op.type.rpartition(".")[2]
    window = getattr(layer, "window", None)
    if isinstance(window, Window):
        if getattr(layer, "border", ()):
            return None  # a border that repeats the picture: a field with holes
        make = transposed_reads if "Transpose" in word else window_reads
        settings = zip(sizes, window.kernel, window.stride, window.before, window.dilation, strict=True)
        return [make(i, o, k, s, p, d) for (i, o), k, s, p, d in settings]
    if word.lower().startswith("adaptive"):
        return [adaptive_reads(i, o) for i, o in sizes]
    if isinstance(layer, Upsample):
        return _resampled(layer, sizes)
    if word in ("PixelShuffle", "pixel_shuffle", "PixelUnshuffle", "pixel_unshuffle"):
        return [folded_reads(o, max(i, o) // min(i, o), o > i) for i, o in sizes]
    if word in ("ZeroPad2d", "ConstantPad2d") or (word == "pad" and getattr(layer, "mode", "") == "constant"):
        pad = (*layer.pad, 0, 0, 0, 0)
        return [shifted_reads(i, o, before) for (i, o), before in zip(sizes, (pad[2], pad[0]), strict=True)]
    return None


def _resampled(layer: Any, sizes: list[tuple[int, int]]) -> list[Reads] | None:
    """Of an interpolation, by the same tables that its kernel reads."""
    if layer.mode == "area":
        return [adaptive_reads(i, o) for i, o in sizes]
    found = []
    for axis in layer.axes(tuple(i for i, _ in sizes)):
        table: Array
        if layer.mode.startswith("nearest"):
            table = nearest_table(axis, layer.mode == "nearest-exact")[None]
        else:
            table = (cubic_table if layer.mode == "bicubic" else linear_table)(axis)[0]
        start = 0.0 if axis.align_corners or layer.mode == "nearest" else axis.step() / 2 - 0.5
        found.append(resampled_reads(table, axis.step(), start))
    return found


def _is_pixelwise(op: RuntimeOperator, layer: Any) -> bool:
    if isinstance(layer, Elementwise) or op.type in _PIXELWISE:
        return True
    return op.type in _ALONG_CHANNELS and getattr(layer, "dim", None) in (_CHANNELS, _CHANNELS - 4)
