"""One model, once for each runtime: the names of the files in its folder of the cache.

Nothing is imported here but the standard library: each peer's process measures the memory that it takes, and this is
part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class ModelFiles:
    """A folder with one architecture, its weights and its batch size fixed, in the format of every peer."""

    name: str
    folder: Path

    @property
    def param(self) -> Path:
        """For kuiper; the weights lie beside it."""
        return self.folder / "model.pnnx.param"

    @property
    def onnx(self) -> Path:
        """For onnxruntime and openvino."""
        return self.folder / "model.onnx"

    @property
    def ncnn_param(self) -> Path:
        """For ncnn, which has no batch axis: this graph takes one image."""
        return self.folder / "model.ncnn.param"

    @property
    def ncnn_bin(self) -> Path:
        """The weights of ``ncnn_param``."""
        return self.folder / "model.ncnn.bin"

    @property
    def traced(self) -> Path:
        """For torch, as a TorchScript program."""
        return self.folder / "model.traced.pt"

    @property
    def state(self) -> Path:
        """For torch, as the weights of the Python module."""
        return self.folder / "model.state.pt"

    @property
    def arrays(self) -> Path:
        """``input`` (n, 3, h, w), or token ids (n, tokens), and ``output``, torch's answer to it."""
        return self.folder / "arrays.npz"

    @property
    def origin(self) -> Path:
        """JSON: what the files were made from. Written last, so where it is, the others are complete."""
        return self.folder / "origin.json"
