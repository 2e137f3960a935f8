"""Spectra, and functions of the standard that are inlined."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model

RNG = np.random.default_rng(0)
node = helper.make_node


def numbers(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("length", [None, 6, 12])
@pytest.mark.parametrize("settings", [{}, {"onesided": 1}, {"inverse": 1}])
def test_dft_of_17_and_20(length: int | None, settings: dict[str, int]) -> None:
    x = {"x": numbers(2, 10, 2 if "inverse" in settings else 1)}
    inputs, weights = ["x"], {}
    if length is not None:
        inputs, weights = ["x", "n"], {"n": np.int64(length)}
    check(model([node("DFT", inputs, ["y"], axis=1, **settings)], x, ["y"], weights, opset=17), x, exact=False)
    inputs = [*inputs, *[""] * (2 - len(inputs)), "axis"]
    proto = model([node("DFT", inputs, ["y"], **settings)], x, ["y"], weights | {"axis": np.int64(-2)}, opset=20)
    check(proto, x, exact=False)


def test_stft_of_a_signal_of_open_length() -> None:
    short, long = ({"x": numbers(1, length, 1)} for length in (32, 48))
    weights = {"step": np.int64(4), "window": np.hanning(16).astype(np.float32)}
    stft = node("STFT", ["x", "step", "window"], ["y"])
    proto = model([stft], short, ["y"], weights, opset=17, shapes={"x": ["n", "l", 1]})
    check(proto, short, long, exact=False)


def test_stft_takes_a_signal_without_a_last_axis() -> None:
    weights = {"step": np.int64(4), "window": np.hanning(16).astype(np.float32)}
    x, stft = numbers(2, 40, 1), node("STFT", ["x", "step", "window"], ["y"])
    with_axis, without = (
        model([stft], {"x": signal}, ["y"], weights, opset=17, shapes={"x": None}) for signal in (x, x[..., 0])
    )
    expected = backend.run_model(with_axis, [x])[0]
    np.testing.assert_array_equal(backend.run_model(without, [x[..., 0]])[0], expected)
    frames = np.lib.stride_tricks.sliding_window_view(x[..., 0], 16, axis=1)[:, ::4] * weights["window"]
    np.testing.assert_allclose(expected[..., 0], np.fft.fft(frames).real[..., :9], atol=1e-5)


def test_functions_of_the_standard_get_their_defaults() -> None:
    x = {"x": numbers(2, 3, 2, 2)}
    check(model([node("MeanVarianceNormalization", ["x"], ["y"])], x, ["y"], opset=13), x, exact=False)
    check(
        model([node("HannWindow", ["n"], ["y"])], {"n": np.int64(9)}, ["y"], opset=17), {"n": np.int64(9)}, exact=False
    )


def test_attention_whose_mask_is_left_out() -> None:
    names = ["q", "k", "v", "", "past_k", "past_v"]
    given = {name: numbers(1, 2, 3, 4) for name in names if name}
    attention = node("Attention", names, ["y", "present_k", "present_v"], is_causal=1)
    check(model([attention], given, ["y", "present_k", "present_v"], opset=23), given, exact=False)


def test_a_frame_longer_than_the_signal_is_one_error() -> None:
    weights = {"step": np.int64(4), "window": np.ones(16, np.float32)}
    proto = model(
        [node("STFT", ["x", "step", "window"], ["y"])],
        {"x": numbers(1, 32, 1)},
        ["y"],
        weights,
        opset=17,
        shapes={"x": None},
    )
    with pytest.raises(KuiperError):
        backend.run_model(proto, [numbers(1, 8, 1)])
