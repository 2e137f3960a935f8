"""What is stored in the lectures: every viewer shows it, it has a text for those who cannot see it, and it is small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from kuiper.course.material import SITE_FORM
from kuiper.course.notebooks import HIDDEN, notebook_files
from kuiper.course.stored_pictures import IMAGES, is_shown_untrusted

ROOT = Path(__file__).parents[2]
MAX_BYTES = 5_000_000

LECTURES = pytest.mark.parametrize("path", notebook_files(ROOT), ids=lambda path: path.name)


def code_cells(path: Path) -> list[tuple[int, Any]]:
    cells = nbformat.read(path, as_version=4).cells
    return [(number, cell) for number, cell in enumerate(cells, start=1) if cell.cell_type == "code"]


@LECTURES
def test_stored_outputs_are_shown_by_viewers_that_do_not_trust_the_lecture(path: Path) -> None:
    """Store it again if this fails: kuiper course notebooks NAME."""
    unseen = [number for number, cell in code_cells(path) for output in cell.outputs if not is_shown_untrusted(output)]
    assert unseen == []


@LECTURES
def test_stored_pictures_have_a_text_for_those_who_cannot_see_them(path: Path) -> None:
    """A figure of pyplot and a picture of Pillow have none: see kuiper.course.pictures, chart and photo."""
    without = []
    for number, cell in code_cells(path):
        for output in cell.outputs:
            for kind in set(IMAGES) & set(output.get("data", {})):
                alt = output.metadata.get(kind, {}).get("alt", "")
                if not alt.strip() or "<img alt=" not in output.data.get(SITE_FORM, ""):
                    without.append(number)
    assert without == []


@LECTURES
def test_lectures_are_not_too_large(path: Path) -> None:
    assert path.stat().st_size < MAX_BYTES


@LECTURES
def test_cells_with_the_tag_are_folded_in_jupyterlab(path: Path) -> None:
    wrong = []
    for number, cell in code_cells(path):
        is_folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        if is_folded != (HIDDEN in cell.metadata.get("tags", [])):
            wrong.append(number)
        if is_folded and not cell.source.startswith("# "):  # this line stays visible
            wrong.append(number)
    assert wrong == []
