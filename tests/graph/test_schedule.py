from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import ModelFormatError
from kuiper.graph import RuntimeOperator, depth_first_order, queue_order
from kuiper.graph.runtime_operator import RuntimeOperand
from kuiper.graph.schedule import last_uses
from tests.graph.graphs import DIAMOND, graph_of, random_graph

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


def names(operators: list[RuntimeOperator]) -> list[str]:
    return [op.name for op in operators]


def assert_topological(order: list[RuntimeOperator], operators: list[RuntimeOperator]) -> None:
    assert sorted(map(id, order)) == sorted(map(id, operators))
    place = {op: i for i, op in enumerate(order)}
    for op in operators:
        assert all(place[before] < place[op] for before in op.predecessors)


def test_queue_order_visits_breadth_first() -> None:
    assert names(queue_order(graph_of(DIAMOND).operators)) == ["in", "left", "right", "join", "out"]


def test_depth_first_order_finishes_one_branch_before_the_next() -> None:
    text = """7767517
6 5
pnnx.Input a 0 1 0
nn.ReLU b1 1 1 0 1
nn.ReLU c1 1 1 0 2
nn.ReLU b2 1 1 1 3
torch.cat d 2 1 3 2 4
pnnx.Output e 1 0 4
"""
    operators = graph_of(text).operators
    assert names(queue_order(operators)) == ["a", "b1", "c1", "b2", "d", "e"]
    assert names(depth_first_order(operators)) == ["a", "b1", "b2", "c1", "d", "e"]


@pytest.mark.parametrize("seed", range(20))
def test_both_orders_are_topological_on_random_graphs(seed: int) -> None:
    operators = random_graph(seed, size=40).operators
    assert_topological(queue_order(operators), operators)
    assert_topological(depth_first_order(operators), operators)


@pytest.mark.parametrize("order", [queue_order, depth_first_order])
def test_orders_do_not_depend_on_the_order_of_the_list(order) -> None:  # type: ignore[no-untyped-def]
    operators = random_graph(7, size=30).operators
    assert_topological(order(operators[::-1]), operators)


@pytest.mark.thorough
@pytest.mark.parametrize("order", [queue_order, depth_first_order])
def test_orders_take_a_chain_of_20000_operators(order) -> None:  # type: ignore[no-untyped-def]
    lines = ["pnnx.Input in 0 1 0"] + [f"nn.ReLU r{i} 1 1 {i} {i + 1}" for i in range(20_000)]
    lines.append("pnnx.Output out 1 0 20000")
    operators = graph_of(f"7767517\n{len(lines)} 20001\n" + "\n".join(lines) + "\n").operators
    assert order(operators) == operators


@pytest.mark.parametrize("order", [queue_order, depth_first_order])
def test_orders_name_an_operator_of_a_circle(order) -> None:  # type: ignore[no-untyped-def]
    first, second = RuntimeOperator("nn.ReLU", "first"), RuntimeOperator("nn.ReLU", "second")
    for index, (producer, consumer) in enumerate([(first, second), (second, first)]):
        operand = RuntimeOperand(str(index), index, None, 0, producer, [consumer])  # type: ignore[arg-type]
        producer.outputs.append(operand)
        consumer.inputs.append(operand)
    with pytest.raises(ModelFormatError, match=r"nn.ReLU '(first|second)': expected a graph without circles"):
        order([first, second])


@pytest.mark.parametrize("function", [queue_order, depth_first_order])
@pytest.mark.parametrize("seed", range(5))
def test_orders_are_those_of_exercise_2_6(function: Callable[[list[RuntimeOperator]], Any], seed: int) -> None:
    solution = run_path(str(ROOT / "course2_graph" / "solutions" / "schedule.py"))
    operators = random_graph(seed, size=40).operators
    assert function(operators) == solution[function.__name__](operators)


def test_last_uses_drops_a_value_after_its_last_reader() -> None:
    order = queue_order(graph_of(DIAMOND).operators)
    assert last_uses(order) == [[], [], [0], [1, 2], [3]]


def test_last_uses_drops_an_unread_output_at_once() -> None:
    text = """7767517
3 3
pnnx.Input in 0 1 0
torch.chunk cut 1 2 0 1 2 chunks=2 dim=0
pnnx.Output out 1 0 2
"""
    assert last_uses(graph_of(text).operators) == [[], [0, 1], [2]]
