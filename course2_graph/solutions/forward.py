"""Exercise 2.8: the graph runs.

Everything is there: who reads what (2.5), the order (2.6), the memory (2.7). What is left is to run it. Each operator has
a place for each of its inputs. When all its places are filled, it is *ready*: it can compute. Its outputs are then handed
on to every operator that reads them:

    operator          its places     computes             is handed on to
    in                (none)         a, the input         place 0 of conv, place 0 of sum
    conv              [a]            b = conv(a)          place 1 of sum
    sum               [a, b]         c = a + b            place 0 of out
    out               [c]            nothing: c is the answer

        in --a--+--> conv --b--> sum --c--> out
                |                 ^
                +-----------------+

Handing on copies no number: ``conv`` and ``sum`` get the same array ``a``. But what a layer returns is copied into the
memory that the plan of exercise 2.7 has for it, so that a run needs no more memory than the plan says.

A *layer* is here any function that takes arrays and returns one array, or a tuple of arrays if its operator has several
outputs. KuiperInfer calls the first function below ``PropagateLayerOutputs``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kuiper.course import load_exercise
from kuiper.graph.pnnx import Graph, Operator

Layer = Callable[..., "np.ndarray | tuple[np.ndarray, ...]"]
Places = dict[str, list["np.ndarray | None"]]


class Node:
    """An operator of exercise 2.5 as exercise 2.6 wants it: it knows its neighbours. (This one is done.)"""

    def __init__(self, op: Operator) -> None:
        self.op = op
        self.predecessors: list[Node] = []
        self.successors: list[Node] = []


def running_order(graph: Graph) -> list[Operator]:
    """The operators in an order in which they can run: your graph, sorted by your ``queue_order``. (This one is done.)"""
    relations = load_exercise("2.5")
    nodes = {op.name: Node(op) for op in graph.operators}
    for node in nodes.values():
        node.predecessors = [nodes[op.name] for op in relations.predecessors(node.op)]
        node.successors = [nodes[op.name] for op in relations.successors(node.op)]
    return [node.op for node in load_exercise("2.6").queue_order(list(nodes.values()))]


def empty_places(order: Sequence[Operator]) -> Places:
    """For each operator, by its name, a list with None for each of its inputs. (This one is done.)"""
    return {op.name: [None] * len(op.inputs) for op in order}


def hand_on(op: Operator, arrays: Sequence[np.ndarray], places: Places) -> None:
    """Put each output of an operator into the places of all operators that read it.

    ``arrays[i]`` belongs to the operand ``op.outputs[i]``. An operator that reads an operand twice gets it in both places.
    The places of other operands stay as they are. No array is copied.

    In the graph above, ``hand_on(in, [a], places)`` makes of ``{"conv": [None], "sum": [None, None], "out": [None]}``
    the places ``{"conv": [a], "sum": [a, None], "out": [None]}``.

    Raises
    ------
    ValueError
        If there are not as many arrays as the operator has outputs.
    """
    # BEGIN SOLUTION
    for operand, array in zip(op.outputs, arrays, strict=True):
        for consumer in operand.consumers:
            for place, wanted in enumerate(consumer.inputs):
                if wanted is operand:
                    places[consumer.name][place] = array
    # END SOLUTION


def reserve(order: Sequence[Operator]) -> dict[str, np.ndarray]:
    """The memory for a run in this order: an array for each operand that is computed, by the operand's name.

    It comes from the three functions of exercise 2.7. The steps are the operators of the order, but for those of type
    ``pnnx.Input`` and ``pnnx.Output``, which compute nothing. What a ``pnnx.Output`` reads is returned. An operand has as
    many floats as the product of its shape.

    For the graph above with 8 floats in each operand these are arrays for ``b`` and ``c``.

    Raises
    ------
    ValueError
        If the shape of an operand is not known: None, or one of its sizes is. The message has the name of the operand.
    """
    # BEGIN SOLUTION
    plan = load_exercise("2.7")
    computing = [op for op in order if op.type not in ("pnnx.Input", "pnnx.Output")]
    steps = [([operand.name for operand in op.inputs], [operand.name for operand in op.outputs]) for op in computing]
    returned = [operand.name for op in order if op.type == "pnnx.Output" for operand in op.inputs]
    shapes = {operand.name: operand.shape for op in computing for operand in op.outputs}
    for name, shape in shapes.items():
        if shape is None or None in shape:
            raise ValueError(f"{name}: expected a shape of numbers, got {shape}")
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    buffer_of, buffers = plan.share_buffers(sizes, plan.lifetimes(steps, returned))
    return plan.allocate(shapes, buffer_of, buffers)
    # END SOLUTION


def forward(
    order: Sequence[Operator],
    layers: Mapping[str, Layer],
    memory: Mapping[str, np.ndarray],
    inputs: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """Run the operators one after the other, and return what the graph answers.

    Parameters
    ----------
    order : the operators as they are to run
    layers : the layer of each operator by the operator's name; ``pnnx.Input`` and ``pnnx.Output`` have none
    memory : what ``reserve`` has made
    inputs : an array for each ``pnnx.Input``, in the order in which these stand in ``order``

    For each operator of ``order``:

    - A ``pnnx.Input`` hands on the next array of ``inputs``.
    - A ``pnnx.Output`` adds its inputs to the answer. The answer has copies: the next run writes into the same memory.
    - Every other operator calls its layer with what is in its places. What the layer returns is copied into the memory
      of the operator's outputs, and these arrays of the memory are handed on.

    Raises
    ------
    ValueError
        - If there are not as many inputs as operators of type ``pnnx.Input`` (checked before anything runs),
        - an input has not the shape of its operand, where that shape is known and has no None (the message has the name
          of the operator),
        - a place is still empty when its operator's turn comes: the order is wrong (the operator's name),
        - or a layer returns another number of arrays than its operator has outputs, or one of another shape than its
          memory (the operator's name).
    RuntimeError
        If a layer fails with whatever error: the message begins with the operator's name and a colon, behind which
        the message of the layer's error stands. The layer's error is its cause (``raise ... from error``).
    """
    # BEGIN SOLUTION
    waiting, answer, places = list(inputs), [], empty_places(order)
    wanted = sum(op.type == "pnnx.Input" for op in order)
    if len(waiting) != wanted:
        raise ValueError(f"expected {wanted} inputs, got {len(waiting)}")
    for op in order:
        if op.type == "pnnx.Input":
            array, shape = waiting.pop(0), op.outputs[0].shape
            if shape is not None and None not in shape and array.shape != tuple(shape):
                raise ValueError(f"{op.name}: expected the shape {shape}, got {array.shape}")
            hand_on(op, [array], places)
            continue
        arrived = places[op.name]
        if any(array is None for array in arrived):
            raise ValueError(f"{op.name}: expected all {len(arrived)} inputs before its turn, got {arrived}")
        if op.type == "pnnx.Output":
            answer += [array.copy() for array in arrived]
            continue
        try:
            results = layers[op.name](*arrived)
        except Exception as failure:
            raise RuntimeError(f"{op.name}: {failure}") from failure
        results = results if isinstance(results, tuple) else (results,)
        kept = [memory[operand.name] for operand in op.outputs]
        if [result.shape for result in results] != [array.shape for array in kept]:
            got = [result.shape for result in results]
            raise ValueError(f"{op.name}: expected the shapes {[array.shape for array in kept]}, got {got}")
        for array, result in zip(kept, results):
            array[...] = result
        hand_on(op, kept, places)
    return answer
    # END SOLUTION
