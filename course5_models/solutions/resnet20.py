"""Exercise 5.7: a real network, a real photo, your own layers.

ResNet-20 is in the package: 21 convolutions, 19 ReLUs, 9 additions, one pooling and one linear layer, trained on ten
kinds of small pictures. Your im2col, your conv2d, your relu and your softmax are going to run it:

    photo -> average_blocks -> 5.1 preprocess -> ResNet-20 on MyConv2d, MyReLU, MyLinear -> 5.2 softmax, top_k -> "cat"

A layer is a class that the engine makes once for each operator of its type. ``op``, the operator, is a line of the
model file:

    op.pair_param("stride", (1, 1))     a parameter, two integers; (1, 1) counts where the file has none
    op.int_param("groups", 1)           one integer;   op.str_param("padding_mode", "zeros"): a word
    op.attr("weight")                   a weight, as a float32 array;   "bias" in op.attrs: is there one at all?

And when the answer is wrong? Then ``first_difference`` finds the guilty operator among the 54.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

import kuiper
from kuiper.course import load_exercise
from kuiper.graph.runtime_operator import RuntimeOperator
from kuiper.layers import Layer, override
from kuiper.models import ClassifierCard

relu = load_exercise("3.2").relu  # relu(x, out), two rows of numbers
conv2d = load_exercise("3.5").conv2d  # conv2d(x, weight, bias, stride, padding, dilation, groups)
preprocess = load_exercise("5.1").preprocess  # preprocess(image, shorter, size, mean, std)
softmax = load_exercise("5.2").softmax  # softmax(x)
top_k = load_exercise("5.2").top_k  # top_k(scores, k)


class MyReLU(Layer):
    """nn.ReLU with the relu of 3.2, for arrays with any number of axes."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        """A new array like x, with 0 for all that is negative. relu takes rows: one axis only."""
        # BEGIN SOLUTION
        out = np.empty(x.size, np.float32)
        relu(x.ravel(), out)
        return out.reshape(x.shape)
        # END SOLUTION


class MyConv2d(Layer):
    """nn.Conv2d with the conv2d of 3.5."""

    def __init__(self, op: RuntimeOperator) -> None:
        """Read what forward will need, once: weight, bias (there may be none), stride, padding, dilation, groups.

        Where the file has no such parameter, the padding is 0 and the three others are 1.

        Raises
        ------
        UnsupportedOperatorError
            If padding_mode is another than zeros, which conv2d cannot do. Better no answer than a wrong one. Every
            layer has a method that makes this error, ``self.unsupported(expected, got)``; the message must name the
            mode.
        """
        super().__init__(op)
        # BEGIN SOLUTION
        mode = op.str_param("padding_mode", "zeros")
        if mode != "zeros":
            raise self.unsupported("padding_mode zeros", mode)
        self.weight = op.attr("weight")
        self.bias = op.attr("bias") if "bias" in op.attrs else None
        self.stride = op.pair_param("stride", (1, 1))
        self.padding = op.pair_param("padding", (0, 0))
        self.dilation = op.pair_param("dilation", (1, 1))
        self.groups = op.int_param("groups", 1)
        # END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """The images x (n, in_c, h, w) filtered: (n, out_c, out_h, out_w)."""
        # BEGIN SOLUTION
        return conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        # END SOLUTION


class MyLinear(Layer):
    """nn.Linear: each output is a weighted sum of all inputs."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (n, in) times the weight of ``self.op``, which is (out, in), plus its bias (out,), if it has one: (n, out).

        Inputs 1 and 2, weights (3, 4) and (5, 6), biases 100 and 200: outputs 1 * 3 + 2 * 4 + 100 = 111 and 217.
        """
        # BEGIN SOLUTION
        y = x @ self.op.attr("weight").T
        return y + self.op.attr("bias") if "bias" in self.op.attrs else y
        # END SOLUTION


MY_LAYERS = {"nn.ReLU": MyReLU, "nn.Conv2d": MyConv2d, "nn.Linear": MyLinear}


def build(param: str | PathLike[str]) -> kuiper.RuntimeGraph:
    """The model in this file, with MY_LAYERS for the types named there and the engine's own layers for all others.

    Load it inside of ``with override(type_name, layer):``, one inside the other for all of MY_LAYERS
    (contextlib.ExitStack takes any number). Use ``kuiper.load(param, optimize=False)``, which keeps every operator of
    the file. When build is done, also by an error, the next model that is loaded gets the engine's layers.
    """
    # BEGIN SOLUTION
    from contextlib import ExitStack

    with ExitStack() as stack:
        for type_name, layer in MY_LAYERS.items():
            stack.enter_context(override(type_name, layer))
        return kuiper.load(param, optimize=False)
    # END SOLUTION


def first_difference(
    model: kuiper.RuntimeGraph, reference: kuiper.RuntimeGraph, x: np.ndarray, tolerance: float = 1e-4
) -> str | None:
    """The name of the first operator, in the order in which they run, whose output differs; None if there is none.

    Both graphs come from one file, so they have the same operators in the same order. ``forward`` tells you all:

        def watch(op, outputs, seconds): ...      is called after each operator; outputs is a tuple of arrays
        model.forward(x, observer=watch)

    An output differs if its shape is another one, or if for one of its numbers |model - reference| is above
    ``tolerance`` times the largest |reference| of that output. NaN (not a number, what comes of 0 / 0) where the
    reference has none, or the other way round, is a difference too. Careful: each comparison with NaN is False, also
    NaN > 1. NaN in the same places is none, and does not count for the largest. (Infinity does not occur.)
    """
    # BEGIN SOLUTION
    seen: dict[str, tuple[Any, ...]] = {}
    reference.forward(x, observer=lambda op, outputs, seconds: seen.update({op.name: outputs}))
    wrong = []

    def compare(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        if not all(alike(a, b, tolerance) for a, b in zip(outputs, seen[op.name])):
            wrong.append(op.name)

    model.forward(x, observer=compare)
    return wrong[0] if wrong else None
    # END SOLUTION


# BEGIN SOLUTION


def alike(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> bool:
    """Whether two outputs are the same but for rounding."""
    if got.shape != wanted.shape or not np.array_equal(np.isnan(got), np.isnan(wanted)):
        return False
    numbers = ~np.isnan(wanted)
    largest = np.abs(wanted[numbers]).max(initial=0)
    return bool((np.abs(got[numbers] - wanted[numbers]) <= tolerance * largest).all())


# END SOLUTION


def average_blocks(image: np.ndarray, factor: int) -> np.ndarray:
    """The picture (h, w, c) made ``factor`` times smaller: (h // factor, w // factor, c), float32.

    Each new pixel is the mean of a block of factor x factor old ones. Rows and columns that fill no block are left out,
    at the bottom and on the right.

    Why? The resize of 5.1 looks at 4 old pixels for each new one. A photo of 300 x 451 that becomes 32 x 48 has 88 for
    each; 84 of them would have no say, and what is left is noise. (Leave this step out, and the second guess for the
    cat is a frog.)

    >>> average_blocks(np.arange(8, dtype=np.uint8).reshape(2, 4, 1), 2).ravel().tolist()
    [2.5, 4.5]
    """
    # BEGIN SOLUTION
    h, w, c = image.shape[0] // factor, image.shape[1] // factor, image.shape[2]
    blocks = image[: h * factor, : w * factor].reshape(h, factor, w, factor, c)
    return blocks.mean(axis=(1, 3), dtype=np.float32)
    # END SOLUTION


def recognise(model: Any, card: ClassifierCard, photo: np.ndarray, k: int = 3) -> list[tuple[str, float]]:
    """The ``k`` likeliest labels for a photo (h, w, 3) of uint8, with their probabilities, the likeliest first.

    The card says what the model was trained on: labels, resize (the shorter side), size, mean, std. First make the
    photo smaller by whole blocks, as far as its shorter side stays at card.resize or above. Then prepare it, run the
    model (``model(x)``, like an array of shape (1, labels)), and make names with probabilities of what it says.
    """
    # BEGIN SOLUTION
    smaller = average_blocks(photo, max(min(photo.shape[:2]) // card.resize, 1))
    logits = np.asarray(model(preprocess(smaller, card.resize, card.size, card.mean, card.std)))
    values, columns = top_k(softmax(logits), k)
    return [(card.labels[column], float(value)) for value, column in zip(values[0], columns[0])]
    # END SOLUTION
