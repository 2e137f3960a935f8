"""What the CPU calls itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.machine.name import cpu_name

if TYPE_CHECKING:
    from pathlib import Path


def test_cpu_name_is_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nvendor_id\t: made up\nmodel name\t: Abacus 9 at 2: GHz\n", encoding="utf-8")
    assert cpu_name(file) == "Abacus 9 at 2: GHz"


def test_cpu_name_is_some_name_without_the_file(tmp_path: Path) -> None:
    assert cpu_name(tmp_path / "missing")
