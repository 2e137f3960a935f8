"""Drop operators of a network as long as it fails in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from kuiper.models.nested import flat
from tests.networks.network import Network, alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def shrunk(network: Network, fails: Callable[[Network], bool]) -> Network:
    """The smallest network found that still ``fails``: what a dropped step gave becomes an input."""
    again = True
    while again:
        again = False
        for candidate in smaller(network):
            if candidate.steps and fails(candidate):
                network, again = candidate, True
                break
    return network


def smaller(network: Network) -> Iterator[Network]:
    """Networks with one output of several, without the steps that come first, or without one step."""
    if len(network.outputs) > 1:
        for number in network.outputs:
            yield trimmed(replace(network, outputs=[number]))
    values = [recorded(network, given) for given in (network.inputs, network.others)]
    count = len(network.steps)
    for length in dict.fromkeys((count // 2, count // 4, 1)):
        for start in range(0, count - length + 1, max(1, length)) if length else ():
            yield without(network, set(range(start, start + length)), values)
    if network.others:
        yield replace(network, others=None, open_sizes=False)


def without(network: Network, dropped: set[int], values: list[dict[int, torch.Tensor]]) -> Network:
    """The network without some steps; what they gave becomes inputs, or is no output any more."""
    gone = {number for i in dropped for number in network.steps[i].targets}
    steps = [step for i, step in enumerate(network.steps) if i not in dropped]
    outputs = [number for number in network.outputs if number not in gone]
    if not outputs:
        read = {number for step in steps for number in step.sources}
        outputs = [number for step in steps for number in step.targets if number not in read]
    inputs, others = (dict(given) for given in (network.inputs, network.others or {}))
    for number in sorted(gone):
        inputs[number] = values[0][number]
        if network.others:
            others[number] = values[1][number]
    return trimmed(replace(network, steps=steps, outputs=outputs, inputs=inputs, others=others or None))


def trimmed(network: Network) -> Network:
    """Without what no output needs."""
    steps = alive(network.steps, network.outputs)
    read = {number for step in steps for number in step.sources}
    inputs = {number: tensor for number, tensor in network.inputs.items() if number in read}
    others = {number: tensor for number, tensor in (network.others or {}).items() if number in read}
    return replace(network, steps=steps, inputs=inputs, others=others or None)


def recorded(network: Network, given: object) -> dict[int, torch.Tensor]:
    """Every value of the network, for these inputs."""
    if not given:
        return {}
    numbers = [number for step in network.steps for number in step.targets]
    talkative = replace(network, outputs=numbers)
    with torch.no_grad():
        results = list(flat(talkative.build()(*network.tensors(given))))  # type: ignore[arg-type]
    return dict(zip(numbers, (result.contiguous() for result in results), strict=True))
