"""What the CPU calls itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.machine.name import cpu_model, cpu_name

if TYPE_CHECKING:
    from pathlib import Path


def test_cpu_name_is_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nvendor_id\t: made up\nmodel name\t: Abacus 9 at 2: GHz\n", encoding="utf-8")
    assert cpu_name(file) == "Abacus 9 at 2: GHz"


def test_cpu_name_is_some_name_without_the_file(tmp_path: Path) -> None:
    assert cpu_name(tmp_path / "missing")


def test_cpu_model_is_that_of_the_first_processor(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    one = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: Abacus\n\n"
    file.write_text(one + one.replace("17", "18"), encoding="utf-8")
    assert cpu_model(file) == "family 25, model 17"
    assert cpu_model(tmp_path / "missing") == ""
