"""What several tests of the engine need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kuiper

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def restore_threads() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = kuiper.get_num_threads()
    yield
    kuiper.set_num_threads(before)
