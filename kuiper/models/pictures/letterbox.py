"""Letterbox: a photo of any size in a frame of one size, and the boxes found there brought back.

      photo 450 x 300            frame 640 x 640
    +-----------------+        +-------------------+
    |                 |        |/////// grey //////|  top = (640 - 427) // 2 = 106
    |                 |        +-------------------+
    |                 |  --->  |                   |  scale = min(640 / 450, 640 / 300) = 1.42
    +-----------------+        |                   |  new size: 427 x 640
                               +-------------------+
                               |///////////////////|  of an odd rest the one more goes below, or to the right
                               +-------------------+

As Ultralytics' ``LetterBox(auto=False)`` does it for YOLOv5 and its followers, whose networks have seen nothing else.
Sizes are (height, width), boxes x1, y1, x2, y2 in pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from kuiper.errors import ParameterError, ShapeError
from kuiper.models.pictures.preprocess import Array, check_pixels, to_rgb

GREY = 114


@dataclass(frozen=True)
class Letterbox:
    """Where a photo lies in its frame. ``Letterbox.fit`` makes one.

    >>> frame = Letterbox.fit((300, 450), (640, 640))
    >>> frame.new_size, frame.top, frame.left
    ((427, 640), 106, 0)
    >>> frame.apply(Image.new("RGB", (450, 300))).size
    (640, 640)
    >>> frame.to_photo(np.float32([[0, 106, 640, 1000]])).tolist()
    [[0.0, 0.0, 450.0, 300.0]]
    """

    photo_size: tuple[int, int]
    box_size: tuple[int, int]
    scale: float
    new_size: tuple[int, int]
    top: int
    left: int

    @classmethod
    def fit(cls, photo_size: tuple[int, int], box_size: tuple[int, int], *, scale_up: bool = True) -> Letterbox:
        """The letterbox for photos of one size in a frame of one size.

        Parameters
        ----------
        photo_size : (height, width) of the photo
        box_size : (height, width) of the frame
        scale_up : False leaves a photo that is smaller than the frame as large as it is

        Returns
        -------
        Where the photo lies in its frame.

        Raises
        ------
        ParameterError
            If a side is not above 0, or the frame has more than ``picture_file.MAX_PIXELS``.

        Examples
        --------
        >>> Letterbox.fit((100, 200), (640, 640)).new_size
        (320, 640)
        >>> Letterbox.fit((100, 200), (640, 640), scale_up=False).new_size
        (100, 200)
        """
        if min(*photo_size, *box_size) < 1:
            raise ParameterError("letterbox", "sides above 0", f"photo {photo_size}, frame {box_size}")
        check_pixels("letterbox", *box_size)
        scale = min(box_size[0] / photo_size[0], box_size[1] / photo_size[1])
        if not scale_up:
            scale = min(scale, 1.0)
        height, width = (max(round(side * scale), 1) for side in photo_size)
        # Ultralytics writes round(rest / 2 - 0.1), which is this for every whole rest
        top, left = (box_size[0] - height) // 2, (box_size[1] - width) // 2
        return cls(photo_size, box_size, scale, (height, width), top, left)

    def apply(self, image: Image.Image, fill: int = GREY) -> Image.Image:
        """The photo in its frame, in RGB.

        The photo is sampled bilinearly without smoothing first, also where it shrinks, as OpenCV's ``INTER_LINEAR``
        does: those pixels a YOLO has been trained on. ``Image.resize`` would average over all pixels that become one,
        and be up to 60 levels off; ``Image.transform`` samples four, and is off by one at most, because it cuts
        fractions off where OpenCV rounds them.

        Parameters
        ----------
        image : the photo
        fill : the grey around it, 0 to 255

        Returns
        -------
        A picture of the size of the frame.

        Raises
        ------
        ShapeError
            If it is not a photo of the size that this letterbox was made for.

        Examples
        --------
        >>> frame = Letterbox.fit((100, 200), (64, 64)).apply(Image.new("RGB", (200, 100), "red"))
        >>> frame.getpixel((0, 0)), frame.getpixel((32, 32))
        ((114, 114, 114), (255, 0, 0))
        """
        if (image.height, image.width) != self.photo_size:
            raise ShapeError("letterbox", f"a photo of (height, width) {self.photo_size}", (image.height, image.width))
        height, width = self.new_size
        whole = (0, 0, image.width, image.height)
        scaled = to_rgb(image).transform((width, height), Image.Transform.EXTENT, whole, Image.Resampling.BILINEAR)
        frame = Image.new("RGB", self.box_size[::-1], (fill, fill, fill))
        frame.paste(scaled, (self.left, self.top))
        return frame

    def to_photo(self, boxes: Array) -> Array:
        """Boxes (n, 4) in the frame as boxes on the photo, float32; what reaches beyond the photo ends at its edge.

        Raises
        ------
        ShapeError
            If ``boxes`` is not (n, 4).
        """
        boxes = np.asarray(boxes, np.float32)
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise ShapeError("letterbox", "boxes (n, 4)", boxes.shape)
        height, width = self.photo_size
        moved = (boxes - np.array([self.left, self.top] * 2, np.float32)) / np.float32(self.scale)
        clipped: Array = np.clip(moved, 0, np.array([width, height] * 2, np.float32))
        return clipped
