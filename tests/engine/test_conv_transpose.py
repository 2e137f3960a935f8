"""Transposed convolutions in plans, as small convolutions phase by phase, against the layer that adds up stamps."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.lowering.conv_transpose import MAX_LANES, phases
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.graph.pass_graphs import relu


def check(
    in_c: int,
    out_c: int,
    kernel: tuple[int, int],
    size: tuple[int, int] = (5, 6),
    groups: int = 1,
    bias: bool = True,
    n: int = 2,
    then: str = "",
    **more: tuple[int, int],
) -> list[str]:
    """Compare plan and layer on images of this size; what the plan runs. ``then`` is a line from operand 1 to y."""
    settings = {"kernel_size": kernel, "stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), **more}
    words = [f"{key}=({a},{b})" for key, (a, b) in settings.items()]
    words += [f"in_channels={in_c} out_channels={out_c} groups={groups} bias={bias}"]
    words += [f"@weight=({in_c},{out_c // groups},{kernel[0]},{kernel[1]})f32", f"@bias=({out_c})f32" if bias else ""]
    lines = [f"nn.ConvTranspose2d conv 1 1 x {1 if then else 'y'} {' '.join(words)}", then]
    lines = [f"pnnx.Input in 0 1 x #x=({n},{in_c},5,6)f32", *filter(None, lines), "pnnx.Output out 1 0 y"]
    fast, plain = both(*lines)
    x = numbers(n, in_c, *size)
    assert_close(fast(x), plain(x))
    return algorithms(plan_of(fast, [x]))


@pytest.mark.parametrize("padding", [(0, 0), (1, 1), (2, 1)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 3), (2, 1), (1, 4)])
@pytest.mark.parametrize("kernel", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 2), (1, 7)])
def test_conv_transpose_with_any_geometry(
    kernel: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int], padding: tuple[int, int]
) -> None:
    steps = check(3, 5, kernel, stride=stride, dilation=dilation, padding=padding)
    axes = zip(kernel, stride, padding, dilation, strict=True)
    reached = all(phase.entries for axis in axes for phase in phases(*axis))
    assert steps.count("direct") == (stride[0] * stride[1] if reached else 0)


@pytest.mark.parametrize("output_padding", [(1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 3), (4, 5)])
def test_conv_transpose_with_output_padding(kernel: tuple[int, int], output_padding: tuple[int, int]) -> None:
    for padding in ((0, 0), (1, 1)):
        assert "direct" in check(4, 6, kernel, stride=(2, 2), padding=padding, output_padding=output_padding)


@pytest.mark.parametrize("out_c", [1, 3, 15, 16, 17, 40, 100])
@pytest.mark.parametrize("in_c", [1, 3, 17, 40])
def test_conv_transpose_of_any_channels(in_c: int, out_c: int) -> None:
    steps = check(in_c, out_c, (4, 4), bias=out_c % 2 == 0, stride=(2, 2), padding=(1, 1))
    assert steps.count("direct") == 4


@pytest.mark.parametrize(
    ("in_c", "out_c", "groups"), [(6, 3 * MAX_LANES, 3), (2, 4 * MAX_LANES, 2), (4, 16, 2), (4, 6, 2), (5, 5, 5)]
)
def test_conv_transpose_of_groups(in_c: int, out_c: int, groups: int) -> None:
    steps = check(in_c, out_c, (3, 3), groups=groups, stride=(2, 2), padding=(1, 1))
    assert ("direct" in steps) == (out_c // groups % MAX_LANES == 0)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2), (13, 17)])
def test_conv_transpose_of_any_size(size: tuple[int, int]) -> None:
    for n in (1, 3):
        check(3, 20, (3, 3), size=size, n=n, stride=(2, 2), padding=(1, 1))
        check(3, 20, (2, 2), size=size, n=n, stride=(3, 2), output_padding=(2, 0))


def test_conv_transpose_with_its_activation() -> None:
    steps = check(4, 4, (4, 4), then=relu("1 y"), stride=(2, 2), padding=(1, 1))
    assert steps == ["import", *["direct"] * 4, "export"]


def test_phases_meet_every_entry_once() -> None:
    for kernel, stride, before, dilation in np.ndindex(6, 4, 4, 4):
        entries = [k for phase in phases(kernel, stride + 1, before, dilation + 1) for k in phase.entries]
        assert sorted(entries) == list(range(kernel))
