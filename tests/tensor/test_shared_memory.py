"""Zero copies in and out: NumPy, the buffer protocol, DLPack; and copies where they are due: pickle, deepcopy."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pytest

from kuiper.errors import DataTypeError
from kuiper.tensor import Tensor

BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
LAYOUTS = {
    "row": BASE,
    "column": np.asfortranarray(BASE),
    "sliced": BASE[:, ::2, 1:3],
    "reversed": BASE[::-1],
    "permuted": BASE.transpose(1, 2, 0),
    "repeated": np.broadcast_to(BASE[:, :1], BASE.shape),
    "empty": BASE[:0],
    "scalar": np.asarray(np.float32(7)),
    "int64": np.arange(6).reshape(2, 3),
    "bool": BASE > 7,
    "float64": BASE.astype(np.float64),
}


@pytest.mark.parametrize("array", LAYOUTS.values(), ids=LAYOUTS)
def test_wrap_shares_memory_whatever_the_layout_and_type(array: np.ndarray) -> None:
    t = Tensor.wrap(array)
    assert t.array is array
    assert (t.shape, t.dtype) == (array.shape, array.dtype)
    assert t.strides == tuple(stride // array.itemsize for stride in array.strides)


@pytest.mark.parametrize("array", LAYOUTS.values(), ids=LAYOUTS)
def test_numpy_and_memoryview_see_the_same_memory(array: np.ndarray) -> None:
    t = Tensor.wrap(array)
    seen = np.asarray(t)
    assert seen.dtype == array.dtype
    assert seen.strides == array.strides or array.size == 0
    assert np.shares_memory(seen, array) or array.size == 0
    np.testing.assert_array_equal(seen, array)
    view = memoryview(t)
    assert (view.shape, view.readonly) == (array.shape, not array.flags.writeable)
    assert view.tolist() == array.tolist()


def test_writing_through_any_door_reaches_the_same_memory() -> None:
    array = np.zeros((2, 3), np.float32)
    t = Tensor.from_numpy(array)
    np.asarray(t)[0, 0] = 1
    memoryview(t)[0, 1] = 2
    t.set(0, 2, value=3)
    t.__array__()[1, 0] = 4
    np.asarray(t[1, 1:])[:] = 5
    assert array.tolist() == [[1, 2, 3], [4, 5, 5]]
    assert np.shares_memory(np.from_dlpack(t), array)


def test_memory_outlives_the_tensor() -> None:
    view = memoryview(Tensor([1, 2, 3]))
    assert view.tolist() == [1, 2, 3]


def test_buffer_requests_leave_no_references_behind() -> None:
    array = np.zeros(3, np.float32)
    t = Tensor.wrap(array)
    before = sys.getrefcount(array), sys.getrefcount(None)
    for _ in range(1000):
        memoryview(t).release()
    assert sys.getrefcount(array) == before[0]
    assert abs(sys.getrefcount(None) - before[1]) < 100


def test_contiguous_bytes_of_a_scattered_view_are_refused_by_the_protocol() -> None:
    with pytest.raises((ValueError, BufferError), match="contiguous"):
        np.frombuffer(Tensor.wrap(BASE[:, :, ::2]), np.float32)  # type: ignore[call-overload]


def test_from_numpy_refuses_to_convert() -> None:
    expected = (
        r"Tensor\.from_numpy: expected a float32 array, got float64; "
        r"Tensor\(array\) converts with a copy, Tensor\.wrap\(array\) keeps the type"
    )
    with pytest.raises(DataTypeError, match=expected):
        Tensor.from_numpy(np.zeros(2))


def test_wrap_refuses_what_it_cannot_share() -> None:
    with pytest.raises(DataTypeError, match=r"Tensor\.wrap: expected an ndarray, got list; Tensor\(values\) copies"):
        Tensor.wrap([1, 2])  # type: ignore[arg-type]
    with pytest.raises(DataTypeError, match="expected numbers in this machine's byte order, got dtype <U1"):
        Tensor.wrap(np.array(["a"]))
    with pytest.raises(DataTypeError, match="expected numbers in this machine's byte order, got dtype >f4"):
        Tensor.wrap(np.zeros(2, np.dtype(np.float32).newbyteorder()))
    packed = np.zeros(2, np.dtype([("tag", "u1"), ("value", "f4")]))
    with pytest.raises(DataTypeError, match=r"expected strides of whole elements, got \(5,\) bytes for float32"):
        Tensor.wrap(packed["value"])


def test_array_follows_the_copy_keyword_of_numpy_2() -> None:
    t = Tensor([1, 2])
    assert t.__array__() is t.array
    assert t.__array__(copy=False) is t.array
    assert t.__array__(np.float32) is t.array
    assert not np.shares_memory(t.__array__(copy=True), t.array)
    assert t.__array__(np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="expected dtype float32 with copy=False, got float64"):
        t.__array__(np.float64, copy=False)


def test_numpy_functions_take_a_tensor() -> None:
    t = Tensor([[1, 4], [9, 16]])
    assert np.sqrt(t).tolist() == [[1, 2], [3, 4]]
    assert np.concatenate([t, t]).shape == (4, 2)
    assert np.array(t, np.int64).tolist() == [[1, 4], [9, 16]]


@pytest.mark.parametrize("order", ["C", "F"])
def test_pickle_and_deepcopy_keep_values_order_and_type(order: str) -> None:
    t = Tensor([[1, 2, 3], [4, 5, 6]], order)
    for twin in (copy.deepcopy(t), *(pickle.loads(pickle.dumps(t, protocol)) for protocol in range(2, 6))):
        assert type(twin) is Tensor
        assert twin == t
        assert twin.order == order
        assert not np.shares_memory(twin.array, t.array)
    mask = Tensor.wrap(np.array([True, False]))
    assert pickle.loads(pickle.dumps(mask)).dtype == bool


def test_shallow_copy_shares_memory() -> None:
    t = Tensor([1, 2])
    assert np.shares_memory(copy.copy(t).array, t.array)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["row", "column", "sliced", "permuted", "int64", "bool", "scalar", "float64"])
def test_torch_shares_memory_through_dlpack(name: str) -> None:
    import torch

    t = Tensor.wrap(LAYOUTS[name].copy("K"))
    seen = torch.from_dlpack(t)
    assert tuple(seen.shape) == t.shape
    assert seen.data_ptr() == t.array.ctypes.data
    assert seen.tolist() == t.tolist()
    assert seen.stride() == t.strides
    seen.fill_(1)
    assert (t.array == 1).all()


def test_dlpack_device_is_the_cpu() -> None:
    assert Tensor([1]).__dlpack_device__() == (1, 0)
