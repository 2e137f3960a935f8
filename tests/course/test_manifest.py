from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.manifest import find_root, read_syllabus
from tests.course.made_up import MANIFEST, made_up

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, text: str) -> Path:
    path = root / "course1_x" / "course.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return root


def numbered(*ids: str) -> str:
    """A manifest with the first exercise of the made-up course under these numbers."""
    entry = MANIFEST.split("[[exercise]]")[1]
    return "".join("[[exercise]]" + entry.replace('"1.1"', f'"{id_}"') for id_ in ids)


def test_matching_is_by_component(tmp_path: Path) -> None:
    syllabus = read_syllabus(write(tmp_path, numbered("3.1", "3.10", "3.2")))
    assert [exercise.id for exercise in syllabus.matching("3.1")] == ["3.1"]
    assert [exercise.id for exercise in syllabus.matching("3")] == ["3.1", "3.10", "3.2"]
    with pytest.raises(
        CourseError, match=r"exercise: expected one of 3.1, 3.10, 3.2, got '3.3'; kuiper progress lists all"
    ):
        syllabus.matching("3.3")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (numbered("1.1", "1.1"), "got 1.1 twice"),
        (numbered("1.1").replace("points = 2", "pionts = 2"), "got pionts"),
        (numbered("1.1").replace("points = 2", ""), "expected the keys points"),
        (numbered("1.1").replace('["double"]', '"double"'), "expected a list as symbols"),
        ("[[exercise]", "expected a TOML file"),
        ("x = " + "[" * 100_000, "expected a TOML file"),
        ("x = 1979-13-40", "expected a TOML file"),
        ("x = " + "1" * 5000, "expected a TOML file"),
        ("exercise = 3", r"expected tables under \[\[exercise\]\], got 3"),
        ("exercise = [1]", r"expected tables under \[\[exercise\]\], got \[1\]"),
        (numbered("1.1").replace("points = 2", 'points = "2"'), "expected a count as points, got '2'"),
        (numbered("1.1").replace("points = 2", "points = -2"), "expected a count as points, got -2"),
        (numbered("1.1").replace("timeout = 2.0", "timeout = nan"), "expected seconds as timeout, got nan"),
        (
            numbered("1.1").replace('"double.py"', '"../../double.py"'),
            "expected the name of a file in exercises/ as file",
        ),
        (numbered("1.1").replace('["double"]', "[1]"), "expected a list as symbols"),
        ("[afterwards]\nbuilt = 'x'", "afterwards: expected the texts 'built' and 'engines', a list 'try'"),
        ("[afterwards]\nbuilt = 'x'\nengines = 'y'\ntry = []\nrace = 'z'", "afterwards: expected the texts 'built'"),
        ("[afterwards]\nbuilt = 'x'\nengines = 'y'\ntry = []\nrace = 'z'\nparts = [1]", "and perhaps a text 'race'"),
        (numbered("../1"), "expected a number like 1.1, in quotes, as id"),
    ],
)
def test_read_syllabus_refuses(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        read_syllabus(write(tmp_path, text))


def test_dependencies_are_followed_both_ways(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path)
    double, fourfold = syllabus
    assert syllabus.needed_by(fourfold) == [double]
    assert syllabus.blocked_by(double) == [fourfold]


def test_find_root_looks_upwards(tmp_path: Path) -> None:
    made_up(tmp_path)
    assert find_root(tmp_path / "course1_made_up" / "exercises") == tmp_path
    assert find_root(tmp_path.parent / "elsewhere") is None


def test_read_syllabus_refuses_what_is_no_utf8(tmp_path: Path) -> None:
    write(tmp_path, "")
    (tmp_path / "course1_x" / "course.toml").write_bytes(b'title = "\xe4"')
    with pytest.raises(CourseError, match="expected a TOML file, in UTF-8, got the byte 0xe4 at 9"):
        read_syllabus(tmp_path)
