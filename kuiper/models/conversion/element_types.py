"""Calls of torch functions in float32, where a module of another width asks for its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    import torch

CASTS = ("double", "half", "bfloat16")
"""Methods of tensors that are named like the type to which they cast."""


def in_float32(widths: AbstractSet[torch.dtype], function: Any, args: Any, kwargs: Any) -> Any:
    """Make the call of a torch function with float32 in the place of other types.

    Constants of a forward pass, and casts in it, are of the type that its weights had. Beside weights in float32 they
    would make other numbers of everything, or an error: PyTorch multiplies no float64 with float32.

    Parameters
    ----------
    widths : the types that weights had before they became float32
    function, args, kwargs : the call

    Returns
    -------
    What the call returns; tensors of these types as float32.
    """
    import torch

    def narrow(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.float() if value.dtype in widths else value
        if isinstance(value, torch.dtype):
            return torch.float32 if value in widths else value
        if type(value) in (list, tuple):
            return type(value)(map(narrow, value))
        return value

    name = getattr(function, "__name__", "")
    if name in CASTS and _width_of(name) in widths:
        return args[0].float()
    if name == "type" and len(args) == 2 and _width_of(args[1]) in widths:
        return args[0].float()
    return narrow(function(*map(narrow, args), **{key: narrow(value) for key, value in kwargs.items()}))


def _width_of(name: Any) -> torch.dtype | None:
    """The type that ``double``, ``torch.DoubleTensor`` or its name stands for."""
    import torch

    words = {"double": torch.float64, "half": torch.float16, "bfloat16": torch.bfloat16}
    text = name if isinstance(name, str) else getattr(name, "__name__", "")
    return words.get(text.removeprefix("torch.").removesuffix("Tensor").lower())
