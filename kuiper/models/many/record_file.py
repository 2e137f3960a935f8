"""Records in a file that can be begun today and finished tomorrow: JSON lines, of which the first says what made them.

    {"kuiper": "0.1.0", "task": "classify", "model": "/models/resnet18.pnnx.param", "sha256": {...}, "options": {...}}
    {"image": "/photos/1.jpg", "width": 640, "height": 480, "labels": [...]}
    {"image": "/photos/2.jpg", "error": "/photos/2.jpg: expected an image, got a file of another kind"}

Whatever kills the program, all lines but the last are whole; the last is dropped when the run is taken up again, and
its picture is done again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from reprlib import repr as short_repr
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, NoReturn

import kuiper
from kuiper.bounded_file import obstacle, parse_json
from kuiper.errors import ParameterError
from kuiper.models.fetching.download import sha256_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from kuiper.models.predictor import Predictor, Record

_LONGEST_LINE = 2**24  # bytes; a thousand detections are a tenth of a megabyte
_SYNC_SECONDS = 2.0  # of work that a power cut may cost
_MAY_DIFFER = {"kuiper", "model"}  # the same model may lie elsewhere; what is in its files is in "sha256"
_ANOTHER = "name another file with -o"


def header_of(predictor: Predictor, **more: Any) -> Record:
    """The first line of a file of this predictor's records: what they depend on."""
    return {
        "kuiper": kuiper.__version__,
        "task": predictor.task,
        "model": str(predictor.param),
        "sha256": {_role(path): sha256_of(path).hexdigest() for path in predictor.files()},
        "options": predictor.options,
        **more,
    }


def _role(path: Path) -> str:
    """What a file of a model is called in the header: by its ending, or by its name if there may be several."""
    return path.suffix[1:] if path.suffix in (".param", ".bin", ".json", ".onnx") else path.name


class RecordFile:
    """A file that grows by one whole line at a time. Close it, or use it as a context.

    Parameters
    ----------
    path : a new file, or one that was begun with the same header
    header : what ``header_of`` returns
    retry_failures : drop the records with an "error" first, so that their pictures count as new

    ``pictures`` are those that are in the file already, ``failed`` those of them that have an "error".

    Raises
    ------
    ParameterError
        If the file is of another kind, was begun with another header, or is being written by another run.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], header: Record, *, retry_failures: bool = False) -> None:
        self.path = Path(path).resolve()
        self.pictures: set[str] = set()
        self.failed: set[str] = set()
        self._synced = monotonic()
        self._file = _open_alone(self.path)
        try:
            self._take_up(parse_json(_line(header)))
            if retry_failures and self.failed:
                self._drop_failures()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, record: Record) -> None:
        """Write a line; when this returns, no end of the program can take it back."""
        self._file.write(_line(record))
        self._file.flush()
        if monotonic() - self._synced > _SYNC_SECONDS:
            self._sync()

    def close(self) -> None:
        """Bring everything to the disk."""
        with self._file:
            self._sync()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._synced = monotonic()

    def _take_up(self, header: Record) -> None:
        """Read what is there, and cut off the line that was being written when the program was killed."""
        self._file.seek(0)
        first, ours = self._file.readline(_LONGEST_LINE), _line(header)
        if first != ours and ours.startswith(first):  # new, or killed at once
            self._file.truncate(0)
            self.append(header)
            return
        self._expect(header, self._entry(first, 1, "kuiper"))
        size = len(first)
        for number, line in enumerate(self._lines(), 2):
            if not line.endswith(b"\n"):
                if len(line) == _LONGEST_LINE:
                    self._refuse(line, number)
                break
            record = self._entry(line, number, "image")
            self.pictures.add(record["image"])
            if "error" in record:
                self.failed.add(record["image"])
            size += len(line)
        self._file.truncate(size)
        self._file.seek(size)

    def _lines(self) -> Iterator[bytes]:
        """The rest of the file; what is not our own could be one line of any length."""
        return iter(lambda: self._file.readline(_LONGEST_LINE), b"")

    def _entry(self, line: bytes, number: int, key: str) -> Record:
        try:
            entry = parse_json(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not isinstance(entry.get(key), str):
            self._refuse(line, number)
        return entry

    def _refuse(self, line: bytes, number: int) -> NoReturn:
        got = f"{line[:40].decode(errors='replace')!r} in line {number}"
        raise ParameterError(str(self.path), "a file of records, or a new one", got, _ANOTHER)

    def _expect(self, header: Record, begun: Record) -> None:
        """Refuse what was begun with another header."""
        where = str(self.path)
        if begun.get("sha256") != header["sha256"]:
            expected = f"{begun.get('model')} as it was when this file was begun"
            raise ParameterError(where, expected, f"another content in {header['model']}", _ANOTHER)
        for key in sorted((header.keys() | begun.keys()) - _MAY_DIFFER):
            before, now = begun.get(key), header.get(key)
            if before != now:
                expected = f"{key} as this file was begun with ({_difference(before, now)})"
                raise ParameterError(where, expected, _difference(now, before), _ANOTHER)

    def _drop_failures(self) -> None:
        """Write the file without them beside it, and let that take its place."""
        part = self.path.with_name(f"{self.path.name}.part")
        self._file.seek(0)
        with part.open("wb") as new:
            new.writelines(line for line in self._lines() if "error" not in parse_json(line))
            new.flush()
            os.fsync(new.fileno())
        self._file.close()
        part.replace(self.path)
        self._file = _open_alone(self.path)
        self.pictures -= self.failed
        self.failed = set()


def _open_alone(path: Path) -> IO[bytes]:
    """The file for reading and appending; a lock, where there are such things, keeps a second run out."""
    got = obstacle(path)
    if got not in ("", "nothing there"):
        raise ParameterError(str(path), "a file, or a new one", got, _ANOTHER)
    file = path.open("a+b")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise ParameterError(str(path), "a file that no other run is writing", "one that is", _ANOTHER) from error
    except OSError:
        pass  # a file system without locks
    return file


def _line(entry: Record) -> bytes:
    return json.dumps(entry, allow_nan=False).encode() + b"\n"


def _difference(entry: Any, other: Any) -> str:
    """The part of an entry in which it is not like the other, at a length that can be read."""
    if not isinstance(entry, dict) or not isinstance(other, dict):
        return short_repr(entry)
    names = [name for name in sorted(entry.keys() | other.keys()) if entry.get(name) != other.get(name)]
    return ", ".join(f"{name} {short_repr(entry[name]) if name in entry else 'unset'}" for name in names)
