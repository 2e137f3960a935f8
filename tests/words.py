"""How many words the documents have, page by page: those that people write, and those that programs write.

    python -m tests.words

What counts is a word that a reader sees: no target of a link, no comment, no rule of a table. A part that a program
writes stands between two equal comments, or fills the page.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = (
    "docs/evidence/performance.md",
    "docs/evidence/reliability.md",
    "docs/reference/onnx.md",
    "docs/reference/operators.md",
    "docs/use/commands.md",
)
"""Pages that programs write, from the first line to the last."""


def pages() -> list[str]:
    """The Markdown pages of the repository, by their names."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def count(text: str) -> int:
    """The words of a text.

    >>> count("| [one two](docs/three.md) | `four` |\\n|---|---|\\n<!-- five -->")
    3
    """
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    return sum(1 for word in text.split() if re.search(r"\w", word))


def by_hand(text: str) -> str:
    """A page without the parts between two equal comments, which a program writes.

    >>> by_hand("a <!-- x -->b<!-- x --> c <!-- y --> d")
    'a  c <!-- y --> d'
    """
    return re.sub(r"(<!-- [^>]*? -->).*?\1", "", text, flags=re.DOTALL)


def words(name: str) -> tuple[int, int]:
    """The words of a page that people wrote, and those that a program wrote."""
    text = (ROOT / name).read_text(encoding="utf-8")
    both = count(text)
    hand = 0 if name in GENERATED else count(by_hand(text))
    return hand, both - hand


def main() -> None:
    """Print a line for each page, and the sums."""
    found = {name: words(name) for name in pages()}
    for name, (hand, generated) in sorted(found.items(), key=lambda item: -sum(item[1])):
        print(f"{hand:7,} {generated:7,}  {name}")
    hand, generated = (sum(numbers) for numbers in zip(*found.values(), strict=True))
    print(f"{hand:7,} {generated:7,}  by hand, by program")


if __name__ == "__main__":
    main()
