"""The models of the comparison, exported once for every runtime into a cache.

    benchmarks.networks, seeded weights --> torch module --> model.state.pt                torch, eager
                                               |
                                               +-- trace --> model.traced.pt               torch, TorchScript
                                               |     +-- pnnx --> model.pnnx.param, .bin   kuiper
                                               |              --> model.ncnn.param, .bin   ncnn, in float32
                                               +-- ONNX ----> model.onnx                   onnxruntime, openvino

Every file holds the same float32 weights. Torch's own answer to a seeded input is stored beside them; every peer is
held to it. Where the converter leaves no ncnn graph, the rest is complete, and ncnn is left out.
"""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from benchmarks import networks
from benchmarks.kept_files import keep
from benchmarks.model_files import ModelFiles
from benchmarks.places import ROOT
from benchmarks.results import ModelFacts
from kuiper.models.conversion.pnnx_converter import convert, converter_options

if TYPE_CHECKING:
    import torch
    from torch import nn

NEEDED = ("torch", "pnnx", "onnx")
"""The packages that export them."""

SEED = 0


def prepare(name: str, batch: int, cache: Path) -> ModelFiles:
    """The files of a model for a batch size, exported unless the cache has them."""
    files = ModelFiles(name, cache / "models" / f"{name}-batch{batch}")
    keep(files.origin, origin_of(name, batch), lambda: write_files(files, batch))
    return files


def origin_of(name: str, batch: int) -> dict[str, Any]:
    """All that the exported files depend on."""
    rooms = (ROOT / "kuiper/models/zoo", ROOT / "kuiper/models/conversion", ROOT / "benchmarks/architectures")
    sources = [Path(__file__), Path(networks.__file__), *(path for room in rooms for path in room.glob("*.py"))]
    sources.append(ROOT / f"{networks.NETWORKS[name].module.replace('.', '/')}.py")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()
    tools = {package: version(package) for package in NEEDED}
    return {"name": name, "batch": batch, "seed": SEED, "sources": digest, **tools}


def write_files(files: ModelFiles, batch: int) -> None:
    """Build the model, export it, and store torch's answer."""
    import torch

    model = networks.build(files.name, SEED)
    x = networks.example_input(files.name, batch, SEED)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracers: that sizes become constants is known here
        np.savez(files.arrays, input=x.numpy(), output=model(x).numpy())
        torch.save(model.state_dict(), files.state)
        torch.jit.trace(model, (x,), check_trace=False).save(str(files.traced))
        torch.onnx.export(model, (x,), str(files.onnx), dynamo=False)
        keep_converted(model, x, files, ("pnnx.param", "pnnx.bin"))
        keep_converted(model, x[:1], files, ("ncnn.param", "ncnn.bin"))


def keep_converted(model: nn.Module, x: torch.Tensor, files: ModelFiles, endings: tuple[str, ...]) -> None:
    """Convert the model with pnnx for inputs like ``x`` and keep what it wrote with these endings."""
    import torch

    with tempfile.TemporaryDirectory(dir=files.folder) as scratch:
        traced = Path(scratch, "model.pt")
        torch.jit.trace(model, (x,), check_trace=False).save(str(traced))
        convert(traced, converter_options((x,)))
        for ending in endings:
            written = traced.with_suffix(f".{ending}")
            if written.exists():
                written.replace(files.folder / f"model.{ending}")


def facts_of(files: ModelFiles) -> ModelFacts:
    """The shape of one input and its costs, from kuiper's own summary of the graph in the file."""
    with np.load(files.arrays) as arrays:
        batch, *one = arrays["input"].shape
    summary = kuiper.load(files.param, optimize=False).summary()
    return ModelFacts((1, *one), summary.flops // batch, summary.parameters)
