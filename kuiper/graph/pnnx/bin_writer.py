"""From the data of the attributes to the zip archive of a .bin file."""

from __future__ import annotations

import zipfile
from typing import BinaryIO

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.data_types import numpy_layout
from kuiper.graph.pnnx.ir import Attribute, DataType, Graph
from kuiper.graph.pnnx.values import quote


def write_weights(graph: Graph, file: BinaryIO, where: str) -> None:
    """Write every attribute as a stored entry ``<operator name>.<attribute key>``, little endian, in C order.

    Raises
    ------
    ModelFormatError
        For an attribute without data or with data of another shape or type, and for two of the same name.
    """
    names: set[str] = set()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for op in graph.operators:
            for key, attr in op.attrs.items():
                name = f"{op.name}.{key}"
                place = f"{where} entry {quote(name)}"
                if name in names:
                    raise ModelFormatError(place, "one weight of this name", "two")
                names.add(name)
                # A fixed date (ZipInfo's default): the same graph always gives the same bytes.
                archive.writestr(zipfile.ZipInfo(name), _data_bytes(attr, place))


def _data_bytes(attr: Attribute, where: str) -> bytes:
    if attr.type is DataType.NULL:
        return b""
    if attr.data is None:
        raise ModelFormatError(where, "a weight", "none", "the graph was read without its .bin")
    dtype, shape = numpy_layout(attr.type, attr.shape)
    if attr.data.shape != shape or attr.data.dtype != dtype.newbyteorder("="):
        raise ModelFormatError(where, f"{dtype.name} of shape {shape}", f"{attr.data.dtype} {attr.data.shape}")
    return attr.data.astype(dtype, order="C", copy=False).tobytes()
