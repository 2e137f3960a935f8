"""Caches that a decoder takes and returns become state: on graphs by pnnx that are stored, with PyTorch's logits."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import ExportError
from kuiper.graph import pnnx
from kuiper.models.conversion.caches import DecoderInputs, Stateful, add_state, verify_session
from kuiper.models.conversion.caches.state import state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parents[2] / "fixtures" / "cached_decoders"
NAMES = ("rotary", "learned", "gpt2", "llama")

Arrays = tuple[np.ndarray, ...]


class Stored:
    """A decoder of the fixtures: its graph, the inputs of two calls, a text, and PyTorch's logits for it."""

    def __init__(self, name: str) -> None:
        self.files = tuple(FOLDER / f"{name}.pnnx.{kind}" for kind in ("param", "bin"))
        with np.load(FOLDER / f"{name}.npz") as arrays:
            self.calls = [_numbered(arrays, "input_"), _numbered(arrays, "other_input_")]
            self.tokens, self.logits = arrays["tokens"], arrays["logits"]
        self.roles = DecoderInputs.of(self.calls[0])

    def graph(self) -> pnnx.Graph:
        return pnnx.load(*self.files)

    def change(self, graph: pnnx.Graph) -> Stateful:
        return state_of(graph, self.roles, self.calls)


def _numbered(arrays: Mapping[str, np.ndarray], prefix: str) -> Arrays:
    count = sum(name.startswith(prefix) for name in arrays)
    return tuple(arrays[f"{prefix}{i}"] for i in range(count))


def relative(expected: np.ndarray, got: Any) -> float:
    return float(np.abs(expected - np.asarray(got)).max() / np.abs(expected).max())


def copied(stored: Stored, folder: Path) -> tuple[Path, Path]:
    param, weights = (shutil.copy(path, folder) for path in stored.files)
    return folder / param, folder / weights


@pytest.mark.thorough
@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("pieces", [(30,), (7, 1, 5, 17), (1,) * 30], ids=["at once", "in pieces", "one by one"])
@pytest.mark.parametrize("name", NAMES)
def test_add_state_gives_what_pytorch_computes_with_its_own_caches(
    name: str, pieces: tuple[int, ...], optimize: bool, tmp_path: Path
) -> None:
    stored = Stored(name)
    files = copied(stored, tmp_path)
    add_state(files, stored.roles, *stored.calls)
    session = kuiper.load(*files, optimize=optimize).start(max_length=30)
    parts = np.split(stored.tokens, np.cumsum(pieces)[:-1], axis=1)
    got = np.concatenate([np.asarray(session(part)) for part in parts], axis=1)
    assert got.shape == stored.logits.shape
    assert relative(stored.logits, got) <= 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_add_state_leaves_tokens_as_the_only_input(name: str) -> None:
    stored = Stored(name)
    graph = stored.graph()
    stored.change(graph)
    kinds = [op.type for op in graph.operators]
    assert kinds.count("pnnx.Input") == kinds.count("pnnx.Output") == 1
    assert kinds.count("kuiper.Cache") == len(stored.roles.caches)
    assert 2 * kinds.count("kuiper.CausalAttention") == len(stored.roles.caches)
    assert kinds.count("kuiper.Positions") == 1
    assert not {"F.softmax", "F.scaled_dot_product_attention", "aten::triu"} & set(kinds)


def test_add_state_says_which_output_is_which() -> None:
    assert Stored("rotary").change(Stored("rotary").graph()) == Stateful(logits=0, presents=(1, 2, 3, 4))
    assert Stored("learned").change(Stored("learned").graph()) == Stateful(logits=4, presents=(0, 1, 2, 3))


def without_mask(graph: pnnx.Graph) -> None:
    """Each token sees those that come after it, too."""
    for op in graph.operators:
        if op.type == "F.scaled_dot_product_attention":
            op.inputs, op.input_names = op.inputs[:3], op.input_names[:3]


def swapped(graph: pnnx.Graph) -> None:
    """The new rows stand in front of the old ones."""
    op = next(op for op in graph.operators if op.type == "torch.cat" and op.inputs[0].name == "1")
    op.inputs.reverse()


def one_kept(graph: pnnx.Graph) -> None:
    """One cache is not returned."""
    op = next(op for op in graph.operators if op.type == "prim::TupleConstruct")
    op.inputs, op.input_names = op.inputs[:-1], op.input_names[:-1]


def past_returned(graph: pnnx.Graph) -> None:
    """A cache that came in goes out in the place of the logits."""
    op = next(op for op in graph.operators if op.type == "prim::TupleConstruct")
    op.inputs[0] = graph.operators[1].outputs[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_mask, "expected causal attention to the caches of keys and values"),
        (swapped, "expected a cache: torch.cat"),
        (one_kept, "expected the rows of the past and of the call among the outputs, got none for input 4"),
        (past_returned, "expected one output"),
    ],
)
def test_add_state_leaves_the_files_alone_where_it_does_not_recognise_caches(
    change: Any, message: str, tmp_path: Path
) -> None:
    stored = Stored("rotary")
    graph = stored.graph()
    change(graph)
    files = tmp_path / "m.pnnx.param", tmp_path / "m.pnnx.bin"
    pnnx.save(graph, *files)
    before = [path.read_bytes() for path in files]
    with pytest.raises(ExportError, match=message):
        add_state(files, stored.roles, *stored.calls)
    assert [path.read_bytes() for path in files] == before


class Replayed:
    """A model that answers a call with stored logits, and caches that are one longer."""

    name, framework = "replayed", "PyTorch"

    def __init__(self, stored: Stored) -> None:
        self.stored, self.seen = stored, 0

    def answers(self, inputs: Arrays) -> list[np.ndarray]:
        roles = self.stored.roles
        assert inputs[roles.tokens].shape == (1, 1)
        assert all(inputs[i].shape[2] == self.seen for i in roles.caches)
        assert all(inputs[i].tolist() == [[self.seen]] for i in roles.positions)
        assert all(inputs[i].tolist() == [[1] * (self.seen + 1)] for i in roles.masks)
        logits = self.stored.logits[:, self.seen : self.seen + 1]
        self.seen += 1
        return [logits, *(np.zeros((*inputs[i].shape[:2], self.seen, 4), np.float32) for i in roles.caches)]

    def exact_answers(self, inputs: Arrays) -> list[np.ndarray]:
        return []

    def settled_answers(self, inputs: Arrays) -> tuple[list[np.ndarray], set[str]]:
        return [], set()

    def steps(self, inputs: Arrays) -> list[np.ndarray]:
        return []


@pytest.mark.parametrize("wrong", [0, 1e-3])
def test_verify_session_compares_with_the_model_that_keeps_its_caches_itself(wrong: float, tmp_path: Path) -> None:
    stored = Stored("gpt2")
    files = copied(stored, tmp_path)
    state = add_state(files, stored.roles, *stored.calls)
    stored.logits[0, -1] += wrong
    comparison = verify_session(files[0], Replayed(stored), stored.roles, state, stored.calls[0], stored.tokens)
    assert comparison.agrees == (wrong == 0)
    assert comparison.rows[0].inputs == "30 tokens in a session"


TOKENS, CACHE = np.zeros((1, 4), np.int64), np.zeros((1, 2, 6, 8), np.float32)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([TOKENS], r"expected tokens \(b, s\) of integers, and caches"),
        ([CACHE, CACHE], r"expected tokens \(b, s\) of integers, and caches"),
        ([TOKENS, CACHE, CACHE[:, :, 1:]], "caches .* of one b and one past"),
        ([TOKENS, CACHE, CACHE, np.zeros((1, 11), bool)], r"input 3: expected positions \(1, 4\) or a mask \(1, 10\)"),
    ],
)
def test_decoder_inputs_refuses_what_is_no_decoder(inputs: list[np.ndarray], message: str) -> None:
    with pytest.raises(ExportError, match=message):
        DecoderInputs.of(inputs)


def test_decoder_inputs_makes_positions_and_masks_that_fit() -> None:
    places, mask = np.zeros((1, 4), np.int32), np.zeros((1, 10), np.float32)
    roles = DecoderInputs.of([TOKENS, places, mask, CACHE, CACHE])
    assert roles == DecoderInputs(tokens=0, caches=(3, 4), positions=(1,), masks=(2,), length=4, past=6)
    arrays = roles.consistent([TOKENS, places, mask, CACHE, CACHE])
    assert arrays[1].tolist() == [[6, 7, 8, 9]]
    assert arrays[1].dtype == np.int32
    assert arrays[2].tolist() == [[1.0] * 10]
    assert roles.shapes(arrays, 1, 0) == [(1, 1), (1, 1), (1, 1), (1, 2, 0, 8), (1, 2, 0, 8)]
