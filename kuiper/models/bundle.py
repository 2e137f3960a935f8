"""The files that come with the package: trained models, and pictures to try them on."""

from __future__ import annotations

from pathlib import Path

from kuiper.errors import ParameterError
from kuiper.models.elsewhere import bring_weights

_FOLDER = Path(__file__).parent
_SUFFIX = ".pnnx.param"


def bundled_names() -> list[str]:
    """The names of the models that come with kuiper.

    >>> "cifar_resnet20" in bundled_names()
    True
    """
    return sorted(path.name.removesuffix(_SUFFIX) for path in (_FOLDER / "zoo").glob(f"*{_SUFFIX}"))


def bundled(name: str) -> Path:
    """The .param file of a model that comes with kuiper; its weights and its card lie beside it.

    A copy for browsers fetches the weights of most models here (``elsewhere.py``).

    >>> bundled("cifar_resnet20").name
    'cifar_resnet20.pnnx.param'

    Raises
    ------
    ParameterError
        If there is no model of this name.
    ModelFormatError
        If weights that are not in this copy cannot be had.
    """
    path = _FOLDER / "zoo" / f"{name}{_SUFFIX}"
    if not path.exists():
        raise ParameterError("bundled", f"one of {', '.join(bundled_names())}", name)
    bring_weights(path)
    return path


def bundled_photo(name: str = "cat") -> Path:
    """A picture to try the models on: ``cat``, a photo, ``digits``, handwritten ones, or ``shapes``, drawn ones.

    >>> bundled_photo().name
    'cat.jpg'

    Raises
    ------
    ParameterError
        If there is no picture of this name.
    """
    pictures = {path.stem: path for path in (_FOLDER / "assets").iterdir() if path.suffix in (".jpg", ".png")}
    if name not in pictures:
        raise ParameterError("bundled_photo", f"one of {', '.join(sorted(pictures))}", name)
    return pictures[name]
