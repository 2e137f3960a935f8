"""Name what is on photos: the five likeliest classes with their probabilities, and the time."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import kuiper
from kuiper.errors import KuiperError
from kuiper.models import Classifier, bundled

if TYPE_CHECKING:
    import argparse

_BAR = 30  # characters of a full bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("images", type=Path, nargs="+", metavar="IMAGE", help="photos, in any format that Pillow reads")
    parser.add_argument("--model", type=Path, metavar="MODEL.param", help="default: the bundled CIFAR-10 ResNet-20")
    parser.add_argument("--top", type=int, default=5, help="how many classes to print (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores)")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.threads is not None:
        kuiper.set_num_threads(arguments.threads)
    classifier = Classifier(arguments.model or bundled("cifar_resnet20"))
    failures = 0
    for path in arguments.images:
        started = perf_counter()
        try:
            best = classifier(path, top=arguments.top)
        except KuiperError as error:
            if len(arguments.images) == 1:
                raise
            print(f"{error}\n")
            failures += 1
            continue
        print(f"{path}  {(perf_counter() - started) * 1e3:.1f} ms, {kuiper.get_num_threads()} threads")
        for label, probability in best:
            print(f"  {label:12} {probability:6.1%} {'█' * round(_BAR * probability)}")
        print()
    return 1 if failures else 0
