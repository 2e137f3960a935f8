"""The benchmark of text: a tiny decoder end to end with kuiper alone, and what is made from its results."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import kuiper
from benchmarks import limits, text, text_exports, text_worker
from benchmarks.__main__ import main
from benchmarks.errors import BenchmarkError
from benchmarks.text import (
    LimitSamples,
    Samples,
    Setting,
    execute,
    measure_round,
    prompt_flops,
    reason_to_leave_out,
    worker,
)
from benchmarks.text_files import GREEDY, TextFiles, prepare
from benchmarks.text_peers import PEERS
from benchmarks.text_quality import FORMS, divergence, followers, in_floats, log_probabilities, qualities
from benchmarks.text_results import TextLimits, TextResults
from kuiper.models import bundled
from kuiper.models.quantization import quantize_graph
from kuiper.models.text import language_model
from kuiper.models.text.perplexity import perplexity
from kuiper.models.text.random_decoder import random_decoder
from tests.benchmarks.tiny_decoder import TINY

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextFiles]:
    """The tiny decoder, written without torch and gguf, as if neither were installed."""
    monkeypatch.setattr("benchmarks.text_files.find_spec", lambda name: None)  # nor any other peer
    threads = kuiper.get_num_threads()
    yield prepare(tmp_path, TINY)
    kuiper.set_num_threads(threads)


def test_prepare_writes_once(files: TextFiles) -> None:
    before = files.origin.stat().st_mtime_ns, files.param(8).stat().st_mtime_ns
    again = prepare(files.folder.parents[1], TINY)
    assert (again.origin.stat().st_mtime_ns, again.param(8).stat().st_mtime_ns) == before
    assert not files.gguf(32).exists()
    files.origin.write_text("{}")
    assert prepare(files.folder.parents[1], TINY).param(8).stat().st_mtime_ns != before[1]


@pytest.mark.parametrize("bits", [32, 8, 4])
def test_worker_loads_writes_and_times(files: TextFiles, bits: int) -> None:
    request = {"peer": "kuiper", "folder": str(files.folder), "bits": bits, "threads": 1}
    peer, tokens, figures = text_worker.load(request)
    assert figures["difference"] is None  # torch was not there
    assert figures["peak_mb"] >= figures["import_mb"] > 0
    assert len(text_worker.time_turn(peer, tokens, steps=True)) == text_worker.STEPS
    assert len(text_worker.time_turn(peer, tokens, steps=False)) == text_worker.PROMPTS
    logits = peer.read(tokens)
    np.testing.assert_array_equal(peer.read(tokens), logits)  # whatever was read before is forgotten
    peer.read(tokens[:-1])
    np.testing.assert_allclose(peer.step(int(tokens[-1])), logits, atol=1e-5 * np.abs(logits).max())


def test_worker_compares_with_torch(files: TextFiles) -> None:
    request = {"peer": "kuiper", "folder": str(files.folder), "bits": 32, "threads": 1}
    peer, tokens, _ = text_worker.load(request)
    written = peer.greedy(tokens, GREEDY)
    np.savez(files.arrays, tokens=tokens, logits=2 * peer.read(tokens), greedy=[*written[:3], -1, *written[4:]])
    figures = text_worker.load(request)[2]
    assert figures["difference"] == pytest.approx(0.5, rel=1e-5)
    assert figures["agreeing"] == 3


def test_execute_writes_results_and_tables(
    files: TextFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "memory_read_gb_per_second", lambda threads: 40.0)
    monkeypatch.setattr(limits, "peak_gflops", lambda threads: 100.0)
    monkeypatch.setattr(limits, "refuse_debug_build", lambda: None)
    monkeypatch.setattr(text, "measure_round", measured_here)
    out = tmp_path / "out.json"
    words = ["--quick", "--threads", "1", "--bits", "8", "--peers", "kuiper", "--cache", str(tmp_path), "-o", str(out)]
    parser = text_parser()
    assert execute(parser.parse_args(words), TINY) == 0
    found = TextResults.read(out)
    assert [(m.peer, m.bits, m.threads) for m in found.measurements] == [("kuiper", 8, 1)]
    assert found.weight_bytes[8] < found.weight_bytes[32] / 3
    assert found.limits == [TextLimits(8, 1, 40.0, 100.0)]
    assert {entry.model for entry in found.quality} == {"random weights", "shakespeare"}
    assert [entry.form for entry in found.quality] == [*FORMS, *FORMS]
    for entry in found.quality:
        assert (entry.divergence == 0) == (entry.form == "float32" or (entry.model, entry.form) == LOSSLESS)
    assert "Tokens written per second, 1 thread" in capsys.readouterr().out


LOSSLESS = ("shakespeare", "8 bits, a scale for a row")


def test_qualities_of_a_trained_model_are_those_of_its_text(files: TextFiles, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("First Citizen:\nBefore we proceed any further, hear me speak.\n" * 8, encoding="utf-8")
    found = [entry for entry in qualities(files, bundled("shakespeare"), text) if entry.text == "text.txt"]
    model = language_model.load(bundled("shakespeare"))
    tokens = model.vocabulary.encode(text.read_text(encoding="utf-8"))
    assert [entry.tokens for entry in found] == [len(tokens) - 1] * len(FORMS)
    assert found[0].perplexity == pytest.approx(perplexity(model, tokens), rel=1e-4)
    assert found[2].divergence < found[3].divergence / 10
    with pytest.raises(BenchmarkError, match="expected a --text with it"):
        qualities(files, bundled("shakespeare"), None)


def test_in_floats_restores_the_weights_of_every_form() -> None:
    for bits, group in ((8, None), (8, 32), (4, None)):
        graph = random_decoder(seed=1, hidden_size=64, intermediate_size=96, head_dim=16)
        quantize_graph(graph, bits, group)
        expected = np.asarray(kuiper.load(lambda graph=graph: graph, optimize=False)([[1, 2, 3]]))
        got = np.asarray(kuiper.load(lambda graph=graph: in_floats(graph), optimize=False)([[1, 2, 3]]))
        np.testing.assert_array_equal(got, expected)
        assert not any(key.endswith("_scales") for op in graph.operators for key in op.attrs)


@pytest.mark.torch
def test_divergence_is_that_of_torch() -> None:
    import torch

    scores = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 9, 50)))
    p, q = torch.log_softmax(scores, -1)
    expected = torch.nn.functional.kl_div(q, p, reduction="batchmean", log_target=True)
    assert divergence(p.numpy(), q.numpy()) == pytest.approx(float(expected), rel=1e-9)


def test_log_probabilities_cover_all_tokens_but_the_first_of_each_window() -> None:
    model = language_model.load(bundled("shakespeare"))
    tokens = np.arange(600) % 60
    found = np.concatenate(log_probabilities(model, tokens))
    assert (found.shape, len(followers(tokens))) == ((599, 65), 599)
    np.testing.assert_allclose(np.exp(found.astype(np.float64)).sum(axis=-1), 1, rtol=1e-5)


def text_parser() -> Any:
    import argparse

    parser = argparse.ArgumentParser()
    text.add_arguments(parser)
    return parser


def measured_here(
    samples: dict[str, Samples], best: LimitSamples, files: TextFiles, setting: Setting, turns: int
) -> None:
    """In this process, which costs no start of another one."""
    for peer, own in samples.items():
        running, tokens, figures = text_worker.load(worker(peer, files, setting).first_request)
        own.loads.append(figures)
        own.steps += text_worker.time_turn(running, tokens, steps=True)
        own.prompts += text_worker.time_turn(running, tokens, steps=False)
    best.measure(setting.threads)


class FakeWorker:
    """A process that answers from a table of differences to torch."""

    differences: ClassVar = {"kuiper": 1e-6, "llama.cpp": 0.5}

    def __init__(self, peer: str, module: str, request: dict[str, Any], variables: dict[str, str]) -> None:
        self.peer, self.first_request = peer, request

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def ask(self, request: dict[str, Any]) -> Any:
        if "peer" not in request:
            return [2.0, 1.0] if request["steps"] else [30.0]
        if self.peer not in self.differences:
            raise BenchmarkError(self.peer, "an answer", "exit code 1", "out of luck")
        return {"difference": self.differences[self.peer]}


@pytest.mark.parametrize(
    ("peer", "copied", "switched"),
    [("onnxruntime-genai", True, False), ("torch", False, True), ("kuiper", False, False)],
)
def test_worker_of_a_peer_that_is_kept_to_avx2(
    peer: str, copied: bool, switched: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(text, "narrowed", lambda packages, folder: folder / "-".join(packages))
    files, avx2 = TextFiles(tmp_path), tmp_path / "avx2"
    process = worker(peer, files, Setting(32, 1, avx2))
    copy = str((avx2 / "-".join(PEERS[peer].asking)).resolve())
    assert process.first_request.get("copy") == (copy if copied else None)
    assert process.variables.get("ONEDNN_MAX_CPU_ISA") == ("AVX2" if switched else None)
    free = worker(peer, files, Setting(32, 1, None))
    assert ("copy" not in free.first_request, free.variables) == (True, {})


def test_reason_to_leave_out_names_what_nothing_keeps_to_avx2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(text.importlib.util, "find_spec", lambda name: name)
    assert "nothing keeps it to AVX2" in reason_to_leave_out("llama.cpp", 8, tmp_path)
    assert reason_to_leave_out("llama.cpp", 8) == reason_to_leave_out("kuiper-rows", 8, tmp_path) == ""


def test_measure_round_leaves_out_those_that_die_or_answer_wrongly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(text, "Worker", FakeWorker)
    monkeypatch.setattr(limits, "memory_read_gb_per_second", lambda threads: 40.0)
    monkeypatch.setattr(limits, "peak_gflops", lambda threads: 100.0)
    samples, best = {peer: Samples("") for peer in PEERS}, LimitSamples()
    measure_round(samples, best, TextFiles(tmp_path), Setting(32, 1, None), turns=2)
    assert (best.reads, best.peaks) == ([40.0, 40.0], [100.0, 100.0])
    assert samples["kuiper"].steps == [2.0, 1.0, 2.0, 1.0]
    assert samples["kuiper"].prompts == [30.0, 30.0]
    assert samples["llama.cpp"].reason == "its scores differ from torch's by 5.0e-01"
    assert samples["torch"].reason == "torch: expected an answer, got exit code 1; out of luck"


def test_reason_to_leave_out_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text.importlib.util, "find_spec", lambda name: None if name == "gguf" else object())
    assert reason_to_leave_out("llama.cpp", 8) == "no module gguf"
    assert reason_to_leave_out("torch", 8) == "it has no such weights for a decoder"
    assert reason_to_leave_out("kuiper", 4) == ""


def test_prompt_flops_count_the_last_product_once(files: TextFiles) -> None:
    layer = 64 * 64 * 2 + 2 * 32 * 64 + 3 * 64 * 96
    assert prompt_flops(files) == 2 * (256 * 2 * layer + 320 * 64)


def test_impossible_threads_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["text", "--threads", "0"]) == 1
    assert "--threads: expected" in capsys.readouterr().err


def test_write_onnx_says_what_the_builder_said(files: TextFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")

    def build(command: list[str], env: dict[str, str], **settings: Any) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--input") + 1])
        assert {path.name for path in folder.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}
        assert command[command.index("--precision") + 1] == "int8"
        assert env["HF_HUB_OFFLINE"] == "1"
        return subprocess.CompletedProcess(command, 1, "", "Traceback\nValueError: no such weights")

    monkeypatch.setattr(text_exports.subprocess, "run", build)
    with pytest.raises(BenchmarkError, match="exit code 1; ValueError: no such weights"):
        text_exports.write_onnx(files, 8)
