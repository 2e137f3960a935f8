"""Which input of a decoder is what, told by shapes and element types alone.

tokens       integers (b, s): the first input of this kind
caches       floats (b, heads, past, width), all of one b and one past: keys and values of ``past`` tokens
positions    other integers (s,), (1, s) or (b, s): the places past, past + 1, ...
mask         (b, past + s): ones, for no token is hidden
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Arrays = tuple[np.ndarray, ...]
    Shape = tuple[int, ...]

EXPECTED = "tokens (b, s) of integers, and caches (b, heads, past, width) of floats"


class DecoderInputs(NamedTuple):
    """The places of the inputs, by what they are, and the sizes that they share.

    Examples
    --------
    >>> tokens, cache, mask = np.zeros((1, 4), np.int64), np.zeros((1, 2, 6, 8), np.float32), np.zeros((1, 10), bool)
    >>> DecoderInputs.of([tokens, cache, cache, mask])
    DecoderInputs(tokens=0, caches=(1, 2), positions=(), masks=(3,), length=4, past=6)
    """

    tokens: int
    caches: tuple[int, ...]
    positions: tuple[int, ...]
    masks: tuple[int, ...]
    length: int
    past: int

    @classmethod
    def of(cls, inputs: Sequence[np.ndarray]) -> DecoderInputs:
        """What the inputs of a decoder are.

        Raises
        ------
        ExportError
            If there are no tokens or no caches, or if an input is none of the four kinds.
        """
        whole = [i for i, array in enumerate(inputs) if array.dtype.kind in "iu" and array.ndim == 2]
        caches = tuple(i for i, array in enumerate(inputs) if array.dtype.kind == "f" and array.ndim == 4)
        pasts = {(inputs[i].shape[0], inputs[i].shape[2]) for i in caches}
        if not whole or len(caches) < 2:
            raise ExportError("state", EXPECTED, _shapes(inputs))
        if len(pasts) > 1:
            raise ExportError("state", "caches (b, heads, past, width) of one b and one past", _shapes(inputs))
        tokens, ((batch, past),) = whole[0], pasts
        length = inputs[tokens].shape[1]
        positions, masks = [], []
        for i, array in enumerate(inputs):
            if i == tokens or i in caches:
                continue
            if array.dtype.kind in "iu" and array.shape in ((length,), (1, length), (batch, length)):
                positions.append(i)
            elif array.shape == (batch, past + length):
                masks.append(i)
            else:
                known = f"positions (1, {length}) or a mask ({batch}, {past + length}) beside tokens and caches"
                raise ExportError(f"input {i}", known, f"{array.shape} {array.dtype}")
        return cls(tokens, caches, tuple(positions), tuple(masks), length, past)

    def shapes(self, inputs: Sequence[np.ndarray], length: int, past: int) -> list[Shape]:
        """The shapes of all inputs for calls of another length behind another past."""
        changed = [array.shape for array in inputs]
        for i in (self.tokens, *self.positions):
            changed[i] = (*changed[i][:-1], length)
        for i in self.caches:
            changed[i] = (*changed[i][:2], past, changed[i][3])
        for i in self.masks:
            changed[i] = (*changed[i][:-1], past + length)
        return changed

    def consistent(self, inputs: Sequence[np.ndarray]) -> Arrays:
        """The inputs with the positions that follow the past, and masks that hide nothing."""
        arrays = list(inputs)
        length, past = arrays[self.tokens].shape[1], arrays[self.caches[0]].shape[2]
        for i in self.positions:
            places = np.arange(past, past + length, dtype=arrays[i].dtype)
            arrays[i] = np.ascontiguousarray(np.broadcast_to(places, arrays[i].shape))
        for i in self.masks:
            arrays[i] = np.ones_like(arrays[i])
        return tuple(arrays)

    def call(self, inputs: Sequence[np.ndarray], tokens: np.ndarray, caches: Sequence[np.ndarray]) -> Arrays:
        """The inputs of a call with these tokens (b, s) and these caches, in the order of ``caches``."""
        past = caches[0].shape[2]
        shapes = self.shapes(inputs, tokens.shape[1], past)
        arrays = [np.zeros(shape, array.dtype) for shape, array in zip(shapes, inputs, strict=True)]
        arrays[self.tokens] = tokens.astype(inputs[self.tokens].dtype)
        for i, cache in zip(self.caches, caches, strict=True):
            arrays[i] = cache
        return self.consistent(arrays)


def _shapes(inputs: Sequence[np.ndarray]) -> str:
    return ", ".join(f"{array.shape} {array.dtype}" for array in inputs) or "no inputs"
