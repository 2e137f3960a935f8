"""What each key of a manifest must be, for the error that says what stands there instead."""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def is_afterwards(value: object) -> bool:
    """Whether a value is the table of what a student reads behind the last exercise: texts, lists, ratios of races."""
    always, together = {"built", "engines", "try"}, {"race", "parts"}
    if not isinstance(value, dict) or value.keys() - {"speed"} not in (always, always | together):
        return False
    speed = value.get("speed", {})
    if not isinstance(speed, dict) or not all(
        _is_ratios(tuple(r)) if isinstance(r, list) else False for r in speed.values()
    ):
        return False
    lists = [value[key] for key in ("try", "parts") if key in value]
    texts = [value[key] for key in ("built", "engines", "race") if key in value]
    return all(isinstance(each, list) for each in lists) and all(map(_is_text, sum(lists, texts)))


def is_path(value: dict[str, Any]) -> bool:
    """Whether a table is a short path: texts, different exercises, and perhaps questions that some of these answer."""
    always = {"name", "title", "goal", "exercises"}
    if not always <= value.keys() <= always | {"answers"}:
        return False
    numbers, answers = value["exercises"], value.get("answers", {})
    texts = [value[key] for key in ("name", "title", "goal")]
    if not isinstance(numbers, list) or not numbers or not isinstance(answers, dict):
        return False
    if not all(map(_is_text, [*texts, *numbers, *answers.values()])) or not _is_name(value["name"]):
        return False
    return len(set(numbers)) == len(numbers) and answers.keys() <= set(numbers)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"\w[\w.-]*", value))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, value))


def _is_ladders(value: object) -> bool:
    if not isinstance(value, tuple) or not all(isinstance(hint, dict) for hint in value):
        return False
    return all(
        {"for", "ladder"} <= hint.keys() <= {"for", "ladder", "tests", "first"}
        and _is_text(hint["for"])
        and all(isinstance(hint[key], list) and all(map(_is_text, hint[key])) for key in hint if key != "for")
        for hint in value
    )


def _is_ratios(value: object) -> bool:
    """Whether a value is a list of numbers above 0, each larger than the one before."""
    if not isinstance(value, tuple) or not value:
        return False
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) and 0 < each < inf for each in value):
        return False
    return all(before < behind for before, behind in pairwise(value))


def _is_names(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "id": ("a number like 1.1, in quotes,", _is_name),
    "file": ("the name of a file in exercises/", _is_name),
    **dict.fromkeys(("title", "engine_file", "builds"), ("a text", _is_text)),
    **dict.fromkeys(("symbols", "tests", "depends_on"), ("a list", _is_texts)),
    **dict.fromkeys(("test_count", "points", "minutes"), ("a count", _is_count)),
    "hints": ("tables with 'for', 'ladder' and perhaps 'tests' and 'first'", _is_ladders),
    "timeout": ("seconds", lambda value: _is_count(value) or (isinstance(value, float) and 0 < value < inf)),
    "speed": ("rising ratios to the reference's speed", _is_ratios),
    **dict.fromkeys(("provides", "provides_with_product"), ("a table of names", _is_names)),
}
"""What each key must be: in words, and whether a value is it."""
