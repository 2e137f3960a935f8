"""Windows: where an output pixel comes from. The operator's own kernel with its weights, and its field in the input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kuiper.explore.arrays import floats, number
from kuiper.explore.budget import Candidate
from kuiper.explore.fields import Field, composed, everything, identity, union
from kuiper.explore.reads import is_convolution, pair_of_reads, residual_reads
from kuiper.explore.values import CHANNELS
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.explore.arrays import Table
    from kuiper.graph.runtime_operator import RuntimeOperator


_MAX_OF_LINEAR = 1 << 18  # numbers of the weight of a linear layer that is put into the page


def receptive_fields(
    operators: Sequence[RuntimeOperator], shapes: Mapping[int, tuple[int, ...] | None], source: int
) -> dict[int, Field | None]:
    """The receptive field of each value in one input picture; None for a value that does not depend on it.

    Parameters
    ----------
    operators : in topological order, with their layers
    shapes : the shape of each operand in a run, by its index; None of what is no array
    source : the index of the input picture (n, c, h, w)

    Returns
    -------
    A field for each operand, by its index. Of values that are no pictures, all of the input if they depend on it.
    """
    height, width = (shapes[source] or ())[-2:]
    fields: dict[int, Field | None] = {source: Field(identity(height), identity(width))}
    for op in operators:
        depends = [operand.index for operand in op.inputs if fields.get(operand.index) is not None]
        for output in op.outputs:
            if output.index == source:
                continue
            target = shapes.get(output.index)
            if not depends:
                fields[output.index] = None
                continue
            mixed = _whole(target, height, width)
            fields[output.index] = _field_behind(op, depends, fields, shapes, target) or mixed
    return fields


def _whole(target: tuple[int, ...] | None, height: int, width: int) -> Field:
    rows, columns = target[2:] if target is not None and len(target) == 4 else (1, 1)
    return Field(everything(rows, height), everything(columns, width))


def _field_behind(
    op: RuntimeOperator,
    depends: list[int],
    fields: Mapping[int, Field | None],
    shapes: Mapping[int, tuple[int, ...] | None],
    target: tuple[int, ...] | None,
) -> Field | None:
    """The field of an operator's output, from those of the inputs that depend on the picture; None: all of it."""
    if target is None or len(target) != 4 or 0 in target:
        return None
    found: list[Field] = []
    for place, operand in enumerate(op.inputs):
        field, shape = fields.get(operand.index), shapes.get(operand.index)
        if operand.index not in depends or field is None:
            continue
        if shape is None or len(shape) != 4:
            return None
        is_residual = place > 0 and is_convolution(op)
        reads = residual_reads(shape, target) if is_residual else pair_of_reads(op, shape, target)
        if reads is None:
            return None
        found.append(Field(composed(field.rows, reads[0]), composed(field.columns, reads[1])))
    return Field(union([field.rows for field in found]), union([field.columns for field in found]))


def window_table(op: RuntimeOperator, keys: Sequence[str]) -> tuple[Table, list[Candidate]]:
    """The page's entry of an operator's window, and the weights that are put in if there is room.

    Parameters
    ----------
    op : the operator, with its layer
    keys : those of its inputs in the page's values

    Returns
    -------
    Kind, kernel, stride, padding, dilation and groups as far as there are any; candidates for its weights.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> table, weights = window_table(kuiper.load(bundled("cifar_resnet20")).order[1], ["0"])
    >>> table["kind"], table["kernel"], table["padding"], weights[0].numbers
    ('convolution', [3, 3], [1, 1, 1, 1], 432)
    """
    layer: Any = op.layer
    if is_convolution(op):
        return _of_convolution(op, layer, layer.window, keys)
    word, window = op.type.rpartition(".")[2].lower(), getattr(layer, "window", None)
    if isinstance(window, Window) and "pool" in word:
        kind = "max" if "max" in word else "average"
        return {"kind": kind, **_geometry(window)}, []
    if word in ("linear", "fusedlinear") and "weight" in op.attrs:
        table: Table = {"kind": "linear", **_fused(op, keys)}
        return table, _weights(op, table, None)
    return {"kind": "other"}, []


def _of_convolution(
    op: RuntimeOperator, layer: Any, window: Window, keys: Sequence[str]
) -> tuple[Table, list[Candidate]]:
    transposed = "Transpose" in op.type
    table: Table = {
        "kind": "transposed" if transposed else "convolution",
        **_geometry(window),
        "groups": layer.parameters.groups,
        **_fused(op, keys),
    }
    border = getattr(layer, "border", ())
    if border:
        left, right, top, bottom = border
        table |= {"padding": [top, left, bottom, right], "padding_mode": layer.padding_mode}
    if transposed and layer.parameters.groups > 1:
        return table, []
    return table, _weights(op, table, 1 if transposed else 0)


def _weights(op: RuntimeOperator, table: Table, axis: int | None) -> list[Candidate]:
    """The weights of the first output channels (along ``axis``; None: of all outputs), and the bias."""
    bias = getattr(op.layer, "bias", None)
    if axis is None and math.prod(op.attrs["weight"].shape) > _MAX_OF_LINEAR:
        return []
    weight = op.attr("weight")
    if axis == 1:
        weight = weight[:, :CHANNELS]
    elif axis == 0:
        weight = weight[:CHANNELS]

    def put() -> None:
        table["weights"] = floats(weight)
        table["channels"] = list(range(weight.shape[1 if axis == 1 else 0]))
        if bias is not None:
            table["bias"] = floats(bias)

    return [Candidate("weights", weight.size, put)]


def _geometry(window: Window) -> Table:
    return {
        "kernel": list(window.kernel),
        "stride": list(window.stride),
        "padding": [*window.before, *window.after],
        "dilation": list(window.dilation),
    }


def _fused(op: RuntimeOperator, keys: Sequence[str]) -> Table:
    """What a fused operator adds and applies."""
    table: Table = {}
    if op.type.startswith("kuiper.Fused"):
        name = op.str_param("activation", "none")
        if name != "none":
            alpha, beta = op.float_param("activation_alpha", 0.0), op.float_param("activation_beta", 0.0)
            table["activation"] = {"name": name, "alpha": number(alpha), "beta": number(beta)}
        if len(keys) > 1:
            table["residual"] = keys[1]
    return table
