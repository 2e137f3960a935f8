"""Photos: pictures of points, with a caption."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from kuiper.course.errors import CourseError
from kuiper.course.pictures.picture import Picture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

WIDEST = 600
_QUALITY = 88  # of JPEG, in percent
_FEW = 128  # a picture at most so wide is drawn with its points as squares, without loss


def photo(image: Image.Image | ArrayLike, caption: str, width: float | None = None) -> Picture:
    """A photo with its caption, such as what ``draw_detections`` returns.

    Parameters
    ----------
    image : a picture of Pillow, or an array (h, w) or (h, w, 3) of levels from 0 to 255
    caption : what one sees
    width : pixels on the page; by default the photo's own width, at most 600

    >>> photo(np.zeros((20, 30)), "black", width=60).height
    40.0

    Raises
    ------
    CourseError
        If the caption is empty.
    """
    if not caption.strip():
        raise CourseError("photo", "a caption that says what one sees", "none")
    points: Any = image
    if not isinstance(image, Image.Image):
        points = Image.fromarray(np.clip(np.round(np.asarray(image)), 0, 255).astype(np.uint8))
    points = points.convert("RGB")
    shown = float(width or min(points.width, WIDEST))
    file = io.BytesIO()
    is_small = points.width <= _FEW
    if points.width > 2 * shown:
        points = points.resize((round(2 * shown), round(2 * shown * points.height / points.width)))
    points.save(file, **({"format": "png"} if is_small else {"format": "jpeg", "quality": _QUALITY}))
    data = base64.b64encode(file.getvalue()).decode()
    height = shown * points.height / points.width
    kind, style = ("png", ' style="image-rendering:pixelated"') if is_small else ("jpeg", "")
    body = f'<image width="{shown:g}" height="{height:g}" href="data:image/{kind};base64,{data}"{style}/>'
    return Picture(shown, height, body, caption)
