import dataclasses

import numpy as np

from kuiper.layers import create
from tests.layers.one_operator import operator, run

X = np.arange(24, dtype=np.float32).reshape(1, 1, 4, 6)


def run_positional(type_name: str, *values: object) -> np.ndarray:
    """The output of an operator all of whose settings are unnamed operands."""
    op = operator(type_name)
    op = dataclasses.replace(op, inputs=op.inputs * len(values), input_names=[""] * len(values))
    return create(op).forward(*values)


def test_aten_avg_pool2d_takes_its_settings_as_operands() -> None:
    out = run_positional("aten::avg_pool2d", X, [2, 2], [], [1, 1], True, False, None)
    expected = run("F.avg_pool2d", X, kernel_size=2, padding=1, ceil_mode=True, count_include_pad=False)
    np.testing.assert_array_equal(out, expected)


def test_aten_max_pool2d_takes_its_settings_as_operands() -> None:
    out = run_positional("aten::max_pool2d", X, [2, 3], [1, 2])
    np.testing.assert_array_equal(out, run("F.max_pool2d", X, kernel_size=[2, 3], stride=[1, 2]))


def test_aten_channel_shuffle_takes_its_groups_as_an_operand() -> None:
    x = X.reshape(1, 6, 4)
    np.testing.assert_array_equal(run_positional("aten::channel_shuffle", x, 2), run("nn.ChannelShuffle", x, groups=2))
