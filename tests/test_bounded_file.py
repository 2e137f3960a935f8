"""Only regular files of a bounded size are read, and only JSON that says one thing."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from kuiper import bounded_file
from kuiper.bounded_file import obstacle, parse_json, read_json, read_text
from kuiper.errors import ModelFormatError


@pytest.fixture(params=["pipe", "folder", "missing", "device", "socket", "loop", "in a file", "nul"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path with which a reader could do no good."""
    path = tmp_path / "odd"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    elif request.param == "device":
        return Path("/dev/zero")
    elif request.param == "socket":
        monkeypatch.chdir(tmp_path)  # its name may have no more than a hundred characters
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("odd")
    elif request.param == "loop":
        path.symlink_to(path)
    elif request.param == "in a file":
        path.touch()
        return path / "inside"
    elif request.param == "nul":
        return Path("a\0b")
    return path


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices are files on POSIX only")
def test_read_text_never_waits_for_what_is_no_file(no_file: Path) -> None:
    assert obstacle(no_file)
    with pytest.raises(ModelFormatError, match="expected a card, got"):
        read_text(no_file, ModelFormatError, "a card")


def test_read_text_leaves_a_byte_order_mark_out(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfcat\r\n")
    assert read_text(tmp_path / "text", ModelFormatError, "a text") == "cat\r\n"


def test_read_text_refuses_other_encodings_and_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(ModelFormatError, match="expected a text, in UTF-8, got the byte 0xe9 at 3"):
        read_text(path, ModelFormatError, "a text")
    monkeypatch.setattr(bounded_file, "MAX_TEXT", 3)
    with pytest.raises(ModelFormatError, match="expected a text of at most 3 bytes, got more"):
        read_text(path, ModelFormatError, "a text")


@pytest.mark.parametrize(("text", "value"), [("[1, 2.5, null]", [1, 2.5, None]), ("[" * 40 + "]" * 40, None), ("3", 3)])
def test_parse_json_gives_the_value(text: str, value: Any) -> None:
    assert value is None or parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[" * 100_000, "more than 40 lists and objects in one another"),
        ("[" * 100_000 + "]" * 100_000, "more than 40 lists and objects in one another"),
        ('{"a":' * 500 + "1" + "}" * 500, "more than 40 lists and objects in one another"),
        ("[" * 41 + "]" * 41, "more than 40 lists and objects in one another"),
        ('{"size": 1, "size": 2}', "the key 'size' twice"),
        ("[NaN]", "NaN, which JSON does not have"),
        ("-Infinity", "-Infinity, which JSON does not have"),
        ("1" * 5000, "limit"),
        (b"\xff\xfe\xfd", "codec"),
    ],
)
def test_parse_json_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


def test_parse_json_takes_what_python_writes_if_asked_to() -> None:
    assert parse_json("[Infinity]", finite=False) == [float("inf")]


def test_read_json_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("{")
    with pytest.raises(ModelFormatError, match=r"card\.json: expected a card, got Expecting property name"):
        read_json(tmp_path / "card.json", ModelFormatError, "a card")
