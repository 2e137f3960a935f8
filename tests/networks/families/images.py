"""Images of other sizes, with other borders, with channels and pixels in other places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.draw import NoOperandError
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw


@family(3)
def upsample(draw: Draw) -> Call:
    x = draw.value(4)
    mode = draw.one(["nearest", "bilinear", "bicubic"])
    words = [draw.one([f"scale_factor={draw.one([2, 2, 3, 1.5, 0.5])}", f"size=({draw.int(2, 9)}, {draw.int(2, 9)})"])]
    words.append(f"mode={mode!r}")
    if mode != "nearest" and draw.chance(0.5):
        words.append("align_corners=True")
    if draw.chance(0.4):
        return Call(f"F.interpolate({{0}}, {', '.join(words)})", (x,))
    return Call("{m}({0})", (x,), f"nn.Upsample({', '.join(words)})")


@family()
def upsample_line(draw: Draw) -> Call:
    x = draw.value(3)
    mode = draw.one(["nearest", "linear"])
    return Call(f"F.interpolate({{0}}, scale_factor={draw.one([2, 3, 1.5])}, mode={mode!r})", (x,))


@family(2)
def upsample_to_another(draw: Draw) -> Call:
    """The size of another image, which the trace computes."""
    x, other = draw.value(4), draw.value(4)
    return Call("F.interpolate({0}, size={1}.shape[2:], mode='nearest')", (x, other))


@family(2)
def pad(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5))
    mode = draw.one(["constant", "constant", "reflect", "replicate", "circular"])
    axes = draw.int(1, min(2, x.rank)) if mode == "constant" else x.rank - 2
    if not 0 < axes <= 3:
        raise NoOperandError
    low = -1 if mode == "constant" and draw.chance(0.3) else 0
    borders = [draw.int(low, 2) for _ in range(2 * axes)]
    more = f", value={draw.number(-1, 1)}" if mode == "constant" and draw.chance(0.5) else ""
    return Call(f"F.pad({{0}}, {borders}, mode={mode!r}{more})", (x,))


@family()
def pixel_shuffle(draw: Draw) -> Call:
    x = draw.value(4, where=lambda value: value.shape[1] % 4 == 0 or value.shape[1] % 9 == 0)
    factor = 2 if x.shape[1] % 4 == 0 else 3
    return Call("{m}({0})", (x,), f"nn.PixelShuffle({factor})")


@family()
def pixel_unshuffle(draw: Draw) -> Call:
    x = draw.value(4, where=lambda value: all(s[2] % 2 == 0 and s[3] % 2 == 0 for s in value.shapes()))
    return Call("F.pixel_unshuffle({0}, 2)", (x,))


@family()
def channel_shuffle(draw: Draw) -> Call:
    x = draw.value(4, where=lambda value: value.fixed(1) and value.shape[1] > 1)
    groups = draw.one([k for k in range(2, x.shape[1] + 1) if x.shape[1] % k == 0])
    if draw.chance(0.5):
        return Call("{m}({0})", (x,), f"nn.ChannelShuffle({groups})")
    shape = f"({{0}}.shape[0], {groups}, {x.shape[1] // groups}, {{0}}.shape[2], {{0}}.shape[3])"
    call = f"{{0}}.reshape{shape}.transpose(1, 2).reshape({{0}}.shape[0], {x.shape[1]}, {{0}}.shape[2], {{0}}.shape[3])"
    return Call(call, (x,))


@family()
def grid_sample(draw: Draw) -> Call:
    x = draw.value(4)
    source = draw.value(4, where=lambda value: value.shape[1] >= 2 and all(
        a[0] == b[0] for a, b in zip(value.shapes(), x.shapes(), strict=False)
    ))  # fmt: skip
    mode, padding = draw.one(["bilinear", "bilinear", "bicubic"]), draw.one(["zeros", "border", "reflection"])
    grid = f"f.grid_of({{1}}, {draw.int(2, 6)}, {draw.int(2, 6)})"
    call = f"F.grid_sample({{0}}, {grid}, mode={mode!r}, padding_mode={padding!r}, align_corners={draw.chance(0.5)})"
    return Call(call, (x, source))


@family(0.7)
def unfold(draw: Draw) -> Call:
    x = draw.value(4)
    return Call(f"F.unfold({{0}}, {draw.int(1, 3)}, padding={draw.int(0, 1)}, stride={draw.int(1, 2)})", (x,))


@family(0.7)
def unfold_and_fold(draw: Draw) -> Call:
    x = draw.value(4, where=lambda value: value.fixed(2) and value.fixed(3))
    h, w = x.shape[2:]
    return Call(f"F.fold(F.unfold({{0}}, 2, padding=1), ({h}, {w}), 2, padding=1)", (x,))
