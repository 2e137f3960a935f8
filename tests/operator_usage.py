"""What the stored graphs and the layers do with parameters: docs/reference/operators.md is written from it."""

from __future__ import annotations

import shutil
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.graph.runtime_operator import REQUIRED, RuntimeOperator
from kuiper.layers import Layer, registry
from tests.fixtures.operator_files import ENDINGS, answers_beside, graph_file, graph_files
from tests.fixtures.route_archives import other_graphs, stored_graphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kuiper.graph.passes import Pass

OF_TEXT = [Path(__file__).parent / "fixtures" / name for name in ("decoders", "encoders")]


def stored_paths() -> list[Path]:
    """The .param files of the exported operators, and those of decoders and encoders."""
    return [*graph_files(), *(path for folder in OF_TEXT for path in sorted(folder.glob("*.pnnx.param")))]


Sets = defaultdict[str, set[str]]
sets: Callable[[], Sets] = partial(defaultdict, set)


@dataclass
class Usage:
    """By operator type: parameters, names of inputs and weights in files; parameters that layers read.

    ``built`` has the types that a layer was made for, which includes those that aten:: operators stand for.
    ``defaults`` has the defaults that layers gave when they read a parameter, none if it is required; ``kinds`` what
    the parameter has to be, in the words of the error.
    """

    files: dict[str, list[Path]] = field(default_factory=partial(defaultdict, list))
    params: Sets = field(default_factory=sets)
    operands: Sets = field(default_factory=sets)
    weights: Sets = field(default_factory=sets)
    built: set[str] = field(default_factory=set)
    reads: Sets = field(default_factory=sets)
    defaults: dict[tuple[str, str], list[Any]] = field(default_factory=partial(defaultdict, list))
    kinds: dict[tuple[str, str], str] = field(default_factory=dict)

    def add_file(self, path: Path, graph: pnnx.Graph) -> None:
        for op in graph.operators:
            if self.files[op.type][-1:] != [path]:
                self.files[op.type].append(path)
            self.params[op.type] |= set(op.params)
            self.operands[op.type] |= {name for name in op.input_names if name}
            self.weights[op.type] |= set(op.attrs)


@contextmanager
def recording(usage: Usage) -> Iterator[None]:
    """Within this block, what layers read is noted in ``usage``."""
    init, read, has_param = Layer.__init__, RuntimeOperator._read, RuntimeOperator.has_param

    def noting_init(self: Layer, op: RuntimeOperator) -> None:
        usage.built.add(op.type)
        init(self, op)

    def note_default(place: tuple[str, str], default: Any) -> None:
        if repr(default) not in map(repr, usage.defaults[place]):
            usage.defaults[place].append(default)

    def noting_read(self: RuntimeOperator, key: str, default: Any, expected: str, convert: Any) -> Any:
        place = self.type, key
        usage.kinds[place] = expected
        usage.reads[self.type].add(key)
        known = [*usage.defaults[place]]
        value = read(self, key, default, expected, convert)
        usage.defaults[place] = known  # _read asks has_param itself: that says nothing about a default
        if default is not REQUIRED:
            note_default(place, default)
        return value

    def noting_has(self: RuntimeOperator, key: str) -> bool:
        usage.reads[self.type].add(key)
        if (self.type, key) not in usage.kinds:
            note_default((self.type, key), None)  # code that asks first can do without
        return has_param(self, key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Layer, "__init__", noting_init)
        patch.setattr(RuntimeOperator, "_read", noting_read)
        patch.setattr(RuntimeOperator, "has_param", noting_has)
        yield


def usage_of_stored_graphs(folder: Path) -> Usage:
    """What happens when all stored graphs are built and run, as they are and with the operators that passes make.

    Of the graphs of other routes those take part that have an operator which no case's own graph has; they are
    written to ``folder``.
    """
    usage = Usage()
    own = {op.type for path in stored_paths() for op in pnnx.load(path, weights=False).operators}
    with recording(usage):
        for path in [*stored_paths(), *graphs_of_other_routes(folder, own)]:
            usage.add_file(path, run(path, {})[0])
            run(path, {}, DEFAULT_PASSES)
    return usage


def graphs_of_other_routes(folder: Path, known: set[str]) -> list[Path]:
    """Graphs with a type that is not ``known``, written to the folder with what torch answered."""
    paths = []
    wrong = other_graphs()
    for place, files in stored_graphs():
        types = {line.split(maxsplit=1)[0] for line in files[0].decode().splitlines()[2:]}
        if types <= known or place.case in wrong.get(place.route, {}):
            continue
        stem = f"{place.case}.{place.route}"
        for ending, data in zip(ENDINGS, files, strict=True):
            (folder / f"{stem}{ending}").write_bytes(data)
        shutil.copyfile(graph_file(place.case).with_name(f"{place.case}.npz"), folder / f"{stem}.npz")
        paths.append(folder / f"{stem}{ENDINGS[0]}")
    return paths


def run(
    path: Path, respell: dict[str, str], passes: tuple[Pass, ...] = ()
) -> tuple[pnnx.Graph, list[np.ndarray], list[np.ndarray]]:
    """Run a stored graph in which some types are spelled otherwise; the graph, its outputs, and torch's."""
    graph = pnnx.load(path)
    for op in graph.operators:
        op.type = respell.get(op.type, op.type)
    model = RuntimeGraph(graph)
    model.build(registry, passes=passes)
    stored = answers_beside(path)
    outputs = model.forward(*(stored[key] for key in stored if key.startswith("input_")))
    return graph, _flat(outputs), [stored[key] for key in stored if key.startswith("output_")]


def _flat(value: Any) -> list[np.ndarray]:
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in _flat(item)]
    return [np.asarray(value)]
