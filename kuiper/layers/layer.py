"""What every layer is: an object made from one RuntimeOperator that turns input arrays into output arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kuiper.errors import ShapeError, UnsupportedOperatorError
from kuiper.layers.factories import FACTORIES
from kuiper.layers.reads import pixelwise_reads
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.activation import Activation
    from kuiper.layers.reads import Reads

Array = np.ndarray


def is_kuipers_own(maker: Callable[..., Any]) -> bool:
    """Whether a layer's class, or a factory of layers, is part of kuiper."""
    return maker.__module__.startswith("kuiper.")


def make_again(layer_class: type[Layer], op: RuntimeOperator) -> Layer:
    """A layer like one of this class that ran this operator: what pickle and copy do with a layer.

    Parameters
    ----------
    layer_class : the class of the layer
    op : the operator that it runs

    Returns
    -------
    A new layer, made from the operator alone: one of kuiper's own by the factory of its type, any other by its class.
    Errors are those of ``create``.

    Examples
    --------
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> from kuiper.layers.registry import create
    >>> layer = create(RuntimeOperator("nn.ReLU", "act"))
    >>> type(make_again(type(layer), layer.op)) is type(layer)
    True
    """
    factory = FACTORIES.get(op.type, layer_class) if is_kuipers_own(layer_class) else layer_class
    with np.errstate(all="ignore"), Limited():  # as when the registry makes it
        layer: Layer = factory(op)
    return layer


class Layer:
    """The base of all layers.

    A subclass reads and checks its parameters in ``__init__`` and computes in ``forward``. Arrays are float32 unless
    the graph says otherwise, in torch's axis order, (n, c, h, w) for images. ``forward`` never writes to its inputs;
    it may return a view of them.

    ``data_inputs`` names the inputs that ``forward`` takes. An input of any other name (``$size=7``) is a parameter
    that the graph computes: the engine makes the layer anew with that value, so no layer needs code for it. None says
    that all inputs are data, whatever their names.
    """

    data_inputs: ClassVar[tuple[str, ...] | None] = ("input", "self", "tensor", "tensors")

    #: Data inputs that the file may give as a plain number instead: ``bias=0.5`` of F.linear.
    number_inputs: ClassVar[tuple[str, ...]] = ()

    #: Whether the output has the numbers of the first input, each once, where they lie: reshape, permute.
    is_view: ClassVar[bool] = False

    #: Whether they also follow each other in the same order, so that a reshape undoes it.
    keeps_order: ClassVar[bool] = False

    #: Whether the output is a copy of the first input.
    is_copy: ClassVar[bool] = False

    #: Whether the output is a part of the first input, which a Tensor.slice_copy with the same settings puts back.
    is_part: ClassVar[bool] = False

    #: Whether the output depends on the shapes of the inputs, not on the numbers in them.
    of_shapes: bool = False

    #: Whether the one output is always the one input, as for dropout at inference.
    is_no_op: bool = False

    #: Whether each pixel of an image (n, c, h, w) follows from the same pixel of the inputs, from all channels perhaps.
    is_pixelwise: bool = False

    #: Whether each row of the output, along the last axis, follows from the same row of the first input alone.
    is_rowwise: ClassVar[bool] = False

    #: Whether it is an activation.
    is_activation: ClassVar[bool] = False

    #: The function of one number that an activation is, with its settings; None if it needs more than one number.
    function: Activation | None = None

    #: Whether ``forward`` takes the operator's state as its last argument; see ``StatefulLayer``.
    uses_state: bool = False

    def __init__(self, op: RuntimeOperator) -> None:
        self.op = op

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs: one array, or a tuple with one entry for each output of the operator."""
        raise NotImplementedError

    def returns_ownership(self, result: Array) -> bool:
        """Whether nobody but the graph has this array, which ``forward`` has returned; if in doubt, no.

        The graph copies an output that its layer may have kept, hence all outputs of layers that are not kuiper's own.
        """
        return is_kuipers_own(type(self)) and not any(kept is result for kept in vars(self).values())

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: make the layer again, from its operator; what it keeps besides is not part of it."""
        return make_again, (type(self), self.op)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        """Floating-point operations of one forward pass; the default counts nothing.

        Parameters
        ----------
        inputs : the shapes of the inputs
        outputs : the shapes of the outputs

        Returns
        -------
        A number of operations, a multiply-add counted as two; 0 for operators that only move values or make views.

        Examples
        --------
        >>> from kuiper.graph.runtime_operator import RuntimeOperator
        >>> from kuiper.layers.registry import create
        >>> create(RuntimeOperator("nn.ReLU", "act")).flops([(1, 8, 4, 4)], [(1, 8, 4, 4)])
        128
        """
        return 0

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        """What each row and each column of an output image depends on; None if everything may.

        Parameters
        ----------
        sizes : those of an input and of the output, for rows and for columns: (h, out_h), (w, out_w)

        Examples
        --------
        >>> from kuiper.graph.runtime_operator import RuntimeOperator
        >>> from kuiper.layers.registry import create
        >>> rows, columns = create(RuntimeOperator("nn.ReLU", "act")).reads([(2, 2), (3, 3)])
        >>> columns.first.tolist(), columns.last.tolist()
        ([0, 1, 2], [0, 1, 2])
        """
        return pixelwise_reads(sizes) if self.is_pixelwise else None

    def expect(self, condition: bool, expected: str, got: object) -> None:
        """Raise ShapeError in the name of this operator unless the condition holds.

        Parameters
        ----------
        condition : what must be true
        expected : what was expected, in words, with shapes as names: ``input (n, 8, ...)``
        got : what came instead

        Raises
        ------
        ShapeError
            If the condition is false; the message begins with the operator's type and name.

        Examples
        --------
        >>> from kuiper.graph.runtime_operator import RuntimeOperator
        >>> layer = Layer(RuntimeOperator("my.Scale", "scale_1"))
        >>> layer.expect(False, "input (n, 8, ...)", (1, 3, 4, 4))
        Traceback (most recent call last):
        kuiper.errors.ShapeError: my.Scale 'scale_1': expected input (n, 8, ...), got (1, 3, 4, 4)
        """
        if not condition:
            raise ShapeError(self.op.where, expected, got)

    def expect_rank(self, x: Array, ranks: tuple[int, ...], letters: str) -> None:
        """Raise ShapeError unless an array has one of these numbers of axes.

        Parameters
        ----------
        x : an input array
        ranks : the numbers of axes that it may have
        letters : the names of the axes for the message, such as "(n, c, h, w)"

        Raises
        ------
        ShapeError
            If it has another number of axes; the message begins with the operator's type and name.

        Examples
        --------
        >>> from kuiper.graph.runtime_operator import RuntimeOperator
        >>> layer = Layer(RuntimeOperator("my.Scale", "scale_1"))
        >>> layer.expect_rank(np.zeros((3, 4)), (4,), "(n, c, h, w)")
        Traceback (most recent call last):
        kuiper.errors.ShapeError: my.Scale 'scale_1': expected input (n, c, h, w), got (3, 4)
        """
        if x.ndim not in ranks:
            raise ShapeError(self.op.where, f"input {letters}", x.shape)

    def unsupported(self, what: str, got: object) -> UnsupportedOperatorError:
        """The error for a mode of this operator that kuiper lacks: ``raise self.unsupported("mode nearest", mode)``.

        Parameters
        ----------
        what : what kuiper can do, for the message
        got : what the operator asks for

        Returns
        -------
        An error to raise.

        Examples
        --------
        >>> from kuiper.graph.runtime_operator import RuntimeOperator
        >>> print(Layer(RuntimeOperator("my.Resize", "up")).unsupported("mode nearest", "cubic"))
        my.Resize 'up': expected mode nearest, got cubic
        """
        return UnsupportedOperatorError(self.op.where, what, got)


class StatefulLayer(Layer):
    """A layer that remembers earlier calls of a session: ``forward(*inputs, state)``.

    ``state`` is an ``OperatorState``: how many positions came before this call, how many there is room for, and arrays
    that live from call to call. The layer itself keeps nothing, so that one model can have many sessions. One that
    ``reads_whole_texts`` makes sessions impossible: it must see the end of a text to say anything of its beginning.
    """

    uses_state = True
    reads_whole_texts = False
