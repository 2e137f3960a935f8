"""Train ``shapes_unet``, a small U-Net that segments drawn shapes, and export it with pnnx.

    pip install torch==2.13.0 && pip install -e '.[export]'
    python -m zoo.train_shapes_unet --out DIR        # train, export, evaluate
    python -m zoo.train_shapes_unet --out DIR --export-only    # export again from shapes_unet.pt
    python -m zoo.train_shapes_unet --out DIR --evaluate       # run kuiper on the scenes of the test

The weights are stored in float16 (``half_weights``). All end with what ``--evaluate`` does alone: kuiper runs the
exported graph on scenes that no training has seen, and its raw output is compared with torch's if the checkpoint is
there.

Every scene is new, drawn by ``shape_scenes`` while the network learns. The training takes some twenty minutes on one
core. The seed fixes the initial weights and the scenes; the last digits of the scores still depend on the machine's
kernels.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import kuiper
from kuiper.models.conversion import export
from kuiper.models.conversion.torch_weights import load_weights
from kuiper.models.pictures.preprocess import normalise
from kuiper.models.tasks.segmentation import Segmenter
from kuiper.models.zoo.architectures.shapes_unet import shapes_unet
from kuiper.models.zoo.export import example_input
from zoo.half_weights import store_in_half
from zoo.shape_scenes import LABELS, compose

NAME = "shapes_unet"
SIDE = 64  # of the scenes it learns from
BATCH = 16
PEAK_RATE = 4e-3
BACKGROUND_WEIGHT = 0.5  # of its pixels in the loss: they are most of a scene, and the easiest
TEST_SEED, TEST_SCENES, TEST_SIZE = 2026, 200, (96, 128)


class Scores(NamedTuple):
    """How well the classes of pixels are told: ``accuracy`` of all pixels, ``mean_iou`` over the classes."""

    accuracy: float
    mean_iou: float


def batch(seed: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures (BATCH, 3, SIDE, SIDE) from 0 to 1, and the classes (BATCH, SIDE, SIDE) of their pixels."""
    scenes = [compose(seed, step * BATCH + i, (SIDE, SIDE)) for i in range(BATCH)]
    pixels = np.concatenate([normalise(scene.image) for scene in scenes])
    return torch.from_numpy(pixels), torch.from_numpy(np.stack([scene.classes for scene in scenes])).long()


def train(steps: int, seed: int) -> nn.Module:
    """AdamW under a one-cycle schedule; the loss is the cross entropy of each pixel."""
    torch.manual_seed(seed)
    model = shapes_unet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=steps, pct_start=0.2)
    weight = torch.tensor([BACKGROUND_WEIGHT] + [1.0] * (len(LABELS) - 1))
    started, losses = time.perf_counter(), []
    for step in range(steps):
        x, truth = batch(seed, step)
        loss = functional.cross_entropy(model(x), truth, weight)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % 100 == 0:
            seconds = time.perf_counter() - started
            print(f"step {step + 1}/{steps}  loss {np.mean(losses[-100:]):.3f}  {seconds:.0f} s", flush=True)
    return model.eval()


def evaluate(param: Path) -> Scores:
    """The scores of an exported graph on the test's scenes, by kuiper."""
    segmenter, classes = Segmenter(param, labels=LABELS), len(LABELS)
    pairs = np.zeros((classes, classes), np.int64)  # how often the first was taken for the second
    for number in range(TEST_SCENES):
        scene = compose(TEST_SEED, number, TEST_SIZE)
        got = segmenter(scene.image).map
        pairs += np.bincount(scene.classes.ravel() * classes + got.ravel(), minlength=classes**2).reshape(pairs.shape)
    right = pairs.diagonal()
    return Scores(float(right.sum() / pairs.sum()), float(np.mean(right / (pairs.sum(0) + pairs.sum(1) - right))))


def difference(param: Path, model: nn.Module) -> float:
    """max|kuiper - torch| / max|torch| of the scores for one scene of the test."""
    x = normalise(compose(TEST_SEED, 0, TEST_SIZE).image)
    with torch.inference_mode():
        expected = model(torch.from_numpy(x)).numpy()
    return float(np.abs(np.asarray(kuiper.load(param)(x)) - expected).max() / np.abs(expected).max())


def write_card(model: nn.Module, path: Path, scores: Scores, steps: int, seed: int) -> None:
    """What a user of the graph has to know, and how it came about."""
    card = {
        "name": NAME,
        "task": "segment",
        "labels": LABELS,
        "mean": [0, 0, 0],
        "std": [1, 1, 1],
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "data": "scenes of drawn shapes",
        "pixel_accuracy": round(scores.accuracy, 4),
        "mean_iou": round(scores.mean_iou, 4),
        "steps": steps,
        "seed": seed,
    }
    path.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(), help=f"where {NAME}.* are written")
    parser.add_argument("--checkpoint", type=Path, default=Path(f"{NAME}.pt"), help="where torch's weights are kept")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--steps", type=int, default=5000)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--export-only", action="store_true", help="take the weights from the checkpoint")
    only.add_argument("--evaluate", action="store_true", help="only run what is in --out")
    options = parser.parse_args(arguments)
    if options.export_only and not options.checkpoint.is_file():
        parser.error(f"--checkpoint: expected a file of a training, got nothing at {options.checkpoint}")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    model: nn.Module | None = None
    if options.export_only or (options.evaluate and options.checkpoint.exists()):
        model = shapes_unet()
        load_weights(model, options.checkpoint)
        model.eval()
    elif not options.evaluate:
        model = train(options.steps, options.seed)
        torch.save(model.state_dict(), options.checkpoint)
    param = options.out / f"{NAME}.pnnx.param"
    if model and not options.evaluate:  # two sizes, so that the graph takes any
        export(model, (example_input((1, 3, 128, 128)),), options.out / NAME, "", (example_input((2, 3, 160, 192)),))
        store_in_half(param)
    scores = evaluate(param)
    if model and not options.evaluate:
        write_card(model, options.out / f"{NAME}.json", scores, options.steps, options.seed)
    print(f"{NAME}, by kuiper: {scores.accuracy:.2%} of the pixels, mean IoU {scores.mean_iou:.4f}")
    if model:
        print(f"{NAME}: differs from torch by {difference(param, model):.1e} of the largest output")


if __name__ == "__main__":
    main()
