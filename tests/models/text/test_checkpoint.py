"""Folders of weights: what is read, in which types, and one error for each of the ways to be wrong."""

from __future__ import annotations

import json
import pickle
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.errors import KuiperError, ModelFormatError, ShapeError
from kuiper.models.text.checkpoint import INDEX, SINGLE, Checkpoint
from kuiper.tensor_limit import get_tensor_limit, set_tensor_limit

if TYPE_CHECKING:
    from pathlib import Path

A = np.array([[1.0, -2.5, 3.25], [0.0, 65504.0, -0.125]], np.float32)


def entry(data: bytes, dtype: str, shape: tuple[int, ...], start: int = 0) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, start + len(data)]}


def file_of(header: Any, data: bytes = b"") -> bytes:
    """A file of safetensors, byte by byte as its specification says."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(data: bytes, dtype: str, shape: tuple[int, ...]) -> bytes:
    return file_of({"__metadata__": {"format": "pt"}, "a": entry(data, dtype, shape)}, data)


def folder_of(path: Path, **files: bytes) -> Path:
    """A folder with a configuration and more files; a double underscore in a name is a dot."""
    (path / "config.json").write_text('{"model_type": "llama"}')
    for name, content in files.items():
        (path / name.replace("__", ".")).write_bytes(content)
    return path


def bfloat16(x: np.ndarray[Any, Any]) -> bytes:
    return (x.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("F32", A.astype("<f4").tobytes()),
        ("F16", A.astype("<f2").tobytes()),
        ("F64", A.astype("<f8").tobytes()),
        ("BF16", bfloat16(np.where(A == 65504, 65536, A))),
    ],
)
def test_checkpoint_reads_each_type_as_float32(tmp_path: Path, dtype: str, data: bytes) -> None:
    checkpoint = Checkpoint(folder_of(tmp_path, model__safetensors=one(data, dtype, (2, 3))))
    assert list(checkpoint) == ["a"]
    assert checkpoint["a"].dtype == np.float32
    assert checkpoint["a"].flags.writeable
    np.testing.assert_array_equal(checkpoint["a"], np.where(A == 65504, 65536, A) if dtype == "BF16" else A)


def test_checkpoint_reads_a_scalar_and_the_weight_behind_it(tmp_path: Path) -> None:
    data = struct.pack("<ff", 7.0, 8.0)
    header = {"s": entry(data[:4], "F32", ()), "v": entry(data[4:], "F32", (1,), 4)}
    checkpoint = Checkpoint(folder_of(tmp_path, model__safetensors=file_of(header, data)))
    assert checkpoint["s"].shape == ()
    assert (float(checkpoint["s"]), checkpoint["v"].tolist()) == (7.0, [8.0])


def index(**weight_map: Any) -> bytes:
    return json.dumps({"metadata": {}, "weight_map": weight_map}).encode()


def test_checkpoint_reads_several_files(tmp_path: Path) -> None:
    folder_of(tmp_path)
    (tmp_path / "1.safetensors").write_bytes(one(struct.pack("<f", 1), "F32", (1,)))
    header = {"b": entry(b"0000", "F32", (1,))}
    (tmp_path / "2.safetensors").write_bytes(file_of(header, struct.pack("<f", 2)))
    (tmp_path / INDEX).write_bytes(index(b="2.safetensors", a="1.safetensors"))
    assert {name: float(value[0]) for name, value in Checkpoint(tmp_path).items()} == {"b": 2.0, "a": 1.0}


def test_checkpoint_keeps_the_configuration(tmp_path: Path) -> None:
    folder_of(tmp_path, model__safetensors=one(b"", "F32", (0,)))
    (tmp_path / "config.json").write_text('{"n": NaN, "vocab_size": 5}')  # transformers writes NaN, too
    assert Checkpoint(tmp_path).config["vocab_size"] == 5


@pytest.mark.parametrize(
    ("dtype", "shape", "message"),
    [
        ("I64", (1,), "a: expected a weight of the types F64, F32, F16, BF16, got I64"),
        ("F32", (2, 0), r"a: expected at most 8 axes, none of them empty, got the shape \(2, 0\)"),
        ("F64", (1,) * 9, "a: expected at most 8 axes"),
    ],
)
def test_weight_that_cannot_be_used_is_refused_when_it_is_asked_for(
    tmp_path: Path, dtype: str, shape: tuple[int, ...], message: str
) -> None:
    data = b"" if 0 in shape else bytes(8)
    checkpoint = Checkpoint(folder_of(tmp_path, model__safetensors=one(data, dtype, shape)))
    with pytest.raises(ModelFormatError, match=message):
        checkpoint["a"]


def test_weight_is_no_larger_than_a_tensor_may_be(tmp_path: Path) -> None:
    checkpoint = Checkpoint(folder_of(tmp_path, model__safetensors=one(bytes(2000), "F16", (1000,))))
    before = get_tensor_limit()
    set_tensor_limit(3000)
    try:
        with pytest.raises(ShapeError, match=r"a: expected a tensor of at most"):
            checkpoint["a"]
    finally:
        set_tensor_limit(before)


class Bomb:
    """A pickle that leaves a file behind when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


def test_checkpoint_never_reads_a_pickle(tmp_path: Path) -> None:
    folder_of(tmp_path, pytorch_model__bin=pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(ModelFormatError) as caught:
        Checkpoint(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: expected {SINGLE} or {INDEX}, got only pytorch_model.bin; pytorch_model.bin is a pickle, which "
        "runs its author's code when it is read; save the model with safe_serialization"
    )
    (tmp_path / SINGLE).write_bytes((tmp_path / "pytorch_model.bin").read_bytes())
    with pytest.raises(ModelFormatError, match="a file of safetensors"):
        Checkpoint(tmp_path)
    assert not (tmp_path / "ran").exists()


GOOD = one(bytes(8), "F32", (2,))

WRONG_FILES = {
    "empty": b"",
    "header_cut": GOOD[:20],
    "data_cut": GOOD[:-1],
    "data_too_long": GOOD + b"0",
    "huge_header": struct.pack("<Q", 2**62) + GOOD[8:],
    "large_header": struct.pack("<Q", 17 << 20) + b'{"__metadata__":{}}'.ljust(17 << 20),
    "no_json": struct.pack("<Q", 4) + b"oops",
    "list": file_of([]),
    "no_shape": file_of({"a": {"dtype": "F32", "data_offsets": [0, 0]}}),
    "unknown_type": file_of({"a": entry(b"", "F33", (0,))}),
    "negative_shape": file_of({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 0]}}),
    "overflowing_shape": file_of({"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 0]}}),
    "overlap": file_of({"a": entry(bytes(8), "F32", (2,)), "b": entry(bytes(8), "F32", (2,), 4)}, bytes(12)),
    "hole": file_of({"a": entry(bytes(4), "F32", (1,), 4)}, bytes(8)),
    "backwards": file_of({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, bytes(4)),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_malformed_safetensors_are_one_error(tmp_path: Path, name: str) -> None:
    folder_of(tmp_path, model__safetensors=WRONG_FILES[name])
    with pytest.raises(ModelFormatError, match=rf"{SINGLE}: expected a file of safetensors, got .+"):
        Checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "'weight_map' with 1 to"),
        (b'{"weight_map": {}}', "'weight_map' with 1 to"),
        (b'{"weight_map": ["a"]}', "'weight_map' with 1 to"),
        (b"{", "an index of safetensors in JSON"),
        (index(a="../x.safetensors"), "names of .safetensors files in the same folder"),
        (index(a="/etc/x.safetensors"), "names of .safetensors files in the same folder"),
        (index(a="c:x.safetensors"), "names of .safetensors files in the same folder"),
        (index(a="x.bin"), "names of .safetensors files in the same folder"),
        (index(a=None), "names of .safetensors files in the same folder"),
        (index(a="missing.safetensors"), "a file of safetensors, got nothing there"),
        (index(z="x.safetensors"), "the weight 'z', as model.safetensors.index.json says, got none"),
    ],
)
def test_malformed_index_is_one_error(tmp_path: Path, content: bytes, message: str) -> None:
    folder_of(tmp_path, x__safetensors=GOOD)
    (tmp_path / INDEX).write_bytes(content)
    with pytest.raises(ModelFormatError, match=f"expected {message}"):
        Checkpoint(tmp_path)


@pytest.mark.parametrize("config", ["", "[]", "{", '{"a": 1, "a": 2}'])
def test_malformed_configuration_is_one_error(tmp_path: Path, config: str) -> None:
    folder_of(tmp_path, model__safetensors=GOOD)
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(ModelFormatError, match=r"config\.json: expected a configuration"):
        Checkpoint(tmp_path)


def test_checkpoint_says_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"a folder with config.json and model.safetensors, got nothing there"):
        Checkpoint(tmp_path / "nowhere")
    with pytest.raises(ModelFormatError, match=r"config\.json: expected a configuration in JSON, got nothing there"):
        Checkpoint(tmp_path)
    folder_of(tmp_path)
    with pytest.raises(ModelFormatError, match=r"expected a folder with .*, got a file"):
        Checkpoint(tmp_path / "config.json")
    with pytest.raises(ModelFormatError, match=f"{SINGLE} or {INDEX}, got neither$"):
        Checkpoint(tmp_path)
    (tmp_path / SINGLE).mkdir()
    with pytest.raises(KuiperError, match="a file of safetensors, got a directory"):
        Checkpoint(tmp_path)


def test_checkpoint_names_the_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(
        ImportError, match=r"^checkpoint: expected the package safetensors, got none; pip install safetensors$"
    ):
        Checkpoint(folder_of(tmp_path, model__safetensors=GOOD))
