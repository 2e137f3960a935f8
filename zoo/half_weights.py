"""Store the weights of a graph in float16: half the bytes, computed in float32 as before.

    python -m zoo.half_weights kuiper/models/zoo/digits_yolo.pnnx.param

The files are replaced. What has one axis, a bias or a scale, stays in float32: it is little.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType

LARGEST = float(np.finfo(np.float16).max)


def halve(graph: pnnx.Graph) -> int:
    """Round the weights of two axes or more to float16, in place; a weight that has it already stays as it is.

    Returns
    -------
    How many bytes less the weights take.

    Raises
    ------
    SystemExit
        If a weight is too large for float16, or not finite.
    """
    saved = 0
    for op in graph.operators:
        for key, attr in op.attrs.items():
            # "weight" of an operator, "m.0.weight" of a head that is kept whole
            if key.split(".")[-1] != "weight" or attr.type is not DataType.F32 or len(attr.shape) < 2:
                continue
            weight = np.asarray(attr.data)
            largest = np.abs(weight).max(initial=0)
            if not largest <= LARGEST:
                raise SystemExit(f"{op.name}: expected weights up to {LARGEST:,.0f}, got {largest:,}")
            op.attrs[key] = pnnx.Attribute(DataType.F16, attr.shape, weight.astype(np.float16))
            saved += weight.nbytes // 2
    return saved


def store_in_half(param: Path) -> int:
    """Write a graph and its weights again with ``halve``; how many bytes less the weights take."""
    graph = pnnx.load(param)
    saved = halve(graph)
    pnnx.save(graph, param)
    return saved


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("param", type=Path, nargs="+", help="the .param file of a graph")
    for param in parser.parse_args(arguments).param:
        print(f"{param}: {store_in_half(param):,} bytes less")


if __name__ == "__main__":
    main()
