"""The command line: draw mutants, try them, list the survivors.

python -m tests.mutants --count 300 --seed 0 --log mutants.log
python -m tests.mutants --file kuiper/engine/lowering/pooling.py --count 20
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import sys
from pathlib import Path, PurePath

from tests.mutants.belonging import read_calls
from tests.mutants.kernel_sites import kernel_sites
from tests.mutants.sites import ROOT, Mutant, python_sites
from tests.mutants.trial import copied_tree, recorded_calls, tried

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


def explanations() -> dict[tuple[str, str], str]:
    """Why a mutant is none: by file and changed line."""
    listed = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    return {(one["file"], one["after"]): one["why"] for one in listed}


def main() -> int:
    """Try them; the exit code is 1 if one survives without an explanation."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=30, help="how many mutants (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--file", help="only of this file")
    parser.add_argument("--line", type=int, help="only of this line of the file")
    parser.add_argument("--log", type=Path, help="append a line of JSON for each; those that stand there are left out")
    parser.add_argument(
        "--calls", type=Path, help="where to keep what each test calls, which takes minutes to find out"
    )
    parser.add_argument("--record", action="store_true", help="write docs/evidence/reliability.md from the log")
    parser.add_argument("--at-most", type=int, metavar="N", help="stop after so many that are not in the log")
    parser.add_argument("--again", type=Path, metavar="LOG", help="try the survivors of this log once more")
    options = parser.parse_args()
    chosen = drawn(options.count, options.seed)
    if options.file:
        sites = [site for site in sites_of(options.file) if options.line in (None, site.line)]
        chosen = random.Random(options.seed).sample(sites, min(options.count, len(sites)))
    if options.again:
        chosen = survivors_of(options.again)
    for path in (options.log, options.calls):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
    known, explained = logged(options.log), explanations()
    survived = killed = 0
    with copied_tree() as tree:
        if options.calls and options.calls.exists():
            calls = read_calls(json.loads(options.calls.read_text(encoding="utf-8")))
        else:
            calls = recorded_calls(tree)
            if options.calls:
                options.calls.write_bytes((tree / "calls.json").read_bytes())
        for mutant in chosen:
            before, after = mutant.changed((ROOT / mutant.file).read_text(encoding="utf-8"))
            key = f"{mutant.file}: {before} => {after}"
            if key in known:
                continue
            if options.at_most is not None and killed + survived == options.at_most:
                break
            outcome = tried(mutant, tree, calls)
            why = "" if outcome.killed else explained.get((mutant.file, after), "")
            killed, survived = killed + (outcome.killed or bool(why)), survived + (not outcome.killed and not why)
            entry = {
                "key": key, "file": mutant.file, "line": mutant.line, "kind": mutant.kind,
                "before": before, "after": after, "killed": outcome.killed, "by": outcome.by,
                "explained": why, "seconds": round(outcome.seconds, 1),
            }  # fmt: skip
            if options.log:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(entry) + "\n")
            state = "killed" if outcome.killed else "explained" if why else "SURVIVED"
            place = f"{mutant.file}:{mutant.line} {mutant.kind}"
            print(f"{state:9} {place}\n  - {before}\n  + {after}\n  {outcome.by or why}", flush=True)
    print(f"{killed} killed or explained, {survived} survived")
    if options.record:
        record(options.log, options.count, options.seed)
    return int(survived > 0)


def record(log: Path, count: int, seed: int) -> None:
    """Write the section of docs/evidence/reliability.md from a log."""
    from tests.reliability import write_record

    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
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
    command = f"python -m tests.mutants --count {count} --seed {seed}"
    write_record("mutants", "Mutants: does a test notice a change of the code?", command, figures, notes)


def logged(log: Path | None) -> set[str]:
    """The mutants that stand in a log."""
    if log is None or not log.exists():
        return set()
    return {json.loads(line)["key"] for line in log.read_text(encoding="utf-8").splitlines()}


def survivors_of(log: Path) -> list[Mutant]:
    """Those that survived there, as the files are now."""
    keys = {
        entry["key"] for entry in map(json.loads, log.read_text(encoding="utf-8").splitlines()) if not entry["killed"]
    }
    found = []
    for file in sorted({key.partition(": ")[0] for key in keys}):
        text = (ROOT / file).read_text(encoding="utf-8")
        for mutant in sites_of(file):
            before, after = mutant.changed(text)
            if f"{file}: {before} => {after}" in keys:
                found.append(mutant)
    return found


if __name__ == "__main__":
    sys.exit(main())
