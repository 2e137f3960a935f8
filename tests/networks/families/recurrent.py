"""Recurrent networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw


def settings(draw: Draw, width: int) -> str:
    """The arguments."""
    words = [str(width), str(draw.one([1, 3, 5, 8, 11]))]
    if draw.chance(0.2):
        words.append("num_layers=2")
    if draw.chance(0.6):
        words.append("batch_first=True")
    if draw.chance(0.4):
        words.append("bidirectional=True")
    if draw.chance(0.2):
        words.append("bias=False")
    return ", ".join(words)


@family(1.5)
def recurrent(draw: Draw) -> Call:
    x = draw.value(3, where=lambda value: value.fixed(2))
    kind = draw.one(["LSTM", "GRU", "RNN"])
    more = ", nonlinearity='relu'" if kind == "RNN" and draw.chance(0.4) else ""
    return Call("{m}({0})[0]", (x,), f"nn.{kind}({settings(draw, x.shape[2])}{more})")


@family(0.7)
def recurrent_state(draw: Draw) -> Call:
    """The last state instead of the sequence."""
    x = draw.value(3, where=lambda value: value.fixed(2))
    if draw.chance(0.5):
        return Call("{m}({0})[1][0]", (x,), f"nn.LSTM({settings(draw, x.shape[2])})")
    return Call("{m}({0})", (x,), f"nn.GRU({settings(draw, x.shape[2])})", 2)
