"""What a graph tells of itself: its summary, its profile, its plan, a drawing, a page to explore.

Each stands in a module of its own, which is imported when somebody asks for it: a program that only runs a model needs
none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kuiper.errors import GraphStateError
from kuiper.graph.out_of_memory import naming_the_place

if TYPE_CHECKING:
    from kuiper.graph.draw import Drawing
    from kuiper.graph.execution import Execution
    from kuiper.graph.makers import Makers
    from kuiper.graph.profile import Profile
    from kuiper.graph.protocols import PageProtocol, RunnableGraph, WiredGraph
    from kuiper.graph.report import Report
    from kuiper.graph.summary import Summary

    class _Planned(RunnableGraph, Protocol):
        _makers: Makers

        def _ready(self) -> Execution: ...


class Described:
    """The part of ``RuntimeGraph`` that is there to be looked at."""

    def summary(self: RunnableGraph) -> Summary:
        """A table of the operators with their output shapes, parameters and floating-point operations."""
        from kuiper.graph.summary import Summary

        return Summary.of(self)

    def profile(self: RunnableGraph, *inputs: Any, runs: int = 10) -> Profile:
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

        return Profile.of(self, inputs, runs)

    def plan(self: _Planned, *inputs: Any, runs: int = 10) -> Report:
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
        with naming_the_place(self.name):
            return self._ready().plan(inputs, runs)

    def draw(self: WiredGraph) -> Drawing:
        """The graph as a picture: SVG in a notebook, ``.svg()`` and ``.mermaid()`` as text, ``.save(path)``."""
        from kuiper.graph.draw import Drawing

        return Drawing.of(self)

    def explore(self: _Planned, *inputs: Any) -> PageProtocol:
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
        self._ready()
        explorer = self._makers.explorer
        if explorer is None:
            hint = "kuiper.explore.explore(graph, *inputs) shows any graph that has been built"
            raise GraphStateError(self.name, "a graph that kuiper.load has made", "one that was built in code", hint)
        return explorer(self, *inputs)
