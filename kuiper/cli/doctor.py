"""Check compiler, CPU, threads and build, and run the bundled model as a self-test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.cli.terminal import open_console
from kuiper.course.c_modules import find_tool, missing
from kuiper.course.places import speak_as_here
from kuiper.errors import KuiperError
from kuiper.graph.fallback import VARIABLE, is_strict
from kuiper.language import _, columns, noop, padded, translate
from kuiper.layers import layer_types
from kuiper.layers.gemm import matmul
from kuiper.machine import described, this_machine
from kuiper.machine.processes import has_processes
from kuiper.machine.stopwatch import seconds_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from rich.console import Console


LABEL, STATE = 9, 4  # columns
LABELS = (
    *(noop("built by"), noop("level"), noop("flags"), noop("CPU"), noop("machine")),
    *(noop("threads"), noop("operators"), noop("fallbacks")),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``kuiper doctor`` takes none."""


def execute(arguments: argparse.Namespace) -> int:
    speak_as_here()
    console = open_console(soft_wrap=True)
    info = kuiper.build_info()
    gil = _("Python {version}") if info["gil"] else _("Python {version} without a GIL")
    python = gil.format(version=info["python"])
    console.print(f"kuiper {kuiper.__version__}, {python}, NumPy {info['numpy']}, {info['machine']}")
    for label, lines in zip(LABELS, _facts(info), strict=True):
        for number, line in enumerate(lines):
            console.print(f"{padded('' if number else translate(label), LABEL)}  {line}")
    failed = [not _report(console, name, check) for name, check in CHECKS.items()]
    return 1 if any(failed) else 0


def _facts(info: dict[str, Any]) -> list[list[str]]:
    """What stands behind each of the labels."""
    features, (name, *facts) = info["cpu_features"], described(this_machine())
    built = _("{compiler}, Cython {cython}, debug") if info["debug"] else _("{compiler}, Cython {cython}")
    others = _("{level}, of {levels}") if len(info["levels"]) > 1 else _("{level}, the only one in this build")
    threads = (
        _("{threads} on {cores} cores; the engine's own pool, readable layers by OpenMP")
        if info["openmp"]
        else _("{threads} on {cores} cores; the engine's own pool, readable layers on one: built without OpenMP")
    )
    told = (
        _("to a slower way, after a mistake of kuiper's, are errors: {variable} is set")
        if is_strict()
        else _("to a slower way, after a mistake of kuiper's, are warnings; {variable}=1 makes them errors")
    )
    return [
        [built.format(compiler=info["compiler"], cython=info["cython"])],
        [others.format(level=info["level"], levels=" ".join(info["levels"]))],
        [str(info["flags"])],
        [" ".join(features) if features is not None else _("features cannot be asked for here")],
        [name, *(line.strip() for line in facts)],
        [threads.format(threads=info["threads"], cores=info["cores"])],
        [_("{count} types").format(count=len(layer_types()))],
        [told.format(variable=VARIABLE)],
    ]


def _report(console: Console, name: str, check: Callable[[], str]) -> bool:
    """Print one check's result; a check fails by raising."""
    try:
        told = check()
    except Exception as error:
        _state(console, _("FAIL"), "red")
        console.print(_("{check}: {found}").format(check=translate(name), found=f"{type(error).__name__}: {error}"))
        return False
    _state(console, _("ok"), "green")
    console.print(_("{check}: {found}").format(check=translate(name), found=told))
    return True


def _state(console: Console, word: str, colour: str) -> None:
    console.print(word, style=colour, end=" " * (STATE - columns(word) + 2))


def check_compiler() -> str:
    """The C compiler that building kuiper, and the course's .pyx exercises, needs."""
    tool = find_tool()
    if tool is not None:
        return tool.name
    if not has_processes():
        return _(
            "none so far: a program in a browser cannot start one; the course's page loads one for a .pyx exercise"
        )
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
    best = min(seconds_of(lambda: matmul(a32, a32)) for turn in range(5))
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
    noop("compiler"): check_compiler,
    noop("matrix product"): check_matrix_product,
    noop("bundled classifier"): check_classifier,
}
