"""Every operation that a PyTorch model runs, below modules and functions: the names and arguments are TorchScript's."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.models.nested import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SAMPLES = 8
"""So many numbers of an array are compared first."""

LIKELY = 4
"""So many arrays of the model, the likeliest by their samples, are compared as a whole."""

TELLING = ("aten::index.Tensor", "aten::_to_copy", "aten::as_strided", "aten::div.Tensor_mode", "aten::round.decimals")
"""Operations whose arguments pnnx is known to lose; those of all others are not kept."""


class Call(NamedTuple):
    """One operation; tensors among ``args``, ``kwargs`` and ``outputs`` are arrays."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[np.ndarray, ...]


class Calls:
    """The operations of one run of a model, and all the numbers that it computes."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.calls = list(calls)
        groups: dict[int, list[np.ndarray]] = {}
        for call in self.calls:
            for output in call.outputs:
                if output.size:
                    groups.setdefault(output.size, []).append(output.reshape(-1))
        self._groups = {size: (_sampled(arrays), arrays) for size, arrays in groups.items()}

    def named(self, name: str) -> list[Call]:
        """The calls of one operation."""
        return [call for call in self.calls if call.name == name]

    def distance(self, values: np.ndarray) -> float:
        """How far this array is from the nearest one that the model computes, as a fraction of its largest number.

        >>> calls = Calls([Call("aten::relu", (), {}, (np.float32([0, 4]), np.float32([1, 2])))])
        >>> calls.distance(np.float32([[0], [3]]))
        0.25
        """
        known = self._groups.get(values.size)
        if known is None:
            return float("inf")
        samples, arrays = known
        flat_values = values.reshape(-1)
        apart = np.abs(samples - _sampled([flat_values])).max(axis=1)
        likely = np.argsort(np.nan_to_num(apart, nan=np.inf), kind="stable")[:LIKELY]
        return min(relative(arrays[i], flat_values) for i in likely)


def relative(wanted: np.ndarray, got: np.ndarray) -> float:
    """max|wanted - got| / max|wanted| of two arrays of one shape; equal infinities and NaNs do not differ."""
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b)).max(initial=0)
    finite = np.abs(a[np.isfinite(a)]).max(initial=0)
    return 0.0 if apart == 0 else float("inf") if np.isnan(apart) or not finite else float(apart / finite)


def _sampled(arrays: list[np.ndarray]) -> np.ndarray:
    """A few numbers of each array, at the same places: (arrays, samples)."""
    places = np.linspace(0, arrays[0].size - 1, min(SAMPLES, arrays[0].size)).astype(np.intp)
    return np.stack([array[places].astype(np.float64) for array in arrays])


def recorded(run: Callable[[], Any]) -> Calls:
    """The operations that ``run`` makes PyTorch do, with their outputs as they were at that moment."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    calls: list[Call] = []

    class Recorder(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name, named = function.name(), kwargs or {}
            given = (_as_arrays(args), _as_arrays(named)) if name in TELLING else ((), {})
            outputs = function(*args, **named)
            calls.append(Call(name, given[0], given[1], tuple(_arrays_in(outputs))))
            return outputs

    with torch.no_grad(), torch.jit.optimized_execution(False), Recorder():  # rewriting a script runs operations, too
        run()
    return Calls(calls)


def names_of(run: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """How often ``run`` makes PyTorch do each operation, with the element type that a copy is made to."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    names: Counter[tuple[str, str]] = Counter()

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            names[function.name(), str(named.get("dtype", ""))] += 1
            return function(*args, **named)

    with torch.no_grad(), torch.jit.optimized_execution(False), Counting():  # rewriting a script runs operations, too
        run()
    return names


def _as_arrays(value: Any) -> Any:
    """The same with arrays for tensors; those of float16 and bfloat16 become float32, so that NumPy has them."""
    import torch

    if isinstance(value, torch.Tensor):
        tensor = value.detach().to("cpu", copy=True)
        return (tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor).numpy()
    if isinstance(value, dict):
        return {key: _as_arrays(item) for key, item in value.items()}
    return tuple(map(_as_arrays, value)) if isinstance(value, (list, tuple)) else value


def _arrays_in(outputs: Any) -> list[np.ndarray]:
    import torch

    tensors = [item for item in flat(outputs) if isinstance(item, torch.Tensor) and not item.is_complex()]
    return [_as_arrays(tensor) for tensor in tensors if tensor.layout == torch.strided]
