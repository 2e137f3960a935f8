"""The export for every runtime; needs PyTorch, pnnx and onnx."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.models import facts_of, prepare

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch


def test_prepare_exports_once_for_every_runtime(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    files = prepare("cifar_resnet20", 2, tmp_path)
    every = [files.param, files.onnx, files.ncnn_param, files.ncnn_bin, files.traced, files.state, files.arrays]
    assert [path.name for path in every if not path.exists()] == []
    with np.load(files.arrays) as arrays:
        assert (arrays["input"].shape, arrays["output"].shape) == ((2, 3, 32, 32), (2, 10))
    facts = facts_of(files)
    assert facts.input == (1, 3, 32, 32)
    assert facts.flops > 1e7
    written = files.param.stat().st_mtime_ns
    prepare("cifar_resnet20", 2, tmp_path)
    assert files.param.stat().st_mtime_ns == written
