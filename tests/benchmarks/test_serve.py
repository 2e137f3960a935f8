"""The benchmark of serving: a tiny decoder end to end with kuiper alone, and what is made from its results."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import kuiper
from benchmarks import limits, serve
from benchmarks.errors import BenchmarkError
from benchmarks.report import page
from benchmarks.serve_peers import ServePeer
from benchmarks.serve_results import ServeMeasurement, ServeResults, allowed_seconds, serve_tables
from benchmarks.serve_worker import Served, drive
from benchmarks.text_files import GREEDY, prepare
from benchmarks.text_results import TextExclusion
from kuiper.serving.load import Call
from tests.benchmarks.tiny_decoder import TINY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.text_files import TextFiles


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextFiles]:
    """The tiny decoder, written without torch and gguf, as if neither were installed."""
    monkeypatch.setattr("benchmarks.text_files.find_spec", lambda name: None)
    monkeypatch.setattr("benchmarks.serve_peers.CACHE_GB", 1)
    threads = kuiper.get_num_threads()
    yield prepare(tmp_path, TINY)
    kuiper.set_num_threads(threads)


class Scripted(ServePeer):
    """Gives one token to each request in each step, the oldest of at most two first."""

    def __init__(self) -> None:
        self.left: dict[int, int] = {}
        self.most = 0

    def add(self, number: int, prompt: list[int], tokens: int) -> None:
        self.left[number] = tokens
        self.most = max(self.most, len(self.left))

    def step(self) -> list[tuple[int, int]]:
        came = [(number, 7) for number in [*self.left][:2]]
        for number, _ in came:
            self.left[number] -= 1
            if not self.left[number]:
                del self.left[number]
        return came


def test_drive_gives_readers_one_call_at_a_time_and_times_each_token() -> None:
    peer = Scripted()
    calls = [Call([1], tokens, 0.001) for tokens in (2, 3, 1, 4, 2)]
    found = drive(peer, calls, 3)
    assert [len(tokens) for tokens in found.tokens] == [2, 3, 1, 4, 2]
    assert [len(one.tokens) for one in found.timings] == [2, 3, 1, 4, 2]
    assert peer.most <= 3
    assert sum(tokens * steps for tokens, steps in found.steps.items()) == 12
    for one in found.timings:
        assert 0 < one.sent < one.tokens[0]
        assert one.tokens == sorted(one.tokens)
    assert isinstance(found.steps, Counter)
    assert found.busy > 0


def served(files: TextFiles, bits: int = 32, readers: int = 3) -> Served:
    return Served({"peer": "kuiper", "folder": str(files.folder), "bits": bits, "threads": 1, "readers": readers})


@pytest.mark.parametrize("bits", [32, 8, 4])
def test_worker_warms_up_and_answers(files: TextFiles, bits: int) -> None:
    one = served(files, bits)
    assert one.begin()["agreeing"] == 0  # torch was not there
    assert one.answer({"writing": [70, 8]})["per_second"] > 0
    assert one.answer({"reading": [40, 4]})["per_second"] > 0
    what = {"count": 7, "pause": 0.001, "seed": 1, "prompts": [80, 90], "answers": [2, 5], "shared": 64}
    found = one.answer({"calls": what})
    assert 14 <= found["written"] <= 35
    assert sum(tokens * steps for tokens, steps in found["steps"]) == found["written"]
    assert found["found"] in (64 * 2, 64 * 3)  # four prompts of seven begin alike; two may come at once
    assert found["peak_mb"] > 0
    assert one.peer.step() == []


def execute(words: list[str]) -> int:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    return serve.execute(parser.parse_args(words), TINY)


def test_execute_measures_cells_and_keeps_those_of_the_file(
    files: TextFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    turns: list[tuple[str, int, int]] = []

    def turn_here(peer: str, files: TextFiles, bits: int, readers: int, arguments: Any) -> dict[str, Any]:
        turns.append((peer, bits, readers))
        one = served(files, bits, readers)
        what = {"count": 3, "pause": 0.001, "seed": 1, "prompts": [8, 9], "answers": [2, 5], "shared": 4}
        rates = {"writing": one.answer({"writing": [16, 4]})["per_second"], "reading": one.read(32, 2)}
        return {**one.begin(), "agreeing": 16, **one.answer({"calls": what}), **rates}

    monkeypatch.setattr(limits, "refuse_debug_build", lambda: None)
    monkeypatch.setattr(serve, "take_turn", turn_here)
    out = tmp_path / "out.json"
    common = ["--peers", "kuiper", "transformers", "--threads", "1", "--cache", str(tmp_path), "-o", str(out)]
    assert execute([*common, "--bits", "8", "--readers", "1", "--rounds", "2"]) == 0
    assert execute([*common, "--bits", "8", "--readers", "1", "2", "--keep"]) == 0
    assert turns == [("kuiper", 8, 1), ("kuiper", 8, 1), ("kuiper", 8, 2)]
    found = ServeResults.read(out)
    assert found.cells == [(8, 1), (8, 2)]
    assert [(entry.peer, entry.bits) for entry in found.excluded] == [("transformers", 8)]
    shown = capsys.readouterr().out
    assert "Tokens written per second, 1 thread" in shown
    assert "transformers is left out for 8 bits" in shown
    found.machine["cores"] = 1000
    found.save(out)
    with pytest.raises(BenchmarkError, match="expected results of this machine"):
        execute([*common, "--bits", "8", "--keep"])


def test_a_peer_that_writes_something_else_is_left_out(
    files: TextFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "refuse_debug_build", lambda: None)
    monkeypatch.setattr(serve, "take_turn", lambda *arguments: {"agreeing": 0})
    out = tmp_path / "out.json"
    words = ["--peers", "kuiper", "--threads", "1", "--cache", str(tmp_path), "-o", str(out), "--bits", "32"]
    assert execute([*words, "--readers", "1"]) == 0
    assert ServeResults.read(out).excluded == [TextExclusion(32, "kuiper", "it does not write what torch does")]


@pytest.mark.parametrize("words", [["--threads", "1000"], ["--readers", "0"], ["--rounds", "0"]])
def test_execute_refuses_wrong_numbers(words: list[str]) -> None:
    with pytest.raises(BenchmarkError, match="expected"):
        execute(words)


def entry(peer: str, readers: int, seconds: float, writing: float | None = None) -> ServeMeasurement:
    return ServeMeasurement(
        bits=32, readers=readers, peer=peer, seconds=seconds, read=1000, written=400, first_ms=(50.0, 90.0, 200.0),
        each_ms=(10.0 * readers**0.5, 20.0, 30.5), writing_per_second=writing, reading_per_second=500.0, found=250,
        busy_seconds=4.0, steps=[(0, 3), (readers, 20)], load_ms=500.0, peak_mb=700.0, agreeing=GREEDY,
    )  # fmt: skip


def results() -> ServeResults:
    """Kuiper has twice openvino-genai's rate with 4 readers; one reader has kuiper alone."""
    return ServeResults(
        date="2026-01-31",
        quick=False,
        machine={"cpu": "A CPU", "cores": 2, "caches_kib": {"L1": 32}, "memory_mib": 2048, "system": "Linux x86_64"},
        build={
            "compiler": "gcc 12", "flags": "-O3", "python": "3.11.7", "numpy": "2.0.0", "requires": ["avx", "avx2"],
            "machine": "x86_64", "lanes": 8, "cpu_features": ["avx2"],
        },
        versions={"kuiper": "0.1.0"},
        threads=2,
        measurements=[
            entry("kuiper", 1, 10.0, 40.0), entry("kuiper", 4, 2.0, 100.0), entry("openvino-genai", 4, 4.0, None),
        ],
        excluded=[TextExclusion(8, "llama.cpp", "no module llama_cpp")],
    )  # fmt: skip


def test_results_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results().save(path)
    assert ServeResults.read(path) == results()
    path.write_text('{"format": 1}')
    with pytest.raises(BenchmarkError, match="the JSON of a benchmark of serving"):
        ServeResults.read(path)


def test_tables_compare_with_the_best_other() -> None:
    rate, first, each, writing, many, others = serve_tables(results())
    assert [list(row) for row in rate.rows] == [
        ["float32", "1", "40", "-", "-", "-", "-", "-"],
        ["float32", "4", "200", "-", "100", "-", "openvino-genai", "2.00"],
    ]
    assert list(first.rows[1])[2] == "50.0 / 90.0 / 200"
    assert list(first.rows[1])[-2:] == ["openvino-genai", "1.00 / 1.00 / 1.00"]
    assert list(each.rows[1])[2] == "20.0 / 20.0 / 30.5"
    assert list(writing.rows[1])[2:] == ["100", "-", "-", "-", "-", "-"]
    assert list(many.rows[1])[2:] == ["2.50", "1.00", "2.00", "57%"]
    assert len(others.rows) == 2


def test_allowed_seconds_are_those_of_the_measured_rates() -> None:
    found = results()
    many = found.of(32, 4)["kuiper"]
    assert allowed_seconds(found, many) == pytest.approx(20 * 4 / 100 + (1000 - 250) / 500)
    between = replace(many, steps=[(2, 10)])  # between 1 in 25 ms and 4 in 40 ms
    assert allowed_seconds(found, between) == pytest.approx(10 * 0.030 + 1.5)
    assert allowed_seconds(found, replace(many, found=None)) is None
    assert allowed_seconds(found, replace(many, readers=16)) is None


def test_page_has_a_section_of_serving() -> None:
    written = page({}, {}, {"made-up": results(), "quick": replace(results(), quick=True)})
    assert "## Serving: A CPU, 2 cores; kuiper built for AVX2" in written
    assert "`benchmarks/results/serve/made-up.json`" in written
    assert written.count("From a quick run") == 1
    assert "Note: llama.cpp is left out for 8 bits: no module llama_cpp." in written
    assert serve_tables(ServeResults("", False, {}, {}, {}, 1)) == []
