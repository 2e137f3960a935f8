"""Fuzz every reader in turn: ``python -m tests.fuzz --seconds 600`` (``make fuzz SECONDS=600``).

Each target of ``targets.py`` runs under atheris in a process of its own, which begins with the corpus in ``corpus/``.
An input at which a target falls is put there under the name ``found-...``; from then on the test suite replays it, and
is red until the reader is mended.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.campaign import Campaign
from tests.fuzz.inputs import CORPUS, ROOT, dictionary, target_names
from tests.reliability import RECORDS

_LIMITS = ["-max_len=1024", "-timeout=20", "-rss_limit_mb=2560", "-print_final_stats=1", "-verbosity=0"]
"""Short inputs are tried more often; what takes 20 seconds or 2.5 GiB is a fall."""

_NOTES = [
    "An execution is one input given to one reader. Only a KuiperError may come out, in bounded time and 2.5 GiB; "
    "expressions must have the same value for both evaluators, and what can be written must be read back as it was.",
    "atheris sees which lines of Python an input reaches; of compiled modules and of Pillow's decoders it sees none.",
]


CAMPAIGN = Campaign("fuzz", "Coverage-guided fuzzing of all readers", __doc__, module="tests.fuzz")


def main() -> int:
    """Search for as long as was asked for; 1 if a reader fell."""
    parser = CAMPAIGN.parser
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {' '.join(target_names())} (default: all)")
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together (default: %(default)s)")
    arguments = CAMPAIGN.begin()
    if importlib.util.find_spec("atheris") is None:
        print("fuzzing needs atheris, which is not installed: pip has it for CPython on Linux", file=sys.stderr)
        return 1
    targets = arguments.targets or target_names()
    counts, fallen = {}, 0
    for target in targets:
        seconds = max(1, arguments.seconds // len(targets))
        counts[target], found = search(target, seconds)
        print(f"{target}: {counts[target]:,} executions in {seconds} s", *found, sep="\n  fell at ", flush=True)
        fallen += len(found)
    return CAMPAIGN.end(figures_of(counts, fallen), _NOTES, fallen)


def figures_of(counts: dict[str, int], fallen: int) -> dict[str, object]:
    """The executions of a run, added to those of the runs that the record has."""
    path = RECORDS / "fuzz.json"
    before = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.exists() else {}
    targets = {name: before.get(f"executions of {name}", 0) + counts.get(name, 0) for name in target_names()}
    return {
        "executions, all runs together": sum(targets.values()),
        "inputs at which a reader fell in the last run": fallen,
        **{f"executions of {name}": count for name, count in targets.items()},
    }


def search(target: str, seconds: int) -> tuple[int, list[Path]]:
    """Let atheris search for so long; how many inputs it tried, and the one at which the target fell, if it did."""
    with tempfile.TemporaryDirectory() as folder:
        grown, falls, words = Path(folder, "grown"), Path(folder, "falls"), Path(folder, "words")
        grown.mkdir()
        falls.mkdir()
        words.write_text(dictionary(target), encoding="utf-8")
        command = [sys.executable, "-m", "tests.fuzz.search", target, *_LIMITS, f"-max_total_time={seconds}"]
        command += [f"-dict={words}"] if dictionary(target) else []
        command += [f"-artifact_prefix={falls}/", str(grown), str(CORPUS / target)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
        counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        artifacts = sorted(falls.iterdir())
        if counted is None or (done.returncode != 0 and not artifacts):
            raise RuntimeError(f"the search of {target} ended with {done.returncode}: {done.stderr[-3000:]}")
        if artifacts:
            print(done.stderr[-3000:], file=sys.stderr)
        return int(counted[1]), [kept(path, target) for path in artifacts]


def kept(artifact: Path, target: str) -> Path:
    """The input in the corpus, where the tests replay it."""
    place = CORPUS / target / f"found-{artifact.name.rpartition('-')[2][:12]}"
    shutil.copy(artifact, place)
    return place


if __name__ == "__main__":
    sys.exit(main())
