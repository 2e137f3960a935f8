"""The catalogue against what is known about its files; nobody asks the servers here."""

from __future__ import annotations

import pytest

from kuiper.errors import ParameterError
from kuiper.models.fetching.catalogue import CATALOGUE, Official, official
from kuiper.models.fetching.download import refuse_unencrypted
from kuiper.models.zoo.export import ARCHITECTURES

ENTRIES = pytest.mark.parametrize(("name", "source"), CATALOGUE.items(), ids=list(CATALOGUE))


@ENTRIES
def test_entry_is_for_an_architecture_at_its_size(name: str, source: Official) -> None:
    assert ARCHITECTURES[name].size == source.input_size


@ENTRIES
def test_entry_is_plausible(name: str, source: Official) -> None:
    refuse_unencrypted(source.url)
    assert source.file_name.startswith(name)
    assert len(bytes.fromhex(source.sha256)) == 32
    assert source.size > 1e6
    assert source.card["size"] == {"classify": source.input_size, "detect": [source.input_size] * 2}[source.task]
    assert source.labels == {"classify": "imagenet", "detect": "coco"}[source.task]


@ENTRIES
def test_torchvision_file_names_carry_the_hash(name: str, source: Official) -> None:
    if "pytorch.org" in source.url:
        assert source.file_name == f"{name}-{source.sha256[:8]}.pth"


def test_entries_are_what_torchvision_says() -> None:
    models = pytest.importorskip("torchvision.models")
    for name, source in CATALOGUE.items():
        if source.task == "classify":
            weights = models.get_model_weights(name).DEFAULT
            transforms = weights.transforms()
            assert weights.url == source.url
            assert weights.meta["_file_size"] == round(source.size / 2**20, 3)
            assert (transforms.crop_size, transforms.resize_size) == ([source.card["size"]], [source.card["resize"]])
            assert (list(transforms.mean), list(transforms.std)) == (source.card["mean"], source.card["std"])


def test_official_names_what_there_is() -> None:
    with pytest.raises(ParameterError, match=r"catalogue: expected one of resnet18, .*, yolov5s, got resnet19"):
        official("resnet19")
