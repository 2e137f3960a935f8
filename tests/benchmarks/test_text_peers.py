"""The other runtimes of the benchmark of text: they are exported, and write what torch writes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import text, text_worker
from benchmarks.text_files import GREEDY, TextFiles, prepare
from benchmarks.text_peers import OUR_OWN, PEERS
from tests.benchmarks.tiny_decoder import TINY


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> TextFiles:
    """The tiny decoder in the format of every peer whose writer is installed."""
    return prepare(tmp_path_factory.mktemp("exported"), TINY)


@pytest.mark.torch
@pytest.mark.parametrize("bits", [32, 8, 4])
@pytest.mark.parametrize("peer", ["onnxruntime-genai", "openvino"])
def test_exported_peers_step_as_they_read(peer: str, bits: int, exported: TextFiles) -> None:
    for package in PEERS[peer].packages:
        pytest.importorskip(package)
    request = {"peer": peer, "folder": str(exported.folder), "bits": bits, "threads": 1}
    running, tokens, figures = text_worker.load(request)
    assert figures["difference"] < text.TOLERANCES[bits]
    logits = running.read(tokens)
    running.read(tokens[:-1])
    assert text_worker.distance(running.step(int(tokens[-1])), logits) < 0.05  # of 8 bits, rounded in other groups


@pytest.mark.torch
@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer not in OUR_OWN])
def test_peers_write_what_torch_writes(peer: str, exported: TextFiles) -> None:
    for package in ("torch", "transformers", *PEERS[peer].packages):
        pytest.importorskip(package)
    origin = json.loads(exported.origin.read_text())
    assert "transformers" in origin
    for name in (peer, "kuiper"):
        figures = text_worker.load({"peer": name, "folder": str(exported.folder), "bits": 32, "threads": 1})[2]
        assert (figures["difference"] is None) == (name == "openvino-genai")
        assert (figures["difference"] or 0) < 3e-3
        assert figures["agreeing"] == 16


@pytest.mark.torch
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_openvino_genai_writes_what_openvino_does(bits: int, exported: TextFiles) -> None:
    for package in PEERS["openvino-genai"].packages:
        pytest.importorskip(package)
    stepped, written = (
        text_worker.load({"peer": peer, "folder": str(exported.folder), "bits": bits, "threads": 1})[0]
        for peer in ("openvino", "openvino-genai")
    )
    with np.load(exported.arrays) as arrays:
        tokens = arrays["tokens"]
    alike = text_worker.agreeing(written.greedy(tokens, GREEDY), stepped.greedy(tokens, GREEDY))
    assert alike >= (GREEDY if bits == 32 else 1)  # with fewer bits they may round activations, each in its own groups
    assert len(text_worker.time_turn(written, tokens, steps=True)) == text_worker.STEPS
    assert all(ms > 0 for ms in text_worker.time_turn(written, tokens, steps=False))
