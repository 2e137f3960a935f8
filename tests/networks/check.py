"""One network by one route, from the seed to a verdict."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.networks.compare import Failure, failure_of, furthest
from tests.networks.export import NoGraphError, by_onnxruntime, by_pnnx, declares_other_shapes, graph_of
from tests.networks.generate import network_of, side_by_side
from tests.networks.shrink import shrunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from tests.networks.network import Network


@dataclass(frozen=True)
class Verdict:
    """``outcome`` is "agrees", "no graph", "lacks" an operator, "quiet" (another shape
    than torch's on sizes that pnnx was not told of), "pnnx", "torch.onnx" (whose fault it is) or "fails"."""

    seed: int
    route: str
    outcome: str
    detail: str = ""
    source: str = ""


def verdicts_of(seeds: Sequence[int], route: str) -> list[Verdict]:
    """Of several networks at once, side by side in one graph; one by one if something is wrong with that."""
    networks = [network_of(seed, route == "onnx") for seed in seeds]
    if len(seeds) == 1:
        return [verdict_of(networks[0], route)]
    whole = side_by_side(networks)
    try:
        if failure_by(whole, route) is None:
            return [Verdict(seed, route, "agrees") for seed in seeds]
    except NoGraphError:
        return [verdict_of(network, route) for network in networks]
    verdicts = [verdict_of(network, route) for network in networks]
    if all(verdict.outcome == "agrees" for verdict in verdicts):
        verdicts[0] = verdict_of(whole, route)
    return verdicts


def verdict_of(network: Network, route: str) -> Verdict:
    """Export a network, run it, and if it fails find out why."""
    seed = network.seed
    try:
        failure = failure_by(network, route)
    except NoGraphError as error:
        return Verdict(seed, route, "no graph", str(error))
    if failure is None:
        return Verdict(seed, route, "agrees")

    def fails(candidate: Network) -> bool:
        try:
            found = failure_by(candidate, route)
        except NoGraphError:
            return False
        return found is not None and found.kind == failure.kind

    small = shrunk(network, fails)
    last = failure_by(small, route) or failure
    return Verdict(seed, route, blame(small, route, last), f"{last.kind} ({last.call}): {last.detail}", small.source())


def failure_by(network: Network, route: str) -> Failure | None:
    """What is wrong with the graph of this route.

    Raises
    ------
    NoGraphError
        If there is none.
    """
    with tempfile.TemporaryDirectory() as folder:
        return failure_of(network, graph_of(network, route, Path(folder)))


def blame(network: Network, route: str, failure: Failure) -> str:
    """Who wrote a graph that computes something else.

    "torch.onnx" if onnxruntime computes it, too; "pnnx" if its own Python does, or if its file declares outputs of
    other shapes than torch's.
    """
    if failure.kind.startswith("engine"):
        return "fails"
    if failure.kind.startswith("quietly"):
        return "quiet"
    if "operator types that kuiper knows" in failure.detail:
        return "lacks"
    wanted = answers_of_torch(network, failure)
    with tempfile.TemporaryDirectory() as folder:
        if route == "onnx":
            try:
                if differs(network, failure, wanted, by_onnxruntime(network, Path(folder), failure.inputs)):
                    return "torch.onnx"
            except Exception:
                return "torch.onnx"
            return "fails"
        if failure.call == "traced" and declares_other_shapes(network, route, Path(folder), wanted):
            return "pnnx"
        try:
            others = by_pnnx(network, route, Path(folder), failure.inputs)
        except (SyntaxError, NameError, AttributeError) as error:  # it cannot be run at all
            return f"fails; pnnx's own Python: {type(error).__name__}: {str(error)[:80]}"
        except Exception as error:  # it cannot be run on these inputs
            refused = "Error" in failure.kind
            return "pnnx" if refused else f"fails; pnnx's own Python: {type(error).__name__}: {str(error)[:80]}"
        return "pnnx" if differs(network, failure, wanted, others) else "fails"


def answers_of_torch(network: Network, failure: Failure) -> list[np.ndarray]:
    """What torch says to the inputs of the call that failed."""
    import torch

    from kuiper.models.conversion.torch_models import as_array
    from kuiper.models.nested import flat

    with torch.no_grad():
        return [as_array(output) for output in flat(network.build()(*failure.inputs))]


def differs(network: Network, failure: Failure, wanted: list[np.ndarray], got: list[np.ndarray]) -> bool:
    """Whether another program's answer differs from torch's, too."""
    if [(a.shape, a.dtype) for a in wanted] != [(a.shape, a.dtype) for a in got]:
        return True
    return bool(furthest(network, failure.inputs, wanted, got))


def tally(verdicts: list[Verdict]) -> Counter[str]:
    """How many of each outcome."""
    return Counter(verdict.outcome.partition(";")[0] for verdict in verdicts)
