"""Pictures from pictures: larger ones, cleaner ones, ones in another style.

    photo -> (pixel / 255 - mean) / std -> model -> output * std + mean, cut to 0..1 -> picture

A model with one channel works on brightness alone, to which the eye is most sensitive: Y of YCbCr (ITU-R BT.601, as in
JPEG). The two channels of colour are then the photo's own, resized bicubically to what comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from kuiper.errors import ShapeError
from kuiper.models.pictures.preprocess import Array, normalise

if TYPE_CHECKING:
    from kuiper.models.cards.model_card import ImageCard


def picture_input(photo: Image.Image, card: ImageCard, luma: bool = False) -> Array:
    """The model's input for a photo.

    Parameters
    ----------
    photo : a picture in RGB
    card : the mean and the standard deviation by which pixels are normalised
    luma : True gives the brightness only, for models with one channel

    Returns
    -------
    float32 (1, 3, h, w) with red, green and blue, or with ``luma`` (1, 1, h, w).

    Examples
    --------
    >>> from kuiper.models.cards.model_card import ImageCard
    >>> picture_input(Image.new("RGB", (1, 1), (255, 0, 0)), ImageCard(), luma=True).round(2).tolist()
    [[[[0.30000001192092896]]]]
    """
    if luma:
        return normalise(photo.convert("YCbCr").getchannel("Y"), card.mean, card.std)[:, :1]
    return normalise(photo, card.mean, card.std)


def picture_output(
    output: Array, card: ImageCard, photo: Image.Image | None = None, where: str = "model"
) -> Image.Image:
    r"""The picture that an output is; what is below 0 or above 1 is cut off, and NaN becomes black.

    Parameters
    ----------
    output : floats (1, 3, h, w), or (1, 1, h, w) for brightness only
    card : the mean and the standard deviation that the output is multiplied and moved by
    photo : the picture whose colours a brightness gets; without it the result is grey
    where : the name of the model, for error messages

    Returns
    -------
    A picture in mode RGB or L, (h, w) pixels large; values are rounded to the nearest of 256 levels.

    Raises
    ------
    ShapeError
        If the output is no picture.

    Examples
    --------
    >>> from kuiper.models.cards.model_card import ImageCard
    >>> picture_output(np.float32([[[[-1, 0.5, 2]]]]), ImageCard()).tobytes()
    b'\x00\x80\xff'
    """
    shape = output.shape
    if len(shape) != 4 or shape[0] != 1 or shape[1] not in (1, 3) or 0 in shape or output.dtype.kind != "f":
        expected = "floats (1, 3, h, w) or (1, 1, h, w) to make a picture of"
        raise ShapeError(where, expected, f"{output.dtype} of shape {shape}")
    mean, std = (np.array(numbers[: shape[1]], np.float32) for numbers in (card.mean, card.std))
    with np.errstate(over="ignore", invalid="ignore"):
        pixels = np.clip(output[0].transpose(1, 2, 0) * std + mean, 0, 1)
    levels = np.rint(np.nan_to_num(pixels) * 255).astype(np.uint8)
    if shape[1] == 3:
        return Image.fromarray(levels)
    grey = Image.fromarray(levels[:, :, 0])
    if photo is None:
        return grey
    blue, red = (photo.convert("YCbCr").getchannel(name) for name in ("Cb", "Cr"))
    colours = (channel.resize(grey.size, Image.Resampling.BICUBIC) for channel in (blue, red))
    return Image.merge("YCbCr", (grey, *colours)).convert("RGB")
