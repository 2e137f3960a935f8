"""The peak of a core, and what it reads from memory: the report compares with both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.course import peak
from kuiper.course.builder import load_pyx
from kuiper.course.peak import SOURCE, multiply_adds, reads
from kuiper.engine.kernels.convolution import LANES

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_multiply_adds_is_a_call_and_its_operations(tmp_path: Path) -> None:
    call, operations = multiply_adds(tmp_path)
    assert call() is not None
    assert operations % (2 * LANES) == 0


def test_the_loop_counts_what_it_does(tmp_path: Path) -> None:
    path = tmp_path / "peak.pyx"
    path.write_text(SOURCE)
    loop = load_pyx(path, tmp_path, "fast")
    chains = loop.OPERATIONS // (2 * LANES)
    assert loop.multiply_adds(0) == sum(range(chains))
    assert loop.multiply_adds(1) == sum(i / 2 + 1 for i in range(chains))


def test_reads_is_a_call_and_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak, "MEMORY", 1 << 16)
    call, size = reads(tmp_path)
    assert size == 1 << 16
    assert call() == size // 4  # all numbers are 1


def test_the_loop_reads_every_number_once(tmp_path: Path) -> None:
    path = tmp_path / "peak.pyx"
    path.write_text(SOURCE)
    loop = load_pyx(path, tmp_path, "fast")
    assert loop.TURN == 8 * LANES
    for turns in (0, 1, 3):
        numbers = np.arange(turns * loop.TURN, dtype=np.float32)
        assert loop.read(numbers) == numbers.sum()
