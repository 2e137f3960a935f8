"""Choices among equal numbers, which PyTorch leaves open: which of two equal scores torch.topk gives first.

Untrained networks have many of them: where a class head starts as zeros, all scores are its bias. Then two programs
take other boxes, and both are right. With the first of equals first, as kuiper has it, there is one answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


def first_of_equals(met: set[str], function: Any, args: Any, kwargs: Any) -> Any:
    """Make the call of a torch function; in topk, sort and argsort, the first of equal numbers comes first.

    Parameters
    ----------
    met : takes the name of the function, if equals are among what it chooses
    function, args, kwargs : the call
    """
    name = getattr(function, "__name__", "")
    choose = _CHOOSING.get(name)
    if choose is None:
        return function(*args, **kwargs)
    result, ordered, count = choose(*args, **kwargs)
    if ordered.dim() and bool((ordered[..., 1:] == ordered[..., :-1])[..., :count].any()):
        met.add(f"torch.{name}")
    return result


def _topk(
    input: torch.Tensor,  # noqa: A002  (the names are torch's)
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: A002
) -> tuple[Any, torch.Tensor, int]:
    """What the function returns, all numbers in order along the last axis, and how many of them it chooses."""
    import torch

    values, indices = torch.sort(input, dim=dim, descending=largest, stable=True)
    chosen = torch.return_types.topk((values.narrow(dim, 0, k), indices.narrow(dim, 0, k)))
    return chosen, _last(values, dim), k


def _sort(
    input: torch.Tensor,  # noqa: A002
    dim: int = -1,
    descending: bool = False,
    stable: bool = True,
) -> tuple[Any, torch.Tensor, int]:
    import torch

    result = torch.sort(input, dim=dim, descending=descending, stable=True)
    return result, _last(result.values, dim), input.numel()


def _argsort(
    input: torch.Tensor,  # noqa: A002
    dim: int = -1,
    descending: bool = False,
    stable: bool = True,
) -> tuple[Any, torch.Tensor, int]:
    result, ordered, count = _sort(input, dim, descending)
    return result.indices, ordered, count


def _last(values: torch.Tensor, dim: int) -> torch.Tensor:
    return values.movedim(dim, -1) if values.dim() else values


_CHOOSING: dict[str, Callable[..., tuple[Any, torch.Tensor, int]]] = {"topk": _topk, "sort": _sort, "argsort": _argsort}
