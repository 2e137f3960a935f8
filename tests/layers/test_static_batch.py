from __future__ import annotations

import pytest

from kuiper.layers.static_batch import declared_batch, with_actual_batch
from tests.layers.wired_operator import wired


@pytest.mark.parametrize(
    ("declared", "batch"),
    [((1, 3, 4), 1), ((5,), 5), ((None, 3), None), (("batch", 3), None), ((), None), (None, None)],
)
def test_declared_batch_is_the_first_size_of_the_first_input(declared: object, batch: int | None) -> None:
    assert declared_batch(wired("Tensor.reshape", declared=declared)) == batch  # type: ignore[arg-type]


def test_declared_batch_of_an_operator_without_inputs_is_unknown() -> None:
    assert declared_batch(wired("Tensor.reshape", inputs=0)) is None


@pytest.mark.parametrize(
    ("sizes", "declared", "shape", "expected"),
    [
        ((1, 6), 1, (3, 2, 3), (3, 6)),
        ((4, 6), 4, (1, 2, 3), (1, 6)),
        ((6,), 1, (3, 2), (6,)),  # begins with something else than the batch
        ((1, 6), None, (3, 2, 3), (1, 6)),  # the file leaves the batch open, so it says what it means
        ((), 1, (3,), ()),
        ((1,), 1, (), (1,)),
    ],
)
def test_with_actual_batch_replaces_the_declared_one(
    sizes: tuple[int, ...], declared: int | None, shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert with_actual_batch(sizes, declared, shape) == expected
