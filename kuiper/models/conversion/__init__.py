"""From a model in PyTorch or ONNX to ``NAME.pnnx.param`` and ``NAME.pnnx.bin``.

    PyTorch   traps: what pnnx is known to get wrong -> pnnx_converter: the two files
    ONNX      kuiper.onnx.reader: the graph -> the two files
    both      verification: do they compute the same?
    caches: a decoder that takes and returns its caches -> a graph that keeps them

Needs PyTorch and pnnx (``pip install -e '.[export]'``); to run what it wrote, neither is
needed. Nothing here imports them before it is called.
"""

from __future__ import annotations

from kuiper.models.conversion.comparison import Comparison
from kuiper.models.conversion.onnx_models import OnnxModel
from kuiper.models.conversion.torch_export import export
from kuiper.models.conversion.torch_models import TorchModel
from kuiper.models.conversion.verification import verify

__all__ = ["Comparison", "OnnxModel", "TorchModel", "export", "verify"]
