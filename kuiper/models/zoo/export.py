"""Write a PyTorch model as a PNNX graph: ``NAME.pnnx.param`` and ``NAME.pnnx.bin``.

    python -m kuiper.models.zoo.export --list
    python -m kuiper.models.zoo.export resnet18 -o exported
    python -m kuiper.models.zoo.export resnet18 -o exported --weights resnet18-f37072fd.pth
    python -m kuiper.models.zoo.export yolov5s -o exported --moduleop --check

Without ``--weights`` the model gets weights drawn from ``--seed``. Needs PyTorch and pnnx
(``pip install torch pnnx``); to run what it wrote, neither is needed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import KuiperError, ParameterError
from kuiper.models.conversion import export

if TYPE_CHECKING:
    import torch
    from torch import nn


class Architecture(NamedTuple):
    """The module of ``architectures`` that defines it, the size it is used at, what pnnx can keep whole in it."""

    module: str
    size: int
    moduleop: str = ""


ARCHITECTURES = {
    "cifar_resnet20": Architecture("cifar_resnet", 32),
    "digits_yolo": Architecture("digits_yolo", 320, moduleop="models.yolo.Detect"),
    "mobilenet_v2": Architecture("mobilenet_v2", 224),
    "mobilenet_v3_large": Architecture("mobilenet_v3", 224),
    "mobilenet_v3_small": Architecture("mobilenet_v3", 224),
    "resnet18": Architecture("resnet", 224),
    "resnet34": Architecture("resnet", 224),
    "resnet50": Architecture("resnet", 224),
    "shapes_unet": Architecture("shapes_unet", 64),
    "squeezenet1_1": Architecture("squeezenet", 224),
    "unet": Architecture("unet", 256),
    "unet_bilinear": Architecture("unet", 256),
    "yolov5n": Architecture("yolov5", 640, moduleop="models.yolo.Detect"),
    "yolov5s": Architecture("yolov5", 640, moduleop="models.yolo.Detect"),
}


def create(name: str) -> nn.Module:
    """The architecture of this name with whatever weights torch starts it with.

    Raises
    ------
    ParameterError
        If there is no architecture of this name.
    """
    if name not in ARCHITECTURES:
        raise ParameterError("zoo", f"one of {', '.join(ARCHITECTURES)}", name)
    module = importlib.import_module(f"kuiper.models.zoo.architectures.{ARCHITECTURES[name].module}")
    model: nn.Module = getattr(module, name)()
    return model.eval()


def build(name: str, seed: int = 0) -> nn.Module:
    """The architecture of this name in eval mode, with weights drawn from ``seed``."""
    from kuiper.models.zoo.weights import seed_weights

    model = create(name)
    seed_weights(model, seed, example_input((4, 3, 128, 128), seed))
    return model


def example_input(shape: tuple[int, ...], seed: int = 0) -> torch.Tensor:
    """Normal numbers drawn from ``seed``."""
    import torch

    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def check(model: nn.Module, x: torch.Tensor, param: Path, stored: Path) -> float:
    """max|kuiper - torch| / max|torch| for the exported graph; input and torch's output are stored as an .npz."""
    import torch

    import kuiper

    with torch.no_grad():
        expected = model(x).numpy()
    np.savez_compressed(stored, input_0=x.numpy(), output_0=expected)
    got = np.asarray(kuiper.load(param)(x.numpy()))
    return float(np.abs(got - expected).max() / np.abs(expected).max())


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m kuiper.models.zoo.export",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=ARCHITECTURES, metavar="NAME", help="an architecture (see --list)")
    parser.add_argument("--list", action="store_true", help="print the architectures and their sizes")
    parser.add_argument("-o", "--out", type=Path, default=Path("."), metavar="DIR", help="where the files are written")
    weights = parser.add_mutually_exclusive_group()
    weights.add_argument("--seed", type=int, default=0, help="of the weights (default 0)")
    weights.add_argument("--weights", type=Path, metavar="FILE", help="trained ones: torchvision's .pth, YOLOv5's .pt")
    parser.add_argument("--batch", type=int, default=1, help="images at once (default 1)")
    parser.add_argument("--size", type=int, help="height and width of the input (default: see --list)")
    parser.add_argument("--moduleop", action="store_true", help="keep the head of a YOLOv5 as one operator")
    parser.add_argument("--dynamic", action="store_true", help="leave batch, height and width open in the graph")
    parser.add_argument("--check", action="store_true", help="run it, compare with torch, store input and output")
    options = parser.parse_args(arguments)
    if not options.name and not options.list:
        parser.error("expected the NAME of an architecture, got none; --list shows them")
    if options.moduleop and options.name and not ARCHITECTURES[options.name].moduleop:
        parser.error(f"--moduleop: expected a YOLOv5, got {options.name}")
    if options.batch < 1 or (options.size is not None and options.size < 1):
        parser.error("--batch and --size: expected numbers above 0")
    return options


def run(options: argparse.Namespace) -> None:
    """Do what the command line asks for."""
    from kuiper.models.conversion.torch_weights import load_weights

    architecture = ARCHITECTURES[options.name]
    size = options.size or architecture.size
    if options.weights:
        model = create(options.name)
        load_weights(model, options.weights)
    else:
        model = build(options.name, options.seed)
    x = example_input((options.batch, 3, size, size))
    other = (example_input((options.batch + 1, 3, size + 32, size + 64)),) if options.dynamic else ()
    moduleop = architecture.moduleop if options.moduleop else ""
    param, weights = export(model, (x,), options.out / options.name, moduleop, other)
    print(f"wrote {param} and {weights} ({weights.stat().st_size / 1e6:.1f} MB)")
    if options.check:
        stored = options.out / f"{options.name}.npz"
        difference = check(model, x, param, stored)
        print(f"wrote {stored}; kuiper differs from torch by {difference:.1e} (relative to the largest output)")


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 if all went well, 1 if not, 2 if it was called wrongly."""
    options = parse(arguments)
    if options.list:
        for name, architecture in ARCHITECTURES.items():
            print(f"{name:20} (1, 3, {architecture.size}, {architecture.size})")
        return 0
    try:
        run(options)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "pnnx"):
            raise
        hint = "pip install torch pnnx"
        print(f"export: expected PyTorch and pnnx, got no module {error.name}; {hint}", file=sys.stderr)
        return 1
    except KuiperError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
