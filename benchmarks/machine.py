"""What the figures were measured on: enough to compare machines, nothing that names one."""

from __future__ import annotations

import os
import platform
from typing import Any

import kuiper
from kuiper.engine.kernels.convolution import LANES
from kuiper.machine import this_machine
from kuiper.machine.caches import caches_of
from kuiper.machine.name import cpu_model


def describe() -> dict[str, Any]:
    """CPU, numbers of its model, cores that this process may use, sizes of caches and memory, and the system."""
    return {
        "cpu": this_machine().name,
        "model": cpu_model(),
        "cores": this_machine().cores,
        "caches_kib": {name: size >> 10 for name, size in cache_sizes().items()},
        "memory_mib": memory_bytes() >> 20,
        "system": f"{platform.system()} {platform.machine()}",
    }


def build() -> dict[str, Any]:
    """How this copy of kuiper was compiled, for results; of the threads they speak themselves."""
    return {key: value for key, value in kuiper.build_info().items() if key != "threads"} | {"lanes": LANES}


def vectors_of(build: dict[str, Any]) -> str:
    """The vector instructions of a build of kuiper, by what ``kuiper.build_info()`` says that it requires.

    >>> vectors_of({"requires": ["avx", "avx2", "fma"], "machine": "x86_64"})
    'AVX2'
    """
    names = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "sse4.2": "SSE4.2"}
    found = next((name for feature, name in names.items() if feature in build["requires"]), None)
    return found or ("NEON" if build["machine"] in ("arm64", "aarch64") else "any CPU")


def has_more_than(build: dict[str, Any]) -> bool:
    """Whether the CPU has AVX-512 and the build keeps to AVX2.

    >>> has_more_than({"requires": ["avx2"], "cpu_features": ["avx2", "avx512f"], "machine": "x86_64"})
    True
    """
    return vectors_of(build) == "AVX2" and "avx512f" in (build["cpu_features"] or ())


def cache_sizes() -> dict[str, int]:
    """Bytes of the data caches that core 0 reaches, ``L1``, ``L2``, ``L3``; empty where the system does not tell."""
    return {f"L{cache.level}": cache.size for cache in caches_of("cpu0") if cache.kind != "Instruction"}


def memory_bytes() -> int:
    """The machine's main memory; 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # Windows
        return 0
