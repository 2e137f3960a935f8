"""The record of what the README tells a newcomer to do."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks import demo
from benchmarks.errors import BenchmarkError
from benchmarks.readme import demo_lines
from benchmarks.report import read_demo
from kuiper.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def printed(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.chdir(demo.ROOT)
    assert main(words) == 0
    return [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]


def without_figures(lines: list[str]) -> list[str]:
    return [re.sub(r"[\d.]+ (ms|tokens/s|threads?)\b", r"N \1", line) for line in lines if line.strip()]


def test_photo_of_the_record_is_what_classify_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = read_demo()
    assert record
    now = printed(["classify", demo.PHOTO], monkeypatch, capsys)
    assert without_figures(now) == without_figures(record.classified), "python -m benchmarks demo"


def test_demo_lines_show_what_was_printed_and_the_seconds() -> None:
    made_up = demo.Demo("2026-01-31", {"cpu": "A CPU", "model": "", "cores": 2}, 0.5, 90.0, ["a photo"], ["The moon"])
    lines = demo_lines(made_up)
    assert "(90 seconds on A CPU, 2 cores; 2026-01-31)" in lines[0]
    assert lines[-5:] == ["```", "a photo", "", "The moon", "```"]
    assert "2 cores that had other work to do;" in demo_lines(replace(made_up, load=1.5))[0]
    assert demo_lines(None) == ["Not measured yet."]


def test_run_gives_lines_and_says_what_failed(tmp_path: Path) -> None:
    assert demo.run([sys.executable, "-c", "print('a  ')"], tmp_path) == ["a"]
    with pytest.raises(BenchmarkError, match=r"expected exit code 0, got 3: no"):
        demo.run([sys.executable, "-c", "import sys; print('no', file=sys.stderr); sys.exit(3)"], tmp_path)


def test_answer_needs_a_line_on_the_photo() -> None:
    with pytest.raises(BenchmarkError, match=r"make demo: expected a line that begins with kuiper/models"):
        demo.answer(["nothing"])
