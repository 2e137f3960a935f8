"""Zip archives made byte by byte: whole ones as pnnx writes them, and broken ones as no zip library would."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field


@dataclass
class Entry:
    """One file in the archive; every other field is what the headers claim of it (None: the truth)."""

    name: str | bytes
    data: bytes
    crc: int | None = None
    size: int | None = None
    compressed: int | None = None
    method: int = 0
    flags: int = 0
    local_name: bytes | None = None
    local_extra: bytes | None = None
    extra: bytes | None = None
    offset: int | None = None
    signature: bytes = b"PK\x03\x04"


@dataclass
class Archive:
    """A zip file; ``zip64`` writes the headers that pnnx has written since 2024, else those from before."""

    entries: list[Entry] = field(default_factory=list)
    zip64: bool = True
    directory_shift: int = 0

    def build(self) -> bytes:
        """The bytes of the file."""
        body, directory = b"", b""
        for entry in self.entries:
            offset = len(body) if entry.offset is None else entry.offset
            directory += self._header(entry, offset)
            body += self._header(entry, None) + entry.data
        return body + directory + self._end(len(body) + self.directory_shift, len(directory))

    def _header(self, entry: Entry, offset: int | None) -> bytes:
        """The header in the directory, or for offset None the local one."""
        name = entry.name.encode() if isinstance(entry.name, str) else entry.name
        size = len(entry.data) if entry.size is None else entry.size
        compressed = size if entry.compressed is None else entry.compressed
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        extra = struct.pack("<2H3QI", 1, 28, size, compressed, offset or 0, 0) if self.zip64 else b""
        small = (crc, *((0xFFFFFFFF, 0xFFFFFFFF) if self.zip64 else (compressed, size)))
        if offset is None:
            name = name if entry.local_name is None else entry.local_name
            extra = extra if entry.local_extra is None else entry.local_extra
            head = entry.signature + struct.pack("<5H", 0, entry.flags, entry.method, 0, 0)
            return head + struct.pack("<3I2H", *small, len(name), len(extra)) + name + extra
        extra = extra if entry.extra is None else entry.extra
        head = b"PK\x01\x02" + struct.pack("<6H3I", 0, 0, entry.flags, entry.method, 0, 0, *small)
        disk, place = (0xFFFF, 0xFFFFFFFF) if self.zip64 else (0, offset)
        return head + struct.pack("<5H2I", len(name), len(extra), 0, disk, 0, 0, place) + name + extra

    def _end(self, offset: int, size: int) -> bytes:
        count = len(self.entries)
        if not self.zip64:
            return b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, count, count, size, offset, 0)
        record = b"PK\x06\x06" + struct.pack("<Q2H2I4Q", 44, 0, 0, 0, 0, count, count, size, offset)
        locator = b"PK\x06\x07" + struct.pack("<IQI", 0, offset + size, 1)
        return record + locator + b"PK\x05\x06" + b"\xff" * 16 + b"\0\0"
