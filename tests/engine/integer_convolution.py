"""A convolution of bytes as plain sums, and as the step computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.integer_packing import pack_depthwise, pack_integers
from kuiper.engine.kernels.integer_convolution import FORMS, IntegerConvolution
from kuiper.engine.lowering.activation import NO_ACTIVATION
from tests.engine.one_step import run_step

if TYPE_CHECKING:
    from kuiper.layers.window import Window

rng = np.random.default_rng(0)


def numbers_of(dtype: Any, *shape: int) -> np.ndarray:
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)


def naive(x: np.ndarray, zero: int, weight: np.ndarray, groups: int, window: Window) -> np.ndarray:
    """Sums (n, out_c, out_h, out_w) in int64, tap by tap, cut to 32 bits."""
    (top, left), (bottom, right) = window.before, window.after
    padded = np.pad(x.astype(np.int64) - zero, ((0, 0), (0, 0), (top, bottom), (left, right)))
    out_h, out_w = window.output_size(x.shape[2:])
    out = np.zeros((len(x), len(weight), out_h, out_w), np.int64)
    depth, own = weight.shape[1], len(weight) // groups
    for ky in range(window.kernel[0]):
        for kx in range(window.kernel[1]):
            y, x_ = ky * window.dilation[0], kx * window.dilation[1]
            seen = padded[:, :, y :: window.stride[0], x_ :: window.stride[1]][:, :, :out_h, :out_w]
            for group in range(groups):
                part = seen[:, group * depth : (group + 1) * depth]
                of_group = weight[group * own : (group + 1) * own, :, ky, kx].astype(np.int64)
                out[:, group * own : (group + 1) * own] += np.einsum("nchw,oc->nohw", part, of_group)
    return (out & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def convolve(
    x: np.ndarray,
    weight: np.ndarray,
    window: Window,
    *,
    zero: int = 0,
    groups: int = 1,
    fours: bool = False,
    block: tuple[int, int] = (3, 4),
    gap: int = 0,
    bias: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    out_zero: int = 0,
    out_type: Any = np.int32,
    computes_zero: bool = False,
    panel_groups: int = 1,
    depthwise: bool = False,
    together: int = 1000,
    factor: np.ndarray | None = None,
    added: np.ndarray | None = None,
    shift: np.ndarray | None = None,
    activation: dict[str, float] = NO_ACTIVATION,
    has_room: bool = False,
) -> np.ndarray:
    """What the step makes of images (n, c, h, w), with ``gap`` bytes between pixels, which it may write to or not."""
    n, c, h, w = x.shape
    out_c, (out_h, out_w) = len(weight), window.output_size((h, w))
    depthwise = depthwise and 1 < groups == out_c == c
    packed = pack_depthwise(weight, window, fours) if depthwise else pack_integers(weight, groups, window, fours)
    pixels = np.full((n, h, w, c + gap), 77, np.uint8)
    pixels[..., :c] = x.transpose(0, 2, 3, 1).view(np.uint8)
    size = np.dtype(out_type).itemsize
    out = np.full((n, out_h, out_w, out_c * size + 4 * gap), 99, np.uint8)
    parts = [pixels.ravel(), np.array([zero & 255, 0, 0, 0], np.uint8), out.ravel()]
    parts += [np.zeros(0, np.uint8) if one is None else one.view(np.uint8) for one in (factor, added)]
    starts = np.cumsum([0, *(-(-part.size // 4) * 4 for part in parts)])
    memory = np.zeros(starts[-1] + 256, np.uint8)
    for start, part in zip(starts, parts, strict=False):
        memory[start : start + part.size] = part
    limits = np.iinfo(np.int8 if out_type is np.float32 else out_type)
    form = {np.int32: "sums", np.float32: "floats"}.get(out_type, "bytes")
    numbers = {
        "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": c,
        "kernel_h": window.kernel[0], "kernel_w": window.kernel[1],
        "stride_h": window.stride[0], "stride_w": window.stride[1],
        "pad_top": window.before[0], "pad_left": window.before[1],
        "dilation_h": window.dilation[0], "dilation_w": window.dilation[1],
        "x": 0, "x_image": pixels.strides[0], "x_row": pixels.strides[1], "x_pixel": pixels.strides[2], "x_channel": 1,
        "out": int(starts[2]), "out_image": out.strides[0], "out_row": out.strides[1], "out_pixel": out.strides[2],
        "has_room": has_room, "x_signed": x.dtype == np.int8, "fours": fours, "depthwise": depthwise,
        "zero": 123 if computes_zero else zero,
        "zero_at": int(starts[1]) if computes_zero else -1,
        "form": FORMS[form], "factor": -1 if factor is None else int(starts[3]) // 4,
        "factor_step": int(factor is not None and factor.size > 1), "added": -1 if added is None else int(starts[4]),
        **activation, "low": limits.min - out_zero, "high": limits.max - out_zero, "out_zero": out_zero,
        "ranges": -1, "words": packed.words, "block_h": block[0], "block_w": block[1], "panel_groups": panel_groups,
        "together": together,
    }  # fmt: skip
    bias = np.zeros(out_c, np.int32) if bias is None else bias
    scale = np.ones(out_c, np.float32) if scale is None else scale
    shift = np.full(out_c, -0.0, np.float32) if shift is None else shift
    of_outputs = bias, packed.sums, scale, shift
    step = IntegerConvolution(numbers, packed.places, packed.weights, *of_outputs, packed.panels, packed.lacking)
    memory = run_step(step, memory.view(np.float32)).view(np.uint8)
    result = memory[starts[2] : starts[2] + out.size].reshape(out.shape)
    if not has_room:
        np.testing.assert_array_equal(result[..., out_c * size :], 99)
    return np.ascontiguousarray(result[..., : out_c * size]).view(out_type).transpose(0, 3, 1, 2)
