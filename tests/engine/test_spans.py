"""When each thread began and ended its part of each step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kuiper
from kuiper.engine.compile import compile_graph
from kuiper.engine.planned_step import LayerStep
from kuiper.engine.runner import Runner, Span
from kuiper.engine.timeline import Timeline
from kuiper.layers import override
from kuiper.layers.operators.relu import ReLU
from kuiper.models import bundled
from tests.engine.models import numbers


class OwnReLU(ReLU):
    """A layer that the engine leaves to Python."""


@pytest.fixture(scope="module")
def plan() -> Runner:
    return Runner(compile_graph(kuiper.load(bundled("cifar_resnet20")), [numbers(1, 3, 32, 32)], {}))


def spans_of(plan: Runner, threads: int) -> list[Span]:
    spans: list[Span] = []
    plan.run([numbers(1, 3, 32, 32)], threads, spans=spans)
    return spans


def test_run_notes_every_step_of_one_thread_in_order(plan: Runner) -> None:
    spans = spans_of(plan, 1)
    assert [span.step for span in spans] == [step for segment in plan.executable.compiled() for step in segment.steps]
    assert {span.thread for span in spans} == {0}
    for before, after in itertools.pairwise(spans):
        assert before.start + before.seconds == pytest.approx(after.start, abs=1e-9)


@pytest.mark.parametrize("threads", [2, 8])
def test_run_notes_the_part_of_every_thread_and_no_step_begins_before_the_last_has_ended(
    plan: Runner, threads: int
) -> None:
    for _ in range(20):
        spans = spans_of(plan, threads)
        ends = 0.0
        for step in (step for segment in plan.executable.compiled() for step in segment.steps):
            own = [span for span in spans if span.step is step]
            assert 1 <= len(own) == len({span.thread for span in own}) <= threads
            assert all(0 <= span.thread < threads and span.seconds >= 0 for span in own)
            assert min(span.start for span in own) >= ends - 1e-9
            ends = max(span.start + span.seconds for span in own)


def test_run_gives_the_same_bits_whether_somebody_looks_or_not(plan: Runner) -> None:
    x = numbers(1, 3, 32, 32)
    (expected,) = plan.run([x], 2)
    (seen,) = plan.run([x], 2, spans=[])
    np.testing.assert_array_equal(seen, expected)


def test_program_writes_nothing_for_threads_that_did_nothing(plan: Runner) -> None:
    (segment,) = plan.executable.compiled()
    workspace = plan._new_workspace()
    parts = np.full((3, len(segment.steps), 2), -1.0)
    scratch = np.zeros((1, segment.program.scratch_floats + 16), np.float32)
    arrays = np.zeros((1, 3, 32, 32), np.float32), np.zeros((1, 10), np.float32)
    workspace.addresses[:] = [array.__array_interface__["data"][0] for array in arrays]
    segment.program.run(workspace.arena, workspace.addresses, scratch, None, parts)
    assert (parts[1:] == -1).all()
    assert (parts[0] > 0).all()


def test_run_notes_layers_in_python_too() -> None:
    with override("nn.ReLU", OwnReLU):
        model = kuiper.load(bundled("cifar_resnet20"))
    x = numbers(1, 3, 32, 32)
    spans: list[Span] = []
    Runner(compile_graph(model, [x], {})).run([x], 2, spans=spans)
    layers = [span for span in spans if isinstance(span.step, LayerStep)]
    assert {span.step.op.type for span in layers} == {"nn.ReLU"}
    assert all(span.seconds > 0 for span in layers)
    assert [span.start for span in layers] == sorted(span.start for span in layers)


def test_buffers_of_a_plan_share_memory_but_never_at_one_time(plan: Runner) -> None:
    steps = sum(len(segment.steps) for segment in plan.executable.compiled())
    timeline = Timeline(steps)
    placed = sorted(plan.executable.arena_map, key=lambda each: each.offset)
    assert max(each.offset + each.floats for each in placed) == plan.executable.arena_floats
    for each in placed:
        first, last = (0, steps - 1) if each.constant else (each.first, each.last)
        assert timeline.lowest_gap(first, last, each.offset, each.floats) == each.offset
        timeline.take(first, last, each.offset, each.offset + each.floats)
    assert sum(len(each.operands) > 0 for each in placed) > 15
