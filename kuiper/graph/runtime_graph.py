"""RuntimeGraph: a PNNX file that can run.

    NEED_INIT --init()--> NEED_BUILD --build(registry)--> COMPLETE --forward(x)--> outputs

The graph does not know any layer or engine. It is handed the registry that makes layers, which is also how a student's
own get into a real model, and what makes the engine. What the three steps consist of:

    from_pnnx   the operators of a file, wired         execution   one run, by the engine or the layers
    building    passes, then a layer for each          boundary    arrays in, tensors out
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError
from kuiper.graph import building, pnnx, views
from kuiper.graph.boundary import as_output
from kuiper.graph.building import Factories, GraphState
from kuiper.graph.execution import Execution
from kuiper.graph.failures import naming_the_place
from kuiper.graph.fallback import Refusal
from kuiper.graph.from_pnnx import runtime_operators
from kuiper.graph.passes import DEFAULT_PASSES, find_passes
from kuiper.graph.schedule import queue_order
from kuiper.graph.serialization import SerializedGraph
from kuiper.graph.session import start
from kuiper.graph.start_batch import start_batch
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from kuiper.graph.passes import Pass
    from kuiper.graph.protocols import MakeEngine, MakePage, Observer, OperatorTime, RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    Source = str | PathLike[str] | pnnx.Graph | Callable[[], pnnx.Graph]


class RuntimeGraph:
    """A model: operators, the operands between them, and the order in which they run; ``kuiper.load`` makes one.

    Parameters
    ----------
    source : path of a .param file, a pnnx.Graph made in code, or a function that makes one: that is called again where
        the graph is wanted as it was, instead of being kept with all its weights
    bin_path : path of the weights; by default the sibling of the .param file
    name : what messages and tables call the model; by default the name of the file

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> graph = RuntimeGraph(bundled("cifar_resnet20"))
    >>> graph.init()
    >>> graph.state.value, graph.input_operators
    ('needs build()', [RuntimeOperator('pnnx.Input', 'pnnx_input_0')])
    """

    def __init__(self, source: Source, bin_path: str | PathLike[str] | None = None, name: str = "") -> None:
        self._source = source
        self._bin_path = bin_path
        self.name = name or ("graph" if isinstance(source, pnnx.Graph) or callable(source) else Path(source).name)
        self.state = GraphState.NEED_INIT
        self.operators: list[RuntimeOperator] = []
        self.operands: list[RuntimeOperand] = []
        self.order: list[RuntimeOperator] = []
        self._execution: Execution | None = None
        self.factories = Factories()
        self._without_passes = ""

    @property
    def input_operators(self) -> list[RuntimeOperator]:
        """The pnnx.Input operators in the order of the file: one argument of ``forward`` each."""
        return [op for op in self.operators if op.type == "pnnx.Input"]

    @property
    def output_operators(self) -> list[RuntimeOperator]:
        """The pnnx.Output operators in the order of the file."""
        return [op for op in self.operators if op.type == "pnnx.Output"]

    def init(self) -> None:
        """Read the file and make the runtime operators, wired by the operands they share; errors as ``pnnx.load``."""
        if self.state is not GraphState.NEED_INIT:
            return
        with naming_the_place(self.name):
            source = self._source() if callable(self._source) else self._source
            graph = source if isinstance(source, pnnx.Graph) else pnnx.load(source, self._bin_path)
            self.operators, self.operands = runtime_operators(graph, self.name)
            if graph is not source:
                for op in graph.operators:  # they and the operands are a circle, which would keep the weights alive
                    op.attrs.clear()
        self.state = GraphState.NEED_BUILD

    def build(
        self,
        registry: RegistryProtocol,
        optimize: bool = False,
        passes: Sequence[Pass | str] | None = None,
        engine: MakeEngine | None = None,
        explorer: MakePage | None = None,
    ) -> None:
        """Make the layers and fix the order of execution; a graph that needs ``init`` gets it first.

        Whatever the passes are, the model computes the same: ``kuiper.graph.passes`` has them all. If one of
        ``DEFAULT_PASSES`` fails, the model is built without passes, and a ``FallbackWarning`` says so.

        Parameters
        ----------
        registry : what makes the layers, like the module ``kuiper.layers.registry``
        optimize : which passes are meant if none are given
        passes : functions or their names, done in this order; by default ``DEFAULT_PASSES`` if ``optimize``, else none
        engine : what makes an engine of the finished graph, which runs what it can
        explorer : what makes the page of ``explore``

        Raises
        ------
        UnsupportedOperatorError
            If the registry lacks operators of the graph; the message lists all of them.
        ParameterError
            If there is no pass of a name; the message lists all names.

        Examples
        --------
        >>> from kuiper.layers import registry
        >>> from kuiper.models import bundled
        >>> graph = RuntimeGraph(bundled("cifar_resnet20"))
        >>> graph.build(registry, passes=["fuse_activation_into_conv"])
        >>> graph.state.value, graph.order[1].type
        ('complete', 'kuiper.FusedConv2d')
        """
        self.init()
        if self.state is GraphState.COMPLETE:
            return
        building.refuse_unsupported(self.operators, registry, self.name)
        if passes is None:
            passes = DEFAULT_PASSES if optimize else ()
        rewrites = tuple(find_passes(passes, self.name))
        factories = Factories(registry, engine, explorer, self.name, rewrites)
        try:
            self._rewrite_and_complete(factories)
            return
        except MemoryError:
            raise
        except Exception as error:
            if rewrites != DEFAULT_PASSES:
                raise
            refusal = Refusal.of(error)
        self._rewrite_and_complete(replace(factories, rewrites=()))  # the operators of the file say what is wrong
        self.execution.fallbacks.tell(refusal, "the default passes to succeed", "the model runs without passes, slower")
        (self._without_passes,) = self.fallbacks

    def _rewrite_and_complete(self, factories: Factories) -> None:
        """The operators after these passes, and all that they need to run."""
        self.init()
        self.state = GraphState.NEED_INIT  # should a pass or a layer fail halfway, the next build starts from the file
        with naming_the_place(self.name):
            types = building.types_of(self.operators)
            self.operators = building.rewritten(self.operators, self.operands, factories)
            self._complete(factories.fixed(types.union(op.type for op in self.operators)))

    def _complete(self, factories: Factories) -> None:
        """Make what is still missing: layers, order, engine. The body of a loop is built as this graph is."""

        def body(name: str, graph: pnnx.Graph) -> RuntimeGraph:
            runs = RuntimeGraph(graph, name=f"{self.name}: {name}")
            passes = DEFAULT_PASSES if factories.engine else factories.rewrites
            runs.build(factories.registry, passes=passes, engine=factories.engine)
            return runs

        building.make_layers(self.operators, factories.registry, body)
        self.order = queue_order(self.operators)
        self._execution = Execution(self, factories.engine(self) if factories.engine else None, self._without_passes)
        self.factories = factories
        self.state = GraphState.COMPLETE

    @property
    def execution(self) -> Execution:
        """What runs the graph: its ``executor`` is the engine, or None. The graph must have been built."""
        if self._execution is None or self.state is not GraphState.COMPLETE:
            raise GraphStateError(self.name, "a built graph", f"one that {self.state.value}")
        return self._execution

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """The mistakes of kuiper's because of which the model is slower than it should be: docs/inside/engine.md."""
        return self.execution.fallbacks.texts

    def as_in_file(self) -> RuntimeGraph:
        """The same model from the same files and layers, without passes and engine; errors as ``unbuilt``."""
        graph = self.unbuilt()
        graph.build(self.factories.registry)
        return graph

    def unbuilt(self) -> RuntimeGraph:
        """The same model from the same files, before ``init``.

        Raises
        ------
        GraphStateError
            If the graph has not been built, or is a copy, which does not know its files.
        """
        if self.execution and self._source is None:
            raise GraphStateError(self.name, "a graph that was read from a file", "a copy of one")
        return RuntimeGraph(self._source, self._bin_path, self.name)

    def unsupported(self, registry: RegistryProtocol) -> dict[str, list[str]]:
        """The operator types that the registry lacks, each with the names of its operators; ``init`` must have run."""
        return building.unsupported(self.operators, registry)

    def forward(self, *inputs: Any, observer: Observer | None = None) -> Any:
        """Run every operator in order and return the arrays that the graph returns.

        Parameters
        ----------
        inputs : one argument for each pnnx.Input: anything that np.asarray takes
        observer : is called after each operator with the operator, its outputs and the seconds it took, like
            ``print_step``; as it wants to see every output, the layers then do the work even if there is an engine

        Returns
        -------
        An array, or a tuple with one entry for each output of the graph; the errors are those of a call.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> types = []
        >>> y = model.forward(np.zeros((1, 3, 32, 32)), observer=lambda op, outputs, seconds: types.append(op.type))
        >>> y.shape, types[-1]
        ((1, 10), 'nn.Linear')
        """
        with naming_the_place(self.name), Limited():
            results = self.execution.run(inputs, observer)
        return results[0] if len(results) == 1 else results

    def time_operators(self, *inputs: Any) -> list[OperatorTime]:
        """Run once, as ``forward`` does without an observer, and say how long each operator took, in order.

        With an engine there is an entry for each of an operator's steps, and none for a view, which costs nothing.
        """
        with naming_the_place(self.name), Limited():
            return self.execution.times(inputs)

    def run_body(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs for these arrays, of whatever types: what the operator runs whose body this graph is."""
        return self.execution.run_as_body(inputs)

    def __call__(self, *inputs: Any) -> Any:
        """Run the model: one argument for each pnnx.Input; a Tensor, or a (nested) tuple of them, comes back.

        The outputs are the caller's alone: they share memory with no argument, no weight, no output of another call and
        no other output of this one. Where that would not hold, as for a view or an input, a copy is made.

        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> y = model(np.zeros((2, 3, 32, 32)))
        >>> y.shape, y.array.flags.writeable
        ((2, 10), True)

        Raises
        ------
        GraphStateError
            If the graph has not been built.
        ShapeError, DataTypeError
            If an argument has not the declared number of axes, or is no array of numbers.
        OutOfMemoryError
            If there is not enough memory. As after any error, the model can be called again.
        KuiperError
            If an operator fails; the message names it, its type and the shapes of its inputs.
        """
        return as_output(self.forward(*inputs))

    start = start
    start_batch = start_batch
    summary, profile, plan = views.summary, views.profile, views.plan
    draw, explore, stages = views.draw, views.explore, views.stages

    def __repr__(self) -> str:
        return f"<RuntimeGraph {self.name}: {len(self.operators)} operators, {self.state.value}>"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the graph as the passes left it, with its weights. Layers and plans are made anew."""
        serialized = SerializedGraph.of(self.operators, self.operands, layer=None)
        made = {"operators": serialized, "operands": [], "order": [], "_execution": None}
        if self.state is GraphState.COMPLETE:
            made |= {"_source": None, "_bin_path": None}  # nothing will read it again
        return {**vars(self), **made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.operators, self.operands = state["operators"].wired()
        if self.state is GraphState.COMPLETE:
            with naming_the_place(self.name):
                self._complete(self.factories)
