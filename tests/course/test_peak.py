"""The peak of a core, which the report compares with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.builder import load_pyx
from kuiper.course.peak import SOURCE, multiply_adds
from kuiper.engine.kernels.convolution import LANES

if TYPE_CHECKING:
    from pathlib import Path


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
