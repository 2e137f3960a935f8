"""Floor 2: from a PNNX file to a graph that can run."""

from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_graph import GraphState, RuntimeGraph
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter
from kuiper.graph.schedule import depth_first_order, queue_order
from kuiper.graph.step import print_step

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
