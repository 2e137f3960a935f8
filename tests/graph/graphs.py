"""Small graphs for the tests of this package, written as .param text."""

from __future__ import annotations

import random

from kuiper.graph import RuntimeGraph, pnnx

DIAMOND = """7767517
5 4
pnnx.Input   in      0 1 0 #0=(2,3)f32
nn.ReLU      left    1 1 0 1 #0=(2,3)f32 #1=(2,3)f32
nn.ReLU      right   1 1 0 2 #0=(2,3)f32 #2=(2,3)f32
torch.cat    join    2 1 1 2 3 dim=1 #1=(2,3)f32 #2=(2,3)f32 #3=(2,6)f32
pnnx.Output  out     1 0 3
"""


def graph_of(text: str) -> RuntimeGraph:
    """An initialised graph from .param text without weights."""
    graph = RuntimeGraph(pnnx.parse_param(text, "test.param"))
    graph.init()
    return graph


def random_graph(seed: int, size: int) -> RuntimeGraph:
    """A graph of ``size`` operators, each of which reads up to three earlier ones."""
    generator = random.Random(seed)
    lines = ["pnnx.Input in 0 1 0"]
    for i in range(1, size):
        sources = [str(generator.randrange(i)) for _ in range(generator.randint(1, 3))]
        lines.append(f"torch.stack op{i} {len(sources)} 1 {' '.join(sources)} {i} dim=0")
    lines.append(f"pnnx.Output out 1 0 {size - 1}")
    return graph_of(f"7767517\n{len(lines)} {size}\n" + "\n".join(lines) + "\n")
