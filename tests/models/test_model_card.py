"""Model cards: what is read, and what each mistake is called."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kuiper.errors import ModelFormatError
from kuiper.models.model_card import ModelCard, card_path

GOOD = {"labels": ["cat", "dog"], "mean": [0.5, 0.25, 0], "std": [1, 0.5, 0.25], "size": 224}


def write(folder: Path, content: object) -> Path:
    path = folder / "card.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_read_takes_what_a_classifier_needs(tmp_path: Path) -> None:
    card = ModelCard.read(write(tmp_path, GOOD | {"seed": 3}))
    assert card == ModelCard(("cat", "dog"), (0.5, 0.25, 0.0), (1.0, 0.5, 0.25), size=224, resize=224)


def test_read_takes_a_resize_larger_than_the_crop(tmp_path: Path) -> None:
    assert ModelCard.read(write(tmp_path, GOOD | {"resize": 256})).resize == 256


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": []}, "expected 'labels': a list of names, got []"),
        ({"labels": ["cat", 1]}, "expected 'labels': a list of names, got ['cat', 1]"),
        ({"labels": None}, "expected 'labels': a list of names, got None"),
        ({"mean": [1, 2]}, "expected 'mean': three numbers, for red, green and blue, got [1, 2]"),
        ({"mean": 0.5}, "expected 'mean': three numbers, for red, green and blue, got 0.5"),
        ({"std": [1, 0, 1]}, "expected 'std' above 0, got [1, 0, 1]"),
        ({"size": 0}, "expected 'size': a number of pixels, got 0"),
        ({"size": True}, "expected 'size': a number of pixels, got True"),
        ({"size": "32"}, "expected 'size': a number of pixels, got 32"),
        ({"resize": 100}, "expected 'resize' >= 'size' (224), got 100"),
    ],
)
def test_read_names_the_wrong_entry(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = write(tmp_path, GOOD | changes)
    with pytest.raises(ModelFormatError, match=re.escape(f"{path}: {message}")):
        ModelCard.read(path)


@pytest.mark.parametrize(
    ("content", "message"), [("{", "a model card in JSON"), ("[]", "a JSON object, got a list"), ("", "in JSON")]
)
def test_read_refuses_what_is_no_card(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        ModelCard.read(write(tmp_path, content))


def test_read_refuses_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="expected a model card in JSON"):
        ModelCard.read(tmp_path)


@pytest.mark.parametrize("name", ["net.pnnx.param", "net.param"])
def test_card_path_lies_beside_the_graph(name: str) -> None:
    assert card_path(Path("folder", name)) == Path("folder", "net.json")
