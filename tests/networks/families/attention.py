"""Attention: the function, the module, and by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw, Value


def tokens(draw: Draw) -> Value:
    """A batch of sequences whose width is fixed."""
    return draw.value(3, where=lambda value: value.fixed(2))


def heads_of(draw: Draw, width: int) -> int:
    """How many heads share a width."""
    return draw.one([k for k in range(1, min(8, width) + 1) if width % k == 0])


@family(2)
def scaled_dot_product(draw: Draw) -> Call:
    x = tokens(draw)
    y = draw.value(
        3, where=lambda v: all(a[0] == b[0] and a[2] == b[2] for a, b in zip(v.shapes(), x.shapes(), strict=False))
    )
    more = draw.one(["", "", ", is_causal=True", ", scale=0.3"])
    return Call(f"F.scaled_dot_product_attention({{0}}, {{1}}, {{1}} * 0.5{more})", (x, y))


@family(2)
def scaled_dot_product_of_heads(draw: Draw) -> Call:
    x = tokens(draw)
    heads = heads_of(draw, x.shape[2])
    split = f".reshape({{0}}.shape[0], {{0}}.shape[1], {heads}, {x.shape[2] // heads}).transpose(1, 2)"
    inner = f"F.scaled_dot_product_attention({{m}}({{0}}){split}, {{0}}{split}, {{0}}{split})"
    call = f"{inner}.transpose(1, 2).reshape({{0}}.shape[0], {{0}}.shape[1], {x.shape[2]})"
    return Call(call, (x,), f"nn.Linear({x.shape[2]}, {x.shape[2]})")


@family(2)
def attention_by_hand(draw: Draw) -> Call:
    x = tokens(draw)
    scale = draw.one(["{0}.shape[-1] ** 0.5", "2.5"])
    return Call(
        f"F.softmax({{m}}({{0}}) @ {{0}}.transpose(1, 2) / {scale}, -1) @ {{0}}",
        (x,),
        f"nn.Linear({x.shape[2]}, {x.shape[2]})",
    )


@family(2)
def multihead_attention(draw: Draw) -> Call:
    x = tokens(draw)
    y = draw.value(
        3, where=lambda v: all(a[0] == b[0] for a, b in zip(v.shapes(), x.shapes(), strict=False)) and v.fixed(2)
    )
    heads, width = heads_of(draw, x.shape[2]), x.shape[2]
    if draw.chance(0.5) or y.number == x.number:
        module = f"nn.MultiheadAttention({width}, {heads}, batch_first={draw.chance(0.6)}, bias={draw.chance(0.8)})"
        return Call("{m}({0}, {0}, {0}, need_weights=False)[0]", (x,), module)
    module = f"nn.MultiheadAttention({width}, {heads}, batch_first=True, kdim={y.shape[2]}, vdim={y.shape[2]})"
    return Call("{m}({0}, {1}, {1}, need_weights=False)[0]", (x, y), module)


@family(0.7)
def encoder_layer(draw: Draw) -> Call:
    x = tokens(draw)
    heads = heads_of(draw, x.shape[2])
    more = draw.one(["", ", norm_first=True", ", activation='gelu'"])
    return Call("{m}({0})", (x,), f"nn.TransformerEncoderLayer({x.shape[2]}, {heads}, 12, batch_first=True{more})")
