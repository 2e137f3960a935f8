"""Train the bundled detector of handwritten digits and export it with pnnx.

    pip install torch==2.13.0 scikit-learn && pip install -e '.[export]'
    python -m zoo.train_digits_yolo
    python -m zoo.train_digits_yolo --resume
    python -m zoo.train_digits_yolo --export-only
    python -m zoo.train_digits_yolo --evaluate

The first trains and exports, the second goes on after the last whole epoch in the checkpoint, the third exports again
from it. All end with what ``--evaluate`` does alone: kuiper runs the exported graph on scenes of held-out digits, and
its raw outputs are compared with torch's if the checkpoint is there. Without ``--out`` the package's own model is
replaced.

The weights are stored in float16 (``half_weights``), and that is nearly all of the difference from torch. The graph has
its head as plain operators. With ``--moduleop`` it is ``digits_yolo_moduleop`` instead, with the head as one operator,
as in exports of the original YOLOv5: the tests compare the two.

Every scene is new, made by ``digit_scenes`` while the network learns. Twenty-six epochs take about ten minutes on two
idle cores, and four times as long on busy ones, where OMP_NUM_THREADS=1 in the environment keeps threads from waiting
for each other. The seed fixes the initial weights and the scenes; the last digits of the scores still depend on the
machine's kernels.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from rich.progress import track
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset

import kuiper
from kuiper.models import bundled
from kuiper.models.conversion import export
from kuiper.models.pictures.letterbox import Letterbox
from kuiper.models.pictures.preprocess import normalise
from kuiper.models.tasks.boxes import Candidates
from kuiper.models.tasks.detection import Detector
from kuiper.models.zoo.architectures.digits_yolo import digits_yolo
from kuiper.models.zoo.export import example_input
from zoo import average_precision
from zoo.average_precision import Scores, Truth
from zoo.digit_scenes import Digits, Scene, compose, load_digits
from zoo.half_weights import store_in_half
from zoo.yolo_loss import loss

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kuiper.models.zoo.architectures.yolov5 import Detect, YoloV5

NAME = "digits_yolo"
HEAD = "models.yolo.Detect"  # the class that --moduleop keeps whole
LABELS = tuple("0123456789")
SIZE = (320, 320)  # of the exported graphs' input
SIDE = 224  # of the scenes it learns from, whose digits are as large as those of the test
SCENES = 2000  # in an epoch
BATCH = 16
WORKERS = 2  # processes that make scenes
PEAK_RATE = 2e-3
AVERAGE_DECAY = 0.99  # the average looks back about a hundred steps
TEST_SEED, TEST_SCENES = 2026, 500

Batch = tuple[torch.Tensor, torch.Tensor]
Item = TypeVar("Item")


class Scenes(Dataset[Batch]):
    """Scenes of one epoch with their truth, made when they are asked for."""

    def __init__(self, digits: Digits, seed: int, epoch: int) -> None:
        self.digits, self.seed, self.epoch = digits, seed, epoch

    def __len__(self) -> int:
        return SCENES

    def __getitem__(self, i: int) -> Batch:
        """A picture (3, SIDE, SIDE) of uint8, in every other scene with grey bars; its boxes (n, 6), image 0."""
        shorter = SIDE - 8 * (i % 8) if i % 2 else SIDE
        size = (shorter, SIDE) if i % 4 == 1 else (SIDE, shorter)
        scene = compose(self.digits, self.seed, self.epoch * SCENES + i, size)
        frame = Letterbox.fit(size, (SIDE, SIDE))
        rows = [
            (0, label, (left + right) / 2 + frame.left, (top + bottom) / 2 + frame.top, right - left, bottom - top)
            for label, left, top, right, bottom in scene.boxes
        ]
        pixels = torch.from_numpy(np.array(frame.apply(scene.image)))
        return pixels.permute(2, 0, 1), torch.tensor(rows, dtype=torch.float32).view(-1, 6)


def watched(items: Iterable[Item], what: str, total: int) -> Iterable[Item]:
    """The same items, with a bar that shows how far we are if somebody is watching."""
    return track(items, what, total, transient=True, disable=not sys.stdout.isatty())


def collate(batch: list[Batch]) -> Batch:
    """Pictures (b, 3, SIDE, SIDE), and all boxes in one table with the number of their picture."""
    for i, (_, truth) in enumerate(batch):
        truth[:, 0] = i
    return torch.stack([image for image, _ in batch]), torch.cat([truth for _, truth in batch])


class Undecoded(nn.Module):
    """In the place of a head: what its convolutions say, before it becomes boxes."""

    def __init__(self, head: Detect) -> None:
        super().__init__()
        self.head = head

    def forward(self, maps: list[torch.Tensor]) -> list[torch.Tensor]:
        return [convolution(x) for convolution, x in zip(self.head.m, maps, strict=True)]


class Training:
    """A model on its way: its weights, their running average, and where the optimizer stands."""

    def __init__(self, epochs: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.epochs, self.seed, self.epoch = epochs, seed, 0
        self.model = digits_yolo()
        self.head: Detect = self.model.model[24]
        expect_little(self.head)
        self.model.model[24] = Undecoded(self.head)
        self.model.to(memory_format=torch.channels_last)
        self.average = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(AVERAGE_DECAY), use_buffers=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=PEAK_RATE, weight_decay=0.01)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, PEAK_RATE, total_steps=epochs * (SCENES // BATCH), pct_start=0.1
        )

    def run_epoch(self, digits: Digits) -> float:
        """Learn from ``SCENES`` new scenes; the mean loss."""
        self.model.train()
        loader = DataLoader(Scenes(digits, self.seed, self.epoch), BATCH, num_workers=WORKERS, collate_fn=collate)
        losses = []
        for images, truth in watched(loader, f"epoch {self.epoch + 1}/{self.epochs}", len(loader)):
            x = (images.float() / 255).to(memory_format=torch.channels_last)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                maps = self.model(x)
            wrong = loss(maps, truth, self.head)
            self.optimizer.zero_grad(set_to_none=True)
            wrong.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
            self.optimizer.step()
            self.schedule.step()
            self.average.update_parameters(self.model)
            losses.append(wrong.item())
        self.epoch += 1
        return float(np.mean(losses))

    def state(self) -> dict[str, Any]:
        """All that is needed to go on."""
        parts = {name: getattr(self, name).state_dict() for name in ("model", "average", "optimizer", "schedule")}
        return {"epochs": self.epochs, "seed": self.seed, "epoch": self.epoch, **parts}

    @classmethod
    def restore(cls, path: Path) -> Training:
        """What ``state`` said, from a file."""
        state = torch.load(path, weights_only=True)
        training = cls(state["epochs"], state["seed"])
        training.epoch = state["epoch"]
        for name in ("model", "average", "optimizer", "schedule"):
            getattr(training, name).load_state_dict(state[name])
        return training

    def detector(self) -> YoloV5:
        """The average of the weights with its head in place."""
        model: YoloV5 = self.average.module
        if isinstance(model.model[24], Undecoded):
            model.model[24] = model.model[24].head
        return model.to(memory_format=torch.contiguous_format).eval()


def expect_little(head: Detect) -> None:
    """Biases for a start at which one cell of a hundred holds a box, and each digit is as likely as any other."""
    for convolution in head.m:
        bias = convolution.bias.detach().view(3, head.no)
        bias[:, 4] = -4.6
        bias[:, 5:] = -2.2


def train(training: Training, checkpoint: Path) -> None:
    """The epochs that are left, each kept in ``checkpoint``."""
    digits = load_digits(held_out=False)
    while training.epoch < training.epochs:
        started = time.perf_counter()
        mean = training.run_epoch(digits)
        torch.save(training.state(), checkpoint)
        seconds = time.perf_counter() - started
        print(f"epoch {training.epoch}/{training.epochs}  loss {mean:.3f}  {seconds:.0f} s", flush=True)


def held_out_scenes(count: int) -> Iterator[Scene]:
    """The scenes of the test, of digits that no training has seen."""
    digits = load_digits(held_out=True)
    return (compose(digits, TEST_SEED, number) for number in range(count))


def evaluate(param: Path) -> Scores:
    """The scores of an exported graph on the test's scenes, by kuiper."""
    detector = Detector(param, labels=LABELS, size=SIZE, confidence=0.001, iou=0.6)
    found, truth = [], []
    for scene in watched(held_out_scenes(TEST_SCENES), "test", TEST_SCENES):
        detections = detector(scene.image)
        found.append(
            Candidates(
                np.array([detection.box for detection in detections], np.float32).reshape(-1, 4),
                np.array([detection.score for detection in detections], np.float32),
                np.array([detection.class_id for detection in detections], np.intp),
            )
        )
        boxes = np.array([box[1:] for box in scene.boxes], np.float32).reshape(-1, 4)
        truth.append(Truth(boxes, np.array([box.label for box in scene.boxes], np.intp)))
    return average_precision.evaluate(found, truth)


def difference(param: Path, model: nn.Module) -> float:
    """max|kuiper - torch| / max|torch| of all that the graph says about 16 scenes of the test."""
    graph = kuiper.load(param)
    pixels = []
    for scene in held_out_scenes(16):
        frame = Letterbox.fit((scene.image.height, scene.image.width), SIZE)
        pixels.append(normalise(frame.apply(scene.image)))
    x = np.concatenate(pixels)
    with torch.inference_mode():
        expected = model(torch.from_numpy(x)).numpy()
    return float(np.abs(np.asarray(graph(x)) - expected).max() / np.abs(expected).max())


def write_card(training: Training, path: Path, scores: Scores) -> None:
    """What a user of the graph has to know, and how it came about."""
    card = {
        "name": path.stem,
        "task": "detect",
        "labels": LABELS,
        "size": SIZE,
        "confidence": 0.25,
        "iou": 0.45,
        "mean": [0, 0, 0],
        "std": [1, 1, 1],
        "parameters": sum(parameter.numel() for parameter in training.model.parameters()),
        "data": "scenes of scikit-learn's handwritten digits",
        "map50": round(scores.map50, 4),
        "map50_95": round(scores.map50_95, 4),
        "epochs": training.epochs,
        "seed": training.seed,
    }
    path.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=bundled(NAME).parent, help=f"where {NAME}*.* are written")
    parser.add_argument("--checkpoint", type=Path, default=Path(f"{NAME}.pt"), help="where torch's weights are kept")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=26)
    parser.add_argument("--moduleop", action="store_true", help="export the head as one operator")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--resume", action="store_true", help="go on from the checkpoint, with its seed and epochs")
    only.add_argument("--export-only", action="store_true", help="take the weights from the checkpoint")
    only.add_argument("--evaluate", action="store_true", help="only run what is in --out")
    options = parser.parse_args(arguments)
    if (options.resume or options.export_only) and not options.checkpoint.is_file():
        parser.error(f"--checkpoint: expected a file of a training, got nothing at {options.checkpoint}")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    training: Training | None = None
    if options.resume or options.export_only or (options.evaluate and options.checkpoint.exists()):
        training = Training.restore(options.checkpoint)
    elif not options.evaluate:
        training = Training(options.epochs, options.seed)
    if training and not (options.export_only or options.evaluate):
        train(training, options.checkpoint)
    name, moduleop = (f"{NAME}_moduleop", HEAD) if options.moduleop else (NAME, "")
    param = options.out / f"{name}.pnnx.param"
    if training and not options.evaluate:
        export(training.detector(), (example_input((1, 3, *SIZE)),), options.out / name, moduleop)
        store_in_half(param)
    scores = evaluate(param)
    if training and not options.evaluate:
        write_card(training, options.out / f"{name}.json", scores)
    print(f"{name}, by kuiper, {TEST_SCENES} scenes: mAP50 {scores.map50:.4f}, mAP50-95 {scores.map50_95:.4f}")
    if training:
        print(f"{name}: differs from torch by {difference(param, training.detector()):.1e} of the largest output")


if __name__ == "__main__":
    main()
