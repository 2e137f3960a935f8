"""A hundred fixed networks by all routes; how networks are made, joined, compared and cut down."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pnnx")
pytest.importorskip("onnxruntime")

from kuiper.models.conversion.torch_models import as_array  # noqa: E402
from kuiper.models.nested import flat  # noqa: E402
from tests.networks.check import verdicts_of  # noqa: E402
from tests.networks.compare import close, furthest, noise_bounds  # noqa: E402
from tests.networks.families import FAMILIES  # noqa: E402
from tests.networks.generate import has_open_sizes, network_of, side_by_side  # noqa: E402
from tests.networks.network import Network, Step, alive  # noqa: E402
from tests.networks.run import batches  # noqa: E402
from tests.networks.shrink import shrunk  # noqa: E402

if TYPE_CHECKING:
    import numpy as np

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

BATCHES = list(batches(range(100), None))
THEIRS = ("no graph", "pnnx", "torch.onnx", "quiet")
"""Outcomes for which kuiper is not to blame; "quiet": of a chunk, pnnx made slices that fit the traced sizes only."""


@pytest.fixture(autouse=True)
def quick_torch() -> None:
    torch.set_num_threads(1)


def outputs(network: Network) -> list[np.ndarray]:
    with torch.no_grad():
        return [as_array(output) for output in flat(network.build()(*network.tensors(network.inputs)))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("route", "seeds"), BATCHES, ids=lambda value: value if isinstance(value, str) else value[0])
def test_random_networks_equal_torch(route: str, seeds: list[int]) -> None:
    verdicts = verdicts_of(seeds, route)
    assert len(verdicts) == len(seeds)
    wrong = [verdict for verdict in verdicts if verdict.outcome not in ("agrees", *THEIRS)]
    assert not wrong, "\n".join(f"{one.outcome}, seed {one.seed}: {one.detail}\n{one.source}" for one in wrong)
    if route != "onnx":
        assert sum(verdict.outcome == "agrees" for verdict in verdicts) > 0


def test_the_fixed_networks_take_every_route() -> None:
    seeds = {route: [seed for taken, some in BATCHES if taken == route for seed in some] for route, _ in BATCHES}
    assert sorted(seed for some in seeds.values() for seed in some) == list(range(100))
    assert min(map(len, seeds.values())) >= 12
    assert all(len({has_open_sizes(seed, route == "onnx") for seed in some}) == 1 for route, some in BATCHES)


def test_network_of_a_seed_is_the_same_each_time() -> None:
    first, second = network_of(7), network_of(7)
    assert first.source() == second.source()
    assert all((a == b).all() for a, b in zip(outputs(first), outputs(second), strict=True))
    assert network_of(8).source() != first.source()


def test_networks_have_every_family() -> None:
    drawn: set[str] = set()
    for seed in range(400):
        drawn.update(step.call.partition("(")[0] + step.module.partition("(")[0] for step in network_of(seed).steps)
    for word in ("nn.Conv2d", "nn.ConvTranspose", "nn.LSTM", "nn.MultiheadAttention", "nn.Embedding", "torch.einsum",
                 "F.grid_sample", "F.fold", "torch.cat", "nn.Upsample", "torch.topk", "nn.GroupNorm"):  # fmt: skip
        assert any(word in one for one in drawn), word
    assert len(FAMILIES) > 80


def test_side_by_side_computes_what_each_computes() -> None:
    networks = [network_of(seed) for seed in (1, 2, 3)]
    whole = side_by_side(networks)
    assert len(whole.steps) == sum(len(network.steps) for network in networks)
    assert len(outputs(whole)) == sum(len(network.outputs) for network in networks)
    weightless = [replace(network, steps=[step for step in network.steps if not step.module]) for network in networks]
    assert all(network.steps for network in weightless)


def test_shrunk_leaves_what_fails() -> None:
    steps = [
        Step("{0} + 1", (0,), (1,)), Step("torch.sin({0})", (1,), (2,)), Step("{0} * 2", (2,), (3,)),
        Step("{0} - {1}", (3, 1), (4,)), Step("torch.cos({0})", (1,), (5,)),
    ]  # fmt: skip
    network = Network(0, {0: torch.ones(2, 3)}, None, steps, [4, 5])

    def fails(candidate: Network) -> bool:
        return any("sin" in step.call for step in candidate.steps)

    small = shrunk(network, fails)
    assert [step.call for step in small.steps] == ["torch.sin({0})"]
    [given] = small.inputs.values()
    assert (given == 2).all()  # the value that the dropped step gave


def test_alive_keeps_what_outputs_need() -> None:
    steps = [Step("{0} + 1", (0,), (1,)), Step("{0} + 2", (0,), (2,)), Step("{0} + 3", (1,), (3,))]
    assert [step.targets for step in alive(steps, [3])] == [(1,), (3,)]


def test_furthest_finds_what_rounding_does_not_explain() -> None:
    network = Network(0, {0: torch.linspace(-1, 1, 12).reshape(3, 4)}, None, [Step("torch.exp({0})", (0,), (1,))], [1])
    inputs, wanted = network.tensors(network.inputs), outputs(network)
    assert furthest(network, inputs, wanted, wanted) == ""
    assert furthest(network, inputs, wanted, [wanted[0] * 1.000001]) == ""
    assert "of its largest number" in furthest(network, inputs, wanted, [wanted[0] * 1.001])


def test_noise_widens_the_bound_only_where_it_is_enlarged() -> None:
    step = Step("torch.floor({0} * 3)", (0,), (1,))
    steady = Network(0, {0: torch.tensor([0.5, 1.5])}, None, [step], [1])
    on_the_edge = Network(0, {0: torch.tensor([1 / 3, 1.5])}, None, [step], [1])
    assert noise_bounds(steady, steady.tensors(steady.inputs))[0].max() < 1e-4
    assert noise_bounds(on_the_edge, on_the_edge.tensors(on_the_edge.inputs))[0].max() > 1
    assert not close(outputs(steady)[0], outputs(steady)[0] + 1)
