"""From the zip archive of a .bin file to the data of the attributes.

Each weight is one stored entry named ``<operator name>.<attribute key>``. At optlevel 0 several operators may have one
name (a module called twice, the weights of one module): their entries come in the order of the operators.

The reader checks sizes against the real file before it allocates, copies every entry once, straight into its array, and
verifies the checksum there.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.data_types import byte_count, numpy_layout, spell_typed_shape
from kuiper.graph.pnnx.ir import Attribute, DataType, Graph
from kuiper.graph.pnnx.values import quote
from kuiper.pages import pages

if TYPE_CHECKING:
    from io import BufferedReader

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_LOCAL_SIGNATURE = b"PK\x03\x04"
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1


def read_weights(graph: Graph, file: BufferedReader, where: str) -> None:
    """Fill ``data`` of every attribute of the graph from an open .bin file.

    Raises
    ------
    ModelFormatError
        With the file and the entry: for an archive that is damaged, compressed or encrypted, for a weight that is
        missing, of another size than its shape says, or whose checksum is wrong.
    """
    archive = _Archive(file, where)
    weights = [
        (f"{op.name}.{key}", attr)
        for op in graph.operators
        for key, attr in op.attrs.items()
        if attr.type is not DataType.NULL
    ]
    archive.check_counts(Counter(name for name, _ in weights))
    for name, attr in weights:
        attr.data = archive.read(name, attr)


class _Archive:
    """The entries of one zip file by name, and how to copy one into an array."""

    def __init__(self, file: BufferedReader, where: str) -> None:
        self._file, self._where = file, where
        try:
            with zipfile.ZipFile(file) as archive:
                infos, self._end = archive.infolist(), archive.start_dir
        except Exception as error:  # zipfile raises a dozen kinds of error, depending on where the damage is
            got = f"{type(error).__name__}: {error}"
            raise ModelFormatError(where, "a zip archive", got, "the file is damaged or incomplete") from error
        self._entries: dict[str, deque[zipfile.ZipInfo]] = defaultdict(deque)
        for info in infos:
            self._entries[_entry_name(info)].append(info)
        if sum(info.file_size for info in infos) > self._end:
            raise ModelFormatError(where, "entries that fit in the file", "entries that overlap or lie outside")

    def check_counts(self, weights: Counter[str]) -> None:
        """Refuse an archive with more entries of a name than there are weights of it, or some but too few."""
        for name, count in weights.items():
            found = len(self._entries.get(name, ()))
            if found not in (0, 1, count):
                raise ModelFormatError(self._place(name), f"{count} of this name", found)

    def read(self, name: str, attr: Attribute) -> np.ndarray:
        """A new array with the bytes of one entry; of several of that name the next, unless it is the last."""
        where, size = self._place(name), byte_count(attr.type, attr.shape)
        if name not in self._entries:
            raise ModelFormatError(where, "this weight in the archive", "none", "do .param and .bin belong together?")
        infos = self._entries[name]
        info = infos.popleft() if len(infos) > 1 else infos[0]
        if info.file_size != size:
            expected = f"{size} bytes for {spell_typed_shape(attr.shape, attr.type)}"
            raise ModelFormatError(where, expected, f"{info.file_size} bytes", "do .param and .bin belong together?")
        self._seek_data(info, where)
        dtype, shape = numpy_layout(attr.type, attr.shape)
        raw = pages(size)
        try:
            array = raw.view(dtype).reshape(shape)
        except ValueError as error:  # 65 dimensions, or a zero beside sizes that overflow
            raise ModelFormatError(where, "a shape that an array can have", attr.shape) from error
        if self._file.readinto(raw.data) != size:
            raise ModelFormatError(where, f"{size} bytes", "the end of the file")
        if zlib.crc32(raw.data) != info.CRC:
            raise ModelFormatError(where, "data that fits its checksum", "another checksum", "the file is damaged")
        if attr.type is DataType.BOOL:
            np.minimum(raw, 1, out=raw)  # any byte but 0 is True; NumPy's own bools must be 0 or 1
        return array

    def _seek_data(self, info: zipfile.ZipInfo, where: str) -> None:
        """Go to the first byte behind the local header of an entry: how long that is, only the header itself says."""
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ModelFormatError(where, "a stored entry", f"compression method {info.compress_type}")
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise ModelFormatError(where, "a plain entry", "an encrypted one")
        offset = info.header_offset
        if not 0 <= offset <= self._end - _LOCAL_HEADER.size:
            raise ModelFormatError(where, "an entry inside the file", f"offset {offset}")
        self._file.seek(offset)
        fields = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        name, extra = self._file.read(fields[9]), self._file.read(fields[10])
        if fields[0] != _LOCAL_SIGNATURE or name != _raw_name(info):
            raise ModelFormatError(where, "a local header that agrees with the directory", quote(repr(name)))
        _check_extra(extra, where)
        _check_extra(info.extra, where)
        if self._file.tell() + info.file_size > self._end:
            raise ModelFormatError(where, f"{info.file_size} bytes of data", "the end of the file")

    def _place(self, name: str) -> str:
        return f"{self._where} entry {quote(name)}"


def _check_extra(extra: bytes, where: str) -> None:
    """Extra fields follow each other without gaps; an empty one would keep pnnx itself reading forever."""
    while extra:
        size = int.from_bytes(extra[2:4], "little")
        if size == 0 or len(extra) < 4 + size:
            raise ModelFormatError(where, "extra fields with content", f"one of {size} bytes")
        extra = extra[4 + size :]


def _raw_name(info: zipfile.ZipInfo) -> bytes:
    """The bytes of the name, which zipfile has decoded."""
    return info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8_FLAG else "cp437")


def _entry_name(info: zipfile.ZipInfo) -> str:
    """The name as pnnx means it: UTF-8, whether or not the entry says so."""
    return _raw_name(info).decode("utf-8", errors="surrogateescape")
