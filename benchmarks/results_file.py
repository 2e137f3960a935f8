"""The JSON files of results: written so that two of them can be compared line by line, and read with one error."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchmarks.errors import BenchmarkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def write_results(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file, an entry of a list on each line."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list) and value:
            inner = ",\n".join(f"  {json.dumps(entry)}" for entry in value)
            lines.append(f' "{key}": [\n{inner}\n ]')
        else:
            lines.append(f' "{key}": {json.dumps(value)}')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


@contextmanager
def results_in(path: Path, number: int, what: str) -> Iterator[dict[str, Any]]:
    """The content of a file of format ``number``, without that; what is wrong with it on the way is one error.

    Raises
    ------
    BenchmarkError
        If the file, or what is made of it, is not ``what``.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content.pop("format")
        if found != number:
            raise BenchmarkError(str(path), f"results of format {number}", found, hint="measure again")
        yield content
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, BenchmarkError):
            raise
        raise BenchmarkError(str(path), what, f"{type(error).__name__}: {error}") from error
