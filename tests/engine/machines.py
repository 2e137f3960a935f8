"""Machines that planners must suit, stated as the makers of their CPUs and kuiper's builds for them have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kuiper.engine.cost import for_kernels
from kuiper.engine.kernels.split_int8_product import RUNS
from kuiper.machine import Machine, this_machine
from kuiper.machine.machine import VNNI

K, M = 1 << 10, 1 << 20

V3 = frozenset({"sse4.2", "avx", "avx2", "fma", "bmi2"})
V4 = V3 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}
NONE: frozenset[str] = frozenset()

SKYLAKE = Machine("Skylake, client", "x86-64-v3", 8, 16, V3, 32 * K, 256 * K, 2 * M, cores=4)
ZEN_3 = Machine("Zen 3", "x86-64-v3", 8, 16, V3, 32 * K, 512 * K, 4 * M, cores=8)
ZEN_4 = Machine("Zen 4", "x86-64-v4", 16, 32, V4 | {"avx512_vnni"}, 32 * K, 1 * M, 4 * M, cores=8, splits_avx512=True)
ZEN_5 = Machine("Zen 5", "x86-64-v4", 16, 32, V4 | {"avx512_vnni"}, 48 * K, 1 * M, 4 * M, cores=16)
RAPTOR_LAKE = Machine("Raptor Lake", "x86-64-v3", 8, 16, V3 | {"avx_vnni"}, 48 * K, 2 * M, 3 * M, cores=16)
SAPPHIRE_RAPIDS = Machine("Sapphire Rapids", "x86-64-v4", 16, 32, V4 | {"avx512_vnni"}, 48 * K, 2 * M, 2 * M, cores=2)
APPLE_M2 = Machine("Apple M2", "apple-m1", 4, 32, NONE, 128 * K, 4 * M, 0, cores=8)
GRAVITON_3 = Machine("Graviton 3", "generic", 4, 32, NONE, 64 * K, 1 * M, 512 * K, cores=1)
NO_VECTORS = Machine("no vectors", "x86-64", 1, 16, NONE, 32 * K, 512 * K, 0, cores=1)

MACHINES = [
    SKYLAKE, ZEN_3, ZEN_4, ZEN_5, RAPTOR_LAKE, SAPPHIRE_RAPIDS, APPLE_M2, GRAVITON_3, NO_VECTORS,
]  # fmt: skip

KERNELS = for_kernels(ZEN_3)
"""Zen 3 with the vectors of this build: what a layer can be cut for and then be run."""

EVERY_MACHINE = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)


def runnable(machine: Machine) -> Machine:
    """The machine without the instruction that this CPU may lack, so that what is planned for it can be run here."""
    return replace(machine, features=machine.features - VNNI)


def with_split_int8(wanted: bool) -> Machine:
    """This machine with the instruction that multiplies bytes, or without; skips the test where it cannot be run."""
    if wanted and not RUNS:
        pytest.skip("this CPU lacks the instruction of this build")
    features = this_machine().features - VNNI
    return replace(this_machine(), features=features | {"avx_vnni"} if wanted else features)
