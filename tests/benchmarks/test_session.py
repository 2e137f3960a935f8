"""Who is measured, who is left out; no time is asserted."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import kuiper
from benchmarks import session, worker
from benchmarks.errors import BenchmarkError
from benchmarks.model_files import ModelFiles
from benchmarks.peers import Peer
from benchmarks.session import Effort, measure
from kuiper.graph.pnnx import sibling_bin
from kuiper.models import bundled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIGURES = {"load_ms": 1.0, "first_ms": 1.0, "import_mb": 1.0, "peak_mb": 2.0}


class FakeProcess:
    """Stands in for a peer's process: it answers at once, or dies, when it is asked to load or to run."""

    differences: ClassVar = {
        "kuiper": 1e-6,
        "openvino": 0.5,
        "ncnn": float("nan"),
        "torch-eager": 1e-6,
        "onnxruntime": 1e-6,
    }
    dies_at: ClassVar = {"onnxruntime": "load", "torch-eager": "time"}

    def __init__(self, peer: str, files: ModelFiles, threads: int, avx2: Path | None) -> None:
        self.peer = peer

    def __enter__(self) -> FakeProcess:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def load(self) -> dict[str, float]:
        self.die_at("load")
        return {**FIGURES, "difference": self.differences[self.peer]}

    def time(self, runs: int, seconds: float) -> list[float]:
        self.die_at("time")
        return [1.0, 2.0, 6.0]

    def die_at(self, what: str) -> None:
        if self.dies_at.get(self.peer) == what:
            raise BenchmarkError(self.peer, "an answer", "exit code 1", "out of luck")


def test_measure_excludes_those_that_die_or_answer_wrongly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "PeerProcess", FakeProcess)
    effort = Effort(rounds=2, turns=2, runs=3, seconds=0.0)
    measured, excluded = measure(
        ModelFiles("made-up", tmp_path), 1, 2, list(FakeProcess.differences), effort, avx2=None
    )
    (ours,) = measured
    assert (ours.peer, ours.median_ms, ours.min_ms, ours.runs) == ("kuiper", 2.0, 1.0, 12)
    assert {entry.peer: entry.reason for entry in excluded} == {
        "onnxruntime": "onnxruntime: expected an answer, got exit code 1; out of luck",
        "openvino": "its output differs from torch's by 5.0e-01",
        "ncnn": "its output differs from torch's by nan",
        "torch-eager": "torch-eager: expected an answer, got exit code 1; out of luck",
    }


@pytest.fixture
def files(tmp_path: Path) -> Iterator[ModelFiles]:
    """The bundled network as a folder of the cache; the expected output is kuiper's own."""
    threads = kuiper.get_num_threads()
    files = ModelFiles("cifar_resnet20", tmp_path)
    param = bundled("cifar_resnet20")
    shutil.copy(param, files.param)
    shutil.copy(sibling_bin(param), sibling_bin(files.param))
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), np.float32)
    np.savez(files.arrays, input=x, output=np.asarray(kuiper.load(param)(x)))
    yield files
    kuiper.set_num_threads(threads)


def request_for(files: ModelFiles) -> dict[str, Any]:
    return {"peer": "kuiper", "name": files.name, "folder": str(files.folder), "threads": 1}


def test_worker_loads_compares_and_runs(files: ModelFiles) -> None:
    peer, x, figures = worker.load(request_for(files))
    assert figures["difference"] == 0
    assert set(figures) == {*FIGURES, "difference"}
    assert figures["peak_mb"] >= figures["import_mb"] > 0
    assert len(worker.time_runs(peer, x, {"warm_up": 1, "runs": 3, "seconds": 0.0})) == 3


def test_worker_takes_another_shape_for_another_answer(files: ModelFiles) -> None:
    with np.load(files.arrays) as arrays:
        np.savez(files.arrays, input=arrays["input"], output=arrays["output"][0])
    assert worker.load(request_for(files))[2]["difference"] == float("inf")


@pytest.mark.parametrize("avx2", [False, True])
def test_a_peer_is_kept_to_avx2_by_its_own_variables_alone(
    avx2: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: dict[str, str] = {}

    def popen(command: list[str], env: dict[str, str], **others: Any) -> None:
        seen.update(env)
        others["stderr"].close()
        raise OSError("seen enough")

    monkeypatch.setattr(session.subprocess, "Popen", popen)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    with pytest.raises(OSError, match="seen enough"):
        session.PeerProcess("torch-eager", ModelFiles("made-up", tmp_path), 1, tmp_path if avx2 else None).__enter__()
    assert seen.get("ONEDNN_MAX_CPU_ISA") == ("AVX2" if avx2 else None)


@pytest.mark.parametrize(("peer", "copied"), [("ncnn", True), ("torch-eager", False), ("kuiper", False)])
def test_a_peer_without_such_variables_is_run_from_a_copy(
    peer: str, copied: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "narrowed", lambda packages, folder: folder / packages[0])
    files = ModelFiles("made-up", tmp_path)
    request = session.PeerProcess(peer, files, 1, tmp_path / "avx2").first_request
    assert request.get("copy") == (str(tmp_path / "avx2" / peer) if copied else None)
    assert "copy" not in session.PeerProcess(peer, files, 1, None).first_request


def test_worker_gives_token_ids_as_they_are(files: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    class Echo(Peer):
        def load(self, files: ModelFiles) -> None: ...

        def run(self, x: np.ndarray) -> np.ndarray:
            assert x.dtype == np.int64
            return x.astype(np.float32)

    ids = np.arange(6).reshape(1, 6)
    np.savez(files.arrays, input=ids, output=ids.astype(np.float32))
    monkeypatch.setitem(worker.PEERS, "kuiper", Echo)
    assert worker.load(request_for(files))[2]["difference"] == 0
