"""A network that is served: its inputs and outputs, the batcher that runs it, and how much may wait for it."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.models.nested import flat
from kuiper.serving.dynamic_batcher import DynamicBatcher
from kuiper.serving.http.api_error import too_many
from kuiper.serving.http.served_model import ServedModel
from kuiper.serving.http.tensors import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.graph import RuntimeGraph
    from kuiper.serving.http.limits import Limits
    from kuiper.serving.http.tensors import Array
    from kuiper.serving.picture_models import PictureModel


@dataclass(frozen=True)
class Batching:
    """How calls that come together are joined: rows of a batch at most, and seconds that a call waits for others."""

    most: int = 16
    delay: float = 0.002


class ServedNetwork(ServedModel):
    """A graph that takes and gives arrays. Its seats belong to the thread of the event loop.

    Parameters
    ----------
    name : what clients call it
    graph : the network
    limits : of the server
    batching : how calls are joined
    pictures : what makes its inputs of pictures, if it is for pictures
    suffix : what the names of the graph's outputs have behind those of the file

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> from kuiper.serving.http.limits import Limits
    >>> network = ServedNetwork("cifar", kuiper.load(bundled("cifar_resnet20")), limits=Limits())
    >>> [output.described() for output in network.outputs]
    [{'name': 'pnnx_output_0', 'datatype': 'FP32', 'shape': [1, 10]}]
    >>> network.stop()
    """

    def __init__(
        self,
        name: str,
        graph: RuntimeGraph,
        *,
        limits: Limits,
        batching: Batching | None = None,
        pictures: PictureModel | None = None,
        suffix: str = "",
    ) -> None:
        super().__init__(name, limits, most=limits.calls, what="requests")
        self.pictures = pictures
        self.open_bytes = 0
        """What the bodies of those requests take that have a seat."""
        self.inputs = [TensorSpec.of(op.name, op.outputs[0]) for op in graph.input_operators]
        self.outputs = [
            TensorSpec.of(op.name.removesuffix(suffix) + (f".{i}" if len(op.inputs) > 1 else ""), operand)
            for op in graph.output_operators
            for i, operand in enumerate(op.inputs)
        ]
        self._graph = graph
        batching = batching or Batching()
        may_have_rows = all(spec.shape[:1] in ([-1], [1]) for spec in self.inputs)  # of a trace, the first axis is 1
        most = batching.most if may_have_rows else 1
        self.batcher = DynamicBatcher(self._run, most=most, delay=batching.delay, name=f"kuiper serve {name}")

    @contextmanager
    def seat(self, size: int) -> Iterator[None]:
        """Room for a request with a body of so many bytes, as long as the block runs.

        Raises
        ------
        ApiError
            If there is none: 429.
        """
        limits = self._limits
        with self.seats(1):
            if self.open_bytes + size > limits.waiting_bytes:
                raise too_many(limits.waiting_bytes, "bytes of requests", limits.retry_seconds)
            self.open_bytes += size
            try:
                yield
            finally:
                self.open_bytes -= size

    async def infer(self, inputs: Sequence[Array]) -> dict[str, Array]:
        """The outputs by name; if the caller is cancelled before the network runs for it, so is the call."""
        outputs = await asyncio.wrap_future(self.batcher.submit(*inputs))
        names = [spec.name for spec in self.outputs]
        if len(names) != len(outputs):  # lists within the outputs
            names = [f"output.{i}" for i in range(len(outputs))]
        return dict(zip(names, outputs, strict=True))

    def _run(self, *inputs: Array) -> list[Array]:
        return [np.asarray(output) for output in flat(self._graph.forward(*inputs))]

    def metadata(self) -> dict[str, Any]:
        """The network as ``/v2/models/NAME`` has it."""
        tensors = {"inputs": self.inputs, "outputs": self.outputs}
        return {
            "name": self.name,
            "platform": "kuiper",
            **{kind: [one.described() for one in specs] for kind, specs in tensors.items()},
        }

    def stop(self) -> None:
        """Give up what waits, and end the batcher."""
        self.batcher.stop(finish=False)
