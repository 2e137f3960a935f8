"""Make test_linear.pnnx.param and test_linear.pnnx.bin: y = sigmoid(linear(x)) with 32 numbers in and 128 out.

    python course2_graph/data/make_test_linear.py         needs PyTorch and pnnx (pip install -e '.[export]')

The seed is fixed, so the files come out the same each time with the same versions.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pnnx
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).resolve().parent
NAME = "test_linear"


class Model(nn.Module):
    """The smallest model with a weight, a bias and an operator that has neither."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(32, 128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.sigmoid(self.linear(x))


def main() -> None:
    """Export the model in a folder of its own (pnnx writes more files than are wanted) and keep the pair."""
    torch.manual_seed(2)
    model = Model().eval()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pnnx.export(model, f"{NAME}.pt", (torch.rand(1, 32),), fp16=False)
        for ending in ("param", "bin"):
            (HERE / f"{NAME}.pnnx.{ending}").write_bytes(Path(f"{NAME}.pnnx.{ending}").read_bytes())
        os.chdir(HERE)


if __name__ == "__main__":
    main()
