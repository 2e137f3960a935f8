"""Calls of torch functions in other words, where pnnx drops a part of what they say: docs/use/convert.md lists them."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def spelled_out(function: Any, args: Any, kwargs: Any) -> Any:
    """Make the call of a torch function, perhaps in other words; the result is the same."""
    import torch

    name = getattr(function, "__name__", "")
    mode = kwargs.get("rounding_mode")
    if name in ("div", "divide") and mode == "floor":
        return torch.floor_divide(*args)
    if name in ("div", "divide") and mode == "trunc" and any(_is_float(value) for value in args):
        return torch.trunc(torch.div(*args))
    if name == "round" and (decimals := kwargs.get("decimals", 0)):
        scale = 10.0 ** abs(decimals)
        return torch.round(args[0] * scale) / scale if decimals > 0 else torch.round(args[0] / scale) * scale
    if name == "copy_" and hasattr(args[1], "shape") and args[1].shape != args[0].shape:
        return function(args[0], torch.zeros_like(args[0]) + args[1], *args[2:], **kwargs)
    if name == "copy_" and _is_all_of(args[0]):
        args[0]._base.copy_(args[1].reshape(args[0]._base.shape))
        return args[0]
    if name == "einsum" and isinstance(args[0], str) and "." in args[0]:
        operands = args[1] if isinstance(args[1], (list, tuple)) else args[1:]
        return function(without_dots(args[0], [operand.dim() for operand in operands]), *operands)
    if name == "__setitem__":
        return function(*_whole(*args))
    return function(*args, **kwargs)


def without_dots(equation: str, ranks: list[int]) -> str:
    """An equation of einsum with letters in the place of ``...``, for operands with this many axes.

    >>> without_dots("...pd, ...qd -> ...pq", [3, 3])
    'Zpd,Zqd->Zpq'
    >>> without_dots("b...d,bd", [4, 2])
    'bYZd,bd->YZ'
    """
    sources, arrow, target = equation.replace(" ", "").partition("->")
    terms = sources.split(",")
    free = [letter for letter in ascii_letters if letter not in equation]
    counts = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True) if "..." in term]
    dots = "".join(free[-max(counts, default=0) :]) if any(counts) else ""
    written = []
    for term, rank in zip(terms, ranks, strict=True):
        count = rank - len(term.replace("...", ""))
        written.append(term.replace("...", dots[len(dots) - count :]))
    if not arrow:  # what PyTorch then takes: the axes of the dots, and the letters that are there once, in order
        letters = sources.replace("...", "").replace(",", "")
        target = "..." + "".join(sorted(letter for letter in letters if letters.count(letter) == 1))
    return f"{','.join(written)}->{target.replace('...', dots)}"


def _whole(target: torch.Tensor, index: Any, value: Any) -> tuple[torch.Tensor, Any, Any]:
    """``target[0] = value`` as ``target[0:1] = value[None]`` where the axis has one entry only.

    pnnx takes the write for one of the whole tensor, and then the value for the tensor: its axis is gone.
    """
    places = index if isinstance(index, tuple) else (index,)
    plain = all(place is Ellipsis or type(place) in (int, slice) for place in places)
    if not plain or not hasattr(target, "dim"):
        return target, index, value
    if Ellipsis in places:
        where = places.index(Ellipsis)
        rest = target.dim() - (len(places) - 1)
        places = (*places[:where], *[slice(None)] * rest, *places[where + 1 :])
    single = [axis for axis, place in enumerate(places) if type(place) is int and target.shape[axis] == 1]
    if not single:
        return target, index, value
    if hasattr(value, "dim"):
        value = value.broadcast_to(target[index].shape)
        for axis in single:
            gone = sum(type(place) is int for place in places[:axis]) - sum(before < axis for before in single)
            value = value.unsqueeze(axis - gone)
    return target, tuple(slice(0, 1) if axis in single else place for axis, place in enumerate(places)), value


def _is_all_of(target: torch.Tensor) -> bool:
    """Whether this is a view of a tensor that has all its numbers in the same order, with other axes."""
    base = target._base
    return (
        base is not None and base.shape != target.shape and base.numel() == target.numel()
        and base.is_contiguous() and target.is_contiguous()
    )  # fmt: skip


def _is_float(value: Any) -> bool:
    return value.is_floating_point() if hasattr(value, "is_floating_point") else isinstance(value, float)
