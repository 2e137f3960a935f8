"""The layers, and the registry that knows them all.

One operator per file stands in ``operators``; those that only graph passes make stand in ``fused``.
"""

import importlib
import pkgutil

from kuiper import layer_packages
from kuiper.layers import fused, operators
from kuiper.layers.layer import Layer
from kuiper.layers.registry import create, is_supported, layer_types, near_matches, override, register
from kuiper.layers.weight_layer import ParamLayer

for _package in (operators, fused):
    for _module in pkgutil.iter_modules(_package.__path__):
        importlib.import_module(f"{_package.__name__}.{_module.name}")
for _name in layer_packages.above:
    importlib.import_module(_name)

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
