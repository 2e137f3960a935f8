"""Parts of a concatenation move to their places, with all that is made of them already, or are copied."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.builder import Builder
from kuiper.engine.concatenation import move
from kuiper.engine.declined import Declined
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.planned_step import NativeStep
from kuiper.engine.values import Value, narrow, new_image, new_rows
from kuiper.graph.runtime_operator import RuntimeOperator
from tests.engine.lowered import steps_of
from tests.engine.machines import KERNELS
from tests.engine.models import numbers

CONV = (
    "bias=False dilation=(1,1) groups={0} in_channels=16 kernel_size=({1},{1}) out_channels=16 padding=({2},{2}) "
    "padding_mode=zeros stride=(1,1) @weight=(16,{3},{1},{1})f32"
)
POOL = "ceil_mode=False dilation=(1,1) kernel_size=(3,3) padding=(1,1) return_indices=False stride=(1,1)"

WRITERS = {
    "direct": f"nn.Conv2d w 1 1 x0 a {CONV.format(1, 1, 0, 16)}",
    "Winograd": f"nn.Conv2d w 1 1 x0 a {CONV.format(1, 3, 1, 16)}",
    "depthwise": f"nn.Conv2d w 1 1 x0 a {CONV.format(16, 3, 1, 1)}",
    "pooling": f"nn.MaxPool2d w 1 1 x0 a {POOL}",
    "elementwise": "F.sigmoid w 1 1 x0 a $input=x0",
    "softmax": "nn.Softmax w 1 1 x0 a dim=1",
    "norm": "nn.GroupNorm w 1 1 x0 a affine=False eps=1.0e-5 num_channels=16 num_groups=4",
    "roll": "torch.roll w 1 1 x0 a dims=(3) shifts=(2)",
}
READERS = {
    "convolution": f"nn.Conv2d r 1 1 a z {CONV.format(1, 3, 1, 16)}",
    "pooling": f"nn.MaxPool2d r 1 1 a z {POOL}",
    "elementwise": "F.sigmoid r 1 1 a z $input=a",
    "softmax": "nn.Softmax r 1 1 a z dim=3",
    "layer norm": "nn.LayerNorm r 1 1 a z elementwise_affine=False eps=1.0e-5 normalized_shape=(6)",
    "ranking": "torch.argmax r 1 1 a z dim=1 keepdim=False",
    "sum": "torch.sum r 1 1 a z dim=(3) keepdim=False",
    "reshape": "Tensor.reshape r 1 1 a z shape=(2,16,36)",
    "permute": "Tensor.permute r 1 1 a z dims=(0,2,3,1)",
    "a layer in Python": "torch.cumsum r 1 1 a z dim=1",
    "another part": "torch.cat r 2 1 a a z dim=2",
}


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_has_read_a_part_reads_it_where_it_moves(writer: str, reader: str, dim: int) -> None:
    lines = [WRITERS[writer], READERS[reader], f"torch.cat c 2 1 a x1 y dim={dim}", "pnnx.Output o 1 0 z"]
    steps = steps_of(*lines, inputs=[numbers(2, 16, 6, 6), numbers(2, 16, 6, 6, seed=1)])
    assert steps


def part_of(whole: Value, start: int, size: int) -> Value:
    return narrow(whole, 1, start, size)


def test_move_takes_all_views_of_a_part_along() -> None:
    channels = 2 * LANES  # more than one: pixels of one channel are side by side, and remain so
    part, whole = new_image(2, channels, 3, 4), new_image(2, 3 * channels, 3, 4)
    pixels, row = Value(part.buffer, part.view.transpose(0, 2, 3, 1).reshape(24, channels)), narrow(part, 2, 1, 1)
    mirrored = Value(part.buffer, part.view[:, :, :, ::-1])
    place = part_of(whole, channels, channels)
    assert move(part, place, axis=1, is_last=False)
    for value, view in (
        (part, place.view),
        (row, place.view[:, :, 1:2]),
        (mirrored, place.view[:, :, :, ::-1]),
        (pixels, place.view.transpose(0, 2, 3, 1).reshape(24, channels)),
    ):
        assert value.buffer is whole.buffer
        moved = Value(whole.buffer, view)
        assert (value.start, value.shape, value.strides) == (moved.start, moved.shape, moved.strides)


def test_move_leaves_what_a_step_counts_on() -> None:
    whole = new_image(1, 3 * LANES, 2, 2)
    fixed, larger, padded = new_image(1, LANES, 2, 2), new_image(1, 2 * LANES, 2, 2), new_image(1, LANES, 2, 2)
    fixed.buffer.fixed = True
    half = narrow(larger, 1, 0, LANES)
    flat = Value(padded.buffer, padded.view.transpose(0, 2, 3, 1).reshape(-1))  # without gaps
    for part in (fixed, half, padded):
        buffer, view = part.buffer, part.view
        assert not move(part, part_of(whole, 0, LANES), axis=1, is_last=False)
        assert part.buffer is buffer
        assert part.view is view
    assert flat.start == 0


def test_move_needs_whole_vectors_unless_the_kernel_is_exact() -> None:
    for exact in (False, True):
        part, whole = new_rows((4, LANES + 1)), new_rows((4, 3 * LANES))
        part.buffer.exact = exact
        assert move(part, part_of(whole, 0, LANES + 1), axis=1, is_last=False) is (exact or LANES == 1)
    part, whole = new_rows((4, LANES + 1)), new_rows((4, 2 * LANES + 1))
    assert move(part, part_of(whole, LANES, LANES + 1), axis=1, is_last=True)


def test_attempt_takes_back_what_a_lowering_that_declines_has_asked_for() -> None:
    builder = Builder(KERNELS, KERNELS, {})
    outside = builder.python_value(numbers(2, 3))
    kept = builder.steps, builder.slots, builder.bindings, len(builder.buffers)

    def declines() -> list[Value]:
        builder.on_arena(outside)
        builder.rows((2, 3))
        builder.shared_error_flag()
        builder.session_integers("position")
        raise Declined

    builder.op = RuntimeOperator("nn.ReLU", "act")
    assert builder.attempt(declines) is None
    assert (builder.steps, builder.slots, builder.bindings, len(builder.buffers)) == ([], *kept[1:])
    assert builder.error_flag is None
    assert builder.state_integers == {}
    assert not builder.has_imported(outside)
    outputs = builder.attempt(lambda: [builder.on_arena(outside)])
    assert outputs
    assert [step.info.algorithm for step in builder.steps if isinstance(step, NativeStep)] == ["import"]
    assert builder.has_imported(outside)
    np.testing.assert_array_equal(outputs[0].shape, (2, 3))
