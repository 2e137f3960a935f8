"""Train the bundled CIFAR-10 classifier and export it with pnnx.

    pip install torch==2.13.0 && pip install -e '.[export]'
    python -m zoo.train_cifar_resnet20 --data cifar10_jpeg.npz
    python -m zoo.train_cifar_resnet20 --data cifar10_jpeg.npz --export-only
    python -m zoo.train_cifar_resnet20 --data cifar10_jpeg.npz --evaluate

The first trains and exports, the second exports again from the weights that the first has kept. Both end with what
``--evaluate`` does alone: kuiper runs the exported graph on the test images. Without ``--out`` the
package's own model is replaced.

``--data`` takes an .npz of JPEG bytes (keys ``train_jpeg``, ``train_offset``, ``train_label`` and the same for
``test``; image i is ``jpeg[offset[i]:offset[i + 1]]``), or a folder that torchvision's ``CIFAR10`` fills or downloads
into. Sixty-four epochs take about 35 minutes on two idle cores. The seed fixes the initial weights, the order of the
images and their augmentation; the last digits of the accuracy still depend on the machine's kernels.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

from kuiper.models import bundled
from kuiper.models.conversion import export
from kuiper.models.conversion.torch_weights import load_weights
from kuiper.models.tasks.classification import Classifier
from kuiper.models.zoo.architectures.cifar_resnet import cifar_resnet20
from kuiper.models.zoo.export import example_input

NAME = "cifar_resnet20"
LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
# Per-channel mean and standard deviation of CIFAR-10's training pixels, as fractions of 255.
MEAN = (0.4914, 0.4822, 0.4465)
STD = (0.2470, 0.2435, 0.2616)
PEAK_RATE = 0.25

Split = tuple[torch.Tensor, torch.Tensor]
Labels = npt.NDArray[np.int64]


def load_npz(path: Path) -> tuple[Split, Split]:
    """Decode both splits to uint8 images (n, 3, 32, 32) and int64 labels (n,)."""
    archive = np.load(path)

    def split(name: str) -> Split:
        encoded, offset = archive[f"{name}_jpeg"], archive[f"{name}_offset"]
        images = np.stack(
            [
                np.asarray(Image.open(io.BytesIO(encoded[start:end].tobytes()), formats=["JPEG"]).convert("RGB"))
                for start, end in pairwise(offset)
            ]
        )
        labels = archive[f"{name}_label"].astype(np.int64)
        return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(labels)

    return split("train"), split("test")


def load_torchvision(folder: Path) -> tuple[Split, Split]:
    """The same from torchvision's CIFAR10, downloaded into ``folder`` if it is not there."""
    from torchvision.datasets import CIFAR10

    def split(train: bool) -> Split:
        dataset = CIFAR10(str(folder), train=train, download=True)
        images = torch.from_numpy(dataset.data).permute(0, 3, 1, 2).contiguous()
        return images, torch.tensor(dataset.targets)

    return split(True), split(False)


def normalise(images: torch.Tensor) -> torch.Tensor:
    """uint8 pixels to the float32 input that the network expects."""
    mean = torch.tensor(MEAN).view(1, 3, 1, 1)
    std = torch.tensor(STD).view(1, 3, 1, 1)
    return (images.float() / 255 - mean) / std


def augment(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Shift each image by up to 4 pixels (zero border) and mirror half of them."""
    n = len(images)
    padded = functional.pad(images, (4, 4, 4, 4))
    rows = torch.randint(0, 9, (n, 1), generator=generator) + torch.arange(32)
    columns = torch.randint(0, 9, (n, 1), generator=generator) + torch.arange(32)
    mirrored = torch.rand(n, generator=generator) < 0.5
    columns[mirrored] = columns[mirrored].flip(1)
    batch = torch.arange(n).view(n, 1, 1)
    shifted = padded.permute(0, 2, 3, 1)[batch, rows.view(n, 32, 1), columns.view(n, 1, 32)]
    return shifted.permute(0, 3, 1, 2)


@torch.inference_mode()
def predict(model: nn.Module, images: torch.Tensor) -> Labels:
    """The class of each image, by torch."""
    model.eval()
    return torch.cat([model(normalise(batch)).argmax(1) for batch in images.split(500)]).numpy()


def predict_with_kuiper(param: Path, images: torch.Tensor) -> Labels:
    """The class of each image, by kuiper from the exported graph."""
    classifier = Classifier(param)
    batches = [classifier.logits(normalise(batch).numpy()) for batch in images.split(100)]
    return np.concatenate(batches).argmax(1)


def train(split: Split, epochs: int, seed: int, batch_size: int = 128) -> nn.Module:
    """SGD with Nesterov momentum under a one-cycle schedule, in bfloat16 where the CPU has it."""
    images, labels = split
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = cifar_resnet20()
    steps = len(images) // batch_size
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=PEAK_RATE, total_steps=epochs * steps, pct_start=0.2
    )
    for epoch in range(epochs):
        model.train()
        started, total = time.perf_counter(), 0.0
        order = torch.randperm(len(images), generator=generator)
        for step in range(steps):
            picked = order[step * batch_size : (step + 1) * batch_size]
            x = normalise(augment(images[picked], generator))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = functional.cross_entropy(model(x), labels[picked])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        seconds = time.perf_counter() - started
        print(f"epoch {epoch + 1}/{epochs}  loss {total / steps:.3f}  {seconds:.0f} s", flush=True)
    return model


def write(model: nn.Module, out: Path, test_accuracy: float, epochs: int, seed: int) -> None:
    """The graph, its weights and its card."""
    export(model, (example_input((1, 3, 32, 32)),), out / NAME)
    card = {
        "name": NAME,
        "labels": LABELS,
        "mean": MEAN,
        "std": STD,
        "size": 32,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "data": "CIFAR-10",
        "test_accuracy": test_accuracy,
        "epochs": epochs,
        "seed": seed,
    }
    (out / f"{NAME}.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="an .npz file or a torchvision folder")
    parser.add_argument("--out", type=Path, default=bundled(NAME).parent, help=f"where {NAME}.* is written")
    parser.add_argument("--checkpoint", type=Path, default=Path(f"{NAME}.pt"), help="where torch's weights are kept")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=64)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--export-only", action="store_true", help="take the weights from the checkpoint")
    only.add_argument("--evaluate", action="store_true", help="only run what is in --out")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    load = load_npz if options.data.is_file() else load_torchvision
    train_split, (images, labels) = load(options.data)
    expected: Labels | None = None
    if not options.evaluate:
        if options.export_only:
            model: nn.Module = cifar_resnet20()
            load_weights(model, options.checkpoint)
        else:
            model = train(train_split, options.epochs, options.seed)
            torch.save(model.state_dict(), options.checkpoint)
        expected = predict(model, images)
        test_accuracy = float(np.mean(expected == labels.numpy()))
        write(model, options.out, test_accuracy, options.epochs, options.seed)
        print(f"test accuracy with torch   {test_accuracy:.4f}")
    got = predict_with_kuiper(options.out / f"{NAME}.pnnx.param", images)
    print(f"test accuracy with kuiper  {np.mean(got == labels.numpy()):.4f}")
    if expected is not None:
        print(f"predictions that differ    {np.sum(got != expected)} of {len(got)}")


if __name__ == "__main__":
    main()
