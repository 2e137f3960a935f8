"""From names to models that are served."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.errors import KuiperError
from kuiper.models import bundled
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.loading import load_models
from kuiper.serving.http.network import ServedNetwork
from kuiper.serving.http.served import Served
from kuiper.serving.http.served_encoder import ServedEncoder
from tests.encoders import encoder_folder
from tests.models.text.folders import tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_load_models_tells_kinds_apart_by_card_and_ending(tmp_path: Path) -> None:
    alone = tmp_path / "alone.pnnx.param"  # without a card
    for suffix in (".param", ".bin"):
        alone.with_suffix(suffix).write_bytes(bundled("cifar_resnet20").with_suffix(suffix).read_bytes())
    names = [
        "tang",
        "digits_yolo",
        "shapes_unet",
        str(alone),
        str(bundled("cifar_resnet20").parent / "cifar_resnet20.onnx"),
    ]
    models = load_models(names, memory=1 << 20, limits=Limits())
    kinds = {model.name: (type(model), getattr(model, "pictures", None)) for model in models}
    assert [*kinds] == ["tang", "digits_yolo", "shapes_unet", "alone", "cifar_resnet20"]
    assert kinds["tang"][0] is Served
    assert all(kinds[name][0] is ServedNetwork for name in [*kinds][1:])
    tasks = [pictures and pictures.task for _, pictures in kinds.values()]
    assert tasks == [None, "detect", "segment", None, "classify"]
    for model in models:
        model.stop()


def test_load_models_tells_encoders_from_decoders_by_their_configuration(tmp_path: Path) -> None:
    folders = [encoder_folder(tmp_path / "reads"), tiny_folder(tmp_path / "writes")]
    models = load_models(map(str, folders), memory=1 << 20, limits=Limits())
    assert [(model.name, type(model)) for model in models] == [("reads", ServedEncoder), ("writes", Served)]
    for model in models:
        model.stop()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["nothing"], "model: expected a .param or an .onnx file, or one of"),
        (["tang", "tang"], "MODEL: expected models with names of their own, got tang twice"),
        (["no/where.onnx"], "where.onnx"),
    ],
)
def test_load_models_says_what_is_missing(names: list[str], message: str) -> None:
    with pytest.raises(KuiperError) as error:
        load_models(names, memory=1 << 20, limits=Limits())
    assert message in str(error.value)
