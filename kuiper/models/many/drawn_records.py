"""Records of detections, and each picture once more with its boxes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.models.pictures.preprocess import read_image
from kuiper.models.predictor import failure
from kuiper.models.tasks.drawing import draw_detections

if TYPE_CHECKING:
    from kuiper.models.predictor import Predictor, Record

_AS_THEY_ARE = {".bmp", ".jpg", ".jpeg", ".png", ".webp"}
"""The endings of pictures that are drawn in their own format; all others become PNG."""


@dataclass(frozen=True)
class DrawnRecords:
    """``Predictor.record`` that also saves the picture with its boxes: in ``folder``, as it lay in ``root``."""

    predictor: Predictor
    root: str
    folder: str

    def __call__(self, path: str) -> Record:
        """The record of a picture within ``root``; "drawing" says where it was drawn.

        Raises
        ------
        OSError
            If the drawing cannot be written.
        """
        self.predictor.load()
        try:
            picture = read_image(path)
            detections = self.predictor(picture)
            record = self.predictor.describe(path, picture, detections)
        except Exception as error:  # as in Predictor.record
            return failure(path, error)
        drawing = self.place(path)
        drawing.parent.mkdir(parents=True, exist_ok=True)
        try:
            draw_detections(picture, detections).save(drawing)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None):
                raise
            return failure(path, error)  # the format cannot hold it
        return record | {"drawing": str(drawing)}

    def place(self, path: str) -> Path:
        """Where a picture is drawn.

        >>> DrawnRecords(None, "/photos", "/drawn").place("/photos/may/1.tif").as_posix()
        '/drawn/may/1.tif.png'
        """
        drawing = Path(self.folder, os.path.relpath(path, self.root))
        return drawing if drawing.suffix.lower() in _AS_THEY_ARE else drawing.with_name(f"{drawing.name}.png")
