"""A network as data: steps that read values and give values, as Python text that can be printed, run and cut down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import nn

from tests.networks import functions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Step:
    """One call: its text with ``{0}``, ``{1}``, ... for the values it reads and ``{m}`` for its module, if it has one.

    ``sources`` and ``targets`` are numbers of values; several targets mean that the call gives a tuple.
    """

    call: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    module: str = ""

    @property
    def key(self) -> str:
        """What its module is called."""
        return f"m{self.targets[0]}"

    def line(self) -> str:
        """The statement in ``forward``."""
        values = [f"v{number}" for number in self.sources]
        return f"{self.given()} = {self.call.format(*values, m=f'self.{self.key}')}"

    def given(self) -> str:
        """The names of what it gives."""
        return ", ".join(f"v{number}" for number in self.targets)


@dataclass(frozen=True)
class Network:
    """Inputs by number, steps in order, and the numbers of the outputs.

    ``inputs`` is what is traced, ``others`` the same values for other sizes; if there are none, sizes are fixed.
    ``open_sizes`` says whether pnnx is told of the other sizes, so that it leaves the axes open.
    """

    seed: int
    inputs: Mapping[int, torch.Tensor]
    others: Mapping[int, torch.Tensor] | None
    steps: Sequence[Step]
    outputs: Sequence[int]
    open_sizes: bool = False

    def source(self, noisy: bool = False) -> str:
        """The network as a class in Python, with the shapes of its inputs; ``noisy``: ``noise`` sees each value."""
        arguments = ", ".join(f"v{number}" for number in self.inputs)
        made = [f"        self.{step.key} = {step.module}" for step in self.steps if step.module]
        shapes = [shapes_line(self.inputs), *([shapes_line(self.others)] if self.others else [])]
        return "\n".join(
            [
                "class Network(nn.Module):",
                "    def __init__(self):",
                "        super().__init__()",
                *made,
                f"    def forward(self, {arguments}):",
                *(f"        # {line}" for line in shapes),
                *([f"        {arguments}, = noise({arguments},)"] if noisy else []),
                *(f"        {line}" for step in self.steps for line in _statements(step, noisy)),
                f"        return {', '.join(f'v{number}' for number in self.outputs)}",
            ]
        )

    def build(self) -> nn.Module:
        """The class, made once, with weights from the seed: the same step has the same weights in a smaller network."""
        module = made(self.source())
        for step in self.steps:
            if step.module:
                fill(getattr(module, step.key), self.seed * 1000 + step.targets[0])
        return module.eval()

    def in_double(self, noise: Callable[..., Tensors] | None = None) -> nn.Module:
        """The same in float64; ``noise`` changes the values that it is given, the inputs and those of each step."""
        text = self.source(noisy=noise is not None).replace(".float()", ".double()").replace("float32", "float64")
        module = made(text, noise=noise)
        module.load_state_dict(self.build().state_dict())
        return module.double().eval()

    def tensors(self, which: Mapping[int, torch.Tensor]) -> Tensors:
        """The inputs in the order of the arguments."""
        return tuple(which[number] for number in self.inputs)


def made(source: str, **names: object) -> nn.Module:
    """The module whose class this text defines."""
    known = {"nn": nn, "F": F, "torch": torch, "f": functions, "__name__": __name__, **names}
    exec(source, known)
    module: nn.Module = known["Network"]()  # type: ignore[operator]
    return module


def _statements(step: Step, noisy: bool) -> list[str]:
    return [step.line(), *([f"{step.given()}, = noise({step.given()},)"] if noisy else [])]


def shapes_line(inputs: Mapping[int, torch.Tensor]) -> str:
    """For a comment: what is what."""
    words = []
    for number, tensor in inputs.items():
        kind = "" if tensor.dtype == torch.float32 else str(tensor.dtype).removeprefix("torch.")
        words.append(f"v{number} {tuple(tensor.shape)} {kind}".rstrip())
    return "; ".join(words)


def fill(module: nn.Module, seed: int) -> None:
    """Seeded parameters that keep numbers about as large as they are, and seeded running statistics."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            fan_in = max(1, parameter[0].numel()) if parameter.dim() > 1 else 1
            values = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(values / math.sqrt(fan_in))
            elif name.endswith("weight"):
                parameter.copy_(1 + 0.3 * values)
            else:
                parameter.copy_(0.3 * values)
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(0.3 * torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.copy_(torch.rand(buffer.shape, generator=generator) + 0.5)


def alive(steps: Sequence[Step], outputs: Sequence[int]) -> list[Step]:
    """The steps that the outputs need."""
    needed, kept = set(outputs), []
    for step in reversed(steps):
        if needed.intersection(step.targets):
            needed.update(step.sources)
            kept.append(step)
    return kept[::-1]
