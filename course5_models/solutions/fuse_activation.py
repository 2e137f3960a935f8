"""Exercise 5.6: two operators become one.

    before    conv1 --1--> relu1 --2--> conv2        three operators, and operand 1 is written to memory and read again
    after     conv1, activation=relu --2--> conv2    two; the negative numbers are cut off while they are at hand

This is the most useful rewrite of a graph there is, and every engine does it. The work is all in the pointers:

    Operator     type, name, params (a dict), inputs and outputs (lists of operands)
    Operand      name, producer (the operator that makes it), consumers (all operators that read it)
    Graph        operators and operands, two lists in the order of the file

and in the question when it is allowed. Where a residual block begins with its ReLU, somebody else reads operand 1 too,
the number before the ReLU:

    conv1 --1--> relu1 --2--> ...
             +-----------------------> add             here nothing may be fused: 1 is still wanted
"""

from __future__ import annotations

import numpy as np

from kuiper.graph.pnnx import Graph, Parameter, ParameterType
from kuiper.layers.operators.conv2d import Conv2d
from kuiper.layers.operators.relu import relu
from kuiper.layers.operators.sigmoid import sigmoid
from kuiper.layers.operators.silu import silu

ACTIVATIONS = {"nn.ReLU": "relu", "nn.Sigmoid": "sigmoid", "nn.SiLU": "silu"}
"""The activations that can be fused, by their type, and how the convolution's new parameter calls them."""

FUNCTIONS = {"relu": relu, "sigmoid": sigmoid, "silu": silu}


def fuse(graph: Graph) -> int:
    """Fuse each convolution with the activation behind it; the graph is changed in place. How many were fused.

    A convolution (type nn.Conv2d) is fused if it has no parameter "activation" yet, and if its one output has one
    consumer only, which is an operator of a type in ACTIVATIONS. A pnnx.Output is a consumer as well. Then

        - the convolution gets the parameter "activation": Parameter(ParameterType.STRING, "relu"), or what it is
        - the convolution's output is the operand that the activation had as its output, the same object; the
          operand's producer says so too, its consumers need not know
        - the activation is no longer in graph.operators, the operand between is no longer in graph.operands

    and all else stays as it is, the order of both lists too. A second activation behind the first stays an operator.
    The activation need not be on the line below its convolution.
    """
    # BEGIN SOLUTION
    count = 0
    for conv in list(graph.operators):
        if conv.type != "nn.Conv2d" or "activation" in conv.params:
            continue
        (between,) = conv.outputs
        if len(between.consumers) != 1 or between.consumers[0].type not in ACTIVATIONS:
            continue
        activation = between.consumers[0]
        conv.params["activation"] = Parameter(ParameterType.STRING, ACTIVATIONS[activation.type])
        conv.outputs = activation.outputs
        conv.outputs[0].producer = conv
        graph.operators.remove(activation)
        graph.operands.remove(between)
        count += 1
    return count
    # END SOLUTION


class FusedConv2d(Conv2d):
    """The layer that runs a fused graph: kuiper's convolution, and then the activation.

    ``self.op`` is the operator; ``self.op.str_param("activation", "")`` reads the parameter, "" where there is none.
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        """What Conv2d gives for x, passed through what FUNCTIONS has for the activation; as it is without one.

        Raises
        ------
        ValueError
            If FUNCTIONS does not know the activation; the message names it. (A layer that passed it over would be wrong
            without a word.)
        """
        # BEGIN SOLUTION
        y = super().forward(x)
        name = self.op.str_param("activation", "")
        if not name:
            return y
        if name not in FUNCTIONS:
            raise ValueError(f"{self.op.name}: expected one of {', '.join(FUNCTIONS)}, got {name}")
        return FUNCTIONS[name](y)
        # END SOLUTION
