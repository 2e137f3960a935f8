"""Floor 3: the layers, one operator (or one tight family) per file, and the registry that knows them all."""

import importlib
import pkgutil

from kuiper.layers.layer import Layer, ParamLayer
from kuiper.layers.registry import create, is_supported, layer_types, near_matches, override, register

# The directory listing is the operator list: importing a module is what registers its layers.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "Layer",
    "ParamLayer",
    "create",
    "is_supported",
    "layer_types",
    "near_matches",
    "override",
    "register",
]
