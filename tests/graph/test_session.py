"""Sessions: calls that go on where the one before has ended, on the layers and on the engine."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
import pytest

import kuiper
from kuiper.engine.compile import compile_graph
from kuiper.engine.engine import Engine
from kuiper.errors import DataTypeError, GraphStateError, ParameterError, ShapeError
from kuiper.graph import RuntimeGraph
from kuiper.graph.session import MAX_PIECE
from kuiper.graph.state import State
from kuiper.layers import registry
from kuiper.models import bundled
from kuiper.models.text.random_decoder import random_decoder

if TYPE_CHECKING:
    from kuiper.engine.executable import Executable
    from kuiper.graph.session import Session

GRAPH = random_decoder(seed=1, max_position_embeddings=1024)
TOKENS = np.random.default_rng(5).integers(0, 32, 300)


@pytest.fixture(scope="module", params=["layers", "engine"])
def model(request: pytest.FixtureRequest) -> RuntimeGraph:
    graph = RuntimeGraph(GRAPH, name="tiny")
    on_engine = request.param == "engine"
    graph.build(registry, on_engine, None, Engine if on_engine else None)
    return graph


@pytest.fixture(scope="module")
def whole(model: RuntimeGraph) -> np.ndarray:
    """The logits of all tokens, without a session."""
    return np.asarray(model(TOKENS[None]))[0]


def close(got: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.asarray(got), expected, atol=2e-5 * np.abs(expected).max())


def test_session_by_single_tokens_gives_the_logits_of_one_call(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=40)
    for position in range(40):
        close(session(TOKENS[position : position + 1])[0], whole[position])
    assert session.length == 40


@pytest.mark.parametrize("cuts", [(300,), (1, 299), (7, 8, 9, 40), (255, 256, 257), (64, 128)])
def test_session_in_pieces_of_any_length_gives_the_logits_of_one_call(
    model: RuntimeGraph, whole: np.ndarray, cuts: tuple[int, ...]
) -> None:
    session = model.start(max_length=300)
    for first, end in zip((0, *cuts), (*cuts, 300), strict=True):
        if end > first:
            close(session(TOKENS[first:end]), whole[first:end])
    assert len(TOKENS) > MAX_PIECE


def test_read_leaves_the_session_as_a_call_does(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=300)
    session.read(TOKENS[:290])
    assert session.length == 290
    close(session(TOKENS[290:]), whole[290:])


def test_rewind_goes_back_and_what_came_after_is_forgotten(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=64)
    session.read(TOKENS[:20])
    session.read((TOKENS[20:40] + 1) % 32)
    session.rewind(20)
    close(session(TOKENS[20:41]), whole[20:41])
    session.rewind(0)
    close(session(TOKENS[:3]), whole[:3])


def test_fork_goes_its_own_way(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=64)
    session.read(TOKENS[:20])
    other = session.fork()
    other.read((TOKENS[20:30] + 1) % 32)
    close(session(TOKENS[20:30]), whole[20:30])
    other.rewind(20)
    close(other(TOKENS[20:30]), whole[20:30])


def test_fork_copies_nothing_until_one_of_two_goes_on(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=64)
    session.read(TOKENS[:20])
    caches, other = session._state, session.fork()
    other.rewind(10)
    assert session.length == 20
    assert other._state is caches
    close(other(TOKENS[10:22]), whole[10:22])
    assert other._state is not caches
    close(session(TOKENS[20:25]), whole[20:25])
    assert session._state is caches  # nobody else has them any more


def test_forks_of_forks_go_their_own_ways(model: RuntimeGraph, whole: np.ndarray) -> None:
    first = model.start(max_length=64)
    first.read(TOKENS[:17])
    second = first.fork()
    third = second.fork()
    for number, session in enumerate((second, first, third)):
        session.read((TOKENS[17:30] + 1 + number) % 32)
    for session in (first, second, third):
        session.rewind(17)
        close(session(TOKENS[17:23]), whole[17:23])
    assert len({id(session._state) for session in (first, second, third)}) == 3


def test_forks_that_are_gone_leave_the_caches_to_the_last(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=64)
    session.read(TOKENS[:20])
    caches, forks = session._state, [session.fork() for _ in range(3)]
    del session, forks[1:]
    gc.collect()
    close(forks[0](TOKENS[20:25]), whole[20:25])
    assert forks[0]._state is caches


def test_a_fork_of_an_empty_session_begins_anew(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=16)
    other = session.fork()
    close(other(TOKENS[:6]), whole[:6])
    close(session(TOKENS[:9]), whole[:9])


def test_sessions_side_by_side_do_not_meet(model: RuntimeGraph, whole: np.ndarray) -> None:
    forward, shifted = model.start(max_length=30), model.start(max_length=30)
    for position in range(30):
        close(forward(TOKENS[position : position + 1])[0], whole[position])
        shifted.read((TOKENS[position : position + 1] + 3) % 32)


def test_sessions_in_threads_give_the_bits_that_they_give_alone(model: RuntimeGraph) -> None:
    def text(first: int) -> list[np.ndarray]:
        session = model.start(max_length=64)
        return [np.asarray(session(TOKENS[first + i : first + i + 2])) for i in range(0, 40, 2)]

    alone = [text(first) for first in (0, 50, 100)]
    found: dict[int, list[np.ndarray]] = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: text(50 * n)})) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, expected in enumerate(alone):
        np.testing.assert_array_equal(found[number], expected)


def test_a_batch_goes_on_side_by_side(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=16)
    texts = np.stack([TOKENS[:12], (TOKENS[:12] + 5) % 32])
    logits = np.concatenate([np.asarray(session(texts[:, :7])), np.asarray(session(texts[:, 7:]))], axis=1)
    assert logits.shape == (2, 12, 32)
    close(logits[0], whole[:12])
    session = model.start(max_length=16)
    close(logits[1], np.asarray(session(texts[1])))


def test_any_number_of_threads_gives_the_same_bits() -> None:
    model = RuntimeGraph(GRAPH)
    model.build(registry, True, None, Engine)
    before, answers = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            kuiper.set_num_threads(threads)
            session = model.start(max_length=64)
            answers.append(np.concatenate([np.asarray(session(TOKENS[:50])), np.asarray(session(TOKENS[50:51]))]))
    finally:
        kuiper.set_num_threads(before)
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_a_full_session_says_so_and_has_not_moved(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=10)
    session.read(TOKENS[:8])
    with pytest.raises(
        ShapeError, match=r"session of tiny: expected at most 2 more tokens, got 3; start\(max_length=11\)"
    ):
        session(TOKENS[8:11])
    assert session.length == 8
    close(session(TOKENS[8:10]), whole[8:10])


def test_a_call_that_fails_has_not_moved(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=64)
    session.read(TOKENS[:5])
    with pytest.raises(kuiper.TensorIndexError, match="embedding"):
        session([3, 99])
    assert session.length == 5
    close(session(TOKENS[5:9]), whole[5:9])


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ([0.5], DataTypeError, "expected tokens that are integers, got float64"),
        (
            np.zeros((1, 2, 3), np.int64),
            ShapeError,
            r"expected tokens \(n,\) or \(b, n\), at least one, got \(1, 2, 3\)",
        ),
        (np.zeros(0, np.int64), ShapeError, "at least one"),
        (3, ShapeError, "at least one"),
    ],
)
def test_wrong_tokens_are_named(model: RuntimeGraph, tokens: Any, error: type[Exception], message: str) -> None:
    session = model.start(max_length=8)
    for call in (session, session.read):
        with pytest.raises(error, match=message):
            call(tokens)
    assert session.length == 0


@pytest.mark.parametrize("length", [-1, 6])
def test_rewind_to_where_the_session_has_not_been_is_an_error(model: RuntimeGraph, length: int) -> None:
    session = model.start(max_length=8)
    session.read(TOKENS[:5])
    with pytest.raises(ParameterError, match="expected a length of 0 to 5 to rewind to"):
        session.rewind(length)


def test_start_says_what_is_wrong(model: RuntimeGraph) -> None:
    with pytest.raises(ParameterError, match="tiny: start: expected a max_length of at least 1, got 0"):
        model.start(max_length=0)
    with pytest.raises(GraphStateError, match="expected a model with state, got one without"):
        kuiper.load(bundled("cifar_resnet20")).start(max_length=4)


def test_another_batch_in_one_session_is_an_error(model: RuntimeGraph) -> None:
    session = model.start(max_length=8)
    session.read(TOKENS[:2])
    with pytest.raises(ShapeError):
        session(TOKENS[:4].reshape(2, 2))
    assert session.length == 2


def test_a_step_plans_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = RuntimeGraph(GRAPH)
    model.build(registry, True, None, Engine)

    def warm(session: Session) -> None:
        session.read(TOKENS[:9])
        session(TOKENS[:1])

    warm(model.start(max_length=64))
    made: list[Executable] = []

    def counted(*args: Any, **settings: Any) -> Executable:
        made.append(compile_graph(*args, **settings))
        return made[-1]

    monkeypatch.setattr("kuiper.engine.engine.compile_graph", counted)
    session = model.start(max_length=64)
    warm(session)
    for token in TOKENS[:40]:
        session([token])
    assert not made
    model.start(max_length=64).read(TOKENS[:20])  # a piece of another length
    assert made


def test_a_step_asks_a_session_for_its_caches_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = RuntimeGraph(GRAPH)
    graph.build(registry, True, None, Engine)
    whole = np.asarray(graph(TOKENS[None]))[0]
    sessions = [graph.start(max_length=8), graph.start(max_length=8)]
    asked: list[str] = []
    plain = State.array
    monkeypatch.setattr(State, "array", lambda self, key, *form: asked.append(key) or plain(self, key, *form))
    sessions[0](TOKENS[:1])
    of_one_session = len(asked)
    close(sessions[0](TOKENS[1:2]), whole[1:2])
    assert of_one_session == len(asked) == 4
    for position in range(2):  # another session's turn
        close(sessions[1](TOKENS[position : position + 1]), whole[position : position + 1])
    close(sessions[0](TOKENS[2:3]), whole[2:3])
    assert len(asked) == 3 * of_one_session


def test_a_session_that_is_dropped_gives_its_caches_back(model: RuntimeGraph, whole: np.ndarray) -> None:
    for _ in range(3):  # a new one may lie where the one before has lain
        session = model.start(max_length=8)
        close(session(TOKENS[:1]), whole[:1])
        close(session(TOKENS[1:2]), whole[1:2])
        state = ref(session._state)
        del session
        gc.collect()
        assert state() is None


def test_read_computes_no_logits() -> None:
    model = RuntimeGraph(GRAPH)
    model.build(registry, True, None, Engine)
    session = model.start(max_length=64)
    session.read(TOKENS[:4])
    execution = model.execution
    assert isinstance(execution.executor, Engine)
    (plan,) = execution.executor._plans.values()
    assert plan is not None
    names = {card.op.name for segment in plan.executable.compiled() for card in segment.steps}
    assert "model.layers.1.self_attn" in names
    assert not {"head", "model.norm", "model.layers.1.mlp.down_proj+add"} & names


def test_copies_of_a_model_have_sessions_of_their_own(model: RuntimeGraph, whole: np.ndarray) -> None:
    session = model.start(max_length=16)
    session.read(TOKENS[:8])
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        close(other.start(max_length=16)(TOKENS[:4]), whole[:4])
    close(session(TOKENS[8:10]), whole[8:10])


def test_a_layer_of_ones_own_in_place_of_attention_is_called(whole: np.ndarray) -> None:
    class Mine(registry._factories["kuiper.CausalAttention"]):  # type: ignore[misc, name-defined]
        calls = 0

        def forward(self, query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
            Mine.calls += 1
            return super().forward(query, key, value)

    with kuiper.layers.override("kuiper.CausalAttention", Mine):
        model = RuntimeGraph(GRAPH)
        model.build(registry, True, None, Engine)
    session = model.start(max_length=16)
    close(session(TOKENS[:6]), whole[:6])
    close(session(TOKENS[6:8]), whole[6:8])
    assert Mine.calls >= 4


def test_an_observer_sees_every_operator_of_a_call(model: RuntimeGraph, whole: np.ndarray) -> None:
    """The layers do the work then, on the session's own caches: calls with and without an observer go on together."""
    session, names = model.start(max_length=40), []
    close(session(TOKENS[:9]), whole[:9])
    close(session(TOKENS[9:12], lambda op, outputs, seconds: names.append(op.name)), whole[9:12])
    close(session(TOKENS[12:20]), whole[12:20])
    assert names == [op.name for op in model.order if op.layer is not None]
