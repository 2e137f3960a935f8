"""The outputs of a lecture in another language: its pictures and the boxes of its exercises; what code prints stays."""

from __future__ import annotations

import ast
from typing import Any

from kuiper.course.manifest import read_syllabus
from kuiper.course.material import SITE_FORM, material_root
from kuiper.course.picture_words import into
from kuiper.language import speaking

MARKDOWN = "text/markdown"


def put_outputs(lecture: dict[str, Any], language: str) -> None:
    """Put what the site shows of pictures, and the boxes of exercises, into a language."""
    boxes = []
    for cell in lecture["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if SITE_FORM in data:
                data[SITE_FORM] = form_in(language, "".join(data[SITE_FORM]))
            if MARKDOWN in data and (arguments := task_of("".join(cell["source"]))):
                boxes.append((data, arguments))
    if boxes:
        _put_boxes(boxes, language)


def form_in(language: str, form: str) -> str:
    """What the site shows of a picture, in a language."""
    from kuiper.course.stored_forms import read_form

    return read_form(form).said(into(language)).html()


def _put_boxes(boxes: list[tuple[dict[str, Any], list[str]]], language: str) -> None:
    """The boxes that cells ``task(...)`` show: the data of each, and its arguments."""
    from kuiper.course.task_box import task_box

    root = material_root()
    assert root is not None, "lectures come with the courses"
    syllabus = read_syllabus(root)  # once for a lecture: it takes longer than all of its boxes
    with speaking(language):
        for data, arguments in boxes:
            data[MARKDOWN] = task_box(syllabus, *arguments).markdown().splitlines(keepends=True)


def task_of(source: str) -> list[str]:
    """The arguments of the ``task(...)`` that a cell ends with; none if it does not.

    >>> task_of('from kuiper.course.lecture import task\\n\\ntask("1.1", "order-ignored")')
    ['1.1', 'order-ignored']
    """
    try:
        statements = ast.parse(source).body if "task(" in source else []
    except SyntaxError:  # a line of Jupyter's own
        statements = []
    last = statements[-1].value if statements and isinstance(statements[-1], ast.Expr) else None
    is_task = isinstance(last, ast.Call) and isinstance(last.func, ast.Name) and last.func.id == "task"
    return [ast.literal_eval(argument) for argument in last.args] if is_task and isinstance(last, ast.Call) else []
