"""A network from a seed."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import torch

from tests.networks.draw import Draw, NoOperandError, Value
from tests.networks.families import FAMILIES
from tests.networks.network import Network, Step, alive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.networks.families import Call

LARGEST, MOST, ATTEMPTS = 1e3, 20_000, 60
"""Numbers beyond the first and tensors of more entries than the second are not made; tries for one step."""

NOT_IN_ONNX = re.compile(
    r"logaddexp|hypot|[Cc]hannel_?[Ss]huffle|[Aa]daptive(_avg_p|_max_p|AvgP|MaxP)ool\dd\((\{0\}, )?(?!1\))|argsort"
    r"|F.fold|tile|return_indices|\.unfold|LPPool|torch\.(sort|prod|std|var)"
)
"""What PyTorch's older exporter refuses, or refuses behind most operators."""


def network_of(seed: int, onnx: bool = False, fewest: int = 3, most: int = 12) -> Network:
    """A network of that many operators, with one to four inputs and all values that nobody reads as outputs.

    Half of them are made for two sizes of their inputs, and pnnx is told so. The others have sizes as numbers, too; if
    other sizes do for them by chance, they come along as sizes that pnnx is not told of. For ``onnx``, most are of
    fixed sizes, and what cannot be exported is not drawn: a single operator of that kind would spoil the network.
    """
    random = Random(seed)
    open_sizes = random.random() < (0.2 if onnx else 0.5)  # as has_open_sizes says
    values = input_values(random)
    known = values if open_sizes else [replace(value, other=None) for value in values]
    draw, steps, wanted = Draw(random, list(known)), [], random.randint(fewest, most)
    names, weights = list(FAMILIES), [family.weight for family in FAMILIES.values()]
    for _ in range(ATTEMPTS * wanted):
        if len(steps) == wanted:
            break
        try:
            call = FAMILIES[random.choices(names, weights)[0]].draw(draw)
        except NoOperandError:
            continue
        if onnx and NOT_IN_ONNX.search(call.call + call.module):
            continue
        first = draw.values[-1].number + 1
        step = Step(
            call.call, tuple(value.number for value in call.values), (*range(first, first + call.results),), call.module
        )
        results = computed(seed, call, step)
        if results is None:
            continue
        steps.append(step)
        draw.values += results
        draw.used.update(step.sources)
    read = {number for step in steps for number in step.sources}
    made = [number for step in steps for number in step.targets]
    outputs = [number for number in made if number not in read or random.random() < 0.05]
    kept = alive(steps, outputs)
    read = {number for step in kept for number in step.sources}
    inputs = [value for value in values if value.number in read]
    others = {value.number: value.other for value in inputs if value.other is not None}
    network = Network(seed, {v.number: v.traced for v in inputs}, others, kept, outputs, open_sizes)
    return network if open_sizes or runs(network) else replace(network, others=None)


def has_open_sizes(seed: int, onnx: bool = False) -> bool:
    """Whether the network of this seed is made for two sizes."""
    return Random(seed).random() < (0.2 if onnx else 0.5)


def runs(network: Network) -> bool:
    """Whether torch can run it on the other sizes, too."""
    assert network.others is not None
    try:
        with torch.no_grad():
            results = network.build()(*network.tensors(network.others))
    except (RuntimeError, ValueError, IndexError, TypeError, AssertionError):  # as torch's modules check their inputs
        return False
    return all(map(usable, results if isinstance(results, tuple) else (results,)))


def side_by_side(networks: Sequence[Network]) -> Network:
    """Several networks as one, with all their inputs and outputs: this many are converted in the time of one.

    If one of them has no other sizes, the whole has none; all must be open or none.
    """
    inputs, others, steps, outputs, first = {}, {}, [], [], 0
    for network in networks:
        moved = {number: first + number for number in numbers_of(network)}
        inputs |= {moved[number]: tensor for number, tensor in network.inputs.items()}
        others |= {moved[number]: tensor for number, tensor in (network.others or {}).items()}
        for step in network.steps:
            sources, targets = (tuple(moved[number] for number in one) for one in (step.sources, step.targets))
            steps.append(replace(step, sources=sources, targets=targets))
        outputs += [moved[number] for number in network.outputs]
        first = max(moved.values()) + 1
    whole = all(network.others for network in networks)
    return Network(networks[0].seed, inputs, others if whole else None, steps, outputs, networks[0].open_sizes)


def numbers_of(network: Network) -> list[int]:
    """All values of a network."""
    return [*network.inputs, *(number for step in network.steps for number in step.targets)]


def input_values(random: Random) -> list[Value]:
    """One to four inputs that have their batch in common: images mostly, sequences, rows, volumes, integers."""
    generator = torch.Generator().manual_seed(random.getrandbits(32))
    n, h, w, t = (random.choice(sizes) for sizes in ((1, 1, 2, 3), range(3, 15), range(3, 15), range(2, 10)))
    n2, h2, w2, t2 = (
        random.choice((1, 2, 4)),
        h + random.randint(1, 7),
        w + random.randint(1, 7),
        t + random.randint(1, 5),
    )
    n2 = n2 + (n2 == n)
    values = []
    for number in range(random.choice((1, 2, 2, 3, 4))):
        c = random.choice((1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 20, 36))
        kind = random.choice(("image",) * 6 + ("sequence",) * 3 + ("row", "volume", "whole", "whole"))
        if kind == "image" and number and random.random() < 0.5:
            c = values[0].shape[1] if values[0].rank == 4 else c
        d = random.randint(2, 5)
        shapes = {
            "image": ((n, c, h, w), (n2, c, h2, w2)),
            "sequence": ((n, t, c), (n2, t2, c)),
            "row": ((n, c), (n2, c)),
            "volume": ((n, min(c, 4), d, min(h, 7), min(w, 7)), (n2, min(c, 4), d + 1, min(h2, 8), min(w2, 9))),
            "whole": ((n, t), (n2, t2)),
        }[kind]
        traced, other = (filled(shape, kind, generator) for shape in shapes)
        values.append(Value(number, traced, other))
    return values


def filled(shape: tuple[int, ...], kind: str, generator: torch.Generator) -> torch.Tensor:
    """Normal numbers, or whole ones from 0 to 8."""
    return (
        torch.randint(0, 9, shape, generator=generator) if kind == "whole" else torch.randn(shape, generator=generator)
    )


def computed(seed: int, call: Call, step: Step) -> list[Value] | None:
    """What a step gives for both sizes; None if it fails on one, or gives numbers or sizes that are no use."""
    inputs = {value.number: value.traced for value in call.values}
    others = {value.number: value.other for value in call.values if value.other is not None}
    module = Network(seed, inputs, others or None, [step], step.targets)
    found = []
    for given in (inputs, others) if others else (inputs,):
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = module.build()(*module.tensors(given))
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError, NotImplementedError):
            return None
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(step.targets) or not all(map(usable, results)):
            return None
        found.append(results)
    pairs = zip(*found, strict=True) if others else ((one, None) for one in found[0])
    return [Value(number, *pair) for number, pair in zip(step.targets, pairs, strict=True)]


def usable(result: object) -> bool:
    """Whether it is a tensor of some, but not too many, numbers that are neither huge nor NaN."""
    if not isinstance(result, torch.Tensor) or not 0 < result.numel() <= MOST or result.dim() > 6:
        return False
    return (
        bool(torch.isfinite(result).all()) and float(result.abs().max() if result.dtype != torch.bool else 0) < LARGEST
    )
