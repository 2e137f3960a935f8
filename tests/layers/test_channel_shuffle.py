import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import layer, run


def test_channel_shuffle_deals_the_groups_out() -> None:
    x = np.arange(6).reshape(1, 6, 1, 1)
    assert run("nn.ChannelShuffle", x, groups=2).ravel().tolist() == [0, 3, 1, 4, 2, 5]
    assert run("nn.ChannelShuffle", x, groups=3).ravel().tolist() == [0, 2, 4, 1, 3, 5]


def test_channel_shuffle_keeps_batch_and_pixels() -> None:
    x = np.random.default_rng(0).standard_normal((2, 6, 3, 5))
    out = run("nn.ChannelShuffle", x, groups=3)
    assert out.shape == x.shape
    np.testing.assert_array_equal(out[1, 1], x[1, 2])


def test_channel_shuffle_errors_name_the_operator() -> None:
    with pytest.raises(
        ShapeError, match=r"^nn.ChannelShuffle 'it': expected input .* a multiple of 4, got \(1, 6, 1\)$"
    ):
        run("nn.ChannelShuffle", np.zeros((1, 6, 1)), groups=4)
    with pytest.raises(ParameterError, match="expected groups of at least 1, got 0"):
        layer("nn.ChannelShuffle", groups=0)
