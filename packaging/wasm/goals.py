"""Measure the wheel for browsers against its goals: ``make live-goals``.

    python packaging/wasm/goals.py FOLDER SITE [--browser PROGRAM]

FOLDER is what build.py has filled, SITE a site of ``make live`` with SELF_HOSTED=--self-hosted. Beside node and the
browser runs the kuiper of this Python, on one thread: its build should be for AVX2 (KUIPER_ARCH=x86-64-v3). All take
turns, and the best of each counts, so that a busy machine disturbs all alike.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from compiled import compiled_wheels
from toolchain import Toolchain, ToolError, node
from try_wheel import command_of, environment_of, pure_wheels

from build import LEVELS, MAX_MEGABYTES, ROOM, ROOT

HERE = Path(__file__).resolve().parent
PACE = HERE / "pace.py"
BROWSER_PACE = ROOT / "live/tests/browser/pace.mjs"
ROUNDS = 2
SIMD, RELAXED = LEVELS
NATIVE = "native"

Figures = dict[str, dict[str, float]]
"""By place ("native", "node, LEVEL", "browser, LEVEL") and name."""


class Goal(NamedTuple):
    """A figure, and what it is to be: at most the limit of its level, or at least."""

    words: str
    figure: str
    limits: dict[str, float]
    unit: str = " s"
    at_least: bool = False
    beside_native: bool = False


GOALS = (
    Goal("`import kuiper`, after NumPy", "import", {SIMD: 2, RELAXED: 2}),
    Goal("ResNet-20, times native", "resnet20", {SIMD: 4, RELAXED: 2.5}, "", beside_native=True),
    Goal("`shakespeare`, part of the native pace", "shakespeare", {SIMD: 0.4, RELAXED: 0.4}, "", True, True),
    Goal("clang stands ready", "loaded", {}),
    Goal("the first .pyx exercise, checked", "first", {SIMD: 10, RELAXED: 10}),
    Goal("the next text of it, checked", "next", {SIMD: 5, RELAXED: 5}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the wheel and the models are")
    parser.add_argument("site", type=Path, help="the site with the page")
    parser.add_argument("--browser", default=shutil.which("chromium"), help="default: chromium")
    arguments = parser.parse_args()
    try:
        tools = Toolchain(ROOM / "tools")
        wheels = [compiled_wheels(tools), pure_wheels(), arguments.folder]
    except (ToolError, OSError) as error:
        sys.exit(f"packaging/wasm: {error}")
    found: Figures = {}
    for turn in range(ROUNDS):
        (native,) = last_lines([sys.executable, str(PACE)])
        keep(found, NATIVE, native)
        for level in LEVELS:
            command = command_of(wheels, level, PACE)
            keep(found, f"node, {level}", last_lines(command, environment_of(tools))[0])
        places = {"node": "node"} | ({"browser": arguments.browser} if arguments.browser else {})
        for name, program in places.items():
            command = [*node(), str(BROWSER_PACE), str(arguments.site), program, str(PACE), *LEVELS]
            compiling, *paces = last_lines(command)
            keep(found, f"{name}, {RELAXED}", compiling)
            for pace in paces:
                keep(found, f"{name}, {pace['level']}", pace)
        print(f"round {turn + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    (wheel,) = arguments.folder.glob("kuiper-*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB (goal {MAX_MEGABYTES})")
    best = found[NATIVE]
    words = f"ResNet-20 {best['resnet20']:.2f} ms, shakespeare {best['shakespeare']:.0f} tokens/s"
    print(f"native: {native['level']}, {words}\n")
    print(table(found))


def last_lines(command: list[str], environment: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """The lines of JSON that a command prints."""
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"packaging/wasm: expected status 0 of {' '.join(command[:3])}, got {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def keep(found: Figures, place: str, figures: dict[str, Any]) -> None:
    """Note what is better than before."""
    best = found.setdefault(place, {})
    for goal in GOALS:
        if goal.figure in figures:
            value = figures[goal.figure]
            best[goal.figure] = (max if goal.at_least else min)(value, best.get(goal.figure, value))


def table(found: Figures) -> str:
    """Goals and figures, in Markdown.

    >>> print(table({"native": {"resnet20": 1.0}, "node, wasm32-simd128": {"resnet20": 4.6, "import": 1.5}}))
    | | node, wasm32-simd128 |
    |---|---|
    | `import kuiper`, after NumPy | 1.5 s (goal 2) |
    | ResNet-20, times native | 4.6 (goal 4, missed) |
    """
    places = [place for place in found if place != NATIVE]
    lines = [f"| | {' | '.join(places)} |", "|---" * (len(places) + 1) + "|"]
    for goal in GOALS:
        cells = [cell(goal, found[place], found[NATIVE], place.rpartition(" ")[2]) for place in places]
        if any(cells):
            lines.append(f"| {goal.words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(goal: Goal, figures: dict[str, float], native: dict[str, float], level: str) -> str:
    """A figure, its goal, and whether it misses it; nothing where there is no figure."""
    value, limit = figures.get(goal.figure), goal.limits.get(level)
    if value is None:
        return ""
    if goal.beside_native:
        value /= native[goal.figure]
    text = f"{value:.{0 if value >= 10 else 1 if value >= 1 else 2}f}{goal.unit}"
    if limit is None:
        return text
    is_missed = value < limit if goal.at_least else value > limit
    return f"{text} (goal {limit:g}{', missed' if is_missed else ''})"


if __name__ == "__main__":
    main()
