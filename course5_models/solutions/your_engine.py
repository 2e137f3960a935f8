"""Exercise 5.9: your engine.

You have written a reader, a graph, an order, a memory plan, layers and a language for expressions. Here they become one
program that takes the two files of a model and answers:

    model.param ---> 2.1 lines ---> 2.2 values ---> 2.5 graph ---> 2.6 order ---> 2.8 memory --+
    model.bin   ---> 2.3 weights ----------------------^                                       |
                                                                                               v
                     one layer for each operator, found by your registry of 3.1 -------> 2.8 forward ---> the answer
                     (3.2 relu, 3.5 conv2d, 3.7 pooling, 4.1 to 4.4 expressions)

Nothing of kuiper's engine is left in it but the words for what a file contains (``kuiper.graph.pnnx``). When it is done,
``Engine(...)`` runs the ResNet-20 that is in the package, and ``kuiper race resnet20 --engine mine`` times it.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from kuiper.course import load_exercise
from kuiper.graph.pnnx import Graph, Operator

read_operators = load_exercise("2.1").read_operators  # read_operators(text) -> lines
parse_params = load_exercise("2.2").parse_params  # parse_params(type, texts) -> parameters
read_attributes = load_exercise("2.3").read_attributes  # read_attributes(bin_path, operator, texts) -> weights
init_graph_params = load_exercise("2.4").init_graph_params  # init_graph_params(parameters) -> those of a running graph
pair_param = load_exercise("2.4").pair_param  # pair_param(running parameters, key, default) -> (vertical, horizontal)
connect = load_exercise("2.5").connect  # connect(lines) -> graph
running_order = load_exercise("2.8").running_order  # running_order(graph) -> operators, by 2.6
reserve = load_exercise("2.8").reserve  # reserve(order) -> memory, by 2.8
forward = load_exercise("2.8").forward  # forward(order, layers, memory, inputs) -> answer
Registry = load_exercise("3.1").Registry  # .register(*types), .create(op)
relu_row = load_exercise("3.2", "fast").relu  # relu_row(x, out), two rows of numbers
conv2d = load_exercise("3.5", "fast").conv2d  # conv2d(x, weight, bias, stride, padding, dilation, groups)
adaptive_avg_pool2d = load_exercise("3.7").adaptive_avg_pool2d  # adaptive_avg_pool2d(x, output_size)
tokenize = load_exercise("4.1").tokenize  # tokenize(text) -> tokens
parse = load_exercise("4.2").parse  # parse(tokens) -> tree
reverse_polish = load_exercise("4.3").reverse_polish  # reverse_polish(tree) -> steps
evaluate = load_exercise("4.4").evaluate  # evaluate(steps, inputs) -> array

Layer = Callable[..., np.ndarray]

layers = Registry()  # what it makes for an operator is a function from input arrays to the output array


def read(param: str | PathLike[str], bin_path: str | PathLike[str]) -> Graph:
    """The graph in these two files: wired, and with parameters and weights.

    ``graph.operators[i].params`` has what exercise 2.2 makes of the line's parameters, ``.attrs`` what exercise 2.3 makes
    of its weights. A model without weights may come without a .bin file: read the .bin only for an operator that has
    weights. The .param file is text in UTF-8.
    """
    # BEGIN SOLUTION
    lines = read_operators(Path(param).read_text(encoding="utf-8"))
    graph = connect(lines)
    for op, line in zip(graph.operators, lines, strict=True):
        op.params = parse_params(op.type, line.params)
        op.attrs = read_attributes(fspath(bin_path), op.name, line.attrs) if line.attrs else {}
    return graph
    # END SOLUTION


# Two of the layers that ResNet-20 needs. They show the form: a function that gets an operator, reads once what every
# call will need, and returns the function that computes.


@layers.register("nn.Linear")
def linear(op: Operator) -> Layer:
    """x (n, in) times the transposed weight (out, in), plus the bias (out,) if there is one."""
    weight = op.attrs["weight"].data
    bias = op.attrs["bias"].data if "bias" in op.attrs else np.float32(0)
    return lambda x: x @ weight.T + bias


@layers.register("torch.flatten")
def flatten(op: Operator) -> Layer:
    """The axes from start_dim to end_dim become one; both may be counted from the end (-1 is the last)."""
    first, last = op.params["start_dim"].value, op.params["end_dim"].value

    def compute(x: np.ndarray) -> np.ndarray:
        start, end = first % x.ndim, last % x.ndim
        return x.reshape((*x.shape[:start], -1, *x.shape[end + 1 :]))

    return compute


# Four are left. Register each for the types that stand beside it:
#
#     relu              nn.ReLU  F.relu           by 3.2, for any number of axes
#     convolution       nn.Conv2d                 by 3.5. The parameters stride (1 if it is missing), padding (0),
#                                                 dilation (1) are pairs, as 2.4 reads them; groups (1) is one number.
#                                                 There may be no bias. A padding_mode other than zeros: ValueError with
#                                                 the operator's name and the mode. Better no answer than a wrong one.
#     average_pooling   nn.AdaptiveAvgPool2d  F.adaptive_avg_pool2d     by 3.7; output_size is one number or a pair
#     expression        pnnx.Expression           by 4.1 to 4.4. The parameter expr is the text; its steps do not change
#                                                 from call to call.

# BEGIN SOLUTION: # exercise 5.9: here go your relu, convolution, average_pooling and expression


@layers.register("nn.ReLU", "F.relu")
def relu(op: Operator) -> Layer:
    """The larger of each number and 0."""

    def positive(x: np.ndarray) -> np.ndarray:
        out = np.empty(x.size, np.float32)
        relu_row(x.ravel(), out)
        return out.reshape(x.shape)

    return positive


@layers.register("nn.Conv2d")
def convolution(op: Operator) -> Layer:
    """x (n, in_c, h, w) filtered: (n, out_c, out_h, out_w)."""
    mode = op.params["padding_mode"].value if "padding_mode" in op.params else "zeros"
    if mode != "zeros":
        raise ValueError(f"{op.name}: expected padding_mode zeros, got {mode}")
    params = init_graph_params(op.params)
    stride, padding = pair_param(params, "stride", (1, 1)), pair_param(params, "padding", (0, 0))
    dilation = pair_param(params, "dilation", (1, 1))
    groups = op.params["groups"].value if "groups" in op.params else 1
    weight, bias = op.attrs["weight"].data, op.attrs["bias"].data if "bias" in op.attrs else None
    return lambda x: conv2d(x, weight, bias, stride, padding, dilation, groups)


@layers.register("nn.AdaptiveAvgPool2d", "F.adaptive_avg_pool2d")
def average_pooling(op: Operator) -> Layer:
    """The means of windows that share the picture evenly."""
    size = op.params["output_size"].value
    return lambda x: adaptive_avg_pool2d(x, tuple(size) if isinstance(size, list) else size)


@layers.register("pnnx.Expression")
def expression(op: Operator) -> Layer:
    """The value of the operator's formula."""
    steps = reverse_polish(parse(tokenize(op.params["expr"].value)))
    return lambda *inputs: evaluate(steps, list(inputs))


# END SOLUTION


class Engine:
    """A model that answers: ``Engine("model.param", "model.bin")(x)`` is a list of arrays, one for each output.

    Reading, ordering, planning the memory and making the layers are done once, when the engine is made. A call only runs.
    """

    def __init__(self, param: str | PathLike[str], bin_path: str | PathLike[str]) -> None:
        """Read the files, find the order, reserve the memory, make a layer for each operator that computes.

        The engine has the attributes ``self.order`` (the operators in their order), ``self.memory`` and
        ``self.layers``, the layer of each operator by the operator's name. pnnx.Input and pnnx.Output have none.

        Raises
        ------
        LookupError
            For a type without a layer, as 3.1 says it.
        """
        # BEGIN SOLUTION
        self.order = running_order(read(param, bin_path))
        self.memory = reserve(self.order)
        computing = [op for op in self.order if op.type not in ("pnnx.Input", "pnnx.Output")]
        self.layers = {op.name: layers.create(op) for op in computing}
        # END SOLUTION

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """Run the graph on these arrays, one for each input. The answer stays as it is when the engine is called again."""
        # BEGIN SOLUTION
        return forward(self.order, self.layers, self.memory, inputs)
        # END SOLUTION
