"""A file of records that is begun, torn, taken up again and refused."""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import ParameterError
from kuiper.models import bundled
from kuiper.models.many.record_file import RecordFile, header_of
from kuiper.models.predictor import Predictor

if TYPE_CHECKING:
    from pathlib import Path

HEADER = {"kuiper": "1", "task": "t", "model": "/m.param", "sha256": {"param": "ab"}, "options": {"top": 5}}
RECORDS: list[dict[str, Any]] = [{"image": "a.png", "n": 1}, {"image": "b\n.png", "error": "bad"}, {"image": "c.png"}]


def write(path: Path, records: list[dict[str, Any]] = RECORDS, **changes: Any) -> None:
    with RecordFile(path, HEADER | changes) as file:
        for record in records:
            file.append(record)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_append_writes_a_whole_line_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with RecordFile(path, HEADER) as file:
        for i, record in enumerate(RECORDS):
            file.append(record)
            assert path.read_bytes().endswith(b"\n")
            assert lines(path) == [HEADER, *RECORDS[: i + 1]]


def test_record_file_knows_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path)
    with RecordFile(path, HEADER) as file:
        assert file.pictures == {"a.png", "b\n.png", "c.png"}
        assert file.failed == {"b\n.png"}
        file.append({"image": "d.png"})
    assert lines(path) == [HEADER, *RECORDS, {"image": "d.png"}]


@pytest.mark.parametrize("cut", [1, 5, 17])
def test_record_file_drops_a_torn_last_line(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path)
    path.write_bytes(path.read_bytes()[:-cut])
    with RecordFile(path, HEADER) as file:
        assert file.pictures == {"a.png", "b\n.png"}
        file.append(RECORDS[2])
    assert lines(path) == [HEADER, *RECORDS]


@pytest.mark.parametrize("kept", [0, 1, 30, -1])
def test_record_file_begins_anew_after_a_torn_header(kept: int, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path, [])
    path.write_bytes(path.read_bytes()[:kept])
    write(path)
    assert lines(path) == [HEADER, *RECORDS]


def test_record_file_drops_failures_that_are_to_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path)
    with RecordFile(path, HEADER, retry_failures=True) as file:
        assert file.pictures == {"a.png", "c.png"}
        assert not file.failed
        file.append({"image": "b\n.png"})
    assert lines(path) == [HEADER, RECORDS[0], RECORDS[2], {"image": "b\n.png"}]
    assert [found.name for found in tmp_path.iterdir()] == ["out.jsonl"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task": "u"}, "expected task as this file was begun with ('t'), got 'u'; name another file with -o"),
        ({"options": {"top": 3}}, "expected options as this file was begun with (top 5), got top 3; name"),
        ({"options": {}}, "expected options as this file was begun with (top 5), got top unset; name"),
        (
            {"sha256": {"param": "cd"}},
            "expected /m.param as it was when this file was begun, got another content in /m.param",
        ),
        ({"drawn_from": "/a"}, "expected drawn_from as this file was begun with (None), got '/a'; name"),
    ],
)
def test_record_file_refuses_another_model_and_other_options(changes: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match=re.escape(f"out.jsonl: {words}")):
        RecordFile(path, HEADER | changes)
    assert path.read_bytes() == before


def test_record_file_takes_the_same_model_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path)
    with RecordFile(path, HEADER | {"model": "/n.param", "kuiper": "2"}) as file:
        assert len(file.pictures) == 3


@pytest.mark.parametrize(
    "content", [b"a letter to mother", b"1\n2\n", b'{"image": "a.png"}\n', b"[1]\n", b"\xff\xd8\xff\xe0", b"\n"]
)
def test_record_file_leaves_other_files_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)
    with pytest.raises(ParameterError, match=r"expected a file of records, or a new one, got .* in line 1"):
        RecordFile(path, HEADER)
    assert path.read_bytes() == content


def test_record_file_says_which_line_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path)
    path.write_bytes(path.read_bytes().replace(b'{"image": "a.png"', b'{"image: "a.png"'))
    with pytest.raises(ParameterError, match=r"got .* in line 2; name another file with -o"):
        RecordFile(path, HEADER)


def test_record_file_is_written_by_one_run_only(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "out.jsonl"
    with (
        RecordFile(path, HEADER),
        pytest.raises(ParameterError, match="expected a file that no other run is writing, got one that is"),
    ):
        RecordFile(path, HEADER)
    RecordFile(path, HEADER).close()


def test_header_tells_models_apart_by_what_is_in_their_files(tmp_path: Path) -> None:
    predictor = Predictor(bundled("cifar_resnet20"), top=3)
    header = header_of(predictor)
    assert json.loads(json.dumps(header)) == header
    assert (header["task"], header["model"], header["options"]) == ("classify", str(predictor.param), {"top": 3})
    assert {kind: len(digest) for kind, digest in header["sha256"].items()} == {"param": 64, "bin": 64, "json": 64}
    for path in predictor.files():
        shutil.copyfile(path, tmp_path / path.name)
    copy = tmp_path / predictor.param.name
    assert header_of(Predictor(copy))["sha256"] == header["sha256"]
    copy.write_text(copy.read_text(encoding="utf-8").replace(" avgpool ", " average "), encoding="utf-8")
    assert header_of(Predictor(copy))["sha256"]["param"] != header["sha256"]["param"]


@pytest.mark.parametrize(
    "line",
    [
        '{"image": ["a", "list"]}',
        '{"image": null}',
        '{"image": "a", "image": "b"}',
        '{"image": "a", "width": NaN}',
        '{"image": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"image": "a", "width": ' + "1" * 5000 + "}",
    ],
    ids=["list", "null", "twice", "nan", "deep", "long number"],
)
def test_record_file_refuses_hostile_lines(line: str, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps(HEADER) + "\n" + line + "\n")
    with pytest.raises(ParameterError, match=r"out\.jsonl: expected a file of records, or a new one, got .* in line 2"):
        RecordFile(path, HEADER)
    assert path.read_text().endswith(line + "\n")


def test_record_file_reads_no_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuiper.models.many.record_file._LONGEST_LINE", 200)
    path = tmp_path / "out.jsonl"
    for content in (b"\0" * 1000, json.dumps(HEADER).encode() + b"\n" + b"\0" * 1000):
        path.write_bytes(content)
        with pytest.raises(ParameterError, match="expected a file of records, or a new one"):
            RecordFile(path, HEADER)
        assert path.read_bytes() == content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are files on POSIX only")
def test_record_file_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="expected a file, or a new one, got a special file"):
        RecordFile(tmp_path / "pipe", HEADER)
