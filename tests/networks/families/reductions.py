"""Reductions, and what runs along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.draw import FLOATS, NoOperandError
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw


def axes_of(draw: Draw, rank: int) -> str:
    """One axis or several."""
    count = draw.one([1, 1, 2]) if rank > 1 else 1
    chosen = draw.random.sample(range(rank), min(count, rank))
    signed = [dim - rank if draw.chance(0.3) else dim for dim in chosen]
    return str(signed[0]) if len(signed) == 1 else f"({', '.join(map(str, signed))})"


@family(4)
def reduce(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5))
    keep = draw.chance(0.6)
    form = draw.one(
        ["{0}.mean(D, K)", "torch.mean({0}, D, K)", "{0}.sum(D, K) * 0.2", "torch.amax({0}, D, K)",
         "torch.amin({0}, D, K)", "torch.logsumexp({0}, D, K)", "torch.var({0}, D, unbiased=False, K)",
         "torch.std({0} * 2, D, K)", "torch.norm({0}, 2, D, K)"]
    )  # fmt: skip
    form = form.replace("D", axes_of(draw, x.rank))
    return Call(form.replace("K", f"keepdim={keep}"), (x,))


@family()
def product(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), where=lambda value: max(value.shape) < 12)
    return Call(f"torch.prod({{0}}, {draw.axis(x)}, keepdim={draw.chance(0.5)})", (x,))


@family()
def largest_with_place(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    name = draw.one(["max", "min"])
    return Call(f"torch.{name}({{0}}, {draw.axis(x)}, keepdim={draw.chance(0.5)})", (x,), results=2)


@family()
def place_of_largest(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    name = draw.one(["argmax", "argmin"])
    return Call(f"torch.{name}({{0}}, {draw.axis(x)}, keepdim={draw.chance(0.5)})", (x,))


@family()
def topk(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    dim = draw.axis(x)
    least = min(shape[dim] for shape in x.shapes())
    return Call(f"torch.topk({{0}}, {draw.int(1, min(4, least))}, dim={dim}, largest={draw.chance(0.7)})", (x,), "", 2)


@family(0.7)
def sort(draw: Draw) -> Call:
    x = draw.value((2, 3))
    return Call(f"torch.sort({{0}}, {draw.axis(x)}, descending={draw.chance(0.5)})", (x,), results=2)


@family()
def running_total(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    return Call(f"torch.cumsum({{0}}, {draw.axis(x)})", (x,))


@family(0.5)
def whole_reduction(draw: Draw) -> Call:
    x = draw.value((1, 2, 3, 4), FLOATS)
    return Call(draw.one(["{0}.mean()", "{0}.sum() * 0.01", "{0}.max()", "{0}.amin()"]), (x,))


@family(0.5)
def any_or_all(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    return Call(f"torch.{draw.one(['any', 'all'])}({{0}} > 0.1, {draw.axis(x)}, keepdim={draw.chance(0.5)})", (x,))


@family(0.5)
def pairwise_distance(draw: Draw) -> Call:
    x = draw.value((2, 3))
    y = draw.value(x.rank, where=lambda value: value.shapes() == x.shapes())
    if x.number == y.number:
        raise NoOperandError
    return Call("F.pairwise_distance({0}, {1} + 0.3, eps=0.01)", (x, y))
