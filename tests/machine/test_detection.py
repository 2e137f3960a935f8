"""This machine: what is found agrees with the build, and the environment may state another one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import kuiper
from kuiper.engine.kernels.convolution import LANES
from kuiper.machine import build
from kuiper.machine.detection import detect, highest_clock
from kuiper.machine.levels import cpu_features

ROOT = Path(__file__).parents[2]


def test_detect_describes_the_build_of_the_kernels() -> None:
    machine = detect()
    assert machine.lanes == LANES
    assert machine.level == kuiper.build_info()["level"]
    assert machine.features <= (cpu_features() or frozenset())
    assert machine.vnni == (build.VNNI in machine.features)
    assert machine.l1 < machine.l2
    assert machine == detect()
    assert pickle.loads(pickle.dumps(machine)) == machine


@pytest.mark.parametrize(("text", "hertz"), [("3700000\n", 3_700_000_000), ("", None), ("7\n", None), ("fast\n", None)])
def test_highest_clock_is_what_linux_tells(text: str, hertz: int | None, tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo_max_freq"
    file.write_text(text)
    assert highest_clock(file) == hertz


def told(statement: str, program: str) -> subprocess.CompletedProcess[str]:
    """What a process prints that begins with this machine in its environment."""
    environment = {**os.environ, "KUIPER_MACHINE": statement}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_environment_states_another_machine() -> None:
    done = told(
        "l2=256K cores=1",
        "import kuiper; m = kuiper.machine.this_machine(); "
        "print(m.l2, m.cores, kuiper.get_num_threads(), kuiper.build_info()['cores'])",
    )
    assert done.stdout == "262144 1 1 1\n"
