import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import layer, run

X = np.float32([[1, 2, 3, 4, 10]])


def test_adaptive_avg_pool1d_windows_overlap_by_one() -> None:
    np.testing.assert_allclose(run("nn.AdaptiveAvgPool1d", X, output_size=[2]), [[2, 17 / 3]], rtol=1e-6)
    np.testing.assert_array_equal(run("F.adaptive_avg_pool1d", np.stack([X, -X]), output_size=1), [[[4]], [[-4]]])


def test_adaptive_avg_pool1d_none_keeps_the_size() -> None:
    np.testing.assert_array_equal(run("nn.AdaptiveAvgPool1d", X, output_size=None), X)


def test_adaptive_avg_pool1d_errors_name_the_operator() -> None:
    with pytest.raises(ParameterError, match=r"^nn.AdaptiveAvgPool1d 'it': expected output_size=one number"):
        layer("nn.AdaptiveAvgPool1d", output_size=[1, 2])
    with pytest.raises(ShapeError, match=r"expected input \(n, c, w\) or \(c, w\), got \(5,\)$"):
        run("nn.AdaptiveAvgPool1d", X[0], output_size=2)
