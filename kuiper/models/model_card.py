"""Model cards: what has to be known about a model beside its graph, in a .json file next to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class ModelCard:
    """The names of a classifier's outputs, and how its input is made from a photo.

    ``resize`` is the length the shorter side is brought to before the middle ``size`` x ``size`` is taken.
    """

    labels: tuple[str, ...]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    size: int
    resize: int

    @classmethod
    def read(cls, path: Path) -> ModelCard:
        """The card in a file; entries that a classifier does not need (accuracy, seed ...) are passed over.

        Raises
        ------
        ModelFormatError
            If the file is missing, is not JSON, or lacks an entry.
        """
        where = str(path)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            hint = "a classifier needs its labels, mean, std and size"
            raise ModelFormatError(where, "a model card", "nothing there", hint) from error
        except (OSError, ValueError) as error:
            raise ModelFormatError(where, "a model card in JSON", error) from error
        if not isinstance(content, dict):
            raise ModelFormatError(where, "a model card: a JSON object", f"a {type(content).__name__}")
        labels = content.get("labels")
        if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
            raise ModelFormatError(where, "'labels': a list of names", labels)
        mean, std = _three_numbers(where, content, "mean"), _three_numbers(where, content, "std")
        if min(std) <= 0:
            raise ModelFormatError(where, "'std' above 0", content["std"])
        size = _length(where, "size", content.get("size"))
        resize = _length(where, "resize", content.get("resize", size))
        if resize < size:
            raise ModelFormatError(where, f"'resize' >= 'size' ({size})", resize)
        return cls(tuple(labels), mean, std, size, resize)


def card_path(param: Path) -> Path:
    """Where the card of a .param file lies.

    >>> from pathlib import Path
    >>> card_path(Path("zoo/cifar_resnet20.pnnx.param")).name
    'cifar_resnet20.json'
    """
    return param.with_name(param.name.removesuffix(".param").removesuffix(".pnnx") + ".json")


def _three_numbers(where: str, content: dict[str, Any], key: str) -> tuple[float, float, float]:
    value = content.get(key)
    is_number = [isinstance(item, (int, float)) for item in value] if isinstance(value, list) else []
    if not isinstance(value, list) or len(value) != 3 or not all(is_number):
        raise ModelFormatError(where, f"'{key}': three numbers, for red, green and blue", value)
    return float(value[0]), float(value[1]), float(value[2])


def _length(where: str, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ModelFormatError(where, f"'{key}': a number of pixels", value)
    return value
