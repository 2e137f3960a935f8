"""What a graph is made of, and how it comes from training to this engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.picture_words import template, words
from kuiper.course.pictures.flow import flow
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, arrow, box, label, row_of, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEIGHT, _GAP = 30.0, 30.0


def shared_tensor(
    producer: str = "conv", operand: str = "x", consumers: Sequence[str] = ("relu", "add"), shape: str = "(1, 16, 8, 8)"
) -> Picture:
    """One tensor in memory: its producer writes it once, and every consumer reads the same numbers.

    Parameters
    ----------
    producer, consumers : names of operators
    operand : the name of what the edges carry
    shape : what stands in the tensor's box

    >>> shared_tensor().svg().count("<rect")  # the producer, the tensor, two consumers, the ground
    5
    """
    names = [producer, *consumers]
    width = max([84.0, *(text_width(name) + 20 for name in names)])
    step = width + 26
    across = step * len(consumers) - 26
    name_of_tensor = words("tensor {shape}", shape=shape)
    tensor = text_width(name_of_tensor) + 20
    middle = max(across, tensor + 4) / 2
    parts = [
        box(middle - width / 2, 0, width, _HEIGHT, hue(0)),
        label(middle, _HEIGHT / 2, producer),
        arrow(middle, _HEIGHT, middle, 70),
        label(middle + 8, 51, words("writes {operand}", operand=operand), "kp-faint", "start"),
        box(middle - tensor / 2, 72, tensor, _HEIGHT, hue(1), strong=True),
        label(middle, 72 + _HEIGHT / 2, name_of_tensor),
    ]
    for i, name in enumerate(consumers):
        x = middle - across / 2 + step * i + width / 2
        parts.append(arrow(middle + (x - middle) * 0.3, 72 + _HEIGHT, x, 146))
        parts.append(box(x - width / 2, 148, width, _HEIGHT, hue(2)))
        parts.append(label(x, 148 + _HEIGHT / 2, name))
    parts.append(label(middle, 148 + _HEIGHT + 16, words("all read {operand}: no copy", operand=operand), "kp-faint"))
    size = 2 * middle
    message = template("{operand} exists once: {producer} writes it, and {consumers} read the same memory.")
    if len(consumers) == 2:
        message = template(
            "{operand} exists once: {producer} writes it, and {first} and {second} read the same memory."
        )
    who = {"consumers": ", ".join(consumers), "first": consumers[0], "second": consumers[-1]}
    caption = words(message, operand=operand, producer=producer, **who)
    return Picture(size, 148 + _HEIGHT + 28, "".join(parts), caption)


def toolchain() -> Picture:
    """The way of a model from training to deployment, and where PNNX stands on it.

    >>> "TorchScript" in toolchain().svg()
    True
    """
    stages = (
        ("PyTorch", words("trains the model"), words("Python code")),
        ("TorchScript", words("records what forward() computes"), "model.pt"),
        ("PNNX", words("turns it into operators and operands"), "model.pnnx.param, model.pnnx.bin"),
        (words("this engine"), words("reads the graph and runs it"), words("needs no PyTorch")),
    )
    width, step = 120.0, _HEIGHT + _GAP
    parts = []
    for i, (name, work, file) in enumerate(stages):
        y = step * i
        parts.append(box(0, y, width, _HEIGHT, hue(1 if name == "PNNX" else 0), strong=name == "PNNX"))
        parts.append(label(width / 2, y + _HEIGHT / 2, name))
        parts.append(label(width + 14, y + 7, work, anchor="start"))
        parts.append(label(width + 14, y + 23, file, "kp-faint", "start"))
        if i + 1 < len(stages):
            parts.append(arrow(width / 2, y + _HEIGHT, width / 2, y + step))
    right = width + 14 + max(text_width(text) for _, *texts in stages for text in texts)
    bracket = right + 12
    last = words("deployment")
    for y1, y2, word in ((0.0, step + _HEIGHT, words("training")), (2 * step, 3 * step + _HEIGHT, last)):
        parts.append(f'<path class="kp-line" d="M{bracket} {y1}h6V{y2}h-6"/>')
        parts.append(label(bracket + 14, (y1 + y2) / 2, word, "kp-faint", "start"))
    caption = words(
        "PNNX stands between training and deployment: it turns a recorded model into a graph for an engine."
    )
    return Picture(bracket + 14 + text_width(last), step * 3 + _HEIGHT, "".join(parts), caption)


def graph_beside_architecture() -> Picture:
    """A residual block twice: as the diagram of an architecture, and as the graph that a file holds.

    >>> "torch.add" in graph_beside_architecture().svg()
    True
    """
    convolution, skip = words("3 x 3 conv, 16"), words("skip")
    block = [(convolution, 0), ("ReLU", 2), (convolution, 0)]
    width, parts = 130.0, []
    for i, (name, colour) in enumerate(block):
        y = 24 + 54.0 * i
        parts.append(arrow(width / 2, y - 24, width / 2, y))
        parts.append(box(0, y, width, _HEIGHT, hue(colour)))
        parts.append(label(width / 2, y + _HEIGHT / 2, name))
    plus = 24 + 54.0 * 3 + 6
    parts.append(arrow(width / 2, plus - 30, width / 2, plus - 9))
    parts.append(f'<circle class="kp-line" cx="{width / 2}" cy="{plus}" r="9"/>' + label(width / 2, plus, "+"))
    side = width + 22
    parts.append(f'<path class="kp-line" d="M{width / 2} 8H{side}V{plus}"/>')
    parts.append(arrow(side, plus, width / 2 + 10, plus))
    parts.append(label(side + 6, plus / 2, skip, "kp-faint", "start"))
    parts.append(arrow(width / 2, plus + 9, width / 2, plus + 32))
    drawing = Picture(side + 6 + text_width(skip), plus + 34, "".join(parts)).titled(words("architecture"))
    texts = {"in": "pnnx.Input", "conv0": "nn.Conv2d", "relu": "nn.ReLU", "conv1": "nn.Conv2d", "add": "torch.add"}
    edges = [("in", "conv0"), ("conv0", "relu"), ("relu", "conv1"), ("conv1", "add"), ("in", "add"), ("add", "out")]
    marks = {"conv0": 0, "conv1": 0, "relu": 2}
    graph = flow(edges, texts={**texts, "out": "pnnx.Output"}, marks=marks).titled(words("computation graph"))
    caption = template(
        "The same residual block: an architecture diagram has blocks, the computation graph one operator for each step."
    )
    return row_of(drawing, graph, gap=40, top=True).captioned(caption)
