"""Small graphs for the tests of the page, made of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kuiper
from kuiper.graph import pnnx
from kuiper.graph.made_up import fill_random_weights

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph


def net(*lines: str, optimize: bool = False) -> RuntimeGraph:
    """The graph of these lines of a .param file, with made-up weights."""
    operands = {word for line in lines for word in _operands(line)}
    text = "\n".join(["7767517", f"{len(lines)} {len(operands)}", *lines]) + "\n"
    graph = pnnx.parse_param(text, "net.pnnx.param")
    fill_random_weights(graph)
    return kuiper.load(graph, optimize=optimize)


def _operands(line: str) -> list[str]:
    words = line.split()
    count = int(words[2]) + int(words[3])
    return words[4 : 4 + count]
