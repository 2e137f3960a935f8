"""An inference engine on one page: NumPy for the numbers, Pillow for the photo, and nothing of kuiper.

    python examples/tiny_engine.py [PHOTO]

It reads ResNet-20 from two files, runs it on a photo, and prints the five likeliest names:

    .param, .bin  ->  operators  ->  an order  ->  layers, one after the other  ->  scores  ->  names

Read it from top to bottom. docs/learn/tiny-engine.md explains it, part by part.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from PIL import Image, ImageOps

MODELS = Path(__file__).resolve().parents[1] / "kuiper" / "models"


# 1. The two files: a .param file has one line of text for each operator, a .bin file is a zip archive of the weights.
@dataclass(eq=False)  # operators are compared by identity, so that they can be keys of a dict
class Operator:
    """A node of the graph. Operands, the edges, are names: what one operator puts out, others take in."""

    type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    settings: dict[str, Any]  # parameters such as stride=(2, 2), and weights, which are arrays


def parse_value(text: str) -> Any:
    """'(2,2)' means (2, 2), '1e-5' means 0.00001, 'True' means True, and 'zeros' means 'zeros'."""
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    if text.startswith(("(", "[")):
        return tuple(parse_value(item) for item in text[1:-1].split(",") if item)
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def read_weight(archive: ZipFile, entry: str, text: str) -> np.ndarray:
    """The numbers of one weight; the text is its shape and its type, such as '(16,3,3,3)f32'."""
    shape, _, type_ = text.rpartition(")")
    if type_ not in ("f32", "f16"):
        raise ValueError(f"{entry}: expected a weight of type f32 or f16, got {type_}")
    return np.frombuffer(archive.read(entry), "<f4" if type_ == "f32" else "<f2").reshape(parse_value(shape + ")"))


def parse_line(line: str, archive: ZipFile) -> Operator:
    """One line: type, name, the numbers of inputs and outputs, their names, then fields key=value."""
    type_, name, inputs, outputs, *words = line.split()
    first_output, first_field = int(inputs), int(inputs) + int(outputs)
    settings = {}
    for field in words[first_field:]:
        key, _, text = field.partition("=")
        if key.startswith("@"):  # a weight; it replaces the parameter of the same name, such as bias=True
            settings[key[1:]] = read_weight(archive, f"{name}.{key[1:]}", text)
        elif not key.startswith(("#", "$")):  # these repeat shapes and names of arguments, which are not needed here
            settings[key] = text if key == "expr" else parse_value(text)
    return Operator(type_, name, words[:first_output], words[first_output:first_field], settings)


def read_graph(param: Path) -> list[Operator]:
    """All operators of a model, in the order of the file."""
    magic, _counts, *lines = param.read_text(encoding="utf-8").splitlines()
    if magic != "7767517":
        raise ValueError(f"{param}: expected 7767517 on the first line, got {magic}")
    with ZipFile(param.with_suffix(".bin")) as archive:
        return [parse_line(line, archive) for line in lines]


# 2. The order: an operator can run when all that it reads has been computed (Kahn's algorithm).
def topological_order(operators: list[Operator]) -> list[Operator]:
    """The operators, each of them after those whose outputs it reads."""
    readers = defaultdict(list)
    for op in operators:
        for operand in op.inputs:
            readers[operand].append(op)
    missing = {op: len(op.inputs) for op in operators}
    ready = deque(op for op in operators if not op.inputs)
    order = []
    while ready:
        op = ready.popleft()
        order.append(op)
        for operand in op.outputs:
            for reader in readers[operand]:
                missing[reader] -= 1
                if missing[reader] == 0:
                    ready.append(reader)
    if len(order) < len(operators):
        raise ValueError(f"graph: expected {len(operators)} operators that can run, got {len(order)}")
    return order


# 3. Expressions: the text add(@0,mul(@1,2)) becomes tokens, the tokens become a tree, and the tree becomes numbers.

TOKEN = re.compile(r"(?P<input>@\d+)|(?P<number>[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?P<name>[a-z]\w*)|(?P<mark>[(),])")
FUNCTIONS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}


def tokenize(text: str) -> list[tuple[str | None, str]]:
    """Kind and text of each token; after the last one comes ("end", "the end")."""
    tokens, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"{text}: expected an input, a number, a name, a bracket or a comma, got {text[place]}")
        tokens.append((match.lastgroup, match[0]))
        place = match.end()
    return [*tokens, ("end", "the end")]


def parse_item(tokens: list[tuple[str | None, str]], place: int) -> tuple[Any, int]:
    """The tree of the item that begins at a place, and the place after it.

    item = input | number | name "(" item { "," item } ")"
    """
    kind, text = tokens[place]
    if kind in ("input", "number"):
        return text, place + 1
    if text not in FUNCTIONS or tokens[place + 1][1] != "(":
        raise ValueError(f"expression: expected an input, a number or one of {', '.join(FUNCTIONS)}, got {text}")
    branch, place = parse_item(tokens, place + 2)
    branches = [branch]
    while tokens[place][1] == ",":
        branch, place = parse_item(tokens, place + 1)
        branches.append(branch)
    if tokens[place][1] != ")" or len(branches) != FUNCTIONS[text].nin:
        raise ValueError(f"{text}: expected {FUNCTIONS[text].nin} arguments and ')', got {branches} {tokens[place][1]}")
    return (text, *branches), place + 1


def evaluate(tree: Any, inputs: tuple[np.ndarray, ...]) -> Any:
    """The numbers of a tree: those of a leaf, or a function of those of its branches."""
    if isinstance(tree, tuple):
        name, *branches = tree
        return FUNCTIONS[name](*(evaluate(branch, inputs) for branch in branches))
    return inputs[int(tree[1:])] if tree.startswith("@") else np.float32(tree)


def expression(*inputs: np.ndarray, expr: str) -> np.ndarray:
    """An operator's formula on its inputs: add(@0,@1) is the sum of the first two."""
    tokens = tokenize(expr)
    tree, place = parse_item(tokens, 0)
    if tokens[place][0] != "end":
        raise ValueError(f"{expr}: expected the end, got {tokens[place][1]}")
    return evaluate(tree, inputs)


# 4. The layers: functions of arrays. Images are (n, c, h, w): image, channel, row, column. The settings of an operator
# come as keyword arguments: what the layer uses by its name, all others as `rest`. `kernel` and `stride` are (h, w).
def only(layer: str, rest: dict[str, Any], **able: Any) -> None:
    """Refuse a setting that a layer cannot do: no answer is better than a wrong one."""
    able = {"dilation": (1, 1), "groups": 1, "padding_mode": "zeros", **able}  # no layer here can do others
    for name, got in rest.items():
        if name not in able or got != able[name]:
            raise ValueError(f"{layer}: expected {name}={able.get(name, 'nothing')}, got {got}")


def shifts(kernel, stride, h, w):
    """For each place (i, j) of a kernel, the pixels that it meets in h x w windows: from (i, j) on, every stride-th."""
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            yield i, j, (..., slice(i, i + stride[0] * h, stride[0]), slice(j, j + stride[1] * w, stride[1]))


def windows(x, kernel, stride):
    """What each place of a kernel sees in each window: (n, c, kernel_h, kernel_w, out_h, out_w)."""
    n, c, h, w = x.shape
    out_h, out_w = (h - kernel[0]) // stride[0] + 1, (w - kernel[1]) // stride[1] + 1
    seen = np.empty((n, c, *kernel, out_h, out_w), np.float32)
    for i, j, pixels in shifts(kernel, stride, out_h, out_w):
        seen[:, :, i, j] = x[pixels]
    return seen


def conv2d(x, *, weight, bias, stride, padding, **rest):
    """Convolution by im2col: each window becomes a column, and all kernels times all windows are one product."""
    (out_c, in_c), kernel = weight.shape[:2], weight.shape[2:]
    only("conv2d", rest, in_channels=in_c, out_channels=out_c, kernel_size=kernel)
    x = np.pad(x, ((0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1])))
    seen = windows(x, kernel, stride)
    n, *_, out_h, out_w = seen.shape
    y = (weight.reshape(out_c, -1) @ seen.reshape(n, -1, out_h * out_w)).reshape(n, out_c, out_h, out_w)
    return y if bias is False else y + bias[:, None, None]


def conv_transpose2d(x, *, weight, bias, stride, **rest):
    """The way back: each pixel becomes a window, kernel times pixel; where windows overlap, they are added."""
    (in_c, out_c), kernel = weight.shape[:2], weight.shape[2:]
    unpadded = {"padding": (0, 0), "output_padding": (0, 0)}
    only("conv_transpose2d", rest, in_channels=in_c, out_channels=out_c, kernel_size=kernel, **unpadded)
    n, _, h, w = x.shape
    seen = (weight.reshape(in_c, -1).T @ x.reshape(n, in_c, h * w)).reshape(n, out_c, *kernel, h, w)
    y = np.zeros((n, out_c, (h - 1) * stride[0] + kernel[0], (w - 1) * stride[1] + kernel[1]), np.float32)
    for i, j, pixels in shifts(kernel, stride, h, w):
        y[pixels] += seen[:, :, i, j]
    return y if bias is False else y + bias[:, None, None]


def max_pool2d(x, *, kernel_size, stride, **rest):
    """The largest number of each window."""
    only("max_pool2d", rest, padding=(0, 0), ceil_mode=False, return_indices=False)
    return windows(x, kernel_size, stride).max(axis=(2, 3))


def average_pool2d(x, **rest):
    """The mean of each channel: of the whole image, one pixel is left."""
    only("average_pool2d", rest, output_size=(1, 1))
    return x.mean(axis=(2, 3), keepdims=True)


def flatten(x, **rest):
    """(n, c, h, w) becomes (n, c * h * w)."""
    only("flatten", rest, start_dim=1, end_dim=-1)
    return x.reshape(len(x), -1)


def linear(x, *, weight, bias, **rest):
    """Each output is a weighted sum of all inputs: (n, in) becomes (n, out)."""
    only("linear", rest, in_features=weight.shape[1], out_features=weight.shape[0])
    y = x @ weight.T
    return y if bias is False else y + bias


LAYERS = {
    "nn.Conv2d": conv2d,
    "nn.ConvTranspose2d": conv_transpose2d,
    "nn.MaxPool2d": max_pool2d,
    "nn.AdaptiveAvgPool2d": average_pool2d,
    "nn.ReLU": lambda x: np.maximum(x, 0),
    "nn.Linear": linear,
    "torch.flatten": flatten,
    "torch.cat": lambda *parts, dim: np.concatenate(parts, axis=dim),
    "pnnx.Expression": expression,
}


# 5. The run: one operator after the other; its inputs are outputs of those before it.
def run(operators: list[Operator], x: np.ndarray) -> np.ndarray:
    """What a network gives for an input; its operators stand in an order in which they can run."""
    values: dict[str, np.ndarray] = {}
    for op in operators:
        inputs = [values[operand] for operand in op.inputs]
        if op.type == "pnnx.Output":
            return inputs[0]
        if op.type == "pnnx.Input":
            values[op.outputs[0]] = x
        elif op.type in LAYERS:
            values[op.outputs[0]] = LAYERS[op.type](*inputs, **op.settings)
        else:
            raise ValueError(f"{op.name}: expected one of {', '.join(LAYERS)}, got {op.type}")
    raise ValueError("graph: expected a pnnx.Output, got none")


# 6. From a photo to names: the card beside the model says how photos were prepared when it was trained.
def preprocess(photo: Path, card: dict[str, Any]) -> np.ndarray:
    """The middle of the photo in the size that the network takes, as numbers around 0: (1, 3, size, size)."""
    image = ImageOps.exif_transpose(Image.open(photo)).convert("RGB")
    size, shorter = card["size"], min(image.size)
    image = image.resize((size * image.width // shorter, size * image.height // shorter), Image.Resampling.BILINEAR)
    left, top = round((image.width - size) / 2), round((image.height - size) / 2)
    pixels = np.asarray(image.crop((left, top, left + size, top + size)), np.float32) / 255
    return ((pixels - np.float32(card["mean"])) / np.float32(card["std"])).transpose(2, 0, 1)[None]


def softmax(scores: np.ndarray) -> np.ndarray:
    """Scores become probabilities; the largest is taken off first, so that no power overflows."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def main(photo: Path) -> None:
    """Print the five likeliest names of what is on a photo."""
    card = json.loads((MODELS / "zoo" / "cifar_resnet20.json").read_text(encoding="utf-8"))
    operators = topological_order(read_graph(MODELS / "zoo" / "cifar_resnet20.pnnx.param"))
    probabilities = softmax(run(operators, preprocess(photo, card))[0])
    for i in np.argsort(-probabilities)[:5]:
        print(f"{card['labels'][i]:<12}{probabilities[i]:6.1%}")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else MODELS / "assets" / "cat.jpg")
    except (OSError, ValueError) as error:
        sys.exit(f"tiny_engine: {error}")
