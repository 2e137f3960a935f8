"""The record of a student's folder: what kuiper wrote there, so that an update knows it from what is the student's."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kuiper.course.material import DRAWN
from kuiper.course.state_file import read_state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RECORD = ".kuiper-course.json"


@dataclass
class Record:
    """What kuiper wrote into a folder: a hash for each file, of the text that the student was last offered."""

    version: str = ""
    solutions: bool = False
    files: dict[str, str] = field(default_factory=dict)
    language: str = ""  # "" says nothing: English files, and messages in the language of the terminal

    def save(self, folder: Path) -> None:
        """Write it into the folder."""
        table = {
            "version": self.version,
            "solutions": self.solutions,
            "language": self.language,
            "files": dict(sorted(self.files.items())),
        }
        write_whole(folder / RECORD, (json.dumps(table, indent=1) + "\n").encode())


def read_record(folder: Path) -> Record | None:
    """The record of a folder; None if it has none that can be read."""
    return record_of(read_state(folder / RECORD))


def record_of(table: Any) -> Record | None:
    """The record that a table holds, as JSON has it; None if it holds none."""
    try:
        files = {str(name): str(digest) for name, digest in table["files"].items()}
        language = str(table.get("language", ""))  # older folders have none
        language = language if language.isalpha() else ""  # a path would bring texts from a folder of the student's
        return Record(str(table["version"]), bool(table["solutions"]), files, language)
    except (KeyError, TypeError, AttributeError):
        return None


def language_of(folder: Path) -> str:
    """The language that a folder was handed out in; "" if it was not."""
    record = read_record(folder)
    return record.language if record else ""


def changed_files(folder: Path, names: Iterable[str]) -> list[str]:
    """Those of some files that are not as they were handed out; none in a folder that was not handed out."""
    record = read_record(folder)
    if record is None:
        return []
    files = [name for name in sorted(names) if name in record.files and (folder / name).is_file()]
    return [name for name in files if digest((folder / name).read_bytes()) != record.files[name]]


def write_whole(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def digest(data: bytes) -> str:
    """A hash of a file. It does not change when git turns line ends into those of Windows.

    Of a picture that is drawn or compressed when a lecture is handed out it takes what it is made of: its bytes depend
    on the versions of Pillow and zlib.
    """
    return hashlib.sha256(_without_drawn(data.replace(b"\r\n", b"\n"))).hexdigest()[:16]


def _without_drawn(data: bytes) -> bytes:
    """A lecture without the bytes of pictures that are made when it is handed out; any other file as it is."""
    if f'"{DRAWN}"'.encode() not in data:
        return data
    try:
        lecture = json.loads(data)
        for cell in lecture["cells"]:
            for output in cell.get("outputs", ()):
                for kind in [kind for kind, said in output.get("metadata", {}).items() if DRAWN in said]:
                    del output["data"][kind]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # a file of a student's own
        return data
    return json.dumps(lecture, sort_keys=True).encode()
