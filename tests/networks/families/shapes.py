"""Views, other orders, joins and cuts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.networks.draw import BOOLS, FLOATS, WHOLE, NoOperandError
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw, Value

ANY = (*FLOATS, *FLOATS, *WHOLE, *BOOLS)


def splits(draw: Draw, size: int) -> tuple[int, int]:
    """Two factors of a size."""
    first = draw.one([k for k in range(1, size + 1) if size % k == 0])
    return first, size // first


@family(2)
def flatten(draw: Draw) -> Call:
    x = draw.value((3, 4, 5), ANY)
    start = draw.int(0, x.rank - 2)
    end = draw.one([-1, draw.int(start + 1, x.rank - 1)])
    return Call(f"torch.flatten({{0}}, {start}, {end})", (x,))


@family(3)
def reshape(draw: Draw) -> Call:
    """Sizes as numbers, -1, or sizes that the trace computes."""
    x = draw.value((2, 3, 4, 5), ANY)
    fixed = all(map(x.fixed, range(x.rank)))
    if fixed and draw.chance(0.5):
        a, rest = splits(draw, x.traced.numel())
        b, c = splits(draw, rest)
        sizes = [str(size) for size in (a, b, c)]
        if draw.chance(0.5):
            sizes[draw.int(0, 2)] = "-1"
        return Call(f"{{0}}.{draw.one(['reshape', 'reshape'])}({', '.join(sizes)})", (x,))
    forms = [
        "{0}.reshape({0}.shape[0], -1)",
        "{0}.reshape({0}.size(0), {0}.size(1), -1)",
        "{0}.reshape(-1, {0}.shape[-1])",
    ]
    if x.fixed(x.rank - 1):
        a, b = splits(draw, x.shape[-1])
        leading = ", ".join(f"{{0}}.shape[{i}]" for i in range(x.rank - 1))
        forms += [f"{{0}}.reshape({leading}, {a}, {b})", f"{{0}}.unflatten(-1, ({a}, {b}))"]
    return Call(draw.one(forms), (x,))


@family(2)
def to_tokens(draw: Draw) -> Call:
    x = draw.value(4)
    return Call(
        draw.one(["{0}.flatten(2).transpose(1, 2)", "{0}.flatten(2).permute(2, 0, 1)", "{0}.permute(0, 2, 3, 1)"]), (x,)
    )


@family()
def to_image(draw: Draw) -> Call:
    """A sequence as an image."""
    x = draw.value(3, where=lambda value: value.fixed(2))
    a, b = splits(draw, x.shape[2])
    if draw.chance(0.5):
        return Call("{0}.unsqueeze(1)", (x,))
    return Call(f"{{0}}.reshape({{0}}.shape[0], {{0}}.shape[1], {a}, {b})", (x,))


@family(3)
def permute(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5), ANY)
    order = draw.random.sample(range(x.rank), x.rank)
    return Call(f"{{0}}.permute({', '.join(map(str, order))})", (x,))


@family(2)
def transpose(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), ANY)
    return Call(f"{draw.one(['torch.transpose({0}, A, B)', '{0}.transpose(A, B).contiguous()'])}"
                .replace("A", str(draw.axis(x))).replace("B", str(draw.axis(x))), (x,))  # fmt: skip


@family()
def unsqueeze(draw: Draw) -> Call:
    x = draw.value((1, 2, 3, 4), ANY)
    return Call(f"{{0}}.unsqueeze({draw.int(-x.rank - 1, x.rank)})", (x,))


@family()
def squeeze(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5), ANY, lambda value: any(s == 1 and value.fixed(i) for i, s in enumerate(value.shape)))
    dim = draw.one([i for i, size in enumerate(x.shape) if size == 1 and x.fixed(i)])
    return Call(f"{{0}}.squeeze({dim})", (x,))


@family()
def expand(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), ANY, lambda value: any(s == 1 and value.fixed(i) for i, s in enumerate(value.shape)))
    sizes = [draw.int(2, 4) if size == 1 and x.fixed(i) else -1 for i, size in enumerate(x.shape)]
    return Call(f"{{0}}.expand({', '.join(map(str, sizes))})", (x,))


@family()
def expand_as(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    small = draw.beside(x)
    return Call("{1}.expand_as({0})", (x, small))


@family()
def repeat(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), ANY, lambda value: value.traced.numel() < 4000)
    times = [draw.one([1, 1, 2, 3]) for _ in range(x.rank)]
    return Call(f"{{0}}.{draw.one(['repeat', 'tile'])}({', '.join(map(str, times))})", (x,))


@family()
def flip_or_roll(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), ANY)
    dim = draw.axis(x)
    return Call(draw.one([f"torch.flip({{0}}, [{dim}])", f"torch.roll({{0}}, {draw.int(-3, 3)}, {dim})"]), (x,))


@family(3)
def cut(draw: Draw) -> Call:
    """A slice of one axis or two, with a step at times."""
    x = draw.value((2, 3, 4, 5), ANY)
    axes = sorted(draw.random.sample(range(x.rank), draw.one([1, 1, 2])))
    words = []
    for dim in range(x.rank):
        least = min(shape[dim] for shape in x.shapes())
        if dim not in axes or least < 2:
            words.append(":")
            continue
        start, stop = draw.one(["", "1", "-2"]), draw.one(["", str(least - 1), "-1"])
        step = ":2" if draw.chance(0.2) and x.fixed(dim) else ""
        words.append(
            f"{start if start != '-2' or not stop else ''}:{stop if not (start == '1' and least < 3) else ''}{step}"
        )
    return Call(f"{{0}}[{', '.join(words)}]", (x,))


@family()
def select(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5), ANY)
    dim = draw.axis(x)
    least = min(shape[dim] for shape in x.shapes())
    index = draw.int(-least, least - 1)
    return Call(
        draw.one([f"{{0}}.select({dim}, {index})", f"torch.narrow({{0}}, {dim}, 0, {draw.int(1, least)})"]), (x,)
    )


def joinable(draw: Draw, first: Value, dim: int) -> Value:
    """A value that differs at most on one axis."""

    def fits(value: Value) -> bool:
        pairs = zip(first.shapes(), value.shapes(), strict=False)
        return value.rank == first.rank and all(
            all(a == b or i == dim for i, (a, b) in enumerate(zip(one, other, strict=True))) for one, other in pairs
        )

    return draw.value(first.rank, (first.traced.dtype,), fits)


@family(4)
def cat(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5), ANY)
    dim = draw.one([1, 1, draw.int(0, x.rank - 1)])
    values = [x, *(joinable(draw, x, dim) for _ in range(draw.int(1, 2)))]
    draw.random.shuffle(values)
    names = ", ".join(f"{{{i}}}" for i in range(len(values)))
    return Call(f"torch.cat([{names}], {dim if draw.chance(0.7) else dim - x.rank})", tuple(values))


@family()
def stack(draw: Draw) -> Call:
    x = draw.value((1, 2, 3, 4), ANY)
    return Call(f"torch.stack([{{0}}, {{1}}], {draw.int(-x.rank - 1, x.rank)})", (x, joinable(draw, x, -1)))


@family(3)
def cut_up(draw: Draw) -> Call:
    """chunk, split, tensor_split: as many pieces for both sizes."""
    x = draw.value((2, 3, 4), ANY)
    dim = draw.axis(x, only_fixed=True)
    size = x.shape[dim]
    if size < 2:
        raise NoOperandError
    part = draw.int(1, size)
    pieces = math.ceil(size / part)
    if pieces > 4:
        raise NoOperandError
    sizes = [part, size - part] if 0 < part < size else [size]
    forms = [
        (f"torch.split({{0}}, {part}, {dim})", pieces),
        (f"torch.split({{0}}, {sizes}, {dim})", len(sizes)),
        (f"torch.chunk({{0}}, 2, {dim})", 2),
        (f"torch.tensor_split({{0}}, {min(3, size)}, {dim})", min(3, size)),
    ]
    call, results = draw.one(forms)
    return Call(call if results > 1 else f"{call}[0]", (x,), results=results)


@family()
def unbind(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), ANY)
    dims = [dim for dim, size in enumerate(x.shape) if x.fixed(dim) and 2 <= size <= 4]
    if not dims:
        raise NoOperandError
    dim = draw.one(dims)
    return Call(f"torch.unbind({{0}}, {dim})", (x,), results=x.shape[dim])


@family(0.7)
def assign(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    dim = draw.int(0, x.rank - 1)
    least = min(shape[dim] for shape in x.shapes())
    start = draw.int(0, least - 1)
    end = draw.int(start + 1, least)
    calls = [
        f"f.assigned({{0}}, {dim}, {start}, {end}, {draw.number(-1, 1)})", f"f.added({{0}}, {dim}, {start}, 0.5)",
    ]  # fmt: skip
    return Call(draw.one(calls), (x,))


@family(0.7)
def triangle(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    return Call(f"torch.{draw.one(['tril', 'triu'])}({{0}}, {draw.int(-1, 2)})", (x,))


@family(0.5)
def windows(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    dim = draw.int(0, x.rank - 1)
    least = min(shape[dim] for shape in x.shapes())
    return Call(f"{{0}}.unfold({dim}, {draw.int(1, least)}, {draw.int(1, 2)})", (x,))
