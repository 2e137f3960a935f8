"""Element types by torch's names, as they stand in a file: ``dtype=torch.long``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

ELEMENT_TYPES: dict[str, type[np.generic]] = {
    "torch.float": np.float32,
    "torch.float32": np.float32,
    "torch.double": np.float64,
    "torch.float64": np.float64,
    "torch.half": np.float16,
    "torch.float16": np.float16,
    "torch.long": np.int64,
    "torch.int64": np.int64,
    "torch.int": np.int32,
    "torch.int32": np.int32,
    "torch.short": np.int16,
    "torch.int16": np.int16,
    "torch.char": np.int8,
    "torch.int8": np.int8,
    "torch.uint8": np.uint8,
    "torch.bool": np.bool_,
}


_BY_CODE = (
    "torch.uint8",
    "torch.int8",
    "torch.int16",
    "torch.int32",
    "torch.int64",
    "torch.float16",
    "torch.float32",
    "torch.float64",
    *("a complex type",) * 3,
    "torch.bool",
)
"""What TorchScript's number for an element type stands for."""


def dtype_param(op: RuntimeOperator, key: str = "dtype") -> np.dtype | None:
    """The element type that the operator asks for, by its name or TorchScript's number; None where there is none.

    Raises
    ------
    ParameterError
        If it is not one that NumPy has.
    """
    if not op.has_param(key):
        return None
    value = op.params[key].value
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_BY_CODE)
    name = _BY_CODE[value] if known else op.str_param(key)
    if name not in ELEMENT_TYPES:
        raise ParameterError(op.where, f"{key} among {', '.join(sorted(ELEMENT_TYPES))}", name)
    return np.dtype(ELEMENT_TYPES[name])
