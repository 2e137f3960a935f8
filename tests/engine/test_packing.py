"""Packed weights hold the weights, panel by panel, and zeros."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.engine import packing
from kuiper.engine.builder import Builder
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.packing import cut_panels, pack
from kuiper.models.text.graph_writer import GraphWriter
from tests.engine.machines import KERNELS
from tests.engine.models import numbers


@pytest.mark.parametrize("out_c", sorted({1, max(LANES - 1, 1), LANES, LANES + 1, 5 * LANES, 9 * LANES + 3}))
@pytest.mark.parametrize("groups", [1, 2, 3, 17])
def test_pack_holds_every_weight_once(out_c: int, groups: int) -> None:
    weight = numbers(out_c * groups, 3, 2, 2)
    packed = pack(KERNELS, weight, None, groups, pixels=100)
    seen = np.zeros_like(weight)
    for vectors, first, in_channel, offset in packed.panels:
        columns = int(vectors) * LANES
        panel = packed.weights[offset : offset + packed.depth * 4 * columns].reshape(2, 2, packed.depth, columns)
        for j in range(columns):
            output = int(first) + j
            if output >= len(weight):
                assert not panel[..., j].any()
                continue
            own = output // out_c * 3 - int(in_channel)  # its group's first channel within the panel
            if own >= 0 and own + 3 <= packed.depth:
                seen[output] += panel[:, :, own : own + 3, j].transpose(2, 0, 1)
                rest = np.delete(panel[..., j], np.s_[own : own + 3], axis=2)
                assert not rest.any()
    np.testing.assert_array_equal(seen, weight)


@pytest.mark.parametrize("out_c", sorted({1, max(LANES - 1, 1), LANES, LANES + 1, 4 * LANES, 9 * LANES + 3}))
@pytest.mark.parametrize("depth", sorted({1, max(LANES - 1, 1), LANES, 2 * LANES + 5}))
def test_pack_turns_weights_of_linear_layers(out_c: int, depth: int) -> None:
    weight = numbers(out_c, depth)
    weight.flags.writeable = False  # as that of a mapped file
    packed = pack(KERNELS, weight[:, :, None, None], None, 1, pixels=1)
    found = []
    for vectors, _, _, offset in packed.panels:
        columns = int(vectors) * LANES
        found.append(packed.weights[offset : offset + depth * columns].reshape(depth, columns))
    whole = np.concatenate(found, axis=1)
    np.testing.assert_array_equal(whole[:, :out_c], weight.T)
    assert not whole[:, out_c:].any()


@pytest.mark.skipif(LANES < 2, reason="groups share a vector only where it holds several numbers")
def test_pack_multiplies_few_zeros_where_groups_are_left_over() -> None:
    packed = pack(KERNELS, numbers(13 * LANES // 2, 4, 3, 3), None, groups=13, pixels=100)
    assert packed.depth == 2 * 4
    assert packed.panels[:, 1].tolist() == [LANES * k for k in range(7)]  # six pairs and a single group
    assert packed.panels[:, 2].tolist() == [0, 8, 16, 24, 32, 40, 44]  # which is packed as if with its neighbour


@pytest.mark.parametrize("own", sorted({1, LANES, 5 * LANES, 9 * LANES + 3}))
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("pixels", [1, 49, 10_000])
def test_cut_panels_are_those_of_the_first_groups(own: int, groups: int, pixels: int) -> None:
    weight = numbers(own * groups, 3, 2, 2)
    widths = cut_panels(KERNELS, weight, groups, pixels)
    assert widths == [int(panel[0]) for panel in pack(KERNELS, weight, None, groups, pixels).panels[: len(widths)]]
    assert sum(widths) * LANES >= own


@pytest.mark.parametrize(("out_c", "groups"), [(5, 1), (LANES + 3, 1), (6, 3), (3 * LANES, 3)])
def test_pack_writes_all_of_its_memory(out_c: int, groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lanes behind the last output are zeros, whatever was in the memory before."""
    monkeypatch.setattr(packing, "for_weights", lambda floats: np.full(floats, np.nan, np.float32))
    weight = np.ones((out_c, 2, 3, 3), np.float32)
    assert np.isfinite(packing.pack(KERNELS, weight, None, groups, 100).weights).all()


@pytest.mark.parametrize("outputs", sorted({1, LANES, 2 * LANES + 1, 4 * LANES, 7 * LANES, 13 * LANES + 3}))
@pytest.mark.parametrize("depth", [1, 37])
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 13, 40])
def test_weights_for_any_number_of_rows_give_the_same_bits(
    outputs: int, depth: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = GraphWriter()
    x = writer.add("pnnx.Input", "x", shape=(None, depth))
    params = {"bias": True, "in_features": depth, "out_features": outputs}
    attrs = {"bias": numbers(outputs), "weight": numbers(outputs, depth)}
    writer.finish(writer.add("nn.Linear", "fc", x, shape=(None, outputs), params=params, attrs=attrs))
    data = numbers(rows, depth)
    expected = np.asarray(kuiper.load(writer.graph)(data))
    monkeypatch.setattr(Builder, "rows_of_weights", lambda self, rows: None)
    np.testing.assert_array_equal(np.asarray(kuiper.load(writer.graph)(data)), expected)
