"""Run a network's graph on the engine and on the layers, and compare both with torch.

A random network may enlarge rounding errors, and a number beside a threshold may fall on either side. How far that
goes is measured: torch runs in float64 with a little noise on every value, and what the noise changes may differ by
ten times as much. Where nothing is enlarged, the bound is 1e-5 of the largest number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

import kuiper
from kuiper.errors import KuiperError
from kuiper.models.conversion.torch_models import as_array
from kuiper.models.nested import flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.networks.network import Network, Tensors

TOLERANCE, NOISE, DRAWS = 1e-5, 3e-7, 6
"""Of the largest number: what may differ, and how large the noise is on a value; how often it is drawn."""

Arrays = list[np.ndarray]


class Failure(NamedTuple):
    """``kind`` is what shrinking keeps; ``call`` says which of the calls it was, ``inputs`` what it was given."""

    kind: str
    call: str
    detail: str
    inputs: Tensors


def calls(network: Network) -> Iterator[tuple[str, Tensors]]:
    """What a model is called with, in order: the traced inputs, other values, other sizes, the traced ones again."""
    traced = network.tensors(network.inputs)
    generator = torch.Generator().manual_seed(network.seed)
    yield "traced", traced
    yield "other values", tuple(shuffled(tensor, generator) for tensor in traced)
    if network.others:
        yield ("other sizes" if network.open_sizes else "unseen sizes"), network.tensors(network.others)
    yield "again", traced


def shuffled(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The same numbers in other places."""
    return tensor.flatten()[torch.randperm(tensor.numel(), generator=generator)].reshape(tensor.shape)


def failure_of(network: Network, param: Path) -> Failure | None:
    """The first thing that is wrong with the graph in this file."""
    traced = network.tensors(network.inputs)
    try:
        layers, engine = kuiper.load(param, optimize=False), kuiper.load(param)
    except KuiperError as error:
        return Failure("refused when loaded", "load", str(error), traced)
    module, seen, before = network.build(), {}, kuiper.get_num_threads()
    try:
        for label, tensors in calls(network):
            arrays = [tensor.numpy() for tensor in tensors]
            results: dict[str, Arrays] = {}
            for name, model, threads in (
                ("layers", layers, 2),
                ("engine", engine, 2),
                ("engine on one thread", engine, 1),
            ):
                kuiper.set_num_threads(threads)
                try:
                    results[name] = [np.array(output) for output in flat(model(*arrays))]
                except KuiperError as error:
                    if label == "unseen sizes":
                        break
                    return Failure(f"{name}: {type(error).__name__}", label, str(error), tensors)
                except Exception as error:  # whatever it is, it should have been one of ours
                    return Failure(f"{name}: raw {type(error).__name__}", label, str(error), tensors)
            else:
                with torch.no_grad():
                    wanted = [as_array(output) for output in flat(module(*tensors))]
                if found := _difference(network, tensors, wanted, results):
                    kind = "quietly another shape" if label == "unseen sizes" and "shapes" in found[0] else found[0]
                    return Failure(kind, label, found[1], tensors)
                if not same_bits(results["engine"], results["engine on one thread"]):
                    return Failure("engine: threads", label, "one and two threads give different bits", tensors)
                if label == "again" and not same_bits(results["engine"], seen["traced"]["engine"]):
                    return Failure(
                        "engine: again", label, "the first inputs give different bits the second time", tensors
                    )
                seen[label] = results
    finally:
        kuiper.set_num_threads(before)
    return None


def _difference(
    network: Network, tensors: Tensors, wanted: Arrays, results: dict[str, Arrays]
) -> tuple[str, str] | None:
    """What is wrong with the results of one call, in words for ``kind`` and ``detail``."""
    for name in ("layers", "engine"):
        got = results[name]
        shapes, expected = ([(a.shape, a.dtype.name) for a in arrays] for arrays in (got, wanted))
        if shapes != expected:
            return f"{name}: shapes", f"expected {expected}, got {shapes}"
        if apart := furthest(network, tensors, wanted, got):
            return f"{name}: numbers", apart
    return None


def furthest(network: Network, tensors: Tensors, wanted: Arrays, got: Arrays) -> str:
    """How outputs differ by more than rounding explains; nothing if they do not."""
    if all(map(close, wanted, got)):
        return ""
    bounds = noise_bounds(network, tensors)
    for i, (one, other, bound) in enumerate(zip(wanted, got, bounds, strict=True)):
        if close(one, other):
            continue
        if one.dtype.kind != "f":
            if not bound.any():
                places = int((one != other).sum())
                return f"output {i}: {places} of {one.size} integers differ"
            continue
        apart = np.abs(one.astype(np.float64) - other)
        scale = np.abs(one).max(initial=1e-30)
        if not (apart <= bound.max(initial=0) + TOLERANCE * scale).all():
            far, noise = apart.max() / scale, bound.max() / scale
            return f"output {i} {one.shape}: {far:.1e} of its largest number, noise {noise:.1e}"
    return ""


def close(wanted: np.ndarray, got: np.ndarray) -> bool:
    """Equal integers, floats within the tolerance."""
    if wanted.dtype.kind != "f":
        return bool((wanted == got).all())
    apart = np.abs(wanted.astype(np.float64) - got)
    return bool((apart <= TOLERANCE * np.abs(wanted).max(initial=1e-30)).all())


def noise_bounds(network: Network, tensors: Tensors) -> Arrays:
    """For each output, ten times how far noise moves each of its numbers; for whole ones, whether it does."""
    generator = torch.Generator().manual_seed(0)

    def noise(*values: torch.Tensor) -> Tensors:
        return tuple(
            value
            + (torch.rand(value.shape, generator=generator, dtype=value.dtype) * 2 - 1) * NOISE * value.abs().max()
            if value.is_floating_point()
            else value
            for value in values
        )

    given = tuple(tensor.double() if tensor.is_floating_point() else tensor for tensor in tensors)
    with torch.no_grad():
        exact = [output.numpy() for output in flat(network.in_double()(*given))]
        module = network.in_double(noise)
        runs = [[output.numpy() for output in flat(module(*given))] for _ in range(DRAWS)]
    bounds = []
    for i, one in enumerate(exact):
        moved = np.zeros(one.shape)
        for run in runs:
            moved = np.maximum(moved, np.abs(run[i].astype(np.float64) - one) if run[i].shape == one.shape else np.inf)
        bounds.append(10 * np.nan_to_num(moved, nan=np.inf))
    return bounds


def same_bits(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> bool:
    """Equal to the last bit."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
