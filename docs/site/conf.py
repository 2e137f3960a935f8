"""The site: README, lectures and documents as pages, with the reference made from the docstrings.

    make site        writes build/site/index.html

Pages stand where they are in the repository, so that a link in a file works on GitHub and on the site alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import kuiper

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]

project = "kuiper"
author = "the kuiper authors"
release = kuiper.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_copybutton"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/*.md",
    "docs/site/*.md",
    "notebooks/*",
    "course*/README.md",
    "kuiper/models/zoo/README.md",
]
html_theme = "furo"
html_title = "kuiper"
html_theme_options = {"source_edit_link": "", "navigation_with_keys": True}
html_copy_source = False

nb_execution_mode = "off"  # the outputs that are stored are the ones that CI has checked
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
# Links to folders and to source files lead into the repository, where there is no page to lead to.
suppress_warnings = ["myst.xref_missing", "myst.header", "misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False

CHAPTERS = {
    "Lectures": ["notebooks/*"],
    "Exercises": ["course*/README"],
    "The engine": [
        "docs/models",
        "docs/convert",
        "docs/operators",
        "docs/operator-coverage",
        "docs/pnnx-format",
        "docs/expression",
        "docs/passes",
        "docs/engine",
        "docs/kernel-style",
        "docs/performance",
        "kuiper/models/zoo/README",
        "docs/site/reference",
    ],
    "For authors and teachers": [
        "docs/add-a-layer",
        "docs/write-an-exercise",
        "docs/run-a-class",
        "docs/bug-bank",
        "CONTRIBUTING",
        "CHANGELOG",
    ],
}


def add_chapters(app: Sphinx, page: str, source: list[str]) -> None:
    """The README is the first page; only the site wants a table of contents behind it."""
    if page == root_doc:
        for title, pages in CHAPTERS.items():
            entries = "\n".join(pages)
            source[0] += f"\n\n```{{toctree}}\n:caption: {title}\n:hidden:\n:glob:\n\n{entries}\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_chapters)
