"""The names of ImageNet's classes, with and without torchvision."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

from kuiper.models.fetching.labels import imagenet_labels

if TYPE_CHECKING:
    import pytest


def test_imagenet_labels_without_torchvision_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision.models", None)
    assert imagenet_labels() == []


def test_imagenet_labels_are_those_of_torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ModuleType("torchvision.models")
    default = SimpleNamespace(meta={"categories": ["tench", "goldfish"]})
    models.ResNet18_Weights = SimpleNamespace(DEFAULT=default)
    monkeypatch.setitem(sys.modules, "torchvision", ModuleType("torchvision"))
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    assert imagenet_labels() == ["tench", "goldfish"]
