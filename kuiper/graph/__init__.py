"""From a PNNX file to a graph that can run: the package of course 2."""

from kuiper.graph.building import GraphState
from kuiper.graph.execution import print_step
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_graph import RuntimeGraph
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter
from kuiper.graph.schedule import depth_first_order, queue_order

__all__ = [
    "GraphState",
    "RuntimeAttribute",
    "RuntimeGraph",
    "RuntimeOperand",
    "RuntimeOperator",
    "RuntimeParameter",
    "depth_first_order",
    "print_step",
    "queue_order",
]
