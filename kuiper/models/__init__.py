"""From photos to answers. Reading pictures, naming them, finding what is on them, and the models to do so.

tasks        what a network is used for: classification, detection, segmentation, image to image
pictures     from a file to the numbers that a network takes
cards        what a model's files say beside its graph: model card, labels
text         language models: from a prompt to the text behind it
many         thousands of pictures, over processes or a cluster
conversion   from PyTorch or ONNX to kuiper's files
onnx         kuiper as a backend of the onnx package, and what others compute from an .onnx file
fetching     official weights
zoo          architectures, training scripts, the bundled models

``predictor`` reads which task a model is for, and runs it on pictures. ``bundle`` and ``lookup`` find a model by its
name; ``elsewhere`` fetches weights that a copy for browsers leaves out. Nothing here needs PyTorch but the scripts and
architectures in ``zoo``.
"""

from __future__ import annotations

from kuiper.models.bundle import bundled, bundled_photo
from kuiper.models.cards.model_card import ClassifierCard, DetectorCard, ImageCard, SegmenterCard
from kuiper.models.pictures.letterbox import Letterbox
from kuiper.models.predictor import Predictor
from kuiper.models.tasks.classification import Classifier
from kuiper.models.tasks.detection import Detection, Detector
from kuiper.models.tasks.drawing import draw_detections, draw_regions
from kuiper.models.tasks.segmentation import Segmentation, Segmenter

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
