import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.pad import pad
from tests.layers.one_operator import layer, run

X = np.float32([[[1, 2, 3], [4, 5, 6]]])


def test_pad_constant_starts_at_the_last_axis() -> None:
    out = run("F.pad", X, pad=[1, 0, 0, 2], mode="constant", value=None)
    np.testing.assert_array_equal(out, [[[0, 1, 2, 3], [0, 4, 5, 6], [0, 0, 0, 0], [0, 0, 0, 0]]])


def test_pad_constant_reads_a_spelled_infinity() -> None:
    assert run("F.pad", X[0, 0], pad=[0, 1], value="-inf").tolist() == [1, 2, 3, -np.inf]


def test_pad_constant_cuts_off_with_negative_amounts() -> None:
    np.testing.assert_array_equal(run("F.pad", X, pad=[-1, 1, -1, 0], value=9), [[[5, 6, 9]]])
    assert run("F.pad", X, pad=[-1, -2]).shape == (1, 2, 0)


def test_pad_constant_keeps_the_type() -> None:
    out = run("F.pad", np.int64([1, 2]), pad=[1, 1], value=2.5)
    assert (out.tolist(), out.dtype) == ([2, 1, 2, 2], np.int64)
    assert run("F.pad", np.array([False]), pad=[1, 0], value=1).tolist() == [True, False]


def test_pad_reflect_mirrors_at_the_edge_pixel() -> None:
    np.testing.assert_array_equal(run("F.pad", X, pad=[2, 1], mode="reflect")[0, 0], [3, 2, 1, 2, 3, 2])
    np.testing.assert_array_equal(run("nn.ReflectionPad2d", X, padding=[0, 0, 1, 0])[0, :, 0], [4, 1, 4])
    np.testing.assert_array_equal(run("F.pad", X, pad=[-1, 2], mode="reflect")[0, 0], [2, 3, 2, 1])


def test_pad_replicate_repeats_the_edge_pixel() -> None:
    np.testing.assert_array_equal(run("F.pad", X, pad=[5, 1], mode="replicate")[0, 0], [1, 1, 1, 1, 1, 1, 2, 3, 3])
    np.testing.assert_array_equal(run("nn.ReplicationPad2d", X, padding=[0, -1, 0, 2])[0, :, 1], [2, 5, 5, 5])


def test_pad_circular_repeats_what_is_kept() -> None:
    np.testing.assert_array_equal(run("F.pad", X, pad=[2, 3], mode="circular")[0, 0], [2, 3, 1, 2, 3, 1, 2, 3])
    np.testing.assert_array_equal(run("F.pad", X, pad=[-1, 2], mode="circular")[0, 0], [2, 3, 2, 3])


@pytest.mark.parametrize(
    ("type_name", "value", "first"),
    [
        ("nn.ZeroPad2d", None, 0),
        ("nn.ConstantPad2d", 7, 7),
        ("nn.ReplicationPad2d", None, 1),
        ("nn.ReflectionPad2d", None, 5),
    ],
)
def test_pad_modules_take_one_number_for_all_sides(type_name: str, value: float | None, first: float) -> None:
    out = run(type_name, X, padding=[1], value=value)
    assert (out.shape, out[0, 0, 0]) == ((1, 4, 5), first)


def test_pad_modules_know_their_axes() -> None:
    assert run("nn.ConstantPad1d", X, padding=[1, 2], value=0.5).tolist()[0][0] == [0.5, 1, 2, 3, 0.5, 0.5]
    assert run("nn.ReflectionPad1d", X, padding=1).shape == (1, 2, 5)
    assert run("nn.ReplicationPad1d", X, padding=1).shape == (1, 2, 5)
    assert run("nn.ConstantPad3d", X, padding=1, value=0).shape == (3, 4, 5)
    assert run("nn.ReplicationPad3d", X[None], padding=1).shape == (1, 3, 4, 5)


def test_pad_of_an_empty_batch_is_empty() -> None:
    for mode in ("constant", "reflect", "replicate", "circular"):
        assert run("F.pad", np.zeros((0, 1, 3), np.float32), pad=[1, 2], mode=mode).shape == (0, 1, 6)


@given(
    size=st.integers(1, 6),
    before=st.integers(0, 5),
    after=st.integers(0, 5),
    mode=st.sampled_from(
        [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap"), ("constant", "constant")]
    ),
)
def test_pad_equals_numpy(size: int, before: int, after: int, mode: tuple[str, str]) -> None:
    ours, numpys = mode
    if max(before, after) > {"reflect": size - 1, "circular": size}.get(ours, 9):
        return
    x = np.arange(2 * size, dtype=np.float32).reshape(1, 2, size)
    np.testing.assert_array_equal(
        pad(x, (before, after), ours), np.pad(x, ((0, 0), (0, 0), (before, after)), mode=numpys)
    )


@pytest.mark.parametrize(
    ("amounts", "mode", "message"),
    [
        ((3, 0), "reflect", "input with more than 3 values along axis 2 to reflect, got (1, 2, 3)"),
        ((0, 4), "circular", "input with enough values along axis 2 to repeat 4, got (1, 2, 3)"),
        ((-2, -1), "replicate", "input with more values along axis 2 than (-2, -1) cuts off, got (1, 2, 3)"),
        ((0, 0, -3, 4), "constant", "input with more values along axis 1 than (-3, 4) cuts off, got (1, 2, 3)"),
        ((1,) * 8, "constant", "input with at least 4 axes, got (1, 2, 3)"),
        ((1,) * 6, "reflect", "input with 4 or 5 axes, got (1, 2, 3)"),
        ((), "circular", "2, 4 or 6 amounts for mode circular, got ()"),
    ],
)
def test_pad_checks_its_input(amounts: tuple[int, ...], mode: str, message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        pad(X, amounts, mode, where="here")
    assert str(caught.value) == f"here: expected {message}"


def test_pad_checks_its_parameters() -> None:
    with pytest.raises(
        ParameterError, match=r"^F.pad 'it': expected an even number of paddings, two for each axis, got"
    ):
        layer("F.pad", pad=[1, 2, 3])
    with pytest.raises(
        UnsupportedOperatorError, match="expected mode constant, reflect, replicate, circular, got mirror"
    ):
        layer("F.pad", pad=[1, 2], mode="mirror")
