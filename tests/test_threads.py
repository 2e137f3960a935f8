from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FORK = """
import os
import numpy as np
import kuiper
from kuiper.models import bundled

kuiper.set_num_threads(2)
model = kuiper.load(bundled("cifar_resnet20"))
x = np.random.default_rng(0).standard_normal((4, 3, 32, 32), dtype=np.float32)
y = np.asarray(model(x))
child = os.fork()
if child == 0:
    os._exit(0 if kuiper.get_num_threads() == 1 and np.array_equal(np.asarray(model(x)), y) else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_computes_the_same_on_one_thread() -> None:
    root = Path(__file__).parents[1]
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK]  # Python's about forks beside threads
    assert subprocess.run(command, cwd=root, timeout=60, check=False).returncode == 0
