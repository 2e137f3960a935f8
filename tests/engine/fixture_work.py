"""What each exported operator costs: the operations that layers and steps count, and what the engine leaves to Python.

    python -m tests.engine.fixture_work

writes fixture_work.json, to be looked through as a diff where a change of the code means to change it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.plan import Plan

FOLDER = Path(__file__).parents[1] / "fixtures" / "operators"
STORED = Path(__file__).with_name("fixture_work.json")
NAMES = sorted(path.name.removesuffix(".pnnx.param") for path in FOLDER.glob("*.pnnx.param"))


BY_VECTORS = ("Conv", "nn.LSTM", "nn.GRU", "nn.RNN", "nn.MultiheadAttention")
"""Parts of the names of types of which a step pads to whole vectors: how much it counts, depends on the build."""

BY_GROUPS = ("nn.ConvTranspose2d", "kuiper.FusedConvTranspose2d")
"""Types that have steps where a group's channels fill whole vectors, else not: left to Python, depends on the build."""


class Work(NamedTuple):
    """By operator what its layer counts, and what the steps of a plan count; the types that are left to Python."""

    layers: dict[str, int | None]
    steps: dict[str, int]
    in_python: list[str]


def work_of(name: str) -> Work:
    """What an exported case costs for its stored inputs; the layers count for the sizes that the file declares."""
    model = kuiper.load(FOLDER / f"{name}.pnnx.param")
    rows = model.summary().rows
    stored = np.load(FOLDER / f"{name}.npz")
    assert isinstance(model._execution.executor, Engine)
    plan = model._execution.executor.plan_for([stored[key] for key in stored if key.startswith("input_")])
    steps, in_python = _work_of_plan(plan) if isinstance(plan, Plan) else ({}, ["all of it"])
    padded = {row.name for row in rows if any(part in row.type for part in BY_VECTORS)}
    counted = {op: flops for op, flops in steps.items() if op not in padded}
    return Work({row.name: row.flops for row in rows}, counted, in_python)


def _work_of_plan(plan: Plan) -> tuple[dict[str, int], list[str]]:
    """The operations of compiled steps by operator, and the types of the operators that are left to their layers."""
    steps: dict[str, int] = {}
    in_python = []
    for stretch in plan.stretches:
        if hasattr(stretch, "steps"):
            for step in stretch.steps:
                steps[step.op.name] = steps.get(step.op.name, 0) + step.flops
        elif stretch.op.type not in BY_GROUPS:
            in_python.append(stretch.op.type)
    return steps, sorted(in_python)


def entry_of(work: Work) -> list[object]:
    """What is stored: what layers count, if anything; where steps count otherwise; and the types left to Python."""
    counted = {name: flops for name, flops in work.layers.items() if flops != 0}
    otherwise = {name: flops for name, flops in work.steps.items() if flops != (work.layers.get(name) or 0)}
    return [counted, otherwise, " ".join(work.in_python)]


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(entry_of(work_of(name)))}" for name in NAMES]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
