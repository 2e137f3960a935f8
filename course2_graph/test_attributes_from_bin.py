"""Exercise 2.3."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

DTYPES = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i32": "<i4", "i64": "<i8", "i16": "<i2", "i8": "i1", "u8": "u1"}
DTYPES |= {"bool": "?", "c64": "<c8", "c128": "<c16"}


def archive(folder, entries):
    """A .bin file with these entries; the path."""
    path = folder / "m.bin"
    with zipfile.ZipFile(path, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data if isinstance(data, bytes) else data.tobytes())
    return str(path)


def values(impl, path, operator, texts):
    """The arrays alone."""
    return {key: attr.data for key, attr in impl.read_attributes(path, operator, texts).items()}


def test_bias(impl, tmp_path):
    path = archive(tmp_path, {"fc.bias": np.array([0.5, -1], "<f4")})
    calling(values, impl, path, "fc", {"bias": "(2)f32"}).gives({"bias": np.array([0.5, -1], np.float32)})


def test_matrix_in_row_major_order(impl, tmp_path):
    path = archive(tmp_path, {"fc.weight": np.arange(6, dtype="<f4")})
    calling(values, impl, path, "fc", {"weight": "(2,3)f32"}).gives(
        {"weight": np.array([[0, 1, 2], [3, 4, 5]], np.float32)}
    )


def test_whole_attribute(impl, tmp_path):
    path = archive(tmp_path, {"a.k": np.array([[3], [-2]], "<i2")})
    calling(impl.read_attributes, path, "a", {"k": "(2,1)i16"}).gives(
        {"k": {"type": "I16", "shape": (2, 1), "data": np.array([[3], [-2]], np.int16)}}
    )


def test_several_weights_in_the_order_of_the_line(impl, tmp_path):
    path = archive(tmp_path, {"a.y": np.float32([1, 2]), "b.x": np.float32([9]), "a.x": np.float32([3])})
    calling(values, impl, path, "a", {"x": "(1)f32", "y": "(2)f32"}).gives(
        {"x": np.float32([3]), "y": np.float32([1, 2])}
    )
    calling(keys, impl, path, "a", {"y": "(2)f32", "x": "(1)f32"}).gives(["y", "x"])
    calling(keys, impl, path, "a", {"x": "(1)f32", "y": "(2)f32"}).gives(["x", "y"])


def keys(impl, path, operator, texts):
    return list(impl.read_attributes(path, operator, texts))


def test_only_the_weights_that_are_asked_for(impl, tmp_path):
    path = archive(tmp_path, {"a.x": np.float32([3]), "a.extra": np.float32([1, 2])})
    calling(values, impl, path, "a", {"x": "(1)f32"}).gives({"x": np.float32([3])})
    calling(values, impl, path, "a", {}).gives({})


@pytest.mark.parametrize("kind", DTYPES)
def test_type(impl, tmp_path, kind):
    path = archive(tmp_path, {"a.k": np.array([1, 0, 5, 100], DTYPES[kind])})
    calling(impl.read_attributes, path, "a", {"k": f"(4){kind}"}).gives(
        {"k": {"type": kind.upper(), "shape": (4,), "data": np.array([1, 0, 5, 100], DTYPES[kind])}}
    )


def test_bfloat16_stays_bits(impl, tmp_path):
    path = archive(tmp_path, {"a.k": np.array([0x4040, 0xBF80], "<u2")})
    calling(impl.read_attributes, path, "a", {"k": "(2)bf16"}).gives(
        {"k": {"type": "BF16", "shape": (2,), "data": np.array([0x4040, 0xBF80], np.uint16)}}
    )


def test_lowest_byte_first(impl, tmp_path):
    path = archive(tmp_path, {"a.k": b"\x01\x02\x00\x00"})
    calling(values, impl, path, "a", {"k": "(1)i32"}).gives({"k": np.array([0x0201], np.int32)})


def test_dots_in_names(impl, tmp_path):
    entries = {"a.b.c.k.w": 1, "a_b_c.k_w": 2, "a.b.c.w": 3, "c.k.w": 4, "a.b.c.k": 5}
    path = archive(tmp_path, {name: np.int32([value]) for name, value in entries.items()})
    calling(values, impl, path, "a.b.c", {"k.w": "(1)i32"}).gives({"k.w": np.int32([1])})
    calling(values, impl, path, "a.b.c", {"w": "(1)i32"}).gives({"w": np.int32([3])})
    calling(values, impl, path, "a_b_c", {"k_w": "(1)i32"}).gives({"k_w": np.int32([2])})
    calling(values, impl, path, "c.k", {"w": "(1)i32"}).gives({"w": np.int32([4])})


def test_empty_and_without_axes(impl, tmp_path):
    path = archive(tmp_path, {"a.none": b"", "a.one": np.float64(2.5)})
    calling(values, impl, path, "a", {"none": "(0,4)f32"}).gives({"none": np.zeros((0, 4), np.float32)})
    calling(values, impl, path, "a", {"one": "()f64"}).gives({"one": np.array(2.5)})


def test_array_has_memory_of_its_own(impl, tmp_path):
    path = archive(tmp_path, {"a.k": np.arange(6, dtype="<f4")})
    calling(write_twice, impl, path).gives((True, [[7.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [0.0, 1.0, 2.0]))


def write_twice(impl, path):
    """Write into one array, and see what the next call returns."""
    first = impl.read_attributes(path, "a", {"k": "(2,3)f32"})["k"].data
    row_major = first.flags.c_contiguous
    first[0, 0] = 7
    second = impl.read_attributes(path, "a", {"k": "(2,3)f32"})["k"].data
    return row_major, first.tolist(), second[0].tolist()


def test_missing_entry(impl, tmp_path):
    path = archive(tmp_path, {"fc.bias": np.float32([1])})
    calling(values, impl, path, "fc", {"weight": "(1)f32"}).raises(ValueError, "fc.weight")
    calling(values, impl, path, "layer.fc", {"bias": "(1)f32"}).raises(ValueError, "layer.fc.bias")


@pytest.mark.parametrize("shape", ["(1)f32", "(3)f32", "(2)f64", "(2)f16", "()f32", "(1,3)f32", "(0)f32", "(2,0)f32"])
def test_wrong_number_of_bytes(impl, tmp_path, shape):
    path = archive(tmp_path, {"fc.k": np.float32([1, 2])})
    calling(values, impl, path, "fc", {"k": shape}).raises(ValueError, "fc.k")


def test_wrong_number_of_bytes_where_there_are_none(impl, tmp_path):
    path = archive(tmp_path, {"fc.k": b""})
    calling(values, impl, path, "fc", {"k": "(1)f32"}).raises(ValueError, "fc.k")
    calling(values, impl, path, "fc", {"k": "()f32"}).raises(ValueError, "fc.k")


@pytest.mark.parametrize("mode", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archive_that_is_compressed_or_not(impl, tmp_path, mode):
    path = tmp_path / "other name.weights"
    with zipfile.ZipFile(path, "w", mode) as file:
        file.writestr("a.k", np.arange(400, dtype="<f4").tobytes())
    calling(values, impl, str(path), "a", {"k": "(20,20)f32"}).gives({"k": np.arange(400, dtype="<f4").reshape(20, 20)})


def test_numbers_bit_by_bit(impl, tmp_path):
    whole = np.array([2**53 + 1, -(2**63)], "<i8")
    path = archive(tmp_path, {"a.i": whole, "a.d": np.float64([0.1, np.nan, np.inf])})
    calling(values, impl, path, "a", {"i": "(2)i64", "d": "(3)f64"}).gives(
        {"i": whole, "d": np.float64([0.1, np.nan, np.inf])}
    )


@pytest.mark.parametrize("shape", ["(?)f32", "(2,%n)f32"])
def test_unknown_size(impl, tmp_path, shape):
    path = archive(tmp_path, {"fc.k": np.float32([1, 2])})
    calling(values, impl, path, "fc", {"k": shape}).raises(ValueError, "fc.k")


def test_widen_bfloat16(impl):
    bits = np.array([0x4040, 0xBF80, 0x3F00, 0x0000, 0xC2C8], np.uint16)
    calling(impl.widen_bfloat16, bits).gives(np.array([3, -1, 0.5, 0, -100], np.float32))


def test_widen_bfloat16_keeps_the_shape(impl):
    bits = np.array([[0x4040, 0x3F80, 0x4000]], np.uint16)
    calling(impl.widen_bfloat16, bits).gives(np.array([[3, 1, 2]], np.float32))
    calling(impl.widen_bfloat16, np.zeros((2, 0), np.uint16)).gives(np.zeros((2, 0), np.float32))


def test_widen_bfloat16_with_gaps_in_memory(impl):
    bits = np.array([[0x4040, 1, 0x3F80, 2], [0xC000, 3, 0x4000, 4]], np.uint16)[:, ::2]
    calling(impl.widen_bfloat16, bits).gives(np.array([[3, 1], [-2, 2]], np.float32))
    calling(impl.widen_bfloat16, np.asfortranarray(bits)).gives(np.array([[3, 1], [-2, 2]], np.float32))


def test_widen_bfloat16_infinity_and_nan(impl):
    bits = np.array([0x7F80, 0xFF80, 0x7FC0], np.uint16)
    calling(impl.widen_bfloat16, bits).gives(np.array([np.inf, -np.inf, np.nan], np.float32))


@given(data=st.lists(st.integers(0, 0xFFFF), max_size=8))
def test_widen_bfloat16_any_bits(impl, data):
    wide = np.frombuffer(b"".join(b"\0\0" + bits.to_bytes(2, "little") for bits in data), "<f4")
    calling(impl.widen_bfloat16, np.array(data, np.uint16)).gives(wide)
