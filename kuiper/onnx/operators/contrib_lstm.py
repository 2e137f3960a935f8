"""DynamicQuantizeLSTM: what onnxruntime's dynamic quantisation makes of an LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.operators.onnx_contrib_lstm import WEIGHTS
from kuiper.onnx.operators.contrib_nodes import by_name
from kuiper.onnx.table import CONTRIB, operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_NAMES = "X W R B sequence_lens initial_h initial_c P W_scale W_zero_point R_scale R_zero_point"
_REQUIRED = (0, 1, 2, 8, 9, 10, 11)
_SETTINGS = ("activations", "clip", "direction", "hidden_size", "input_forget")


@operator("DynamicQuantizeLSTM", domain=CONTRIB)
def dynamic_quantize_lstm(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """Its weights are packed once if they are constants."""
    for place in _REQUIRED:
        node.value(place)
    wanted = [name for place, name in enumerate(("Y", "Y_h", "Y_c")) if node.wants(place)]
    params = {key: node.attributes[key] for key in _SETTINGS if key in node.attributes}
    if "input_forget" in params:
        params["input_forget"] = bool(params["input_forget"])
    params["returned"] = ",".join(wanted)
    values = by_name(node, build, _NAMES, 0, kept=WEIGHTS, outputs=len(wanted), params=params)
    made = dict(zip(wanted, values, strict=True))
    return tuple(made.get(name) for name in ("Y", "Y_h", "Y_c"))
