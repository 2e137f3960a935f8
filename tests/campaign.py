"""What the generators of cases share: options, a log from which an interrupted run goes on, figures and a record.

Random networks, mutants, hostile models, fuzzing and the soak differ in what they make and what they ask of it; each
is a ``Campaign``:

    campaign = Campaign("networks", "Random networks", __doc__, module="tests.networks", has_log=True)
    campaign.parser.add_argument("--count", type=int, default=100)
    options = campaign.begin()
    for seed in range(options.count):
        if seed not in campaign.done("seed"):
            campaign.add({"seed": seed, "outcome": tried(seed)})
    return campaign.end(figures_of(campaign.entries()), notes, failures)
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.reliability import write_record

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_RECORDED = ("--log", "--calls", "--at-most")
"""Options with a value that say where a run writes or stops, not what it finds."""


class Campaign:
    """One kind of run: ``name`` is that of its record in docs/evidence/reliability/, ``title`` the section's.

    ``environment`` names variables that belong to the command where they are set.
    """

    def __init__(
        self,
        name: str,
        title: str,
        description: str | None,
        *,
        module: str,
        has_log: bool = False,
        environment: Sequence[str] = (),
    ) -> None:
        self.name, self.title, self.module, self.environment = name, title, module, environment
        self.parser = argparse.ArgumentParser(
            prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        self.parser.add_argument("--record", action="store_true", help="write docs/evidence/reliability.md")
        if has_log:
            self.parser.add_argument(
                "--log", type=Path, help="append a line of JSON for each case; cases in it are left out"
            )
        self.log: Path | None = None
        self.recorded = False
        self._entries: list[dict[str, Any]] = []
        self._arguments: list[str] = []

    def begin(self, arguments: Sequence[str] | None = None) -> argparse.Namespace:
        """Read the options, ``sys.argv`` by default, and what the log holds."""
        self._arguments = list(sys.argv[1:] if arguments is None else arguments)
        options = self.parser.parse_args(self._arguments)
        self.log, self.recorded = getattr(options, "log", None), options.record
        if self.log:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            if self.log.exists():
                self._entries = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return options

    def entries(self) -> list[dict[str, Any]]:
        """The cases of this run, and those of earlier ones that stand in its log."""
        return list(self._entries)

    def done(self, key: str) -> set[Any]:
        """The values of this key in all entries."""
        return {entry[key] for entry in self._entries}

    def add(self, entry: dict[str, Any]) -> None:
        """Note what became of a case, in the log at once: a run may be interrupted at any moment."""
        self._entries.append(entry)
        if self.log:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(entry) + "\n")

    def end(self, figures: dict[str, Any], notes: list[str], failures: int) -> int:
        """Print the figures, write the record if it was asked for; the exit code: 1 if there are failures."""
        for name, value in figures.items():
            print(f"{name:72} {value:>12}")
        if self.recorded:
            write_record(self.name, self.title, self.command(), figures, notes)
        return int(failures > 0)

    def command(self) -> str:
        """The command that finds these figures."""
        words = [f"{name}={os.environ[name]}" for name in self.environment if name in os.environ]
        words += ["python", "-m", self.module]
        skipped = False
        for argument in self._arguments:
            name, _, value = argument.partition("=")
            if not skipped and name not in (*NOT_RECORDED, "--record"):
                words.append(shlex.quote(argument))
            skipped = not skipped and name in NOT_RECORDED and not value
        return " ".join(words)
