"""The families of docs/reference/operators.md, with their modules, and what people say on the page."""

from __future__ import annotations

from typing import NamedTuple

from kuiper.layers.kernels.activations import FUSED


class Family(NamedTuple):
    """A heading, the modules whose layers stand below it, and what all of them have in common."""

    title: str
    modules: tuple[str, ...]
    words: str = ""


def _family(title: str, modules: str, words: str = "", package: str = "kuiper.layers.operators") -> Family:
    """``modules`` are separated by spaces; those with a dot are whole names."""
    return Family(title, tuple(name if "." in name else f"{package}.{name}" for name in modules.split()), words)


HEAD = """\
# Operators

Every operator type that kuiper runs, by family, written by `python -m tests.operator_page` from the layers. A type is
the first word of a line in a `.param` file ([the format](pnnx-format.md)). An operator computes what PyTorch's function
of that name computes. Layers with weights compute in float32; operators that only move values take any element type.
If a type is missing: [add a layer](../inside/add-a-layer.md). The standard of ONNX, operator by operator:
[onnx.md](onnx.md).

- *Parameters* are written `name: type = default`; one without a default is required. `...` is a default that depends on
  other parameters, weights or inputs. `pair` is one integer or two, (vertical, horizontal); `ints` and `floats` are one
  number or several. A parameter without a type holds a number, an element type or a tensor.
- A parameter may arrive as an input of its name (`$shape=21`): its value then counts on each call.
- *Weights* are arrays in the `.bin` file, under the names of their `@` entries. *Others* are parameters that files have
  and that no reader with a type and a default reads; but for the `value` of a constant, they change no result.
- *Only* says what is supported of an option; anything else is an `UnsupportedOperatorError`, never another result. A
  parameter out of range is a `ParameterError`. Data that do not fit are a `ShapeError` or `DataTypeError`.
- Axes (`dim`) may be counted from the end.
"""

TAIL = """\
## Coverage

Four routes export each case of `tests/fixtures/cases`. The tests run every graph with `optimize=False` and with
`optimize=True` and compare it with PyTorch: floats within 1e-5 of the largest, integers exactly.
`python -m tests.operator_coverage` writes a page with a row for each operator and the cause of each failure; the site
has it.
"""

FUNCTIONS = {
    "doors": "Where values come in and go out. Elements of an input are converted to the type that the file declares, "
    "but never floats to integers; sizes are free, the number of axes is not.",
    "named_functions": "The function of that name of [expressions](expression.md); of two inputs, one may be a number.",
    "aten": "The operator of the same name above, with TorchScript's operands in their order.",
    "any_all": "The same, with TorchScript's operands in their order.",
    "clamp": "The same, with TorchScript's operands in their order.",
    "unfold": "The same, with TorchScript's operands in their order.",
    "affine_grid": "The same in ONNX's spelling: `theta` and `size` are inputs.",
    "onnx": "ONNX's spelling of a reduction, a slice or a product above.",
    "onnx_recurrent": "ONNX's LSTM, GRU and RNN.",
}
"""What operators compute whose layer a function makes, by the module of the function."""

FAMILIES = (
    _family(
        "The graph itself",
        "attribute kuiper.expression.expression_layer slice_indexes constant size number tuple_construct tuple_unpack "
        "identity dropout clone",
    ),
    _family(
        "Convolution and linear layers",
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear",
        "`out[n, o, y, x] = bias[o] + sum over c, ky, kx of weight[o, c, ky, kx] * in[n, c, y * stride - padding + "
        "ky * dilation, ...]`; a transposed convolution adds `weight[c, o, ky, kx] * in[n, c, y, x]` to the same place "
        "of the output.\nThe batch axis may be missing. `padding_after` is the border at bottom and right where it "
        "differs, as ONNX allows.",
    ),
    _family(
        "Pooling",
        "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_avg_pool1d adaptive_avg_pool2d lp_pool",
        "The batch axis may be missing. The padding of a max pool counts as -inf, and a NaN in a window wins.",
    ),
    _family(
        "Images: size, border, channels",
        "upsample pad pixel_shuffle pixel_unshuffle channel_shuffle grid_sample affine_grid fold",
    ),
    _family("Normalisation", "batch_norm instance_norm group_norm layer_norm rms_norm local_response_norm normalize"),
    _family(
        "Activations",
        "relu relu6 leaky_relu prelu rrelu elu celu selu gelu silu mish sigmoid log_sigmoid tanh tanhshrink softplus "
        "softsign softshrink hardshrink hardsigmoid hardswish hardtanh threshold glu",
        "A function of one number, applied to each.",
    ),
    _family("Softmax", "softmax"),
    _family("Matrix products and attention", "matmul mv addmm einsum scaled_dot_product_attention multihead_attention"),
    _family("Recurrent networks", "lstm gru rnn aten_recurrent"),
    _family(
        "Text and state",
        "positions cache causal_attention bidirectional_attention rotary",
        "kuiper's own operators of language models.",
    ),
    _family("Arithmetic", "kuiper.expression.named_functions aten_functions"),
    _family(
        "Reductions",
        "sum prod mean logsumexp amax argmax max var norm any_all cumsum pairwise_distance cross topk sort nonzero",
    ),
    _family("Comparison and choice", "compare logical where clamp isnan"),
    _family(
        "Shape and order",
        "reshape flatten unflatten permute transpose squeeze unsqueeze expand repeat repeat_interleave flip roll "
        "unfold tril",
    ),
    _family("Joining and cutting", "cat stack split chunk tensor_split unbind narrow select slice"),
    _family("Picking by index", "gather index masked_select embedding one_hot"),
    _family("Overwriting", "slice_copy fill index_put scatter", "Assignment in place, as new tensors."),
    _family("Making and converting", "arange linspace diag as_strided full meshgrid to aten"),
    _family("Detection", "yolo_detect"),
    _family(
        "ONNX operators",
        "onnx_reductions onnx onnx_cutting onnx_shapes onnx_indexing onnx_picking onnx_casts onnx_random "
        "onnx_quantized onnx_recurrent onnx_convolution onnx_deform_conv onnx_pool onnx_roi onnx_normalisation "
        "onnx_resize onnx_grid_sample onnx_signal onnx_det onnx_dropout onnx_pointwise onnx_control_flow",
        "In ONNX's spelling, which pnnx and kuiper's reader of `.onnx` files leave. Settings may be parameters or "
        "inputs.\nThe parameters are those that a layer's code names; the standard describes all.",
    ),
    _family(
        "Operators of onnxruntime",
        "onnx_contrib_quantized onnx_contrib_products onnx_contrib_lstm onnx_contrib_nbits onnx_contrib_attention "
        "onnx_contrib",
        "What onnxruntime's tools write into `.onnx` files (domain `com.microsoft`). They compute what onnxruntime "
        "computes on a CPU with\nAVX2; integers, and the cells of `DynamicQuantizeLSTM`, to the last bit.",
    ),
    _family(
        "Fused operators",
        "kuiper.layers.fused.conv2d kuiper.layers.fused.conv_transpose2d kuiper.layers.fused.linear "
        "kuiper.layers.fused.quantized kuiper.layers.fused.cached_attention kuiper.layers.fused.attention "
        "kuiper.expression.fused_expression",
        "No file has these: [graph passes](passes.md) make them. `activation` is "
        f"{', '.join(f'`{name}`' for name in FUSED)}:\n`clip` is ReLU6, Hardtanh and clamp; `gelu_tanh` is GELU with "
        "`approximate=tanh`.",
    ),
)
