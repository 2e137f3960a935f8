"""SHA-256 of what kuiper computes with ``reproducible=True``: equal on every CPU with fused multiply-adds.

    python -m tests.hashes        (make hashes) writes hashes.json anew: a commit that changes it says why

Cases are stored graphs, bundled models, decoders with weights of 32, 8 and 4 bits (8 also in groups), and convolutions
as large as those of real networks. Inputs are stored, or fractions that every machine makes alike. A graph of which a
layer does a part in Python, or the C library, is no case: NumPy, BLAS and the C library choose their code by the CPU.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.runner import Runner
from kuiper.graph import pnnx
from kuiper.models import bundled
from kuiper.models.nested import flat
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.random_decoder import random_decoder
from tests.fixtures.operator_files import answers_beside, graph_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DECODERS = Path(__file__).parent / "fixtures" / "decoders"
STORED = Path(__file__).with_name("hashes.json")

IMAGES = {"cifar_resnet20": 32, "digits_yolo": 320, "shapes_unet": 64}
TEXTS = ("shakespeare", "tang")

CONVOLUTIONS = (
    # channels, outputs, groups, kernel, stride, padding, side
    (64, 64, 1, 3, 1, 1, 56), (128, 128, 1, 3, 1, 1, 28), (256, 256, 1, 3, 1, 1, 14), (512, 512, 1, 3, 1, 1, 7),
    (64, 128, 1, 3, 2, 1, 56), (3, 64, 1, 7, 2, 3, 112), (64, 256, 1, 1, 1, 0, 28), (20, 36, 1, 3, 1, 1, 19),
    (96, 96, 96, 3, 1, 1, 28), (96, 96, 96, 5, 2, 2, 28), (64, 64, 16, 3, 1, 1, 14), (64, 64, 4, 3, 1, 1, 14),
)  # fmt: skip


class Case(NamedTuple):
    """A model and what it is given."""

    name: str
    model: kuiper.RuntimeGraph
    inputs: list[np.ndarray]


def fractions(*shape: int, seed: int = 0) -> np.ndarray:
    """Multiples of 1/1024 between -2 and 2, from the generator's integers: no function of the C library makes them.

    >>> fractions(2, 3).shape
    (2, 3)
    """
    return (np.random.default_rng(seed).integers(-2048, 2049, shape) / 1024).astype(np.float32)


def load(source: Any) -> kuiper.RuntimeGraph:
    return kuiper.load(source, reproducible=True)


def cases() -> Iterator[Case]:
    """All that is a case on some build, and more: ``is_compiled`` says which are on this one."""
    for folder, files in (("operators", graph_files()), ("decoders", sorted(DECODERS.glob("*.pnnx.param")))):
        for file in files:
            inputs = [array for key, array in answers_beside(file).items() if key.startswith("input_")]
            yield Case(f"{folder}/{file.name.removesuffix('.pnnx.param')}", load(file), inputs)
    for name, side in IMAGES.items():
        yield Case(f"bundled/{name}", load(bundled(name)), [fractions(1, 3, side, side)])
    for name in TEXTS:
        yield Case(f"bundled/{name}", load(bundled(name)), [np.arange(1, 40)[None] % 37])
    for name, bits, group in (("32", 32, None), ("8", 8, None), ("8_in_groups", 8, 32), ("4", 4, None)):
        yield Case(f"decoders/random_{name}", load(decoder(bits, group)), [np.arange(1, 24)[None] % 29])
    for index, sizes in enumerate(CONVOLUTIONS):
        graph = convolution(*sizes, seed=index)
        yield Case(
            "convolution/" + "_".join(map(str, sizes)), load(graph), [fractions(1, sizes[0], sizes[-1], sizes[-1])]
        )


def decoder(bits: int, group: int | None = None) -> pnnx.Graph:
    """A small decoder whose weights are fractions, in this many bits, perhaps in groups."""
    graph = random_decoder(seed=1, hidden_size=64, intermediate_size=96, head_dim=16)
    with_fractions(graph)
    if bits < 32:
        quantize_graph(graph, bits, group)
    return graph


def convolution(
    channels: int, outputs: int, groups: int, kernel: int, stride: int, padding: int, side: int, seed: int
) -> pnnx.Graph:
    """A convolution with its activation."""
    k = f"kernel_size=({kernel},{kernel}) stride=({stride},{stride}) padding=({padding},{padding}) dilation=(1,1)"
    weights = f"@weight=({outputs},{channels // groups},{kernel},{kernel})f32 @bias=({outputs})f32"
    lines = [
        "7767517",
        "4 3",
        f"pnnx.Input in 0 1 x #x=(1,{channels},{side},{side})f32",
        f"nn.Conv2d conv 1 1 x 1 in_channels={channels} out_channels={outputs} groups={groups} bias=True {k} {weights}",
        "nn.SiLU act 1 1 1 y",
        "pnnx.Output out 1 0 y",
    ]
    graph = pnnx.parse_param("\n".join([*lines, ""]), "convolution")
    with_fractions(graph, seed)
    return graph


def with_fractions(graph: pnnx.Graph, seed: int = 0) -> None:
    """Fractions as weights of two axes and more, small enough that numbers keep their size; the others become ones."""
    for op in graph.operators:
        for attr in op.attrs.values():
            if attr.type is pnnx.DataType.F32:
                inputs = math.prod(attr.shape[1:])
                data = fractions(*attr.shape, seed=seed) if len(attr.shape) > 1 else np.ones(attr.shape, np.float32)
                attr.data = data / np.float32(2 ** round(math.log2(inputs) / 2)) if inputs > 1 else data
            seed += 1


def is_compiled(case: Case) -> bool:
    """Whether compiled steps do all of it, without the C library."""
    engine = case.model.execution.executor
    assert isinstance(engine, Engine)
    plan = engine.plan_for(case.inputs)
    if not isinstance(plan, Runner) or len(plan.executable.compiled()) < len(plan.executable.segments):
        return False
    return not any(card.in_library for part in plan.executable.compiled() for card in part.steps)


def digest(outputs: Sequence[np.ndarray]) -> str:
    """Of shapes, types and numbers; all NaN are alike.

    >>> digest([np.float32([np.nan])]) == digest([-np.float32([np.nan])])
    True
    """
    found = hashlib.sha256()
    for array in outputs:
        found.update(f"{array.shape} {array.dtype.str}".encode())
        alike = np.where(np.isnan(array), np.float32(np.nan), array) if array.dtype == np.float32 else array
        found.update(np.ascontiguousarray(alike).tobytes())
    return found.hexdigest()[:16]


def hashes() -> dict[str, str]:
    """Of all cases on this build."""
    return {
        case.name: digest([np.asarray(output) for output in flat(case.model(*case.inputs))])
        for case in cases()
        if is_compiled(case)
    }


if __name__ == "__main__":
    kuiper.set_num_threads(2)
    found = hashes()
    STORED.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(f"{len(found)} hashes in {STORED.name}")
