"""Models that are written by hand and only pass the picture on, so that each pixel decides one number of the output."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_model(folder: Path, operators: str, shapes: dict[str, str] | None = None) -> Path:
    """A model without weights: its operators, a line each, and the shapes of operands that the file declares."""
    lines = []
    operands = set()
    for line in operators.strip().splitlines():
        words = line.split()
        own = [word for word in words[4:] if word.isdigit()]
        operands.update(own)
        declared = [f"#{name}={shape}f32" for name, shape in (shapes or {}).items() if name in own]
        lines.append(" ".join([*words, *declared]))
    param = folder / "net.pnnx.param"
    param.write_text("\n".join(["7767517", f"{len(lines)} {len(operands)}", *lines, ""]), encoding="utf-8")
    with zipfile.ZipFile(param.with_suffix(".bin"), "w"):
        pass
    return param


def rows_model(folder: Path, labels: int, in_tuple: bool = False) -> Path:
    """A detector of pictures 2 high and 5 + labels wide: its 6 rows are the picture's, of red, then green, then blue.

    What it takes for a box is in one line of one channel: x, y, w, h, objectness, classes.
    """
    width = 5 + labels
    operators = f"pnnx.Input in 0 1 0\nTensor.reshape rows 1 1 0 1 shape=(1,6,{width})\n"
    if in_tuple:
        operators += "prim::TupleConstruct pair 2 1 1 0 2\npnnx.Output out 1 0 2"
    else:
        operators += "pnnx.Output out 1 0 1"
    return write_model(folder, operators, {"0": f"(1,3,2,{width})", "1": f"(1,6,{width})"})


def relu_model(folder: Path, shape: str = "(?,3,?,?)") -> Path:
    """A model that gives back its input, of this shape, if that is above 0."""
    return _between(folder, "F.relu same 1 1 0 1 $input=0", shape)


def shrinking_model(folder: Path, shape: str = "(?,3,?,?)") -> Path:
    """A model that gives the largest of each 2 x 2 pixels."""
    pool = "kernel_size=(2,2) stride=(2,2) padding=(0,0) dilation=(1,1) ceil_mode=False return_indices=False"
    return _between(folder, f"nn.MaxPool2d pool 1 1 0 1 {pool}", shape)


def _between(folder: Path, operator: str, shape: str) -> Path:
    return write_model(folder, f"pnnx.Input in 0 1 0\n{operator}\npnnx.Output out 1 0 1", {"0": shape})
