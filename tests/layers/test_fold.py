from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from tests.layers.one_operator import layer, run
from tests.layers.wired_operator import run_wired

IMAGE = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)


def test_unfold_writes_each_window_as_a_column() -> None:
    columns = run("F.unfold", IMAGE, kernel_size=2)
    assert columns.tolist() == [[[1, 2], [2, 3], [4, 5], [5, 6]]]
    assert run("nn.Unfold", IMAGE[0], kernel_size=[2, 2]).tolist() == columns[0].tolist()
    assert run("F.unfold", IMAGE, kernel_size=[1, 2], stride=2, padding=[0, 1])[0].tolist() == [[0, 2], [1, 3]]


def test_fold_adds_up_where_windows_overlap() -> None:
    columns = run("F.unfold", IMAGE, kernel_size=2)
    folded = run("F.fold", columns, output_size=[2, 3], kernel_size=2)
    assert folded.tolist() == [[[[1, 4, 3], [4, 10, 6]]]]
    assert run("nn.Fold", columns[0], output_size=[2, 3], kernel_size=2).tolist() == folded[0].tolist()
    assert layer("F.fold", output_size=[2, 3], kernel_size=2).flops([columns.shape], [folded.shape]) == 8


def test_fold_in_the_spelling_of_onnx() -> None:
    columns = np.float32([[[1, 2], [3, 4]]])
    params = {"pads": [0, 1, 0, 1], "strides": [1, 2], "dilations": [1, 1]}
    got = run_wired("Col2Im", columns, np.array([1, 3]), np.array([1, 2]), **params)
    assert (
        got.tolist()
        == run("F.fold", columns, output_size=[1, 3], kernel_size=[1, 2], padding=[0, 1], stride=[1, 2]).tolist()
    )
    behind = run_wired("Col2Im", columns, np.array([1, 3]), np.array([1, 2]), pads=[0, 0, 0, 1], strides=[1, 2])
    assert behind.tolist() == [[[[1, 3, 2]]]]
    with pytest.raises(ShapeError, match=r"columns \(n, c \* 2, 6\), got \(1, 2, 2\)"):
        run_wired("Col2Im", columns, np.array([1, 3]), np.array([1, 2]), pads=[0, 0, 1, 1])


def test_fold_and_unfold_refuse_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"F.fold 'it': expected input \(n, c \* 4, 2\), got \(1, 4, 3\)"):
        run("F.fold", np.zeros((1, 4, 3), np.float32), output_size=[2, 3], kernel_size=2)
    with pytest.raises(ShapeError, match=r"F.unfold 'it': expected input of at least 3x3, got 2x3"):
        run("F.unfold", IMAGE, kernel_size=3)
    with pytest.raises(ShapeError, match=r"expected input \(n, c, h, w\) or \(c, h, w\), got \(2, 3\)"):
        run("F.unfold", IMAGE[0, 0], kernel_size=2)
    with pytest.raises(DataTypeError, match=r"expected float32 input, got float64"):
        run("F.unfold", IMAGE.astype(np.float64), kernel_size=2)
    with pytest.raises(ParameterError, match=r"expected a parameter 'kernel_size'"):
        layer("F.unfold")


def test_fold_in_the_spelling_of_onnx_pads_nothing_unless_told() -> None:
    columns = np.float32([[[1, 2], [3, 4]]])
    got = run_wired("Col2Im", columns, np.array([1, 3]), np.array([1, 2]))
    assert got.tolist() == [[[[1, 5, 4]]]]


@pytest.mark.parametrize("kind", ["F.unfold", "F.fold"])
@pytest.mark.parametrize("key", ["stride", "dilation"])
def test_fold_and_unfold_refuse_a_step_of_zero(kind: str, key: str) -> None:
    layer(kind, kernel_size=2, output_size=[3, 3], padding=0, **{key: 1})
    for value in (0, [1, 0]):
        with pytest.raises(ParameterError, match=key):
            layer(kind, kernel_size=2, output_size=[3, 3], **{key: value})
    with pytest.raises(ParameterError, match="padding"):
        layer(kind, kernel_size=2, output_size=[3, 3], padding=-1)
