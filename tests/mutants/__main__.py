"""The command line: draw mutants, try them, list the survivors.

python -m tests.mutants --count 300 --seed 0 --log mutants.log
python -m tests.mutants --file kuiper/engine/lowering/pooling.py --count 20
"""

from __future__ import annotations

import functools
import json
import random
import sys
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from tests.campaign import Campaign
from tests.mutants.belonging import read_calls
from tests.mutants.kernel_sites import kernel_sites
from tests.mutants.sites import ROOT, Mutant, python_sites
from tests.mutants.trial import copied_tree, recorded_calls, tried

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tests.mutants.belonging import Noted

SHARES = {
    "kuiper/engine/lowering/*.py": 0.24,
    "kuiper/engine/*.py": 0.14,
    "kuiper/graph/passes/*.py": 0.12,
    "kuiper/layers/operators/*.py": 0.19,
    "kuiper/layers/fused/*.py": 0.01,
    "kuiper/layers/*.py": 0.1,
    "kuiper/expression/*.py": 0.07,
    "kuiper/*/kernels/*.pyx": 0.13,
}
"""Where mutants are made, and which part of them."""

EXPLAINED = Path(__file__).with_name("explained.json")


@functools.cache
def sites_of(pattern: str) -> list[Mutant]:
    """All that can be changed in the files of a pattern."""
    found = []
    for path in sorted(ROOT.glob(pattern)):
        make = kernel_sites if path.suffix == ".pyx" else python_sites
        found += make(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    return found


def drawn(count: int, seed: int) -> list[Mutant]:
    """So many mutants, each room its share, in an order of chance."""
    choice, chosen = random.Random(seed), []
    for pattern, share in SHARES.items():
        sites = sites_of(pattern)
        chosen += choice.sample(sites, min(len(sites), round(share * count)))
    choice.shuffle(chosen)
    return chosen


@functools.cache
def explanations() -> dict[tuple[str, str], str]:
    """Why a mutant is none: by file and changed line."""
    listed = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    return {(one["file"], one["after"]): one["why"] for one in listed}


CAMPAIGN = Campaign(
    "mutants", "Mutants: does a test notice a change of the code?", __doc__, module="tests.mutants", has_log=True
)


def main() -> int:
    """Try them; the exit code is 1 if one survives without an explanation."""
    parser = CAMPAIGN.parser
    parser.add_argument("--count", type=int, default=30, help="how many mutants (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--file", help="only of this file")
    parser.add_argument("--line", type=int, help="only of this line of the file")
    parser.add_argument("--calls", type=Path, help="file to keep what each test calls, which takes minutes to find out")
    parser.add_argument("--at-most", type=int, metavar="N", help="stop after N mutants that are not in the log")
    parser.add_argument("--again", type=Path, metavar="LOG", help="try the survivors of this log once more")
    options = CAMPAIGN.begin()
    survived = 0
    with copied_tree() as tree:
        calls = calls_of_tests(tree, options.calls)
        for mutant in islice(untried(chosen_mutants(options)), options.at_most):
            entry = trial_of(mutant, tree, calls)
            survived += not entry["killed"] and not entry["explained"]
            CAMPAIGN.add(entry)
    return CAMPAIGN.end(*figures_and_notes(CAMPAIGN.entries()), survived)


def chosen_mutants(options: argparse.Namespace) -> list[Mutant]:
    """The mutants that the options ask for."""
    if options.again:
        return survivors_of(options.again)
    if options.file:
        sites = [site for site in sites_of(options.file) if options.line in (None, site.line)]
        return random.Random(options.seed).sample(sites, min(options.count, len(sites)))
    return drawn(options.count, options.seed)


def calls_of_tests(tree: Path, path: Path | None) -> dict[str, Noted]:
    """What each test calls: read from the file if it is there, else recorded, and kept in it."""
    if path and path.exists():
        return read_calls(json.loads(path.read_text(encoding="utf-8")))
    calls = recorded_calls(tree)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((tree / "calls.json").read_bytes())
    return calls


def key_of(mutant: Mutant) -> str:
    """What names a mutant in a log."""
    before, after = mutant.changed((ROOT / mutant.file).read_text(encoding="utf-8"))
    return f"{mutant.file}: {before} => {after}"


def untried(mutants: list[Mutant]) -> Iterator[Mutant]:
    """Those that do not stand in the log."""
    done = CAMPAIGN.done("key")
    return (mutant for mutant in mutants if key_of(mutant) not in done)


def trial_of(mutant: Mutant, tree: Path, calls: dict[str, Noted]) -> dict[str, object]:
    """Try a mutant, and print what became of it; its line in the log."""
    before, after = mutant.changed((ROOT / mutant.file).read_text(encoding="utf-8"))
    outcome = tried(mutant, tree, calls)
    why = "" if outcome.killed else explanations().get((mutant.file, after), "")
    state = "killed" if outcome.killed else "explained" if why else "SURVIVED"
    place = f"{mutant.file}:{mutant.line} {mutant.kind}"
    print(f"{state:9} {place}\n  - {before}\n  + {after}\n  {outcome.by or why}", flush=True)
    return {
        "key": key_of(mutant), "file": mutant.file, "line": mutant.line, "kind": mutant.kind, "before": before,
        "after": after, "killed": outcome.killed, "by": outcome.by, "explained": why,
        "seconds": round(outcome.seconds, 1),
    }  # fmt: skip


def figures_and_notes(entries: list[dict[str, Any]]) -> tuple[dict[str, object], list[str]]:
    """What docs/evidence/reliability.md says of these mutants."""
    killed = sum(entry["killed"] for entry in entries)
    explained = sum(bool(entry["explained"]) for entry in entries if not entry["killed"])
    figures: dict[str, object] = {
        "mutants": len(entries),
        "noticed by a test": killed,
        "survived, and explained": explained,
        "survived": len(entries) - killed - explained,
    }
    for pattern in SHARES:
        room = [entry for entry in entries if PurePath(entry["file"]).match(pattern)]
        figures[f"noticed of those in {pattern}"] = f"{sum(entry['killed'] for entry in room)} of {len(room)}"
    notes = [
        "A mutant is kuiper with one thing changed: a constant by one, a comparison, a sign, and and or, True and "
        "False, two arguments of a kind, a statement left out, a condition turned round. The tests that call the "
        "changed function are run on it, up to a minute of them.",
        "Those that compute the same are explained in tests/mutants/explained.json.",
    ]
    return figures, notes


def survivors_of(log: Path) -> list[Mutant]:
    """Those that survived there, as the files are now."""
    entries = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    keys = {entry["key"] for entry in entries if not entry["killed"]}
    files = sorted({key.partition(": ")[0] for key in keys})
    return [mutant for file in files for mutant in sites_of(file) if key_of(mutant) in keys]


if __name__ == "__main__":
    sys.exit(main())
