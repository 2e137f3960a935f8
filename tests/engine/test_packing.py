"""Packed weights hold the weights, panel by panel, and zeros."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.packing import pack
from tests.engine.models import numbers


@pytest.mark.parametrize("out_c", sorted({1, max(LANES - 1, 1), LANES, LANES + 1, 5 * LANES, 9 * LANES + 3}))
@pytest.mark.parametrize("groups", [1, 2, 3, 17])
def test_pack_holds_every_weight_once(out_c: int, groups: int) -> None:
    weight = numbers(out_c * groups, 3, 2, 2)
    packed = pack(weight, None, groups, pixels=100)
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


@pytest.mark.skipif(LANES < 2, reason="groups share a vector only where it holds several numbers")
def test_pack_multiplies_few_zeros_where_groups_are_left_over() -> None:
    packed = pack(numbers(13 * LANES // 2, 4, 3, 3), None, groups=13, pixels=100)
    assert packed.depth == 2 * 4
    assert packed.panels[:, 1].tolist() == [LANES * k for k in range(7)]  # six pairs and a single group
    assert packed.panels[:, 2].tolist() == [0, 8, 16, 24, 32, 40, 44]  # which is packed as if with its neighbour
