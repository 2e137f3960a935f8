"""Make norms.json: what PyTorch's layer_norm and group_norm answer, for the tests of exercise 3.11.

    python course3_layers/data/make_norms.py         needs PyTorch (pip install -e '.[export]')

The numbers that are normalised are whole, so that the file stays small, and a person can read it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

EPS = 1e-5
LAYER_NORMS = {  # name: shape, axes, whether there are weight and bias
    "one axis": ((3, 5), 1, True, True),
    "two axes": ((2, 3, 4), 2, True, True),
    "without a weight": ((2, 6), 1, False, True),
    "without a bias": ((2, 2, 3), 1, True, False),
    "neither": ((4, 3), 1, False, False),
}
GROUP_NORMS = {  # name: shape, groups, whether there are weight and bias
    "a picture": ((2, 4, 2, 3), 2, True, True),
    "one group": ((2, 3, 4), 1, True, True),
    "a group for each channel": ((1, 3, 5), 3, True, True),
    "without pixels": ((3, 6), 2, True, True),
    "without a weight": ((2, 4, 3), 2, False, True),
    "neither": ((2, 6, 2), 3, False, False),
}


def case(number: int, shape: tuple[int, ...], weights: tuple[int, ...], has: tuple[bool, bool]) -> dict[str, Any]:
    """Integers for ``x``, and for weight and bias where there are some."""
    numbers = np.random.default_rng(number)
    weight, bias = (numbers.integers(-4, 5, weights).astype(np.float32) if given else None for given in has)
    return {"x": numbers.integers(-9, 10, shape).astype(np.float32), "weight": weight, "bias": bias}


def written(values: dict[str, Any]) -> dict[str, Any]:
    """Arrays as nested lists; a float32 is written with the digits that bring it back."""
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in values.items()}


def main() -> None:
    """Ask PyTorch, and write the file."""
    layers, groups = {}, {}
    for number, (name, (shape, axes, *has)) in enumerate(LAYER_NORMS.items()):
        given = case(number, shape, shape[-axes:], tuple(has))
        tensors = {key: None if value is None else torch.from_numpy(value) for key, value in given.items()}
        y = functional.layer_norm(tensors.pop("x"), shape[-axes:], eps=EPS, **tensors)
        layers[name] = written({**given, "axes": axes, "y": y.numpy()})
    for number, (name, (shape, count, *has)) in enumerate(GROUP_NORMS.items()):
        given = case(number + 10, shape, (shape[1],), tuple(has))
        tensors = {key: None if value is None else torch.from_numpy(value) for key, value in given.items()}
        y = functional.group_norm(tensors.pop("x"), count, eps=EPS, **tensors)
        groups[name] = written({**given, "groups": count, "y": y.numpy()})
    text = json.dumps({"torch": torch.__version__, "eps": EPS, "layer_norm": layers, "group_norm": groups})
    (Path(__file__).parent / "norms.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
