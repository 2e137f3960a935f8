from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.errors import ModelFormatError
from kuiper.graph import pnnx
from kuiper.graph.pnnx import Attribute, DataType, Graph, Operator
from tests.fixtures.operator_files import graph_files
from tests.graph.malformed import Archive, Entry

if TYPE_CHECKING:
    from pathlib import Path

# The bytes of one attribute of each type, and the array that they mean.
DATA: list[tuple[str, bytes, Any]] = [
    ("(2)f32", b"\0\0\x80?\0\0\0\xc0", np.array([1, -2], np.float32)),
    ("(1)f64", b"\0\0\0\0\0\0\xf0?", np.array([1], np.float64)),
    ("(3)f16", b"\0<\0\xc0\0\x7c", np.array([1, -2, np.inf], np.float16)),
    ("(1,2)i32", b"\1\0\0\0\xff\xff\xff\xff", np.array([[1, -1]], np.int32)),
    ("(1)i64", b"\0\1\0\0\0\0\0\0", np.array([256], np.int64)),
    ("(2)i16", b"\0\1\xfe\xff", np.array([256, -2], np.int16)),
    ("(3)i8", b"\1\x7f\x80", np.array([1, 127, -128], np.int8)),
    ("(2)u8", b"\1\xff", np.array([1, 255], np.uint8)),
    ("(4)bool", b"\0\1\2\xff", np.array([False, True, True, True])),
    ("(1)c64", b"\0\0\x80?\0\0\0\xc0", np.array([1 - 2j], np.complex64)),
    ("(1)c128", b"\0\0\0\0\0\0\xf0?\0\0\0\0\0\0\0\xc0", np.array([1 - 2j], np.complex128)),
    ("(1)c32", b"\0<\0\xc0", np.array([[1, -2]], np.float16)),
    ("(2)bf16", b"\x80?\0\xc0", np.array([0x3F80, 0xC000], np.uint16)),
    ("(2,3,1)u8", b"\0\1\2\3\4\5", np.arange(6, dtype=np.uint8).reshape(2, 3, 1)),
    ("(0,4)f32", b"", np.empty((0, 4), np.float32)),
    ("(3,0)bool", b"", np.empty((3, 0), np.bool_)),
    ("()f32", b"\0\0\x80?", np.array(1, np.float32)),
]


def write_pair(folder: Path, typed_shape: str, archive: Archive, name: str = "a", key: str = "data") -> Path:
    """A model of one pnnx.Attribute; the path of its .param file."""
    path = folder / "m.pnnx.param"
    line = f"pnnx.Attribute {name} 0 1 0 @{key}={typed_shape}"
    path.write_bytes(f"7767517\n2 1\n{line}\npnnx.Output out 1 0 0\n".encode())
    path.with_name("m.pnnx.bin").write_bytes(archive.build())
    return path


def weight(graph: Graph, key: str = "data") -> np.ndarray:
    data = graph.operators[0].attrs[key].data
    assert data is not None
    return data


@pytest.mark.parametrize("zip64", [True, False], ids=["zip64", "classic"])
@pytest.mark.parametrize(("typed_shape", "raw", "expected"), DATA, ids=[shape for shape, _, _ in DATA])
def test_load_reads_every_type(typed_shape: str, raw: bytes, expected: np.ndarray, zip64: bool, tmp_path: Path) -> None:
    for name in ("a", "ab", "abc", "abcd"):  # the data starts at every offset modulo 4
        graph = pnnx.load(write_pair(tmp_path, typed_shape, Archive([Entry(f"{name}.data", raw)], zip64), name))
        data = weight(graph)
        assert (data.dtype, data.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(data, expected)
        assert data.flags.c_contiguous
        assert data.flags.aligned
        assert data.flags.writeable


@pytest.mark.parametrize("flags", [0, 0x800])
def test_load_finds_foreign_names_with_and_without_the_utf8_flag(flags: int, tmp_path: Path) -> None:
    archive = Archive(
        [Entry("größe_层.data", b"\7", flags=flags), Entry(b"\xff\xfe", b"")]
        if not flags
        else [Entry("größe_层.data", b"\7", flags=flags)]
    )
    graph = pnnx.load(write_pair(tmp_path, "(1)u8", archive, "größe_层"))
    assert weight(graph).tolist() == [7]


def test_load_builds_names_from_keys_with_dots(tmp_path: Path) -> None:
    archive = Archive([Entry("m.0_a.out_proj.weight", b"\1"), Entry("m.0.a.out_proj.weight", b"\2")])
    graph = pnnx.load(write_pair(tmp_path, "(1)u8", archive, "m.0.a", "out_proj.weight"))
    assert weight(graph, "out_proj.weight").tolist() == [2]


def test_load_ignores_entries_that_no_attribute_needs(tmp_path: Path) -> None:
    graph = pnnx.load(write_pair(tmp_path, "(1)u8", Archive([Entry("other", b"xyz"), Entry("a.data", b"\1")])))
    assert weight(graph).tolist() == [1]


def test_load_takes_an_archive_of_another_program(tmp_path: Path) -> None:
    path = write_pair(tmp_path, "(3)u8", Archive())
    with zipfile.ZipFile(tmp_path / "m.pnnx.bin", "w") as archive:
        archive.comment = b"made by hand"
        archive.writestr("a.data", b"\1\2\3")
    assert weight(pnnx.load(path)).tolist() == [1, 2, 3]


def test_load_without_weights_leaves_them_out(tmp_path: Path) -> None:
    path = write_pair(tmp_path, "(3)u8", Archive())
    (tmp_path / "m.pnnx.bin").unlink()
    graph = pnnx.load(path, weights=False)
    assert graph.operators[0].attrs["data"] == Attribute(DataType.U8, (3,))


def test_load_takes_the_sibling_or_the_named_bin(tmp_path: Path) -> None:
    path = write_pair(tmp_path, "(1)u8", Archive([Entry("a.data", b"\1")]))
    other = tmp_path / "other"
    other.write_bytes(Archive([Entry("a.data", b"\2")]).build())
    assert weight(pnnx.load(str(path))).tolist() == [1]
    assert weight(pnnx.load(path, other)).tolist() == [2]


def test_load_needs_no_bin_without_attributes(tmp_path: Path) -> None:
    path = tmp_path / "m.param"
    path.write_text("7767517\n2 1\npnnx.Input in 0 1 0\npnnx.Output out 1 0 0\n")
    assert len(pnnx.load(path).operators) == 2
    (tmp_path / "m.bin").write_bytes(Archive().build())
    assert len(pnnx.load(path).operators) == 2
    (tmp_path / "m.bin").write_bytes(Archive(zip64=False).build())
    assert len(pnnx.load(path).operators) == 2


def test_load_gives_an_attribute_of_type_null_no_data(tmp_path: Path) -> None:
    path = write_pair(tmp_path, "()null", Archive([Entry("a.data", b"")]))
    assert pnnx.load(path).operators[0].attrs["data"] == Attribute(DataType.NULL, ())


def test_save_repeats_what_pnnx_wrote(tmp_path: Path) -> None:
    paths = graph_files()
    assert len(paths) > 800
    copy = tmp_path / "copy.pnnx.param"
    for path in paths:
        pnnx.save(pnnx.load(path), copy)
        assert copy.read_bytes() == path.read_bytes(), path.name
        entries = []
        for file in (pnnx.sibling_bin(path), pnnx.sibling_bin(copy)):
            with zipfile.ZipFile(file) as archive:
                entries.append([(info.orig_filename, archive.read(info)) for info in archive.infolist()])
        assert entries[0] == entries[1], path.name


@pytest.mark.parametrize(("typed_shape", "raw", "expected"), DATA, ids=[shape for shape, _, _ in DATA])
def test_save_and_load_return_every_type(typed_shape: str, raw: bytes, expected: np.ndarray, tmp_path: Path) -> None:
    graph = pnnx.load(write_pair(tmp_path, typed_shape, Archive([Entry("é.data", raw)]), "é"))
    pnnx.save(graph, tmp_path / "copy.param")
    again = weight(pnnx.load(tmp_path / "copy.param"))
    assert again.dtype == expected.dtype
    np.testing.assert_array_equal(again, expected)


def test_save_writes_stored_entries_that_a_plain_reader_finds(tmp_path: Path) -> None:
    attr = Attribute(DataType.I32, (2, 2), np.array([[1, 2], [3, 4]], np.int32).T)
    pnnx.save(Graph([Operator("pnnx.Attribute", "层", attrs={"data": attr})]), tmp_path / "m.param")
    raw = (tmp_path / "m.bin").read_bytes()
    assert raw.startswith(b"PK\x03\x04")
    assert "层.data".encode() + bytes([1, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0]) in raw
    with zipfile.ZipFile(tmp_path / "m.bin") as archive:
        assert archive.testzip() is None
        assert [(info.compress_type, info.flag_bits & 8) for info in archive.infolist()] == [(zipfile.ZIP_STORED, 0)]


def test_save_of_the_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    graph = pnnx.load(write_pair(tmp_path, "(3)u8", Archive([Entry("a.data", b"abc")])))
    for name in ("one", "two"):
        pnnx.save(graph, tmp_path / f"{name}.param")
    assert (tmp_path / "one.bin").read_bytes() == (tmp_path / "two.bin").read_bytes()


@pytest.mark.parametrize(
    ("attr", "message"),
    [
        (Attribute(DataType.F32, (2,)), "expected a weight, got none; the graph was read without its .bin"),
        (Attribute(DataType.F32, (2,), np.zeros(3, np.float32)), "expected float32 of shape (2,), got float32 (3,)"),
        (Attribute(DataType.F32, (2,), np.zeros(2)), "expected float32 of shape (2,), got float64 (2,)"),
        (Attribute(DataType.C32, (2,), np.zeros(2, np.float16)), "expected float16 of shape (2, 2), got float16 (2,)"),
    ],
)
def test_save_refuses_data_that_is_not_what_the_shape_says(attr: Attribute, message: str, tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(b"an older file")
    with pytest.raises(ModelFormatError) as caught:
        pnnx.save(Graph([Operator("A", "op", attrs={"w": attr})]), tmp_path / "m.param")
    assert str(caught.value) == f"{tmp_path / 'm.bin'} entry 'op.w': {message}"
    assert (tmp_path / "m.bin").read_bytes() == b"an older file"


TWICE = """7767517
5 4
pnnx.Input in 0 1 0
pnnx.Attribute a 0 1 1 @data=(2)u8
pnnx.Attribute a 0 1 2 @data=(3)u8
A a 3 1 0 1 2 3 @data=(2)u8
pnnx.Output out 1 0 3
"""


def test_weights_of_one_name_come_in_the_order_of_their_operators(tmp_path: Path) -> None:
    graph = pnnx.parse_param(TWICE, "twice")
    for first, op in enumerate(graph.operators[1:4]):
        op.attrs["data"].data = np.arange(first, first + op.attrs["data"].shape[0], dtype=np.uint8)
    pnnx.save(graph, tmp_path / "m.param")
    again = pnnx.load(tmp_path / "m.param")
    assert [op.attrs["data"].data.tolist() for op in again.operators[1:4]] == [[0, 1], [1, 2, 3], [2, 3]]


def test_weights_of_one_name_may_share_one_entry_if_it_fits_all(tmp_path: Path) -> None:
    (tmp_path / "m.param").write_text(TWICE.replace("(3)u8", "(2)u8"))
    (tmp_path / "m.bin").write_bytes(Archive([Entry("a.data", b"\7\5")]).build())
    graph = pnnx.load(tmp_path / "m.param")
    assert [op.attrs["data"].data.tolist() for op in graph.operators[1:4]] == [[7, 5]] * 3
    (tmp_path / "m.param").write_text(TWICE)
    with pytest.raises(ModelFormatError, match=r"'a\.data': expected 3 bytes for \(3\)u8, got 2 bytes"):
        pnnx.load(tmp_path / "m.param")
    (tmp_path / "m.bin").write_bytes(Archive([Entry("a.data", b"\7\5")] * 2).build())
    with pytest.raises(ModelFormatError, match=r"'a\.data': expected 3 of this name, got 2"):
        pnnx.load(tmp_path / "m.param")
