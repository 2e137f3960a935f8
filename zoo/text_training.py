"""What the trainings of small language models share: the loop, its schedule, its checkpoint, and the folder it writes.

A training can be stopped at any time: the same command goes on from its checkpoint.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from kuiper.graph import pnnx
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.language_model import of_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kuiper.models.zoo.architectures.llama import LlamaConfig, LlamaForCausalLM

CHECKS = 30
"""How often a training measures the validation loss, and keeps the weights if they are the best so far."""
WARM_UP = 0.03
"""The part of a training in which the learning rate rises; from there on it falls along a cosine to a fiftieth."""
CHECKPOINT_SECONDS = 60.0


@dataclass
class State:
    """How far a training has come."""

    step: int = 0
    seconds: float = 0.0
    best_loss: float = math.inf
    best_step: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Task:
    """What a training learns from: ``batch`` draws tokens (b, t + 1), ``validation`` gives the same ones each time."""

    batch: Callable[[torch.Generator], torch.Tensor]
    validation: Callable[[], Iterable[torch.Tensor]]


def parse(description: str | None, name: str, arguments: list[str] | None) -> argparse.Namespace:
    """The options that all of these trainings take."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the text to learn from")
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written")
    parser.add_argument(
        "--checkpoint", type=Path, default=Path(f"{name}.pt"), help="where an unfinished training is kept"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=3e-3, help="the highest learning rate")
    end = parser.add_mutually_exclusive_group(required=True)
    end.add_argument("--steps", type=int, help="the length of the training in steps")
    end.add_argument("--minutes", type=float, help="the length in minutes of processor time")
    return parser.parse_args(arguments)


def loss_of(model: nn.Module, tokens: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    """The cross entropy, in nats, of each token (b, t + 1) but the first, given those before it."""
    scores = model(tokens[:, :-1])
    return functional.cross_entropy(scores.flatten(0, 1).float(), tokens[:, 1:].flatten(), reduction=reduction)


@torch.no_grad()
def validation_loss(model: nn.Module, batches: Iterable[torch.Tensor]) -> float:
    """The mean loss over all tokens of ``batches``, in float32 and without dropout."""
    model.eval()
    total = count = 0.0
    for tokens in batches:
        total += float(loss_of(model, tokens, "sum"))
        count += tokens[:, 1:].numel()
    model.train()
    return total / count


def optimizers(model: nn.Module, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for the embedding and the normalisations."""
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    muon = torch.optim.Muon(matrices, lr=2 * rate, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    return [muon, torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.95), weight_decay=0.01)]


def train(model: LlamaForCausalLM, task: Task, options: argparse.Namespace) -> State:
    """Train ``model``; afterwards it has the weights with the lowest validation loss."""
    training = Training(model, options)
    last_kept = before = time.process_time()
    while (done := training.done()) < 1:
        training.step(task.batch(training.generator))
        now = time.process_time()
        training.state.seconds, before = training.state.seconds + now - before, now
        if int(training.done() * CHECKS) > int(done * CHECKS):
            training.check(task)
        if now - last_kept > CHECKPOINT_SECONDS:
            training.keep()
            last_kept = now
    training.keep()
    model.load_state_dict(training.best)
    return training.state


class Training:
    """A model with all that its training changes, which a checkpoint keeps."""

    def __init__(self, model: LlamaForCausalLM, options: argparse.Namespace) -> None:
        self.model, self.options = model, options
        self.rules = optimizers(model, options.rate)
        self.generator = torch.Generator().manual_seed(options.seed)
        self.state, self.best = State(), model.state_dict()
        self.losses: list[float] = []  # since the last check
        if options.checkpoint.exists():
            self._go_on()

    def _go_on(self) -> None:
        saved = torch.load(self.options.checkpoint, weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.generator.set_state(saved["generator"])
        self.state, self.best = State(**saved["state"]), saved["best"]
        for rule, its in zip(self.rules, saved["optimizers"], strict=True):
            rule.load_state_dict(its)
        print(f"goes on from {self.options.checkpoint}, step {self.state.step}", flush=True)

    def keep(self) -> None:
        """Write the checkpoint, so that a stop while it is written loses nothing."""
        content = {
            "model": self.model.state_dict(),
            "best": self.best,
            "optimizers": [rule.state_dict() for rule in self.rules],
            "generator": self.generator.get_state(),
            "state": asdict(self.state),
        }
        temporary = self.options.checkpoint.with_suffix(".part")
        torch.save(content, temporary)
        temporary.replace(self.options.checkpoint)

    def done(self) -> float:
        """The part of the training that is done, from 0 to 1."""
        if self.options.steps:
            return float(self.state.step / self.options.steps)
        return float(self.state.seconds / (60 * self.options.minutes))

    def step(self, tokens: torch.Tensor) -> None:
        """Learn from tokens (b, t + 1); the matrix products run in bfloat16."""
        for rule in self.rules:
            for group in rule.param_groups:
                group["lr"] = rule.defaults["lr"] * rate_at(self.done())
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(self.model, tokens)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for rule in self.rules:
            rule.step()
            rule.zero_grad()
        self.state.step += 1
        self.state.tokens += tokens[:, 1:].numel()
        self.losses.append(loss.item())

    def check(self, task: Task) -> None:
        """Measure the validation loss, keep the weights if they are the best so far, and say how it goes."""
        loss, state = validation_loss(self.model, task.validation()), self.state
        if loss < state.best_loss:
            state.best_loss, state.best_step = loss, state.step
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}
        mean = sum(self.losses) / len(self.losses)
        self.losses.clear()
        print(
            f"{self.done():6.1%}  step {state.step}  training {mean:.3f}  validation {loss:.4f}"
            f"  {state.seconds:.0f} s  {state.tokens / state.seconds:.0f} tokens/s",
            flush=True,
        )


def rate_at(done: float) -> float:
    """The part of the highest learning rate that holds when ``done`` of the training is done."""
    if done < WARM_UP:
        return max(done, WARM_UP / 100) / WARM_UP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))


@torch.no_grad()
def sample(model: LlamaForCausalLM, tokens: torch.Tensor, count: int, seed: int, temperature: float) -> torch.Tensor:
    """``tokens`` (b, t) and ``count`` more, drawn from the model one after the other."""
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        scores = model(tokens[:, -model.config.max_position_embeddings :])[:, -1]
        chances = torch.softmax(scores / temperature, dim=-1)
        tokens = torch.cat((tokens, torch.multinomial(chances, 1, generator=generator)), dim=1)
    return tokens


def account(state: State, options: argparse.Namespace) -> dict[str, Any]:
    """How the weights came about, for a card."""
    return {
        "seed": options.seed,
        "steps": state.step,
        "best_step": state.best_step,
        "tokens": state.tokens,
        "seconds": round(state.seconds),
    }


def write_folder(folder: Path, model: LlamaForCausalLM, card: dict[str, Any], end: int | None = None) -> None:
    """Write ``config.json``, ``model.safetensors`` in float16 and the card, as Hugging Face has it; and the graph."""
    from safetensors.torch import save

    folder.mkdir(parents=True, exist_ok=True)
    config: LlamaConfig = model.config
    fields = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        **asdict(config),
        "bos_token_id": None,
        "eos_token_id": end,
        "dtype": "float16",
    }
    (folder / "config.json").write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
    weights = {name: value.to(torch.float16).contiguous() for name, value in model.state_dict().items()}
    (folder / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    text = json.dumps(card, indent=2, ensure_ascii=False)
    (folder / f"{card['name']}.json").write_text(text + "\n", encoding="utf-8")
    write_graph(folder, card["name"])


def write_graph(folder: Path, name: str) -> None:
    """Write what comes with kuiper: ``NAME.pnnx.param`` and ``NAME.pnnx.bin``, its weights in 8 bits."""
    make_graph, _, _ = of_folder(folder)
    graph = make_graph()
    quantize_graph(graph, bits=8)
    pnnx.save(graph, folder / f"{name}.pnnx.param")
