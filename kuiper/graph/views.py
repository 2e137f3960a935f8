"""What a graph tells of itself: its summary, its profile, its plan, a drawing, a page to explore.

These functions are methods of ``RuntimeGraph``. What they make stands in modules of its own. Those that a program which
only runs a model does not need are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError
from kuiper.graph.building import rewritten_in_turn
from kuiper.graph.failures import naming_the_place
from kuiper.graph.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.draw import Drawing
    from kuiper.graph.execution import BuiltGraph
    from kuiper.graph.profile import Profile
    from kuiper.graph.protocols import PageProtocol, RunnableGraph, WiredGraph
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperator


def summary(graph: RunnableGraph) -> Summary:
    """A table of the operators with their output shapes, parameters and floating-point operations."""
    return Summary.of(graph)


def profile(graph: RunnableGraph, *inputs: Any, runs: int = 10) -> Profile:
    """The time that each operator takes on these inputs, as a table or a Chrome trace.

    What is timed is what runs: the engine if there is one, else the layers.

    Parameters
    ----------
    inputs : one argument for each input of the model
    runs : how many runs are timed, after one to warm up; each time is the median

    Returns
    -------
    A table of times in microseconds; ``print`` it, show it in a notebook, or call its ``save_trace``.

    Raises
    ------
    GraphStateError
        If the graph has not been built.
    KuiperError
        If an operator fails on these inputs.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> profile = model.profile(np.zeros((1, 3, 32, 32), np.float32), runs=3)
    >>> profile.runs, profile.total_microseconds > 0
    (3, True)
    """
    from kuiper.graph.profile import Profile

    return Profile.of(graph, inputs, runs)


def plan(graph: BuiltGraph, *inputs: Any, runs: int = 10) -> Report:
    """How the engine runs the model on these inputs: algorithm, bytes and time of each step.

    Parameters
    ----------
    inputs : one argument for each input of the model; without any, made-up ones of the shapes that the file
        declares
    runs : how many runs are timed; each time is the median

    Returns
    -------
    A table; docs/inside/engine.md explains its columns.

    Raises
    ------
    GraphStateError
        If there is no plan: the model was loaded with ``optimize=False``, or the engine leaves it to the layers;
        the message says why.
    KuiperError
        If an operator fails on these inputs.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> [column.heading for column in model.plan(runs=1).columns][:3]
    ['operator', 'type', 'algorithm']
    """
    with naming_the_place(graph.name):
        return graph.execution.plan(inputs, runs)


def draw(graph: WiredGraph) -> Drawing:
    """The graph as a picture: SVG in a notebook, ``.svg()`` and ``.mermaid()`` as text, ``.save(path)``."""
    from kuiper.graph.draw import Drawing

    return Drawing.of(graph)


def stages(graph: BuiltGraph) -> Iterator[tuple[str, list[RuntimeOperator]]]:
    """The operators as they stand in the file, under the name "file", and again after each pass of ``build``.

    Each pass rewires the operators that it is given: look at one stage before you ask for the next.

    Raises
    ------
    GraphStateError
        As ``unbuilt``.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"), passes=["fuse_add_into_conv"])
    >>> [(name, len(operators)) for name, operators in model.stages()]
    [('file', 54), ('fuse_add_into_conv', 45)]
    """
    fresh = graph.unbuilt()
    fresh.init()
    names = ["file", *(rewrite.__name__ for rewrite in graph.factories.rewrites)]
    turns = rewritten_in_turn(fresh.operators, fresh.operands, graph.factories)
    yield from zip(names, turns, strict=True)


def explore(graph: BuiltGraph, *inputs: Any) -> PageProtocol:
    """A page that shows the model at work on these inputs: graph, feature maps, time, memory. docs/use/explore.md.

    Parameters
    ----------
    inputs : one argument for each input of the model; without any, made-up ones of the shapes that the file
        declares

    Returns
    -------
    The page: a notebook shows it in a frame, ``.save(path)`` writes it as one HTML file that needs nothing else.

    Raises
    ------
    GraphStateError
        If the graph has not been built, or was not made by ``kuiper.load``.
    KuiperError
        If an operator fails on these inputs.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> page = model.explore(np.zeros((1, 3, 32, 32), np.float32))
    >>> page.data["model"]["parameters"]
    271690
    """
    explorer = graph.factories.explorer if graph.execution else None
    if explorer is None:
        hint = "kuiper.explore.explore(graph, *inputs) shows any graph that has been built"
        raise GraphStateError(graph.name, "a graph that kuiper.load has made", "one that was built in code", hint)
    return explorer(graph, *inputs)
