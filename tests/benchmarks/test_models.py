"""The export for every runtime; needs PyTorch, pnnx and onnx."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.models import facts_of, prepare
from benchmarks.networks import TRANSFORMERS, create, example_input

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


def test_transformers_have_the_parameters_of_their_papers_and_seeded_inputs() -> None:
    import torch

    parameters = {"vit_tiny": 5_717_416, "mobilevit_xs": 2_317_848, "bert_minilm": 22_417_152}
    assert set(parameters) == set(TRANSFORMERS)
    for name, count in parameters.items():
        assert sum(parameter.numel() for parameter in create(name).parameters()) == count
        assert torch.equal(example_input(name, 1, 3), example_input(name, 1, 3))
    ids = example_input("bert_minilm", 2, 0)
    assert (ids.dtype, ids.shape) == (torch.int64, (2, 128))
    assert 0 <= ids.min() < ids.max() < 30522
