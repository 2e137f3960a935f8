"""Exercise 2.3: the weights of an operator.

The .param file says that there is a weight and how large it is, the .bin file has its numbers:

    nn.Linear  fc  1 1 0 1 bias=True @bias=(2)f32 @weight=(2,3)f32          in the .param file

    fc.bias     00 00 00 3f ...     8 bytes = 2 numbers x 4 bytes           in the .bin file, which is a zip archive
    fc.weight   00 00 80 3f ...    24 bytes = 2 x 3 numbers x 4 bytes

An entry of the archive is called ``<name of the operator>.<key of the weight>``. Both may have dots of their own
(``layer1.0.conv`` and ``out_proj.weight``), so the name of an entry can be built, but not be taken apart. The bytes are
the numbers in row-major order, the lowest byte of each first.

``zipfile.ZipFile(path)`` opens an archive: ``namelist()`` has the names of its entries, ``read(name)`` the bytes of
one. ``np.frombuffer(data, dtype)`` takes bytes for numbers; what it returns still belongs to the bytes and cannot be
written to.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping

import numpy as np

from kuiper.course import load_exercise
from kuiper.graph.pnnx import Attribute, DataType

parse_shape = load_exercise("2.1").parse_shape  # "(2,3)f32" -> ((2, 3), "f32")

# What NumPy calls the types of the files; "<" means: the lowest byte first. NumPy has no bfloat16, so its 16 bits are
# kept as they are, in a number without sign.
DTYPES = {
    "f32": "<f4",
    "f64": "<f8",
    "f16": "<f2",
    "i32": "<i4",
    "i64": "<i8",
    "i16": "<i2",
    "i8": "i1",
    "u8": "u1",
    "bool": "?",
    "c64": "<c8",
    "c128": "<c16",
    "bf16": "<u2",
}


def read_attributes(bin_path: str, operator: str, texts: Mapping[str, str]) -> dict[str, Attribute]:
    """The weights of one operator by their keys, in the order of ``texts``.

    Parameters
    ----------
    bin_path : the .bin file
    operator : the name of the operator, ``fc``
    texts : for each weight its shape and type as the .param file writes them,
        ``{"bias": "(2)f32", "weight": "(2,3)f32"}``

    An Attribute has three fields: ``type`` is a DataType (``DataType["F32"]`` finds one by its name, in capitals),
    ``shape`` the tuple of sizes, and ``data`` an array of that shape and of the dtype in DTYPES. The array is in
    row-major order, has memory of its own, and can be written to.

    For ``read_attributes("model.bin", "fc", {"bias": "(2)f32"})`` the result is
    ``{"bias": Attribute(DataType.F32, (2,), np.array([0.5, -1], np.float32))}``.

    Raises
    ------
    ValueError
        If the archive has no such entry, its bytes are more or less than the shape needs, or a size of the shape is not
        a number. The message has the name of the entry.
    """
    # BEGIN SOLUTION
    attrs = {}
    with zipfile.ZipFile(bin_path) as archive:
        for key, text in texts.items():
            entry = f"{operator}.{key}"
            shape, kind = parse_shape(text)
            if not all(isinstance(size, int) for size in shape):
                raise ValueError(f"{entry}: expected a shape of numbers, got {text}")
            if entry not in archive.namelist():
                raise ValueError(f"{entry}: expected this entry in {bin_path}, got {archive.namelist()}")
            data, dtype = archive.read(entry), np.dtype(DTYPES[kind])
            size = math.prod(shape) * dtype.itemsize
            if len(data) != size:
                raise ValueError(f"{entry}: expected {size} bytes for {text}, got {len(data)}")
            array = np.frombuffer(data, dtype).reshape(shape).copy()
            attrs[key] = Attribute(DataType[kind.upper()], shape, array)
    return attrs
    # END SOLUTION


def widen_bfloat16(bits: np.ndarray) -> np.ndarray:
    """The float32 numbers that an array of bfloat16 bits (uint16, any shape) stands for.

    A bfloat16 is a float32 without its lower half:

        3.0 as float32     0x40400000
        3.0 as bfloat16    0x4040            so put the lower half back: sixteen zero bits

    >>> widen_bfloat16(np.array([0x4040, 0xBF80], np.uint16)).tolist()
    [3.0, -1.0]
    """
    # BEGIN SOLUTION
    return (bits.astype(np.uint32) << 16).view(np.float32)
    # END SOLUTION
