"""What must hold for every build of the engine; ``make portable`` runs these tests on two builds more."""

from __future__ import annotations

from kuiper import build_info
from kuiper.engine.kernels.convolution import LANES, TILE_ROWS


def test_vectors_are_as_wide_as_the_build_allows() -> None:
    info = build_info()
    flags, requires = info["flags"].split(), info["requires"]
    if "-DKUIPER_NO_VECTORS" in flags or "/O2" in flags:
        widest = 1
    elif "-DKUIPER_EMULATES_AVX512" in flags:
        widest = 16
    else:
        widest = 16 if "avx512f" in requires else 8 if "avx" in requires else 4
    assert widest == LANES


def test_tiles_of_more_vectors_have_fewer_rows() -> None:
    assert sorted(TILE_ROWS, reverse=True) == TILE_ROWS
    assert min(TILE_ROWS) >= 1


def test_no_build_takes_liberties_with_floats() -> None:
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "/fp:fast"} & set(build_info()["flags"].split())
