"""Check compiler, CPU, threads and build, and run the bundled model as a self-test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.cli.terminal import open_console
from kuiper.course.c_modules import find_tool, missing
from kuiper.errors import KuiperError
from kuiper.graph.fallback import VARIABLE, is_strict
from kuiper.layers import layer_types
from kuiper.layers.gemm import matmul
from kuiper.machine import described, this_machine
from kuiper.machine.processes import has_processes
from kuiper.machine.stopwatch import seconds_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from rich.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``kuiper doctor`` takes none."""


def execute(arguments: argparse.Namespace) -> int:
    console = open_console(soft_wrap=True)
    info = kuiper.build_info()
    python = f"Python {info['python']}{'' if info['gil'] else ' without a GIL'}"
    console.print(f"kuiper {kuiper.__version__}, {python}, NumPy {info['numpy']}, {info['machine']}")
    console.print(f"built by   {info['compiler']}, Cython {info['cython']}{', debug' if info['debug'] else ''}")
    console.print(f"level      {info['level']}{_others(info)}")
    console.print(f"flags      {info['flags']}")
    features = info["cpu_features"]
    console.print(f"CPU        {' '.join(features) if features is not None else 'features cannot be asked for here'}")
    name, *facts = described(this_machine())
    console.print(f"machine    {name}")
    for line in facts:
        console.print(f"           {line.strip()}")
    layers = "by OpenMP" if info["openmp"] else "on one: built without OpenMP"
    console.print(
        f"threads    {info['threads']} on {info['cores']} cores; the engine's own pool, readable layers {layers}"
    )
    console.print(f"operators  {len(layer_types())} types")
    console.print(f"fallbacks  to a slower way, after a mistake of kuiper's, are {_how_told()}")
    failed = [not _report(console, name, check) for name, check in CHECKS.items()]
    return 1 if any(failed) else 0


def _how_told() -> str:
    """What becomes of them."""
    return f"errors: {VARIABLE} is set" if is_strict() else f"warnings; {VARIABLE}=1 makes them errors"


def _others(info: dict[str, Any]) -> str:
    """The levels of a wheel between which the import has chosen; nothing for a build that has one."""
    return f", of {' '.join(info['levels'])}" if len(info["levels"]) > 1 else ", the only one in this build"


def _report(console: Console, name: str, check: Callable[[], str]) -> bool:
    """Print one check's result; a check fails by raising."""
    try:
        told = check()
    except Exception as error:
        console.print("FAIL", style="red", end="")
        console.print(f"  {name}: {type(error).__name__}: {error}")
        return False
    console.print("ok", style="green", end="")
    console.print(f"    {name}: {told}")
    return True


def check_compiler() -> str:
    """The C compiler that building kuiper, and the course's .pyx exercises, needs."""
    tool = find_tool()
    if tool is not None:
        return tool.name
    if not has_processes():
        return "none so far: a program in a browser cannot start one; the course's page loads one for a .pyx exercise"
    expected, got, hint = missing()
    raise KuiperError("compiler", expected, got, hint=hint)


def check_matrix_product() -> str:
    """The kernel against float64, with every remainder of the tile; and its speed."""
    generator = np.random.default_rng(0)
    for m, k, n in ((1, 1, 1), (7, 300, 49), (17, 13, 97)):
        a, b = generator.standard_normal((m, k)), generator.standard_normal((k, n))
        error = np.abs(matmul(a.astype(np.float32), b.astype(np.float32)) - a @ b).max()
        if not error < 1e-4:
            raise ArithmeticError(f"({m}, {k}) x ({k}, {n}) is off by {error:.2g}")
    size = 512
    a32 = generator.standard_normal((size, size), dtype=np.float32)
    best = min(seconds_of(lambda: matmul(a32, a32)) for _ in range(5))
    return f"{2 * size**3 / best / 1e9:.0f} GFLOP/s"


def check_classifier() -> str:
    """The bundled network on the bundled photo."""
    from kuiper.models import Classifier, bundled, bundled_photo

    classifier = Classifier(bundled("cifar_resnet20"))
    label, probability = classifier(bundled_photo())[0]
    if label != "cat":
        raise ArithmeticError(f"the bundled photo shows a cat, the network says {label}")
    if classifier.model.fallbacks:
        raise KuiperError("bundled classifier", "a plan", "; ".join(classifier.model.fallbacks))
    return f"{label} {probability:.1%}"


CHECKS: dict[str, Callable[[], str]] = {
    "compiler": check_compiler,
    "matrix product": check_matrix_product,
    "bundled classifier": check_classifier,
}
