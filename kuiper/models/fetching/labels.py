"""The names of ImageNet's classes, which the official classifiers were trained to tell apart."""

from __future__ import annotations


def imagenet_labels() -> list[str]:
    """ImageNet's 1000 classes as torchvision names them; none if torchvision is not installed, or does not load."""
    try:
        from torchvision.models import ResNet18_Weights
    except (ImportError, OSError, RuntimeError):  # the last two: a torchvision that was built for another torch
        return []
    return list(ResNet18_Weights.DEFAULT.meta["categories"])


def numbered_labels(count: int) -> list[str]:
    """Names for classes whose names are not known.

    >>> numbered_labels(2)
    ['class 0', 'class 1']
    """
    return [f"class {i}" for i in range(count)]
