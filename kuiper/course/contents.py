"""What a student's folder holds: the files of the course, with exercises to be done, in the student's language."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course.errors import CommandError
from kuiper.course.manifest import read_syllabus
from kuiper.course.material import handed_out, is_for_pictures, material_files, material_root
from kuiper.course.phrases import phrase
from kuiper.course.redrawn_pictures import put_pictures
from kuiper.course.sync import generated_text
from kuiper.course.translations import read_translation, translated_lecture, translated_page, translation_file
from kuiper.language import ENGLISH, languages

if TYPE_CHECKING:
    from collections.abc import Set

LINK = re.compile(r"!?\[(?P<label>[^\[\]]*)\]\((?P<target>[^)\s:#]+)(?P<anchor>#[^)\s]*)?\)")


def contents(solutions: bool, language: str = ENGLISH) -> dict[str, bytes]:
    """What a folder is to hold: every file by its name, the exercises as skeletons.

    Lectures, pages and the texts of exercises are in the given language, as far as they were translated.

    Known mistakes are patches of the solutions, and show them line by line: a folder gets both or neither.

    Raises
    ------
    CourseError
        If this copy of kuiper was built without the courses.
    """
    files, root = material_files(), material_root()
    if not files or root is None:
        expected = phrase("a kuiper that was built with its courses")
        raise CommandError("kuiper course", expected, phrase("one without them"))
    answers = {"solutions"} if solutions else {"solutions", "bugs"}
    translations = {translation_file(Path(name), other).as_posix() for name in files for other in languages()}
    names = [name for name in files if answers.isdisjoint(name.split("/")) and name not in translations]
    names = [name for name in names if not is_for_pictures(name)]
    found = {name: _in_language(files[name], language) for name in names}
    for exercise in read_syllabus(root):
        # A class may have taken the solutions out: its exercises are handed out as they are.
        if exercise.solution_file.is_file():
            name = f"{exercise.course.name}/exercises/{exercise.file}"
            found[name] = generated_text(exercise, language).encode()
            if solutions:
                found[name.replace("/exercises/", "/solutions/")] = exercise.solution_file.read_bytes()
    places = {*found, *(parent.as_posix() for name in found for parent in Path(name).parents)}
    return {name: _with_links_inside(name, data, places) for name, data in found.items()}


def _in_language(path: Path, language: str) -> bytes:
    """A file as students get it; a lecture or a page that nobody has begun to translate is English."""
    data = handed_out(path)
    passages = read_translation(translation_file(path, language)) if language != ENGLISH else {}
    if not passages:
        return data
    if path.suffix == ".ipynb":
        lecture = translated_lecture(json.loads(data), passages, language)
        put_pictures(lecture, path, language)
        return (json.dumps(lecture, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
    return translated_page(data.decode("utf-8"), passages, language).encode()


def _with_links_inside(name: str, data: bytes, places: Set[str]) -> bytes:
    """Links that lead out of the folder, whose files and folders are ``places``, are replaced by their words."""
    if not name.endswith((".md", ".ipynb")):
        return data
    here = Path(name).parent.as_posix()

    def kept(match: re.Match[str]) -> str:
        target = os.path.normpath(f"{here}/{match['target']}").replace(os.sep, "/")
        if target in places:
            return match[0]
        label = match["label"]
        return label if not target.startswith("kuiper/") or target in label else f"{label} (`{target}`)"

    return LINK.sub(kept, data.decode("utf-8")).encode()
