"""Arrays that answer to the methods of tensors, and functions on them by their names in torch: for tests without it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


class Numbers(np.ndarray):
    """An array as a tensor; its quotients and functions are those of the torch that was made last."""

    torch: Any = None

    @staticmethod
    def zeros(*shape: int) -> Numbers:
        """As torch.zeros."""
        return np.zeros(shape, np.float32).view(Numbers)

    @property
    def _base(self) -> Numbers | None:
        return self.base if isinstance(self.base, Numbers) else None

    def dim(self) -> int:
        return self.ndim

    def numel(self) -> int:
        return self.size

    def is_contiguous(self) -> bool:
        return self.flags.c_contiguous

    def is_floating_point(self) -> bool:
        return self.dtype.kind == "f"

    def broadcast_to(self, shape: tuple[int, ...]) -> Numbers:
        return np.broadcast_to(self, shape, subok=True)

    def unsqueeze(self, axis: int) -> Numbers:
        return np.expand_dims(self, axis)

    def copy_(self, source: np.ndarray) -> Numbers:
        return self.torch.copy_(self, source)

    def __truediv__(self, other: Any) -> Any:
        return self.torch.div(self, other)


def torch_of_numbers(asked: Callable[[str, tuple[Any, ...]], None] = lambda name, args: None) -> Any:
    """What stands in for the module torch.

    Parameters
    ----------
    asked : is told of every function that is called: its name and its arguments
    """

    def copy(target: np.ndarray, source: np.ndarray) -> np.ndarray:
        np.ndarray.__setitem__(target, ..., source)
        return target

    functions: dict[str, Callable[..., Any]] = {
        "__setitem__": np.ndarray.__setitem__, "copy_": copy, "div": np.true_divide, "einsum": np.einsum,
        "floor_divide": np.floor_divide, "round": np.rint, "trunc": np.trunc, "zeros_like": np.zeros_like,
    }  # fmt: skip

    def named(name: str) -> Callable[..., Any]:
        def function(*args: Any) -> Any:
            asked(name, args)
            return functions[name](*args)

        function.__name__ = name
        return function

    Numbers.torch = SimpleNamespace(Tensor=Numbers, **{name: named(name) for name in functions})
    return Numbers.torch
