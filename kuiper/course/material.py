"""The course as it is handed out: spread over a checkout's folders, or in a wheel the folder ``material/`` beside this.

``setup.py`` runs this file by itself, before anything is compiled: it imports nothing of kuiper.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import struct
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

try:
    import lzma
except ImportError:  # a Python that was built where there was no liblzma
    lzma = None  # type: ignore[assignment]

PACKAGED = Path(__file__).resolve().parent / "material"
CHECKOUT = Path(__file__).resolve().parents[2]
STUDENT_FOLDER = "student_folder"  # in a checkout: what only a student's folder has at its top

# The documents that lectures, and the READMEs of the courses, send their readers to.
PAGES = (
    "inside/add-a-layer",
    "inside/engine",
    "learn/credits",
    "learn/glossary",
    "reference/expression",
    "reference/operators",
    "reference/passes",
    "reference/pnnx-format",
    "use/live",
    "use/models",
    "use/serve",
    "use/text",
)
SUFFIXES = (".bin", ".ipynb", ".json", ".md", ".otf", ".param", ".py", ".pyx", ".toml", ".txt")
NOT_HANDED_OUT = ("notebooks/ruff.toml",)
SITE_FORM = "text/vnd.kuiper.page"  # of a picture in a lecture: what the site shows, and no viewer of notebooks does
PNG = "image/png"
PACKED = "image/png+lzma"  # a picture in a package: the same stands in it many times, too far apart for zlib
DRAWN = "drawn"  # in the metadata of a picture whose bytes depend on Pillow or zlib: a digest of what it is drawn of
LEFT_BEHIND = {"__pycache__", ".ipynb_checkpoints", ".kuiper", ".pytest_cache", ".ruff_cache"}


def gather(checkout: Path) -> dict[str, Path]:
    """The files of the course: the name in a student's folder, with slashes, and where a checkout has it."""
    folders = sorted(path.parent for path in checkout.glob("course*/course.toml"))
    paths = [path for folder in (*folders, checkout / "notebooks") for path in _below(folder)]
    paths += [path for name in PAGES for path in _with_translations(checkout / "docs" / f"{name}.md")]
    found = {path.relative_to(checkout).as_posix(): path for path in paths if path.suffix in SUFFIXES}
    own = checkout / STUDENT_FOLDER
    found |= {path.relative_to(own).as_posix(): path for path in _below(own)}
    found["AGENTS.md"] = checkout / "AGENTS.md"
    return {name: path for name, path in found.items() if name not in NOT_HANDED_OUT}


def pack(checkout: Path, target: Path, pictures: bool = True) -> None:
    """Copy the course into a package that is being built, in place of what an earlier build has left there.

    Without pictures the lectures are half as large: running them draws the pictures.
    """
    shutil.rmtree(target, ignore_errors=True)
    for name, path in gather(checkout).items():
        if not pictures and is_for_pictures(name):
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(_packed(handed_out(path, pictures), name))


def is_for_pictures(name: str) -> bool:
    """Whether a file is one of those that put a lecture's stored pictures into another language.

    >>> is_for_pictures("notebooks/zh/pictures/01_tensors.json"), is_for_pictures("notebooks/01_tensors.ipynb")
    (True, False)
    """
    return PurePosixPath(name).match("notebooks/*/pictures/*")


def handed_out(path: Path, pictures: bool = True) -> bytes:
    """A file as students get it: a lecture without the form of its pictures that only the site shows.

    Where Python has no lzma, the lectures of a package come without pictures, as if they were asked for so.
    """
    data = path.read_bytes()
    if path.suffix != ".ipynb" or (pictures and not any(form.encode() in data for form in (SITE_FORM, PACKED, PNG))):
        return data
    lecture = json.loads(data)
    for output in _outputs(lecture):
        shown = output.get("data", {})
        if PACKED in shown and lzma:
            shown[PNG] = base64.b64encode(_unpacked(base64.b64decode(shown[PACKED]))).decode()
        if pictures and PNG in shown:
            output["metadata"].setdefault(PNG, {})[DRAWN] = picture_digest("".join(shown[PNG]))
        gone = {SITE_FORM, PACKED} if pictures else shown.keys() - {"text/plain"}
        for form in gone & shown.keys():
            del shown[form]
    return _as_json(lecture)


def picture_digest(data: str) -> str:
    """What tells whether a stored picture, as a notebook has it, is the same, whichever zlib has written it.

    >>> picture_digest(base64.b64encode(b"no picture").decode())
    '9ed97c950c33'
    """
    picture = base64.b64decode(data)
    return hashlib.sha256(b"".join(_parts(picture)) if picture[:4] == b"\x89PNG" else picture).hexdigest()[:12]


def _packed(data: bytes, name: str) -> bytes:
    """A file as a package has it: pictures of lectures take two thirds as much."""
    if lzma is None or not name.endswith(".ipynb"):
        return data
    lecture = json.loads(data)
    for output in _outputs(lecture):
        shown = output.get("data", {})
        if PNG in shown:
            head, rows = _parts(base64.b64decode("".join(shown.pop(PNG))))
            plain = struct.pack(">I", len(head)) + head + rows
            shown[PACKED] = base64.b64encode(lzma.compress(plain, lzma.FORMAT_ALONE, preset=6)).decode()
    return _as_json(lecture)


def _unpacked(data: bytes) -> bytes:
    """The PNG that ``_packed`` has taken apart. A reader waits for it, so zlib does not look for its last hundredth."""
    plain = lzma.decompress(data)
    end = 4 + struct.unpack(">I", plain[:4])[0]
    squeeze = zlib.compressobj(8, zlib.DEFLATED, zlib.MAX_WBITS, 9)
    return plain[4:end] + png_chunk(b"IDAT", squeeze.compress(plain[end:]) + squeeze.flush()) + png_chunk(b"IEND", b"")


def _parts(png: bytes) -> tuple[bytes, bytes]:
    """What stands before the points of a PNG, and the points, row by row."""
    end = png.index(b"IDAT") - 4
    start, points = end, b""
    while png[start + 4 : start + 8] == b"IDAT":
        length = struct.unpack(">I", png[start : start + 4])[0]
        points += png[start + 8 : start + 8 + length]
        start += 12 + length
    return png[:end], zlib.decompress(points)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """A part of a PNG, with its length and its checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _outputs(lecture: dict[str, Any]) -> list[dict[str, Any]]:
    return [output for cell in lecture["cells"] for output in cell.get("outputs", [])]


def _as_json(lecture: dict[str, Any]) -> bytes:
    return (json.dumps(lecture, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def material_root() -> Path | None:
    """The folder below which this copy of kuiper has the courses; None if it was built without them."""
    if PACKAGED.is_dir():
        return PACKAGED
    return CHECKOUT if (CHECKOUT / STUDENT_FOLDER).is_dir() else None


def material_files() -> dict[str, Path]:
    """The files of the course by their names in a student's folder; none if kuiper was built without them."""
    root = material_root()
    if root is None:
        return {}
    if root == CHECKOUT:
        return gather(CHECKOUT)
    return {path.relative_to(root).as_posix(): path for path in _below(root)}


def course_folders() -> list[Path]:
    """The folders of the courses, with their solutions, in this copy of kuiper."""
    root = material_root()
    return [path.parent for path in sorted(root.glob("course*/course.toml"))] if root else []


def packaged(name: str) -> Path | None:
    """A solution, or the bugs of one, by its name below the root, from this copy of kuiper.

    Most students' folders have neither.
    """
    root = material_root()
    places = [root / name] if root else []
    places.append(CHECKOUT / name)  # what is a module of the engine
    return next((path for path in places if path.is_file()), None)


def _with_translations(page: Path) -> list[Path]:
    """A page, and the same in other languages."""
    return [page, *sorted(page.parent.glob(f"{page.stem}.*{page.suffix}"))]


def _below(folder: Path) -> list[Path]:
    """The files in a folder, without what Python and editors leave behind."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not _is_left_behind(path, folder))


def _is_left_behind(path: Path, folder: Path) -> bool:
    return not LEFT_BEHIND.isdisjoint(path.relative_to(folder).parts)
