"""What an input of a model looks like, and made-up ones that look like that."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "u8": np.uint8,
    "bool": np.bool_,
}
"""The element types of inputs: what a .param file calls them, and NumPy."""

KIND_NAMES = {np.dtype(dtype).name: kind for kind, dtype in KINDS.items()}
"""What PyTorch and NumPy call the element types of inputs, and what pnnx does."""

EXPECTED = "sizes, perhaps an element type and a range, like 1,3,224,224 or 1,10:i64 or 1,10:i64:0..999"

LARGEST = 2**31
"""Numbers in an input at most."""

_SPEC = re.compile(r"(?P<shape>[^:]*)(:(?P<kind>[^:]*)(:(?P<low>[^:]+?)\.\.(?P<high>[^:]+))?)?")


@dataclass(frozen=True)
class InputSpec:
    """A shape, an element type of ``KINDS`` (none: what the model wants, float32 if it does not say), a range.

    Without a range, floats are drawn from the normal distribution, integers from 0 to 9, bytes from 0 to 255.
    """

    shape: tuple[int, ...]
    kind: str = ""
    limits: tuple[float, float] | None = None

    @classmethod
    def parse(cls, text: str) -> InputSpec:
        """The input that a command line describes.

        >>> InputSpec.parse("1,3,224,224").shape
        (1, 3, 224, 224)
        >>> InputSpec.parse("()").shape
        ()
        >>> InputSpec.parse("1,10:i64:0..999")
        InputSpec(shape=(1, 10), kind='i64', limits=(0.0, 999.0))

        Raises
        ------
        ParameterError
            If it is not such a description.
        """
        found = _SPEC.fullmatch(text.strip())
        try:
            if found is None or (found["kind"] == "" and not found["low"]):
                raise ValueError
            sizes = found["shape"].strip()
            shape = () if sizes == "()" else tuple(int(size) for size in sizes.strip("()[]").split(","))
            limits = (float(found["low"]), float(found["high"])) if found["low"] else None
        except ValueError as error:
            raise ParameterError("--input", EXPECTED, repr(text)) from error
        kind = found["kind"] or ""
        if kind and kind not in KINDS:
            raise ParameterError("--input", f"an element type of {', '.join(KINDS)}", repr(kind))
        if any(size < 1 for size in shape) or math.prod(shape) > LARGEST:
            raise ParameterError("--input", f"sizes above 0, and not more than {LARGEST:,} numbers", repr(text))
        if limits and not limits[0] <= limits[1]:
            raise ParameterError("--input", "a range from small to large, like 0..9", repr(text))
        return cls(shape, kind, limits)

    def of_kind(self, kind: str) -> InputSpec:
        """The same with this element type if it had none."""
        return self if self.kind else replace(self, kind=kind)

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        """An array of this shape and type."""
        dtype = np.dtype(KINDS[self.kind or "f32"])
        if dtype.kind == "f" and self.limits is None:
            return np.asarray(generator.standard_normal(self.shape), dtype)
        if dtype.kind == "f" and self.limits is not None:
            return np.asarray(generator.uniform(self.limits[0], self.limits[1], self.shape), dtype)
        low, high = self.limits or (0, {"b": 1, "u": 255}.get(dtype.kind, 9))
        return np.asarray(generator.integers(int(low), int(high) + 1, self.shape), dtype)

    def __str__(self) -> str:
        """As ``parse`` takes it, without the range."""
        return (",".join(map(str, self.shape)) or "()") + (f":{self.kind}" if self.kind else "")


def draw_inputs(specs: Sequence[InputSpec], seed: int) -> tuple[np.ndarray, ...]:
    """An array for each spec, all decided by ``seed``.

    >>> [array.shape for array in draw_inputs([InputSpec((2, 3)), InputSpec((4,), "i64")], seed=0)]
    [(2, 3), (4,)]
    """
    generator = np.random.default_rng(seed)
    return tuple(spec.draw(generator) for spec in specs)
