"""From the data of the attributes to the zip archive of a .bin file."""

from __future__ import annotations

import warnings
import zipfile
from typing import TYPE_CHECKING, BinaryIO

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.data_types import numpy_layout
from kuiper.graph.pnnx.ir import Attribute, DataType, Graph
from kuiper.graph.pnnx.values import quote

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_weights(graph: Graph, where: str) -> None:
    """Refuse what cannot be written, before a file is touched.

    Raises
    ------
    ModelFormatError
        For an attribute without data or with data of another shape or type.
    """
    for name, attr in _entries(graph):
        place = f"{where} entry {quote(name)}"
        if attr.type is DataType.NULL:
            continue
        if attr.data is None:
            raise ModelFormatError(place, "a weight", "none", "the graph was read without its .bin")
        dtype, shape = numpy_layout(attr.type, attr.shape)
        if attr.data.shape != shape or attr.data.dtype.newbyteorder("<") != dtype:
            raise ModelFormatError(place, f"{dtype.name} of shape {shape}", f"{attr.data.dtype} {attr.data.shape}")


def write_weights(graph: Graph, file: BinaryIO) -> None:
    """Write every attribute as a stored entry ``<operator name>.<attribute key>``, little endian, in C order.

    Those of one name come in the order of their operators.
    """
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        warnings.simplefilter("ignore")  # of two entries of one name
        for name, attr in _entries(graph):
            data = (
                b"" if attr.data is None else attr.data.astype(attr.data.dtype.newbyteorder("<"), copy=False).tobytes()
            )
            # A fixed date (ZipInfo's default): the same graph always gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), data)


def _entries(graph: Graph) -> Iterator[tuple[str, Attribute]]:
    for op in graph.operators:
        for key, attr in op.attrs.items():
            yield f"{op.name}.{key}", attr
