"""Many photos into a file of records: once each, whatever ends the run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from kuiper.cli.many_pictures import Tally, progress_bar
from kuiper.models import bundled, bundled_photo
from kuiper.models.predictor import Predictor
from tests.cli.program import run
from tests.models.predictions import GATE

ROOT = Path(__file__).parents[2]
EARLY, LATE = 6, 5


def records(path: Path) -> list[dict[str, Any]]:
    """The lines behind the header; each of them has to be whole."""
    header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert json.loads(header)["task"] == "classify"
    assert all(line.endswith("\n") for line in lines)
    return [json.loads(line) for line in lines]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures of which the late ones can be held up."""
    photos = tmp_path / "photos"
    photos.mkdir()
    pixels = np.random.default_rng(3).integers(0, 256, (EARLY + LATE, 40, 40, 3), np.uint8)
    for i in range(EARLY + LATE):
        name = f"{i}.png" if i < EARLY else f"{i} late.png"
        Image.fromarray(pixels[i]).save(photos / name)
    return photos


@pytest.fixture
def bad_folder(tmp_path: Path) -> Path:
    """A good picture, and all that can be wrong with one."""
    photos = tmp_path / "bad"
    (photos / "folder.png").mkdir(parents=True)
    shutil.copyfile(bundled_photo(), photos / "cat.jpg")
    (photos / "text.jpg").write_text("no picture", encoding="utf-8")
    (photos / "empty.jpg").touch()
    (photos / "notes.txt").write_text("not asked", encoding="utf-8")
    return photos


def start(folder: Path, output: Path) -> subprocess.Popen[str]:
    """The program in a process of its own, which stops at the late pictures."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), GATE: str(folder / "gate")}
    words = ["classify", str(folder), "-o", str(output), "--processes", "2"]
    command = [sys.executable, "-m", "tests.cli.gated_program", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, start_new_session=True, **pipes)


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 100
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_classify_goes_on_where_it_was_killed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.jsonl"
    program = start(folder, output)
    wait_for_lines(output, 1 + EARLY)
    program.kill()
    program.communicate(timeout=60)  # returns when its workers are gone as well, which are at the gate
    assert Counter(Path(record["image"]).name for record in records(output)) == Counter(
        f"{i}.png" for i in range(EARLY)
    )
    with output.open("ab") as file:
        file.write(b'{"image": "' + os.fsencode(folder / "7 late.png")[:9])  # as if it had been killed while writing
    assert run("classify", folder, "-o", output) == 0
    assert capsys.readouterr().err.startswith(f"{LATE} done, {EARLY} skipped, 0 failed, ")
    predictor = Predictor(bundled("cifar_resnet20"))
    expected = [predictor.record(str(path)) for path in sorted(folder.glob("*.png"))]
    assert sorted(records(output), key=lambda record: record["image"]) == expected


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_classify_keeps_what_was_done_before_ctrl_c(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    program = start(folder, output)
    wait_for_lines(output, 1 + EARLY)
    os.killpg(program.pid, signal.SIGINT)  # the workers get it too, as in a terminal
    out, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert out == ""
    summary, last = err.splitlines()
    assert summary.startswith(f"{EARLY} done, 0 skipped, 0 failed, ")
    assert last == "kuiper classify: interrupted"
    assert len(records(output)) == EARLY


def test_classify_goes_on_from_another_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert run("classify", "1.png", "-o", "../out.jsonl") == 0
    monkeypatch.chdir(tmp_path)
    assert run("classify", "photos/1.png", "-o", "out.jsonl") == 0
    assert "0 done, 1 skipped" in capsys.readouterr().err
    assert [record["image"] for record in records(tmp_path / "out.jsonl")] == [str(folder / "1.png")]


@pytest.mark.thorough
def test_classify_records_bad_pictures_and_retries_them_when_told_to(
    bad_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.jsonl"
    assert run("classify", bad_folder, "-o", output) == 1
    assert capsys.readouterr().err.startswith("1 done, 0 skipped, 2 failed, ")
    found = {Path(record["image"]).name: record for record in records(output)}
    assert sorted(found) == ["cat.jpg", "empty.jpg", "text.jpg"]
    assert "an empty file" in found["empty.jpg"]["error"]
    assert "a file of another kind" in found["text.jpg"]["error"]

    shutil.copyfile(bundled_photo(), bad_folder / "text.jpg")
    assert run("classify", bad_folder, "-o", output) == 0
    summary = capsys.readouterr().err
    assert summary.startswith("0 done, 3 skipped, 0 failed, ")
    assert summary.endswith("; 2 of those skipped had failed: --retry-errors tries them again\n")

    assert run("classify", bad_folder, "-o", output, "--retry-errors") == 1
    assert capsys.readouterr().err.startswith("1 done, 1 skipped, 1 failed, ")
    labels = {Path(record["image"]).name: "labels" in record for record in records(output)}
    assert labels == {"cat.jpg": True, "empty.jpg": False, "text.jpg": True}
    assert len(records(output)) == 3


def test_classify_of_a_picture_that_is_a_folder_without_pictures_says_so(
    bad_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("classify", bad_folder / "folder.png", "-o", "out.jsonl") == 1
    assert "folder.png: expected a folder with pictures, got none in it" in capsys.readouterr().err


def test_classify_refuses_to_go_on_with_other_options(
    bad_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.jsonl"
    assert run("classify", bad_folder / "cat.jpg", "-o", output) == 0
    before = output.read_bytes()
    capsys.readouterr()
    assert run("classify", bad_folder, "-o", output, "--top", "3") == 1
    expected = "expected options as this file was begun with (top 5), got top 3; name another file with -o"
    assert capsys.readouterr().err == f"kuiper classify: {output}: {expected}\n"
    assert output.read_bytes() == before


def test_classify_prints_records_in_order(bad_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("classify", bad_folder, "--json", "--top", "2") == 1
    captured = capsys.readouterr()
    printed = [json.loads(line) for line in captured.out.splitlines()]
    assert [record["image"] for record in printed] == [
        str(bad_folder / name) for name in ("cat.jpg", "empty.jpg", "text.jpg")
    ]
    assert [len(record.get("labels", [])) for record in printed] == [2, 0, 0]
    assert captured.err == ""


def test_classify_prints_records_of_processes(bad_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("classify", bad_folder, "--json", "--processes", "1") == 1
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(record["image"] for record in printed) == [
        str(bad_folder / name) for name in ("cat.jpg", "empty.jpg", "text.jpg")
    ]


def test_classify_prints_a_folder_for_people(bad_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("classify", bad_folder) == 1
    out = capsys.readouterr().out
    assert "cat.jpg  " in out
    assert "empty.jpg: expected an image, got an empty file" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "out.txt"], "-o: expected a file name that ends in .jsonl, got out.txt"),
        (["--top", "0"], "--top: expected a number of at least 1, got 0"),
        (["--processes", "2"], "--processes: expected -o or --json beside it, got neither"),
        (["--dask", "tcp://h:1"], "--dask: expected -o or --json beside it, got neither"),
        (["--json", "--processes", "0"], "--processes: expected a number of at least 1, got 0"),
        (["--json", "--threads", "0"], "set_num_threads: expected an integer from 1 to 1024, got 0"),
        (["--retry-errors"], "--retry-errors: expected -o with the file of an earlier run, got no -o"),
        (
            ["--model", "nowhere.param"],
            "nowhere.json: expected a model card with the task 'classify', got nothing there",
        ),
    ],
)
def test_classify_refuses_wrong_options_in_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("classify", bundled_photo(), *words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("kuiper classify: ")
    assert captured.err.endswith(f"{message}\n")
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_progress_bar_shows_what_is_done_and_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(file=StringIO(), force_terminal=True, width=120, color_system=None)
    monkeypatch.setattr("kuiper.cli.many_pictures.open_console", lambda error: terminal)
    tally = Tally(skipped=2, failed_before=0)
    with progress_bar("classify", 10, tally, shown=True) as show:
        tally.count({"image": "a"})
        tally.count({"image": "b", "error": "bad"})
        show()
    last = terminal.file.getvalue().split("\r")[-2]  # type: ignore[attr-defined]
    assert "classify" in last
    assert " 4/10 " in last
    assert " images/s 1 failed" in last
