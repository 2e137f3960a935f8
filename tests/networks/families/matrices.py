"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.convolutions import WIDTHS
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw, Value

MORE = ("nn.ReLU()", "nn.GELU()", "nn.SiLU()", "nn.Sigmoid()", "nn.Dropout(0.2)", "nn.Tanh()")


@family(4)
def linear(draw: Draw) -> Call:
    x = draw.value((1, 2, 3, 4), where=lambda value: value.fixed(-1))
    out = draw.one(WIDTHS)
    module = f"nn.Linear({x.shape[-1]}, {out}, bias={draw.chance(0.7)})"
    parts = [module]
    if x.rank == 2 and draw.chance(0.2):
        parts.append(f"nn.BatchNorm1d({out})")
    if draw.chance(0.5):
        parts.append(draw.one(MORE))
    return Call("{m}({0})", (x,), module if len(parts) == 1 else f"nn.Sequential({', '.join(parts)})")


@family(2)
def linear_and_add(draw: Draw) -> Call:
    x = draw.value((2, 3), where=lambda value: value.fixed(-1))
    return Call(
        draw.one(["{m}({0}) + {0}", "{0} + F.gelu({m}({0}))"]), (x,), f"nn.Linear({x.shape[-1]}, {x.shape[-1]})"
    )


@family(3)
def matmul(draw: Draw) -> Call:
    """A product with another value, or with itself turned round."""
    x = draw.value((2, 3, 4))

    def fits(value: Value) -> bool:
        pairs = list(zip(x.shapes(), value.shapes(), strict=False))
        return value.rank == x.rank and all(a[:-2] == b[:-2] and a[-1] == b[-2] for a, b in pairs)

    if draw.chance(0.4):
        return Call(draw.one(["{0} @ {0}.transpose(-1, -2) * 0.2", "{0}.transpose(-2, -1) @ {0} * 0.2"]), (x,))
    return Call(draw.one(["torch.matmul({0}, {1}) * 0.3", "{0} @ {1}"]), (x, draw.value(x.rank, where=fits)))


@family()
def product_with_weight(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), where=lambda value: value.fixed(-1))
    return Call("{0} @ {m}.weight.t()", (x,), f"nn.Linear({x.shape[-1]}, {draw.one(WIDTHS)})")


@family(2)
def einsum(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    letters = "abcd"[: x.rank]
    y = draw.value((2, 3, 4), where=lambda value: any(
        a[-1] in b for a, b in zip(x.shapes(), value.shapes(), strict=False)
    ))  # fmt: skip
    shared = [i for i in range(y.rank) if all(b[i] == a[-1] for a, b in zip(x.shapes(), y.shapes(), strict=False))]
    other = list("efgh"[: y.rank])
    if shared:
        other[draw.one(shared)] = letters[-1]
    if all(a[0] == b[0] for a, b in zip(x.shapes(), y.shapes(), strict=False)) and draw.chance(0.6) and other[0] == "e":
        other[0] = letters[0]
    kept = [letter for letter in dict.fromkeys([*letters, *other]) if letter != letters[-1]]
    draw.random.shuffle(kept)
    kept = kept[: draw.int(2, 4)]
    return Call(f"torch.einsum('{letters},{''.join(other)}->{''.join(kept)}', {{0}}, {{1}}) * 0.2", (x, y))


@family(0.7)
def batched_product(draw: Draw) -> Call:
    x = draw.value(3)
    calls = ["torch.bmm({0}, {0}.transpose(1, 2)) * 0.2", "torch.baddbmm({0}, {0} @ {0}.transpose(1, 2) * 0.1, {0})"]
    return Call(draw.one(calls), (x,))


@family(0.7)
def product_with_vector(draw: Draw) -> Call:
    x = draw.value(2)
    return Call("torch.mv({0}, {0}[0]) * 0.3", (x,))
