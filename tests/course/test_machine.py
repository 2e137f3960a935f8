"""What a lecture says about the machine of its measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.build_info import build_info
from kuiper.course.machine import this_machine

if TYPE_CHECKING:
    from pathlib import Path


def test_this_machine_names_the_processor_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nvendor_id\t: made up\nmodel name\t: Abacus 9 at 2: GHz\n", encoding="utf-8")
    build = build_info()
    cores = "1 core" if build["cores"] == 1 else f"{build['cores']} cores"
    assert this_machine(file) == f"Abacus 9 at 2: GHz, {cores}, kernels for {build['level']}"


def test_this_machine_says_something_without_the_file(tmp_path: Path) -> None:
    name, *rest = this_machine(tmp_path / "missing").split(", ")
    assert name
    assert rest[-1] == f"kernels for {build_info()['level']}"
