"""A row of the table of activations is all that code and both loops need: a made-up one works at once."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.compiler import find_compiler
from tests.size import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEADER = ROOT / "kuiper" / "simd" / "activations.h"

# x, then what the layers' loop and the engine's make of it with a = 3, b = 0.5
PROGRAM = """
#include <stddef.h>
#include <stdio.h>
typedef ptrdiff_t Py_ssize_t;
#include "kuiper/simd/activations.h"

int main(void) {
    float x[KUIPER_LANES], y[KUIPER_LANES], z[KUIPER_LANES];
    for (int i = 0; i < KUIPER_LANES; i++) x[i] = y[i] = z[i] = (float)i - 1;
    for (int i = 0; i < KUIPER_ACTIVATIONS_END; i++) {
        const kuiper_activation row = kuiper_activations[i];
        if (row.code != i) return 1;
        if (strcmp(row.name, "made_up") != 0) continue;
        kuiper_map_numbers(row.code, x, y, KUIPER_LANES, 3, 0.5f);
        kuiper_map_TABLE(row.code, x, KUIPER_LANES, z, 1, 3, 0.5f);
        printf("%d %g %g %g\\n", row.cost, x[0], y[0], z[0]);
    }
    return 0;
}
"""


@pytest.mark.parametrize("table", ["fused", "other"])
def test_activations_take_a_row_more(table: str, tmp_path: Path) -> None:
    compiler = find_compiler()
    if compiler is None or sys.platform == "win32":
        pytest.skip("needs gcc or clang")
    macro = f"#define KUIPER_{table.upper()}_ACTIVATIONS(ROW) \\\n"
    text = HEADER.read_text(encoding="utf-8")
    assert macro in text
    header = tmp_path / "kuiper" / "simd" / HEADER.name
    header.parent.mkdir(parents=True)
    header.write_text(text.replace(macro, f"{macro}    ROW(made_up, 5, a * x + b, x * a + b) \\\n"), encoding="utf-8")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM.replace("TABLE", table), encoding="utf-8")
    subprocess.run(
        [*compiler.command, "-O1", f"-I{tmp_path}", f"-I{ROOT}", str(source), "-o", str(program), "-lm"], check=True
    )
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "5 -1 -2.5 -2.5\n"
