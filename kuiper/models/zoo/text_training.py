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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    parser.add_argument("--checkpoint", type=Path, default=Path(f"{name}.pt"), help="where an unfinished training is kept")
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
    generator = torch.Generator().manual_seed(options.seed)
    rules = optimizers(model, options.rate)
    state, best = State(), model.state_dict()
    if options.checkpoint.exists():
        saved = torch.load(options.checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        generator.set_state(saved["generator"])
        state, best = State(**saved["state"]), saved["best"]
        for rule, its in zip(rules, saved["optimizers"], strict=True):
            rule.load_state_dict(its)
        print(f"goes on from {options.checkpoint}, step {state.step}, {state.seconds:.0f} s", flush=True)
    peaks = [rule.defaults["lr"] for rule in rules]
    done, losses = progress(state, options), []
    before, last_saved = time.process_time(), time.process_time()
    while done < 1:
        for rule, peak in zip(rules, peaks, strict=True):
            for group in rule.param_groups:
                group["lr"] = peak * rate_at(done)
        losses.append(step(model, task.batch(generator), rules, state))
        now = time.process_time()
        state.seconds, before, past = state.seconds + now - before, now, done
        done = progress(state, options)
        if int(done * CHECKS) > int(past * CHECKS) or done >= 1:
            loss = validation_loss(model, task.validation())
            if loss < state.best_loss:
                state.best_loss, state.best_step = loss, state.step
                best = {name: value.clone() for name, value in model.state_dict().items()}
            mean = sum(losses) / len(losses)
            pace = state.tokens / state.seconds
            print(
                f"{done:5.1%}  step {state.step}  training {mean:.3f}  validation {loss:.4f}  {state.seconds:.0f} s"
                f"  {pace:.0f} tokens/s",
                flush=True,
            )
            losses = []
        if now - last_saved > CHECKPOINT_SECONDS:
            last_saved = now
            keep(options.checkpoint, model, best, rules, generator, state)
    model.load_state_dict(best)
    keep(options.checkpoint, model, best, rules, generator, state)
    return state


def progress(state: State, options: argparse.Namespace) -> float:
    """The part of the training that is done, from 0 to 1."""
    return state.step / options.steps if options.steps else state.seconds / (60 * options.minutes)


def rate_at(done: float) -> float:
    """The part of the highest learning rate that holds when ``done`` of the training is done."""
    if done < WARM_UP:
        return max(done, WARM_UP / 100) / WARM_UP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))


def step(model: nn.Module, tokens: torch.Tensor, rules: Sequence[torch.optim.Optimizer], state: State) -> float:
    """One step of the training; the matrix products run in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        loss = loss_of(model, tokens)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for rule in rules:
        rule.step()
        rule.zero_grad()
    state.step += 1
    state.tokens += tokens[:, 1:].numel()
    return loss.item()


def keep(path: Path, model: nn.Module, best: dict[str, Any], rules: Any, generator: torch.Generator, state: State) -> None:
    """Write all that the training needs to go on, so that a stop while it writes loses nothing."""
    temporary = path.with_suffix(".part")
    torch.save(
        {
            "model": model.state_dict(),
            "best": best,
            "optimizers": [rule.state_dict() for rule in rules],
            "generator": generator.get_state(),
            "state": asdict(state),
        },
        temporary,
    )
    temporary.replace(path)


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
    """Write ``config.json``, ``model.safetensors`` in float16, and the card, in the form of Hugging Face's folders."""
    from safetensors.torch import save_file

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
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    text = json.dumps(card, indent=2, ensure_ascii=False)
    (folder / f"{card['name']}.json").write_text(text + "\n", encoding="utf-8")
