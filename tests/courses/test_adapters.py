"""The layers that put exercises into real graphs, with the solutions in them, against torch's outputs."""

from __future__ import annotations

import functools
import importlib.util
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.course.manifest import read_course, read_syllabus
from kuiper.course.selection import Selection, selected
from kuiper.layers import override

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "operators"
LAYERS, MODELS = "course3_layers", "course5_models"
COVERED = [
    "nn_relu",
    "f_relu",
    "nn_sigmoid",
    "f_sigmoid",
    "nn_silu",
    "f_silu",
    "max_pool2d_asymmetric",
    "max_pool2d_function_default",
    "max_pool2d_resnet_stem",
    "max_pool2d_yolo_spp",
    "conv2d_depthwise_strided",
    "conv2d_dilated",
    "conv2d_groups",
    "conv2d_no_bias",
    "conv2d_padding_beyond_kernel",
    "conv2d_per_axis",
    "conv2d_stem",
    "nn_batch_norm2d",
    "nn_batch_norm2d_no_affine",
    "adaptive_avg_pool2d_pair",
    "adaptive_avg_pool2d_global",
    "adaptive_avg_pool2d_keeps_axis",
]
REFUSED = [
    "conv2d_reflect",
    "conv2d_same",
    "max_pool2d_ceil_padding",
    "max_pool2d_dilation",
    "max_pool2d_indices",
]


DETECT = ["yolo_detect_centred", "yolo_detect_corner", "yolo_detect_shared_anchors", "yolo_detect_with_maps"]


@functools.cache
def adapters_of(course: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{course}_adapters", ROOT / course / "adapters.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(course: str, name: str) -> np.ndarray:
    """The (first) output of an exported operator, computed by the course's solutions."""
    adapters = adapters_of(course)
    with selected(Selection(read_syllabus(ROOT), "solution")), ExitStack() as stack:
        for exercise in read_course(ROOT / course / "course.toml").exercises:
            for type_name, class_name in exercise.provides.items():
                stack.enter_context(override(type_name, getattr(adapters, class_name)))
        model = kuiper.load(FIXTURES / f"{name}.pnnx.param", optimize=False)
        assert any(type(op.layer).__module__ == adapters.__name__ for op in model.operators)
        stored = np.load(FIXTURES / f"{name}.npz")
        y = model(*(stored[key] for key in stored if key.startswith("input_")))
        return np.asarray(y[0] if isinstance(y, tuple) else y)


@pytest.mark.parametrize(
    ("course", "name"), [*((LAYERS, name) for name in COVERED), *((MODELS, name) for name in DETECT)]
)
def test_adapter_equals_torch(course: str, name: str) -> None:
    expected = np.load(FIXTURES / f"{name}.npz")["output_0"]
    scale = np.abs(expected[np.isfinite(expected)]).max()
    np.testing.assert_allclose(run(course, name), expected, rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("name", REFUSED)
def test_adapter_refuses_what_no_exercise_covers(name: str) -> None:
    with pytest.raises(kuiper.UnsupportedOperatorError, match=r"exercise 3\.[35]"):
        run(LAYERS, name)
