"""The files that come with the package: trained models, and a photo to try them on."""

from __future__ import annotations

from pathlib import Path

from kuiper.errors import ParameterError

_FOLDER = Path(__file__).parent


def bundled(name: str) -> Path:
    """The .param file of a model that comes with kuiper; its weights and its card lie beside it.

    >>> bundled("cifar_resnet20").name
    'cifar_resnet20.pnnx.param'

    Raises
    ------
    ParameterError
        If there is no model of this name.
    """
    path = _FOLDER / "zoo" / f"{name}.pnnx.param"
    if not path.exists():
        names = sorted(path.name.removesuffix(".pnnx.param") for path in path.parent.glob("*.pnnx.param"))
        raise ParameterError("bundled", f"one of {', '.join(names)}", name)
    return path


def bundled_photo() -> Path:
    """A photo of a cat.

    >>> bundled_photo().name
    'cat.jpg'
    """
    return _FOLDER / "assets" / "cat.jpg"
