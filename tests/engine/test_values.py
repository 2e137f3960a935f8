"""Values are views of their buffer's placeholder, whatever their shape: their places in the arena follow from that."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.cannot_plan import CannotPlanError
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.values import Buffer, Value, has_vector_capacity, narrow, new_image, new_rows, new_typed
from kuiper.tensor_limit import get_tensor_limit, set_tensor_limit
from tests.engine.models import assert_close, both, numbers


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (1, 1, 5), (2, 1, 3, 1, 2)])
def test_new_rows_lie_in_their_buffer(shape: tuple[int, ...], padded: bool) -> None:
    check(new_rows(shape, padded), shape)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 4, 5), (1, 40, 2, 1)])
def test_new_images_lie_in_their_buffer(shape: tuple[int, int, int, int]) -> None:
    check(new_image(*shape), shape)


def test_has_vector_capacity_where_a_whole_vector_ends_before_the_next_run() -> None:
    image = new_image(1, 3 * LANES, 2, 2)
    assert has_vector_capacity(image)
    assert has_vector_capacity(narrow(image, 1, LANES, LANES))
    assert has_vector_capacity(narrow(image, 1, 0, 3 * LANES - 1))
    assert has_vector_capacity(new_rows((4, LANES + 1), padded=False)) is (LANES == 1)
    assert has_vector_capacity(Value(image.buffer, image.view[:, ::2])) is (LANES == 1)


def test_new_typed_takes_the_bytes_that_its_numbers_need() -> None:
    assert new_typed((3, 50), np.dtype(np.int64)).buffer.floats == Buffer(2 * 3 * 50).floats
    assert new_typed((7,), np.dtype(np.bool_)).buffer.floats == Buffer(2).floats


def test_buffer_has_at_most_the_bytes_of_a_tensor() -> None:
    before = get_tensor_limit()
    try:
        set_tensor_limit(4 * 1024)
        assert Buffer(1024).floats == 1024
        with pytest.raises(CannotPlanError, match=r"expected a tensor of at most 4\.0 KiB"):
            Buffer(1025)
    finally:
        set_tensor_limit(before)


def check(value: Value, shape: tuple[int, ...]) -> None:
    assert value.shape == shape
    assert np.may_share_memory(value.view, value.buffer.placeholder)
    assert value.start == 0
    last = sum((size - 1) * stride for size, stride in zip(shape, value.strides, strict=True))
    assert last < value.buffer.floats


def test_a_scalar_is_read_and_written_where_it_lies() -> None:
    total = "torch.sum total 1 1 x 1 $input=x"
    fast, plain = both(
        "pnnx.Input in 0 1 x #x=(4)f32", total, "pnnx.Expression e 2 1 x 1 y expr=add(@0,@1)", "pnnx.Output out 1 0 y"
    )
    assert_close(fast(numbers(4)), plain(numbers(4)))
