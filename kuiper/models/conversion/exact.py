"""What a PyTorch module answers in float64: how far its float32 is from that, rounding alone explains."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.models.conversion.traps import intercepted, prepared
from kuiper.models.nested import flat

if TYPE_CHECKING:
    from torch import nn

    Arrays = tuple[np.ndarray, ...]


def answers_in_float64(module: nn.Module, inputs: Arrays) -> list[np.ndarray]:
    """The outputs of a copy of the module whose weights, inputs and steps are all float64.

    Parameters
    ----------
    module : is left as it is
    inputs : arrays; those of floats become float64

    Returns
    -------
    The outputs, flat and in order; nothing if a copy cannot be made, or does not run in float64, as TorchScript may.
    """
    import torch

    before = torch.get_default_dtype()
    try:
        with prepared(module, narrow=False), torch.no_grad():
            twin = deepcopy(module).double()
            torch.set_default_dtype(torch.float64)
            with intercepted(_in_double):
                outputs = twin(*(_wide(torch.from_numpy(array.copy())) for array in inputs))
            return [np.asarray(_wide(value)) for value in flat(outputs)]
    except Exception:  # of the module's own, of whatever kind: it ran in float32, so there is nothing to complain of
        return []
    finally:
        torch.set_default_dtype(before)


def _wide(value: Any) -> Any:
    import torch

    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _in_double(function: Any, args: Any, kwargs: Any) -> Any:
    """The call with float64 wherever it asks for float32."""
    import torch

    def widened(value: Any) -> Any:
        return torch.float64 if value is torch.float32 else value

    if getattr(function, "__name__", "") == "float":
        return args[0].double()
    return function(*map(widened, args), **{key: widened(value) for key, value in kwargs.items()})
