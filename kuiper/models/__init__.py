"""Floor 5: from photos to answers. Reading pictures, classifying them, and the models that come with kuiper.

Nothing here needs PyTorch but the scripts and architectures in ``zoo``.
"""

from __future__ import annotations

from kuiper.models.bundle import bundled, bundled_photo
from kuiper.models.classification import Classifier
from kuiper.models.model_card import ModelCard

__all__ = ["Classifier", "ModelCard", "bundled", "bundled_photo"]
