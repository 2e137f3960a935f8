"""Names of classes, from wherever they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ModelFormatError
from kuiper.models.cards.labels import read_labels

if TYPE_CHECKING:
    from pathlib import Path


def test_read_labels_knows_coco() -> None:
    labels = read_labels("coco")
    assert len(set(labels)) == len(labels) == 80
    assert [labels[i] for i in (0, 15, 16, 79)] == ["person", "cat", "dog", "toothbrush"]


def test_read_labels_of_a_list_gives_the_list() -> None:
    assert read_labels(["b", "a"]) == ("b", "a")


@pytest.mark.parametrize(
    "content", ["cat\ntraffic light\n", "cat\r\ntraffic light", "\ufeffcat  \n traffic light\n\n\n"]
)
def test_read_labels_of_a_file_has_one_a_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "names.txt"
    path.write_text(content, encoding="utf-8", newline="")
    assert read_labels(path) == read_labels(str(path)) == ("cat", "traffic light")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected one label a line, got an empty file"),
        (b"\n \n", "expected one label a line, got an empty file"),
        (b"cat\n\ndog\n", "expected one label a line, got line 2 empty"),
        (
            b"\x89PNG\r\n\x1a\n\x00\xff",
            "expected a file with one label a line, or coco, in UTF-8, got the byte 0x89 at 0",
        ),
    ],
)
def test_read_labels_refuses_what_is_no_list(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        read_labels(path)


def test_read_labels_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"no.txt: expected a file with one label a line, or coco, got nothing"):
        read_labels(tmp_path / "no.txt")
