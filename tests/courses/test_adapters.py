"""The layers that put exercises into real graphs, with the solutions in them, against torch's outputs."""

from __future__ import annotations

import functools
import importlib.util
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.course.manifest import read_course, read_syllabus
from kuiper.course.selection import Selection, selected
from kuiper.graph import pnnx
from kuiper.layers import override, registry
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.graph_writer import GraphWriter
from kuiper.models.text.sampling import Sampler
from tests.fixtures.operator_files import answers_of, graph_file, inputs_of

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
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
    "nn_group_norm",
    "nn_group_norm_far",
    "nn_group_norm_no_affine",
    "nn_group_norm_rank2",
    "nn_layer_norm",
    "nn_layer_norm_axes",
    "nn_layer_norm_far",
    "nn_layer_norm_no_affine",
    "nn_layer_norm_permuted",
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


BILINEAR = [
    "function_upsample",
    "interpolate_bilinear_corners",
    "interpolate_bilinear_recompute",
    "interpolate_bilinear_size",
    "upsample_bilinear",
    "upsample_bilinear_corners",
    "upsample_bilinear_size",
    "upsample_bilinear_to_one",
]
DETECT = ["yolo_detect_centred", "yolo_detect_corner", "yolo_detect_shared_anchors", "yolo_detect_with_maps"]
TEXT = ["nn_rms_norm", "nn_rms_norm_no_affine"]
DECODERS = Path(__file__).parents[1] / "fixtures" / "decoders"


@functools.cache
def adapters_of(course: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{course}_adapters", ROOT / course / "adapters.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(course: str, path: Path) -> kuiper.RuntimeGraph:
    """A model on the course's solutions, except where an adapter says that it is about some operators only."""
    adapters = adapters_of(course)
    with selected(Selection(read_syllabus(ROOT), "solution")), ExitStack() as stack:
        for exercise in read_course(ROOT / course / "course.toml").exercises:
            for type_name, class_name in exercise.provides.items():
                adapter = getattr(adapters, class_name)
                if not hasattr(adapter, "covers"):
                    stack.enter_context(override(type_name, adapter))
        model = kuiper.load(path, optimize=False)
    assert any(type(op.layer).__module__ == adapters.__name__ for op in model.operators)
    return model


def run(course: str, name: str) -> np.ndarray:
    """The (first) output of an exported operator, computed by the course's solutions."""
    model = load(course, graph_file(name))
    y = model(*inputs_of(name))
    return np.asarray(y[0] if isinstance(y, tuple) else y)


@pytest.mark.parametrize(
    ("course", "name"), [*((LAYERS, name) for name in COVERED), *((MODELS, name) for name in (*DETECT, *TEXT))]
)
def test_adapter_equals_torch(course: str, name: str) -> None:
    expected = answers_of(name)["output_0"]
    scale = np.abs(expected[np.isfinite(expected)]).max()
    np.testing.assert_allclose(run(course, name), expected, rtol=0, atol=1e-5 * scale)


CONVOLUTIONS = [name for name in COVERED if name.startswith("conv2d")]


@pytest.mark.parametrize("name", [*CONVOLUTIONS, "conv2d_depthwise_one_channel"])
def test_convolution_on_the_own_product_equals_torch(name: str) -> None:
    stored = answers_of(name)
    with (
        selected(Selection(read_syllabus(ROOT), "solution")),
        override("nn.Conv2d", adapters_of(LAYERS).OwnProductConv2d),
    ):
        model = kuiper.load(graph_file(name), optimize=False)
    got, expected = np.asarray(model(stored["input_0"])), stored["output_0"]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def resampled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What exercise 3.12 makes of an exported operator, which covers some operators of its types only; and torch."""
    path, stored = graph_file(name), answers_of(name)
    own = adapters_of(LAYERS).Bilinear
    with selected(Selection(read_syllabus(ROOT), "solution")), ExitStack() as stack:
        for type_name in ("nn.Upsample", "F.interpolate", "F.upsample"):
            stack.enter_context(override(type_name, own))
        model = kuiper.load(path, optimize=False)
    assert any(isinstance(op.layer, own) and own.covers(op) for op in model.operators)
    return np.asarray(model(stored["input_0"])), stored["output_0"]


@pytest.mark.parametrize("name", BILINEAR)
def test_bilinear_equals_torch(name: str) -> None:
    got, expected = resampled(name)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["upsample_bilinear_scale", "upsample_bicubic"])
def test_bilinear_refuses_what_no_exercise_covers(name: str) -> None:
    with pytest.raises(kuiper.UnsupportedOperatorError, match=r"exercise 3\.12"):
        resampled(name)


@pytest.mark.parametrize("name", REFUSED)
def test_adapter_refuses_what_no_exercise_covers(name: str) -> None:
    with pytest.raises(kuiper.UnsupportedOperatorError, match=r"exercise 3\.[35]"):
        run(LAYERS, name)


@pytest.mark.parametrize("name", ["llama", "llama3", "llama_linear", "mistral", "qwen2", "qwen3", "gpt2"])
def test_adapters_give_the_logits_of_transformers_in_one_call_and_token_by_token(name: str) -> None:
    model, stored = load(MODELS, DECODERS / f"{name}.pnnx.param"), np.load(DECODERS / f"{name}.npz")
    tokens, expected = stored["input_0"], stored["output_0"][0]
    session = model.start(max_length=40)
    pieces = [session(tokens[0, :20]), *(session(token) for token in tokens[0, 20:, None])]
    for got in (model(tokens)[0], np.concatenate([np.asarray(piece) for piece in pieces])):
        assert np.abs(np.asarray(got) - expected).max() <= 1e-5 * np.abs(expected).max()


def test_cache_goes_back_with_the_session_and_keeps_two_apart() -> None:
    model, tokens = load(MODELS, DECODERS / "llama.pnnx.param"), np.load(DECODERS / "llama.npz")["input_0"][0]
    first, second = model.start(max_length=16), model.start(max_length=16)
    wanted = np.asarray(first(tokens[:6]))
    second(tokens[3:9])
    first(tokens[9:12])
    first.rewind(2)
    np.testing.assert_allclose(np.asarray(first(tokens[2:6])), wanted[2:], atol=1e-5 * np.abs(wanted).max())


def test_cache_refuses_a_session_that_was_forked() -> None:
    session = load(MODELS, DECODERS / "llama.pnnx.param").start(max_length=16)
    session([3, 1, 4])
    with pytest.raises(kuiper.UnsupportedOperatorError, match=r"a text that was not forked, in exercise 5\.12"):
        session.fork()([1])


@pytest.mark.parametrize(
    ("type_name", "params", "words"),
    [
        ("nn.RMSNorm", "normalized_shape=(3,4) elementwise_affine=False", r"one axis in exercise 5\.11"),
        ("kuiper.CausalAttention", "scale=0.5", r"the scale 1 / sqrt\(d\) in exercise 5\.12"),
    ],
)
def test_text_adapters_refuse_what_no_exercise_covers(type_name: str, params: str, words: str) -> None:
    adapter = getattr(adapters_of(MODELS), type_name.partition(".")[2])
    text = f"7767517\n3 2\npnnx.Input in 0 1 0\n{type_name} op 1 1 0 1 {params}\npnnx.Output out 1 0 1\n"
    graph = kuiper.graph.RuntimeGraph(pnnx.parse_param(text, "graph"))
    with (
        selected(Selection(read_syllabus(ROOT), "solution")),
        override(type_name, adapter),
        pytest.raises(kuiper.UnsupportedOperatorError, match=words),
    ):
        graph.build(registry)


def product_by_numpy(weight: np.ndarray, scales: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """What exercise 5.14 computes."""
    out[:] = (weight.astype(np.float32) @ x) * scales


@pytest.mark.parametrize("bias", [False, True])
def test_quantized_linear_multiplies_row_by_row(bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    adapters, numbers = adapters_of(MODELS), np.random.default_rng(4)
    monkeypatch.setattr(adapters, "load_exercise", lambda id_: SimpleNamespace(product=product_by_numpy))
    weight, x = (numbers.standard_normal(shape, np.float32) for shape in ((5, 7), (2, 3, 7)))
    attrs = {"bias": numbers.standard_normal(5, np.float32)} if bias else {}
    writer = GraphWriter()
    params = {"bias": bias, "in_features": 7, "out_features": 5}
    y = writer.add("pnnx.Input", "x", shape=(None, None, 7))
    y = writer.add("nn.Linear", "fc", y, shape=(None, None, 5), params=params, attrs={**attrs, "weight": weight})
    writer.finish(y)
    quantize_graph(writer.graph, 8)
    reference, own = kuiper.load(writer.graph, optimize=False), kuiper.graph.RuntimeGraph(writer.graph)
    with override("nn.Linear", adapters.QuantizedLinear):
        own.build(registry)
    wanted = np.asarray(reference(x))
    np.testing.assert_allclose(np.asarray(own(x)), wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
    (layer,) = [op for op in own.operators if op.type == "nn.Linear"]
    assert adapters.QuantizedLinear.covers(layer)


def test_quantized_linear_does_not_cover_weights_of_float32() -> None:
    model = kuiper.load(DECODERS / "llama.pnnx.param", optimize=False)
    linear = next(op for op in model.operators if op.type == "nn.Linear")
    assert not adapters_of(MODELS).QuantizedLinear.covers(linear)


def test_next_token_has_the_settings_and_the_chances_of_the_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    adapters, seen = adapters_of(MODELS), []

    def next_token(*given: object) -> int:
        seen.append(given[1:])
        return int(np.searchsorted(np.cumsum([0.25, 0.5, 0.25]), given[-1], side="right"))  # as exercise 5.13 draws

    monkeypatch.setattr(adapters, "load_exercise", lambda id_: SimpleNamespace(next_token=next_token))
    scores, sampler = np.log([0.25, 0.5, 0.25]), Sampler(temperature=1.0, top_k=3, repetition_penalty=1.5, seed=5)
    own = adapters.NextToken(sampler)
    assert [own(scores, [7]) for _ in range(20)] == [sampler(scores) for _ in range(20)]
    assert all(given[:5] == ([7], 1.0, 3, 1.0, 1.5) for given in seen)
