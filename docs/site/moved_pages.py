"""Where a document once stood, a page that sends its readers to where it stands now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOVED = {
    "add-a-layer": "inside/add-a-layer",
    "bug-bank": "teach/bug-bank",
    "commands": "use/commands",
    "comparison": "learn/other-courses",
    "convert": "use/convert",
    "engine": "inside/engine",
    "explore": "use/explore",
    "expression": "reference/expression",
    "glossary": "learn/glossary",
    "install": "use/install",
    "kernel-style": "inside/kernel-style",
    "models": "use/models",
    "operator-coverage": "evidence/operator-coverage",
    "operators": "reference/operators",
    "passes": "reference/passes",
    "performance": "evidence/performance",
    "platforms": "use/install",
    "pnnx-format": "reference/pnnx-format",
    "reliability": "evidence/reliability",
    "run-a-class": "teach/run-a-class",
    "seeds": "learn/credits",
    "text": "use/text",
    "tiny-engine": "learn/tiny-engine",
    "tour": "inside/tour",
    "write-an-exercise": "teach/write-an-exercise",
}
"""Pages below docs by the names that they had once: links of others to these lead on."""

MARK = '<meta name="kuiper" content="moved">'
"""In each of these pages, and in no other."""


def write_pages(site: Path) -> None:
    """The pages, which keep the anchor that was asked for.

    Parameters
    ----------
    site : the folder of the built site
    """
    for old, new in MOVED.items():
        target = f"{new}.html"
        text = (
            f'<!doctype html><meta charset="utf-8">{MARK}<title>{old}</title>'
            f'<noscript><meta http-equiv="refresh" content="0; url={target}"></noscript>'
            f'<script>location.replace("{target}" + location.hash)</script><a href="{target}">{target}</a>\n'
        )
        (site / "docs" / f"{old}.html").write_text(text, encoding="utf-8")


def leads_on(page: Path) -> bool:
    """Whether a page of the site is one of these."""
    return MARK in page.read_text(encoding="utf-8")[:200]
