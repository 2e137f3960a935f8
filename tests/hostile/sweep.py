"""All hostile cases, or every N-th of them; ends with 1 if one is answered wrongly."""

from __future__ import annotations

import argparse
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kuiper.graph import pnnx
from tests.campaign import Campaign
from tests.fixtures.operator_files import case_names, graph_file, inputs_of
from tests.graph.pass_graphs import file_graph
from tests.hostile.guarded import complaints, work
from tests.hostile.models import HOSTILE_MODELS
from tests.hostile.mutants import Mutant, mutants
from tests.hostile.outcomes import complaint

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np


class Case(NamedTuple):
    """A graph, its inputs, and what is changed about it."""

    label: str
    graph: pnnx.Graph
    inputs: list[np.ndarray]
    mutant: Mutant


def mutated_fixtures() -> Iterator[Case]:
    """Every mutant of every exported operator."""
    for name in case_names():
        graph = pnnx.load(graph_file(name))
        given = inputs_of(name)
        for mutant in mutants(graph):
            yield Case(f"{name}: {mutant.label}", graph, given, mutant)


def written_models() -> Iterator[Case]:
    """The models that were written by hand."""
    for label, (lines, inputs) in HOSTILE_MODELS.items():
        yield Case(label, file_graph(*lines), inputs, Mutant("", None, {}))


def check(case: Case) -> str:
    """What is wrong with the outcome of a case; "" if nothing is."""
    with case.mutant.alive():
        return complaint(case.graph, case.inputs)


CAMPAIGN = Campaign(
    "hostile", "Hostile models: every operator with one thing changed", __doc__, module="tests.hostile.sweep"
)

NOTES = [
    "Each case is the graph of an exported operator with one thing changed: a number among its parameters is 0, "
    "-1, 2^31, 2^40, 2^62, 2^63 or a word, a list of numbers is empty, a weight or a declared operand has another "
    "shape.",
    "It must end in a result or in one KuiperError that names the operator, on the engine as on the layers, within "
    "8 GiB, and without a minute of silence.",
]


def main() -> int:
    """Go through the cases in another process; as that process, with ``--worker``, in this one."""
    parser = CAMPAIGN.parser
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th case only")
    parser.add_argument("--written", action="store_true", help="the models that were written by hand")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--from", dest="first", type=int, default=0, help=argparse.SUPPRESS)
    chosen = CAMPAIGN.begin()
    if chosen.worker:
        cases = written_models() if chosen.written else mutated_fixtures()
        work(islice(cases, 0, None, chosen.every), chosen.first, check)
        return 0
    count, wrong = complaints(["--every", str(chosen.every), *(["--written"] if chosen.written else [])])
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return CAMPAIGN.end({"cases": count, "answered wrongly": len(wrong)}, NOTES, len(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
