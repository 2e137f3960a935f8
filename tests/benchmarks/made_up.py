"""Results with round numbers, for tests of what is made from them."""

from __future__ import annotations

from benchmarks.results import Exclusion, Measurement, ModelFacts, Results


def measurement(model: str, peer: str, median_ms: float, batch: int = 1, threads: int = 1) -> Measurement:
    """A peer's median; all else is alike for all."""
    return Measurement(
        model=model,
        batch=batch,
        threads=threads,
        peer=peer,
        median_ms=median_ms,
        min_ms=median_ms,
        spread=0.1,
        runs=30,
        load_ms=20.0,
        first_ms=5.0,
        peak_mb=120.0,
        import_mb=50.0,
        difference=1e-6,
    )


def results() -> Results:
    """Two models: kuiper takes half of the fastest peer's time on one, twice on the other; ncnn is wrong once."""
    return Results(
        date="2026-01-31",
        quick=False,
        machine={"cpu": "A CPU", "cores": 2, "caches_kib": {"L1": 32}, "memory_mib": 2048, "system": "Linux x86_64"},
        build={
            "compiler": "gcc 12",
            "flags": "-O3",
            "python": "3.11.7",
            "numpy": "2.0.0",
            "requires": ["avx", "avx2", "fma"],
            "machine": "x86_64",
            "lanes": 8,
        },
        versions={"kuiper": "0.1.0", "ncnn": "1.0"},
        peak_gflops={1: 200.0},
        models={"big": ModelFacts((1, 3, 8, 8), 10**9, 500), "small": ModelFacts((1, 3, 8, 8), 10**8, 50)},
        measurements=[
            measurement("big", "kuiper", 10.0),
            measurement("big", "openvino", 20.0),
            measurement("big", "ncnn", 25.0),
            measurement("small", "kuiper", 4.0),
            measurement("small", "openvino", 2.0),
        ],
        excluded=[Exclusion("small", 1, 1, "ncnn", "its output differs from torch's by 2.0e-01")],
    )
