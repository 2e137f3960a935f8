"""Files that take minutes to make are kept between runs, beside a note of all that they depend on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def keep(note: Path, origin: Mapping[str, Any], write: Callable[[], None]) -> None:
    """Write the files in the folder of ``note``, unless the note says that they are there and have this origin.

    >>> import tempfile
    >>> from pathlib import Path
    >>> note = Path(tempfile.mkdtemp(), "files", "origin.json")
    >>> for seed in (1, 1, 2):
    ...     keep(note, {"seed": seed}, lambda: print("written"))
    written
    written
    """
    if note.exists() and json.loads(note.read_text(encoding="utf-8")) == origin:
        return
    note.parent.mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)  # anyone who is interrupted leaves files without a note
    write()
    note.write_text(json.dumps(origin, indent=1), encoding="utf-8")
