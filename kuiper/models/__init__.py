"""Floor 5: from photos to answers. Reading pictures, naming them, finding what is on them, and the models to do so.

Nothing here needs PyTorch but the scripts and architectures in ``zoo``.
"""

from __future__ import annotations

from kuiper.models.bundle import bundled, bundled_photo
from kuiper.models.classification import Classifier
from kuiper.models.detection import Detection, Detector
from kuiper.models.drawing import draw_detections, draw_regions
from kuiper.models.letterbox import Letterbox
from kuiper.models.model_card import ClassifierCard, DetectorCard, ImageCard, SegmenterCard
from kuiper.models.predictor import Predictor
from kuiper.models.segmentation import Segmentation, Segmenter

__all__ = [
    "Classifier",
    "ClassifierCard",
    "Detection",
    "Detector",
    "DetectorCard",
    "ImageCard",
    "Letterbox",
    "Predictor",
    "Segmentation",
    "Segmenter",
    "SegmenterCard",
    "bundled",
    "bundled_photo",
    "draw_detections",
    "draw_regions",
]
