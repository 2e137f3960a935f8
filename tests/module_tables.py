"""Tables that say what modules say of themselves: the passes in docs/reference/passes.md, packages in CONTRIBUTING.md.

python -m tests.module_tables       writes both
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import kuiper
from kuiper.explore.graph_page import TITLES
from kuiper.graph.passes import DEFAULT_PASSES

PACKAGE = Path(kuiper.__file__).parent
ROOT = PACKAGE.parent
PASSES = ROOT / "docs" / "reference" / "passes.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"


def table_of_passes() -> str:
    """A row for each pass, in the order in which they run, with the sentence that ``kuiper explore`` shows."""
    rows = [f"| `{function.__name__}` | {TITLES[function.__name__]} |" for function in DEFAULT_PASSES]
    return "\n".join(["| pass | |", "|---|---|", *rows])


def table_of_packages() -> str:
    """A row for each package, with the first sentence of its docstring."""
    rows = [f"| `{path.relative_to(ROOT)}/` | {first_sentence(path)} |" for path in packages()]
    return "\n".join(["| package | |", "|---|---|", *rows])


def packages() -> list[Path]:
    """The folders of kuiper that are packages, each in front of those in it."""
    return sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


def first_sentence(package: Path) -> str:
    """What a package says of itself first."""
    doc = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    return re.sub(r"\s+", " ", re.split(r"(?<=\.)\s", doc)[0]).replace("``", "`")


def written(text: str, name: str, table: str) -> str:
    """A page with a table between its two comments ``<!-- name -->``.

    >>> written("a <!-- x -->old<!-- x --> b", "x", "new")
    'a <!-- x -->\\n\\nnew\\n\\n<!-- x --> b'
    """
    mark = f"<!-- {name} -->"
    before, _, after = text.split(mark)
    return f"{before}{mark}\n\n{table}\n\n{mark}{after}"


def pages() -> dict[Path, str]:
    """What the pages have to be."""
    return {
        PASSES: written(PASSES.read_text(encoding="utf-8"), "passes", table_of_passes()),
        CONTRIBUTING: written(CONTRIBUTING.read_text(encoding="utf-8"), "packages", table_of_packages()),
    }


def main() -> None:
    """Write both pages."""
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
