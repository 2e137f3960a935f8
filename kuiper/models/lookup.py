"""A model by its path or by its name."""

from __future__ import annotations

import os
from pathlib import Path

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.bundle import bundled, bundled_names
from kuiper.models.fetching.cache import cached_names, check_model
from kuiper.models.fetching.catalogue import CATALOGUE
from kuiper.models.fetching.checkpoints import CHECKPOINTS


def find_model(name_or_path: str | os.PathLike[str]) -> Path:
    """What a path or a name means: a .param or an .onnx file, else a bundled model, else one in the cache.

    Of a published language model in the cache it is the folder, otherwise a file.

    >>> find_model("cifar_resnet20").name
    'cifar_resnet20.pnnx.param'

    Raises
    ------
    ParameterError
        If there is no model of this name.
    ModelFormatError
        If a file of a model in the cache is missing or has changed.
    """
    name, path = os.fspath(name_or_path), Path(name_or_path)
    if path.is_file() or path.suffix in (".param", ".onnx") or path.name != name:
        return path  # loading it says what is wrong with it
    if name in bundled_names():
        return bundled(name)
    if name in cached_names():
        try:
            return check_model(name)
        except ModelFormatError as error:
            raise error.with_hint(f"kuiper fetch {name} makes it anew") from error
    known = ", ".join([*bundled_names(), *cached_names()])
    hint = (
        f"kuiper fetch {name} brings it here"
        if name in (*CATALOGUE, *CHECKPOINTS)
        else "kuiper fetch --list names more"
    )
    raise ParameterError("model", f"a .param or an .onnx file, or one of {known}", name, hint)
