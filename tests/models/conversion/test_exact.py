"""The float64 answers by which rounding is told from a difference."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kuiper.models.conversion.exact import answers_in_float64  # noqa: E402

pytestmark = pytest.mark.torch


class Narrow(nn.Module):
    """Asks for float32 by name, and makes a constant of the default type."""

    def __init__(self) -> None:
        super().__init__()
        self.third = nn.Parameter(torch.tensor([1 / 3]))

    def forward(self, x):
        return x.to(torch.float32) / 3 + x.float() * self.third + torch.ones(1) / 3


def test_answers_in_float64_are_float64_throughout() -> None:
    module, x = Narrow(), np.float32([1, 2])
    (answer,) = answers_in_float64(module, (x,))
    assert answer.dtype == np.float64
    np.testing.assert_allclose(answer, x / np.float64(3) + x * np.float64(np.float32(1 / 3)) + 1 / 3, rtol=1e-15)
    assert module.third.dtype == torch.float32
    assert torch.get_default_dtype() == torch.float32


def test_answers_in_float64_is_empty_where_the_module_cannot() -> None:
    class Stubborn(nn.Module):
        def forward(self, x):
            return torch.from_numpy(np.ones((2, 2), np.float32)) @ x

    assert answers_in_float64(Stubborn(), (np.ones((2, 2), np.float32),)) == []
