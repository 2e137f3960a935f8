"""Which files of a course folder are the student's: a page keeps them, for those of a worker are gone with it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.handout import start
from kuiper.course.handout_record import RECORD, digest, read_record, record_of
from kuiper.course.places import backup_file
from kuiper.language import language

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Content = str | bytes

MADE_AGAIN = frozenset({"build", "skeletons", "lectures", "__pycache__", ".pytest_cache"})
"""Folders whose files are made when they are needed."""
HOME = "kuiper-course"
LARGEST = 50_000_000  # bytes of all files of a zip that is brought back


class StudentFiles:
    """A course folder, written anew, with the student's files in it; ``changes`` says what has become of them since."""

    def __init__(self, root: Path, files: Mapping[str, Content]) -> None:
        self.root = root
        start(root, language=language())
        record = read_record(root)
        self.handed_out = record.files if record else {}
        for name, content in files.items():
            self.write(name, content)
        self._stamps = self._stamped()

    def write(self, name: str, content: Content) -> None:
        """Write one file.

        Raises
        ------
        CourseError
            If it would not lie in the folder.
        """
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else bytes(content))

    def path(self, name: str) -> Path:
        """Where a file of this name lies; an error as ``write`` says."""
        parts = PurePosixPath(name)
        if not name or parts.is_absolute() or ".." in parts.parts or "\\" in name:
            raise CourseError(name or "a file", "a path within the course folder", repr(name))
        return self.root / parts

    def unknown(self) -> list[str]:
        """Exercises of the student's that the course does not have any more."""
        return [name for name in self.own() if "/exercises/" in name and name not in self.handed_out]

    def own(self) -> dict[str, Content]:
        """All that is the student's, by name."""
        return {name: _content(path) for name, path in self._files() if self._is_own(name, path)}

    def changes(self) -> tuple[dict[str, Content], list[str]]:
        """What has changed since the last call: files with their contents, and the names of those that have gone."""
        before, self._stamps = self._stamps, self._stamped()
        changed = {
            name: _content(self.root / name) for name, stamp in self._stamps.items() if before.get(name) != stamp
        }
        return changed, sorted(before.keys() - self._stamps.keys())

    def zipped(self) -> bytes:
        """The whole folder, as ``kuiper course start`` writes it, with the student's files."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in sorted(self._files()):
                archive.write(path, f"{HOME}/{name}")
        return made.getvalue()

    def take(self, data: bytes) -> tuple[list[str], list[str]]:
        """Take over what is a student's in a zip: the names, and the backups of what was overwritten.

        Raises
        ------
        CourseError
            If it is no zip of a course folder.
        """
        taken, kept = [], []
        for name, content in _student_parts(data):
            path = self.path(name)
            if digest(content) == self.handed_out.get(name) or (path.is_file() and path.read_bytes() == content):
                continue
            if path.is_file() and self._is_own(name, path) and not name.startswith(".kuiper/"):
                aside = backup_file(self.root, name.replace("/", "-"))
                aside.write_bytes(path.read_bytes())
                kept.append(aside.relative_to(self.root).as_posix())
            self.write(name, content)
            taken.append(name)
        return taken, kept

    def _files(self) -> Iterator[tuple[str, Path]]:
        for path in self.root.rglob("*"):
            name = path.relative_to(self.root)
            if path.is_file() and MADE_AGAIN.isdisjoint(name.parts):
                yield name.as_posix(), path

    def _is_own(self, name: str, path: Path) -> bool:
        return name != RECORD and digest(path.read_bytes()) != self.handed_out.get(name)

    def _stamped(self) -> dict[str, tuple[int, int]]:
        """When each file was written, and its size."""
        found = ((name, path.stat()) for name, path in self._files() if name != RECORD)
        return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in found}


def _content(path: Path) -> Content:
    """A text where it is one."""
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _student_parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a zip that may be a student's, by their names below the course folder."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        raise CourseError("zip", "a course folder in a zip", "a file that is no zip") from None
    with archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        marks = [name for name in names if name.endswith(("/course.toml", RECORD))]
        if not marks:
            raise CourseError("zip", "a course folder in a zip", "a zip without one")
        top = min((PurePosixPath(name).parts[:-2] for name in marks if name.endswith("course.toml")), default=())
        if sum(info.file_size for info in archive.infolist()) > LARGEST:
            raise CourseError("zip", f"at most {LARGEST // 1_000_000} MB", "more")
        handed_out = _handed_out(archive, "/".join([*top, RECORD]))
        for name in names:
            parts = PurePosixPath(name).parts
            below = parts[len(top) :]
            is_state = below[:1] == (".kuiper",) and (below[-1].endswith(".json") or below[1:2] == ("backups",))
            is_own = "exercises" in below[:-1] or below[:1] in (("photos",), ("notebooks",)) or is_state
            if parts[: len(top)] != top or not is_own or not MADE_AGAIN.isdisjoint(below):
                continue
            content = archive.read(name)
            if digest(content) != handed_out.get("/".join(below)):  # in another language it is no file of this course
                yield "/".join(below), content


def _handed_out(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """What the folder in a zip was handed out with, by its own record; nothing where it has none."""
    try:
        record = record_of(json.loads(archive.read(name)))
    except (KeyError, ValueError):
        return {}
    return record.files if record else {}
