"""``docs/evidence/reliability.md``, written from what was run: ``python -m tests.reliability``.

Each JSON file in ``docs/evidence/reliability/`` is the record of one kind of run and becomes one section, in the order
of the file names:

    {"title": "...", "command": "...", "date": "2026-01-31", "machine": "...",
     "figures": {"name": value, ...}, "notes": ["...", ...]}
"""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from kuiper.machine.name import cpu_model, cpu_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence" / "reliability.md"
RECORDS = ROOT / "docs" / "evidence" / "reliability"

_TOP = """# Reliability

What was run to bring kuiper down, and what came of it. This page is written by `python -m tests.reliability` from the
records in `docs/evidence/reliability/`, one for each kind of run. What is promised about hostile files is in
[SECURITY.md](../../SECURITY.md).
"""

_KEYS = {"title": str, "command": str, "date": str, "machine": str, "figures": dict, "notes": list}


def write_record(name: str, title: str, command: str, figures: dict[str, Any], notes: list[str]) -> Path:
    """Write the record of a run of today on this machine, and the page with it."""
    record = {
        "title": title,
        "command": command,
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "figures": figures,
        "notes": notes,
    }
    path = RECORDS / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    return path


def machine() -> str:
    """This machine in a few words."""
    cpu = f"{cpu_name()} ({cpu_model()})" if cpu_model() else cpu_name()
    return (
        f"{cpu}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    )


def page() -> str:
    """The text of the page."""
    return "\n".join([_TOP, *(section(path) for path in sorted(RECORDS.glob("*.json")))])


def section(path: Path) -> str:
    """The record in a file as a section of the page.

    Raises
    ------
    ValueError
        If the record lacks a key, has one too many or one of another type.
    """
    record = json.loads(path.read_text(encoding="utf-8"))
    if record.keys() != _KEYS.keys() or not all(isinstance(record[key], kind) for key, kind in _KEYS.items()):
        raise ValueError(f"{path}: expected {', '.join(_KEYS)}, got {', '.join(record)}")
    lines = [f"## {record['title']}", "", f"`{record['command']}`, {record['date']}, on {record['machine']}.", ""]
    lines += ["| | |", "|---|---:|", *(f"| {name} | {_cell(value)} |" for name, value in record["figures"].items()), ""]
    for note in record["notes"]:
        lines += [f"- {note}"]
    return "\n".join([*lines, *([""] if record["notes"] else [])])


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
