import itertools

import pytest

from kuiper.engine.cost import BLOCK_FLOATS, MAX_VECTORS, cut_winograd, direct_cost, winograd_cost
from kuiper.engine.kernels.convolution import LANES


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(
    ("channels", "out_channels"), [(1, 1), (16, 16), (64, 64), (40, 100), (256, 512), (2048, 2048)]
)
def test_cut_winograd_fits_the_kernel(size: int, channels: int, out_channels: int) -> None:
    vectors = -(-out_channels // LANES)
    for images, side in itertools.product((1, 8), (1, 7, 14, 55, 200)):
        cut = cut_winograd(images, side, side, channels, out_channels, size)
        assert cut.tiles == images * (-(-side // size)) ** 2
        assert 1 <= cut.block <= cut.tiles
        assert -(-vectors // cut.panels) <= MAX_VECTORS
        assert 1 <= cut.panel_groups <= cut.panels <= vectors
        panel = -(-vectors // cut.panels)
        floats = cut.block * (size + 2) ** 2 * (-(-channels // LANES) + panel) * LANES
        assert cut.block == 1 or floats <= BLOCK_FLOATS


@pytest.mark.skipif(LANES != 16, reason="the choices of one build")
@pytest.mark.parametrize(
    ("side", "channels", "best"), [(56, 64, 4), (28, 128, 4), (7, 512, 2), (1, 512, 0), (256, 16, 4)]
)
def test_costs_choose_what_was_measured_to_be_fastest(side: int, channels: int, best: int) -> None:
    costs = {0: direct_cost(1, side, side, channels, channels)}
    for size in (2, 4):
        costs[size] = winograd_cost(cut_winograd(1, side, side, channels, channels, size), channels, channels)
    assert min(costs, key=lambda size: costs[size]) == best
