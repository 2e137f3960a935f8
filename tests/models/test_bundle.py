"""What comes with the package: complete, as accurate as promised, and free of PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import kuiper
from kuiper.errors import ParameterError
from kuiper.models import bundled, bundled_photo

NAMES = ["cifar_resnet20"]


@pytest.mark.parametrize("name", NAMES)
def test_bundled_model_is_complete_and_small(name: str) -> None:
    param = bundled(name)
    assert param.with_suffix(".bin").stat().st_size < 1.5e6
    assert kuiper.load(param).summary()


@pytest.mark.parametrize("name", NAMES)
def test_bundled_model_is_described_by_its_card_and_the_readme(name: str) -> None:
    folder = bundled(name).parent
    card = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert card["name"] == name
    assert card["test_accuracy"] >= 0.88
    assert {"seed", "epochs", "data", "parameters"} <= card.keys()
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert f"`{name}`" in readme
    assert f"{card['test_accuracy']:.2%}" in readme
    assert f"{card['parameters']:,}" in readme


@pytest.mark.torch
def test_onnx_file_takes_its_weights_out_of_the_archive_beside_it() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    param = bundled("cifar_resnet20")
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), dtype=np.float32)
    session = onnxruntime.InferenceSession(str(param.with_name("cifar_resnet20.onnx")))
    (got,) = session.run(None, {session.get_inputs()[0].name: x})
    expected = np.asarray(kuiper.load(param, optimize=False)(x))
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def test_bundled_names_what_there_is() -> None:
    with pytest.raises(ParameterError, match=r"bundled: expected one of cifar_resnet20, .*, got resnet18"):
        bundled("resnet18")


@pytest.mark.parametrize("name", ["cat", "digits"])
def test_bundled_photo_states_its_licence(name: str) -> None:
    photo = bundled_photo(name)
    readme = photo.with_name("README.md").read_text(encoding="utf-8")
    assert photo.name in readme
    assert "CC0" in readme


def test_models_do_not_import_torch() -> None:
    code = "import sys, kuiper.models, kuiper.models.zoo.export; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bundled_photo_names_what_there_is() -> None:
    assert bundled_photo("digits").name == "digits.png"
    with pytest.raises(ParameterError, match="bundled_photo: expected one of cat, digits, shapes, got dog"):
        bundled_photo("dog")
