"""Pieces and borders: Concat, Split, Slice, Gather, Pad, Compress, ReverseSequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.onnx.element_types import ELEMENT_TYPES
from kuiper.onnx.known_sizes import sizes_of, with_sizes
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.graph.pnnx import ParameterValue
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_LAST = 2**31 - 1
"""What exporters write for the end of an axis is at least this."""

_TORCH_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@operator("Concat")
def concat(node: Node, build: GraphBuilder) -> Value:
    """One behind the other."""
    values = node.values()
    params = {"dim": node.int("axis")}
    parts = [sizes_of(value) for value in values]
    known = None if None in parts else [one for part in parts for one in part or ()]
    return with_sizes(build, values[0].type, known, lambda: build.op("torch.cat", *values, params=params))


@operator("Split")
def split(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """Pieces of given sizes, or of equal ones."""
    value, sizes = node.value(0), node.integers(1, "split")
    params: dict[str, ParameterValue] = {"dim": node.int("axis", 0)}
    count = len(node.outputs)
    if node.int("num_outputs", count) != count:
        raise ModelFormatError(node.where, f"num_outputs={count}, as it has", node.int("num_outputs"))
    if sizes is not None:
        return build.ops("torch.split", value, outputs=count, params={**params, "split_size_or_sections": sizes})
    if node.optional(1) is not None:
        names = ["", "split_size_or_sections"]
        return build.ops("torch.split", value, node.value(1), outputs=count, names=names, params=params)
    return build.ops("torch.split", value, outputs=count, params=params)


@operator("Slice")
def slice_(node: Node, build: GraphBuilder) -> Value:
    """``in[start:end:step]`` along some axes, all of which may be computed."""
    value = node.value(0)
    settings = {name: node.integers(place, name) for place, name in enumerate(("starts", "ends"), 1)}
    axes, steps = node.integers(3, "axes"), node.integers(4, "steps")
    count = next((len(one) for one in settings.values() if one is not None), _length(node.optional(1)))
    if axes is None and node.optional(3) is None and count is not None:
        axes = list(range(count))
    if steps is None and node.optional(4) is None and count is not None:
        steps = [1] * count
    bounds = {**settings, "axes": axes, "steps": steps}
    if any(one is None and node.optional(place) is None for place, one in enumerate(bounds.values(), 1)):
        raise node.unsupported("starts of a known length", "an open one")
    known = {name: one for name, one in bounds.items() if one is not None}
    if len(known) == 4:
        if len({len(one) for one in known.values()}) > 1 or 0 in known["steps"]:
            raise ParameterError(node.where, "starts, ends, axes and steps of one length, no step of 0", known)
        if min(known["steps"], default=1) > 0:
            return with_sizes(build, value.type, _sizes_in(value, known), lambda: _sliced(build, value, known))
    computed = [node.value(place) for place, name in enumerate(bounds, 1) if name not in known]
    params: dict[str, ParameterValue] = {name: [*one] for name, one in known.items()}
    sizes = _sizes_in(value, known) if len(known) == 4 else None
    return with_sizes(build, value.type, sizes, lambda: build.op("Slice", value, *computed, params=params))


def _length(value: Value | None) -> int | None:
    """How many entries a vector has, if that is known."""
    size = value.shape[0] if value is not None and value.shape else None
    return size if isinstance(size, int) else None


def _sliced(build: GraphBuilder, value: Value, cut: dict[str, list[int]]) -> Value:
    """Cut forwards with torch's own operator."""
    starts, ends, axes, steps = (cut[name] for name in ("starts", "ends", "axes", "steps"))
    limits = [(max(min(one, _LAST), -_LAST)) for one in ends]
    starts = [max(min(one, _LAST), -_LAST) for one in starts]
    if len(axes) == 1:
        end = None if limits[0] == _LAST else limits[0]
        return build.op(
            "Tensor.slice", value, params={"dim": axes[0], "start": starts[0], "end": end, "step": steps[0]}
        )
    lists: dict[str, ParameterValue] = {"dims": axes, "starts": starts, "ends": limits, "steps": steps}
    return build.op("Tensor.slice", value, params={**lists, "selects": [_LAST] * len(axes)})


def _sizes_in(value: Value, cut: dict[str, list[int]]) -> list[int | None] | None:
    """What is known of the entries of a vector of sizes that is cut."""
    sizes = sizes_of(value)
    if sizes is None or value.constant is not None or len(cut["axes"]) != 1:
        return None
    return list(sizes[slice(cut["starts"][0], cut["ends"][0], cut["steps"][0])])


@operator("Gather")
def gather(node: Node, build: GraphBuilder) -> Value:
    """Entries of one axis: a view if the indices are known and evenly spaced, rows of a table, or any others."""
    value, indices, axis = node.value(0), node.value(1), node.int("axis", 0)
    if value.constant is not None and indices.constant is not None:
        return build.op("Gather", value, indices, params={"axis": axis})
    if indices.constant is not None and indices.constant.dtype.kind in "iu":
        return _gathered(build, value, indices, axis)
    is_table = value.constant is not None and value.constant.ndim == 2 and ELEMENT_TYPES[value.type].inside.kind == "f"
    if is_table and axis in (0, -2) and ELEMENT_TYPES[value.type].inside == np.float32:
        return build.op("F.embedding", indices, value, params={"from_end": True}, type=value.type)
    if indices.rank == 1:
        params = {"dim": axis, "from_end": True}
        return build.op("torch.index_select", value, indices, names=["", "index"], params=params)
    return build.op("Gather", value, indices, params={"axis": axis})


def _gathered(build: GraphBuilder, value: Value, indices: Value, axis: int) -> Value:
    """Entries at known places."""
    assert indices.constant is not None
    places = indices.constant
    sizes = sizes_of(value) if value.constant is None else None
    inside = sizes is not None and all(-len(sizes) <= place < len(sizes) for place in places.ravel())
    known = [sizes[place] for place in places.ravel()] if sizes is not None and inside else None
    if places.ndim == 0:
        if known is not None and known[0] is not None:
            return build.constant(np.array(known[0], ELEMENT_TYPES[value.type].inside), value.type)
        return build.op("Tensor.select", value, params={"dim": axis, "index": int(places)})
    if places.ndim == 1:
        return with_sizes(build, value.type, known, lambda: _picked(build, value, indices, places, axis))
    return build.op("Gather", value, indices, params={"axis": axis})


def _picked(build: GraphBuilder, value: Value, indices: Value, places: np.ndarray, axis: int) -> Value:
    """Entries at a row of known places."""
    count = value.shape[axis] if value.shape is not None and -len(value.shape) <= axis < len(value.shape) else None
    cut = _as_slice(places, count)
    if cut is not None:
        bounds = {"dim": axis, "start": cut.start, "end": cut.stop, "step": cut.step}
        return build.op("Tensor.slice", value, params=bounds)
    params = {"dim": axis, "from_end": True}
    return build.op("torch.index_select", value, indices, names=["", "index"], params=params)


def _as_slice(places: np.ndarray, count: object) -> slice | None:
    """Evenly spaced places of an axis of known size as a slice, which is a view."""
    if not isinstance(count, int) or not len(places) or places.min() < -count or places.max() >= count:
        return None
    counted = np.where(places < 0, places + count, places)
    step = int(counted[1] - counted[0]) if len(counted) > 1 else 1
    if step < 1 or np.any(np.diff(counted) != step):
        return None
    return slice(int(counted[0]), int(counted[-1]) + 1, step)


@operator("Pad")
def pad(node: Node, build: GraphBuilder) -> Value:
    """Borders; by torch's own operator where it has the mode for these axes."""
    value, mode = node.value(0), node.str("mode", "constant")
    filling = node.optional(2) or build.constant(_filling(node, value), value.type)
    pads, axes = node.integers(1, "pads"), node.integers(3, "axes")
    named = node.optional(3)
    if pads is not None and value.rank is not None and (named is None or axes is not None):
        pairs = _pairs(node, value.rank, pads, axes)
        if mode in _TORCH_MODES and _torch_can(mode, pairs, value, filling):
            amounts = [amount for pair in reversed(pairs) for amount in pair]
            number = 0.0 if filling.constant is None else float(filling.constant.reshape(-1)[0])
            params = {"pad": amounts, "mode": _TORCH_MODES[mode], "value": number}
            return build.op("F.pad", value, params=params)
    inputs = [value, build.sizes(*pads) if pads is not None else node.value(1), filling]
    params = {"mode": mode} if axes is None else {"mode": mode, "axes": axes}
    return build.op("Pad", *inputs, *([named] if named is not None and axes is None else []), params=params)


def _filling(node: Node, value: Value) -> np.ndarray:
    """What a border holds: the setting of older operator sets, or 0."""
    dtype = ELEMENT_TYPES[value.type].inside if value.type in ELEMENT_TYPES else np.dtype(np.float32)
    return np.array(node.float("value", 0.0), dtype)


def _pairs(node: Node, rank: int, pads: list[int], axes: list[int] | None) -> list[tuple[int, int]]:
    """The borders of the last axes, from the first that has any."""
    axes = list(range(rank)) if axes is None else axes
    if len(pads) != 2 * len(axes) or not all(-rank <= axis < rank for axis in axes):
        raise ParameterError(node.where, f"{2 * len(axes)} pads for axes of a tensor with {rank}", (pads, axes))
    pairs = [(0, 0)] * rank
    for place, axis in enumerate(axes):
        pairs[axis] = (pads[place], pads[place + len(axes)])
    while pairs and pairs[0] == (0, 0):
        pairs.pop(0)
    return pairs


def _torch_can(mode: str, pairs: list[tuple[int, int]], value: Value, filling: Value) -> bool:
    """Whether F.pad makes these borders."""
    kind = ELEMENT_TYPES[value.type].inside.kind if value.type in ELEMENT_TYPES else "f"
    if mode == "constant":
        number = filling.constant
        return number is not None and number.size == 1 and (kind == "f" or not number.any())
    sizes = (value.shape or ())[len(value.shape or ()) - len(pairs) :]
    fits = all(isinstance(size, int) and size > max(pair) for size, pair in zip(sizes, pairs, strict=True))
    return 0 < len(pairs) <= 3 and len(value.shape or ()) in (len(pairs) + 1, len(pairs) + 2) and fits


@operator("Compress", "ReverseSequence")
def chosen(node: Node, build: GraphBuilder) -> Value:
    """What the second input says of the first."""
    names = ("axis",) if node.type == "Compress" else ("time_axis", "batch_axis")
    params = {name: node.int(name) for name in names if name in node.attributes}
    return build.op(node.type, node.value(0), node.value(1), params=params)
