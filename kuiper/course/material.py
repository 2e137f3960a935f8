"""The course as it is handed out: spread over a checkout's folders, or in a wheel the folder ``material/`` beside this.

``setup.py`` runs this file by itself, before anything is compiled: it imports nothing of kuiper.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path, PurePosixPath

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
        (target / name).write_bytes(handed_out(path, pictures))


def is_for_pictures(name: str) -> bool:
    """Whether a file is one of those that put a lecture's stored pictures into another language.

    >>> is_for_pictures("notebooks/zh/pictures/01_tensors.json"), is_for_pictures("notebooks/01_tensors.ipynb")
    (True, False)
    """
    return PurePosixPath(name).match("notebooks/*/pictures/*")


def handed_out(path: Path, pictures: bool = True) -> bytes:
    """A file as students get it: a lecture without the form of its pictures that only the site shows."""
    data = path.read_bytes()
    if path.suffix != ".ipynb" or (pictures and SITE_FORM.encode() not in data):
        return data
    lecture = json.loads(data)
    for cell in lecture["cells"]:
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            for form in [form for form in shown if form == SITE_FORM or not (pictures or form == "text/plain")]:
                del shown[form]
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
