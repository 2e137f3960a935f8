"""Weights that lie in files beside a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import kuiper
from tests.onnx.little_models import model, tensor

if TYPE_CHECKING:
    from pathlib import Path

from tests.onnx.test_hostile import chain, nested, refused


def external(folder: Path, *entries: tuple[str, str], dims: tuple[int, ...] = (3,)) -> Path:
    """A model whose weights lie elsewhere, as the entries say."""
    made = chain()
    weight = made.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.dims[:] = dims
    weight.data_location = TensorProto.EXTERNAL
    for key, value in entries:
        weight.external_data.add(key=key, value=value)
    (folder / "net.onnx").write_bytes(made.SerializeToString())
    return folder / "net.onnx"


def test_weights_beside_a_model_are_read(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "w.bin").write_bytes(b"....." + np.float32([1, 2, 3]).tobytes() + b"...")
    path = external(tmp_path, ("location", "more/w.bin"), ("offset", "5"), ("length", "12"))
    np.testing.assert_array_equal(np.asarray(kuiper.load(path)(np.zeros(3))), [1, 2, 3])


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "weights in a file beside the model, got ''"),
        ([("location", "/etc/passwd")], "beside the model, got '/etc/passwd'"),
        ([("location", "../w.bin")], r"beside the model, got '\.\./w\.bin'"),
        ([("location", "more/../../w.bin")], "beside the model"),
        ([("location", "..\\w.bin")], "beside the model"),
        ([("location", "C:/w.bin")], "beside the model"),
        ([("location", "w\0.bin")], "beside the model"),
        ([("location", "link.bin")], "beside the model, got 'link.bin', which is a link"),
        ([("location", "linked/w.bin")], "beside the model, got 'linked/w.bin', which is a link"),
        ([("location", "more")], "'more': a directory"),
        ([("location", "nowhere.bin")], "'nowhere.bin': nothing there"),
        ([("location", "n" * 5_000_000)], "beside the model, got 'nnn"),
        ([("location", "w.bin"), ("offset", "4")], "12 bytes of numbers in 'w.bin', got 12 at 4 of 12"),
        ([("location", "w.bin"), ("length", "8")], "12 bytes of numbers in 'w.bin', got 8 at 0 of 12"),
        ([("location", "w.bin"), ("offset", "-4")], "an integer as offset, got '-4'"),
        ([("location", "w.bin"), ("offset", "9" * 30)], "an integer as offset"),
        ([("location", "w.bin"), ("length", "x")], "an integer as length"),
    ],
)
def test_weights_elsewhere_are_refused(entries: list[tuple[str, str]], message: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "more").mkdir(parents=True)
    data = np.float32([1, 2, 3]).tobytes()
    (tmp_path / "w.bin").write_bytes(data)
    (folder / "w.bin").write_bytes(data)
    if hasattr(os, "symlink"):
        (folder / "link.bin").symlink_to(tmp_path / "w.bin")
        (folder / "linked").symlink_to(tmp_path)
    refused(external(folder, *entries), message)


def test_a_model_in_memory_has_no_weights_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.bin").write_bytes(np.float32([1, 2, 3]).tobytes())
    refused(onnx.load(external(tmp_path, ("location", "w.bin")), load_external_data=False), "beside the model")


def test_settings_and_bodies_have_no_weights_elsewhere(tmp_path: Path) -> None:
    value = TensorProto(name="v", data_type=TensorProto.FLOAT, dims=[3], data_location=TensorProto.EXTERNAL)
    value.external_data.add(key="location", value="../w.bin")
    (tmp_path / "w.bin").write_bytes(np.float32([1, 2, 3]).tobytes())
    (tmp_path / "model").mkdir()
    in_setting = model([helper.make_node("Constant", [], ["y"], value=value)], [], [tensor("y", 3)])
    in_body = nested(1)
    in_body.graph.node[0].attribute[0].g.initializer.append(value)
    for made in (in_setting, in_body):
        (tmp_path / "model" / "net.onnx").write_bytes(made.SerializeToString())
        refused(tmp_path / "model" / "net.onnx", "weights in a file beside the model")
