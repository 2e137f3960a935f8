"""Floor 3: the layers, and the registry that knows them all. One operator per file stands in ``operators``."""

import importlib
import pkgutil

from kuiper.layers import operators
from kuiper.layers.layer import Layer, ParamLayer
from kuiper.layers.registry import create, is_supported, layer_types, near_matches, override, register

for _module in pkgutil.iter_modules(operators.__path__):
    importlib.import_module(f"{operators.__name__}.{_module.name}")

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
