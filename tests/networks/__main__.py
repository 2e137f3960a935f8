"""The command line: many networks, one after the other.

python -m tests.networks --count 5000 --seed 0 --log networks.log
python -m tests.networks --one 17 --route onnx
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import torch

from kuiper.models.conversion import pnnx_converter
from tests.campaign import Campaign
from tests.networks.check import Verdict, tally, verdicts_of
from tests.networks.export import ROUTES, TURNS
from tests.networks.generate import network_of
from tests.networks.run import batches

EXPLAINED = Path(__file__).with_name("explained.json")
"""Why a network's answer may differ: by seed."""

OUTCOMES = {
    "agrees": "all agree",
    "fails": "kuiper computes something else",
    "explained": "the answer hangs on rounding or on an order that torch leaves open",
    "lacks": "kuiper lacks an operator, and says so",
    "quiet": "another shape without a word on sizes that pnnx was not told of",
    "pnnx": "pnnx writes a graph that computes something else",
    "torch.onnx": "torch.onnx writes a model that computes something else",
    "no graph": "PyTorch or pnnx writes no graph",
}
"""What may become of a network, in words for the record."""


CAMPAIGN = Campaign(
    "networks", "Random networks: engine, layers and torch", __doc__, module="tests.networks", has_log=True
)


def main() -> int:
    """Run them; the exit code is 1 if one fails."""
    parser = CAMPAIGN.parser
    parser.add_argument("--count", type=int, default=100, help="how many networks (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="the first one's seed; its route is the seed modulo eight")
    parser.add_argument("--one", type=int, metavar="SEED", help="print this network and what becomes of it")
    parser.add_argument("--route", choices=ROUTES, help="instead of all in turn")
    options = CAMPAIGN.begin()
    pnnx_converter.MAX_SECONDS = 60  # it takes one, if it ends
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    warnings.simplefilter("ignore")  # of tracers: that sizes become constants is known here
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    seeds = range(options.seed, options.seed + options.count)
    if options.one is not None:
        route = options.route or TURNS[options.one % len(TURNS)]
        print(network_of(options.one, route == "onnx").source())
        seeds = range(options.one, options.one + 1)
    done = CAMPAIGN.done("seed")
    failures = 0
    for route, together in batches([seed for seed in seeds if seed not in done], options.route):
        for verdict in verdicts_of(together, route):
            CAMPAIGN.add(asdict(verdict))
            failures += verdict.outcome.startswith("fails")
            if verdict.outcome not in ("agrees", "no graph"):
                text = f"\nseed {verdict.seed}, {route}: {verdict.outcome}\n{verdict.detail}\n{verdict.source}"
                print(text, flush=True)
    return CAMPAIGN.end(*figures_and_notes([Verdict(**entry) for entry in CAMPAIGN.entries()]), failures)


def figures_and_notes(verdicts: list[Verdict]) -> tuple[dict[str, object], list[str]]:
    """What docs/evidence/reliability.md says of these networks."""
    explained = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    told = [one for one in verdicts if one.outcome.startswith("fails") and str(one.seed) in explained]
    outcomes = tally(verdicts) + Counter(explained=len(told)) - Counter(fails=len(told))
    figures: dict[str, object] = {"networks": len(verdicts)}
    for outcome, words in OUTCOMES.items():
        figures[words] = outcomes[outcome]
    for route in ROUTES:
        some = [verdict for verdict in verdicts if verdict.route == route]
        figures[f"agree by {route}"] = f"{tally(some)['agrees']} of {len(some)}"
    notes = [
        "Each network has 3 to 12 operators drawn from a seed. Its graph is run without the engine, on the engine with "
        "two threads and with one: on the traced inputs, on other values, on other sizes, and on the first ones again.",
        "Floats may differ by 1e-5 of the largest number, or by ten times what rounding noise of 3e-7 on each value "
        "does to torch's own answer in float64; integers and shapes not at all. One and two threads give the same "
        "bits.",
        "A graph is pnnx's fault if the Python program that pnnx writes beside it computes the same wrong numbers, or "
        "if it declares other shapes than torch's; torch.onnx's, if onnxruntime computes them from the ONNX file.",
    ]
    notes += [f"Seed {one.seed}, {one.route}: {explained[str(one.seed)]}." for one in told]
    return figures, notes


if __name__ == "__main__":
    sys.exit(main())
