"""Run each package on onnxruntime and on kuiper, and compare what they say: ``python -m tests.real [PACKAGE ...]``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from kuiper.cli.terminal import say
from kuiper.graph.report import Column, Report
from tests.real.answers import PACKAGES

MOST = 1e-3
"""max|kuiper - onnxruntime| / max|onnxruntime| that rounding explains in these networks.

The text detector ends in steep functions: without its optimisations onnxruntime is 7e-4 from itself."""


def asked(package: str, *options: str) -> dict[str, Any]:
    """What a package answers, in a process of its own."""
    command = [sys.executable, "-m", "tests.real.answers", package, *options]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    if done.returncode:
        return {"answer": f"failed: {done.stderr.strip().splitlines()[-1][:300]}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def verdict(package: str, theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """What is wrong, if anything is."""
    known = PACKAGES[package][1]
    if known is not None and theirs["answer"] != known:
        return f"onnxruntime: {theirs['answer']}"
    if ours["answer"] != theirs["answer"]:
        return f"expected {theirs['answer']}, got {ours['answer']}"
    return "agrees" if ours["difference"] <= MOST else f"differs by {ours['difference']:.1e}"


def main(packages: list[str]) -> int:
    """Print a table; 1 if a package says something else on kuiper."""
    rows, failed = [], 0
    for package in packages or list(PACKAGES):
        theirs, ours = asked(package), asked(package, "--kuiper")
        text = verdict(package, theirs, ours)
        failed += text != "agrees"
        ratio = ours["kuiper"] / ours["onnxruntime"] if ours.get("onnxruntime") else float("nan")
        answer = json.dumps(ours["answer"], ensure_ascii=False)
        rows.append((package, answer[:60], f"{ours.get('difference', 1):.1e}", f"{ratio:.2f}", text))
    columns = [Column("package"), Column("answer"), Column("difference", numeric=True)]
    columns += [Column("time / onnxruntime's", numeric=True), Column("verdict")]
    say(Report("networks from packages, on kuiper and on onnxruntime", columns, rows, ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
