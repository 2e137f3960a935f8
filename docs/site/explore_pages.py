"""Write the pages of the bundled models at work into the site: what ``kuiper explore`` makes of each.

    python docs/site/explore_pages.py build/site

They lie in ``explore/`` there, and docs/use/explore.md lists them on the site (see ``conf.py``).
"""

from __future__ import annotations

import sys
from pathlib import Path

from kuiper.cli import main
from kuiper.models import bundled_photo

PLACE = "<!-- pages of the bundled models -->"
"""Where docs/use/explore.md is to have the links."""

PAGES = {
    "cifar_resnet20": (str(bundled_photo("cat")),),
    "digits_yolo": (str(bundled_photo("digits")),),
    "shapes_unet": (str(bundled_photo("shapes")),),
    "shakespeare": (),
    "tang": (),
}
"""The models, and what each is shown; a language model reads the sample of its card."""


def links() -> str:
    """What docs/use/explore.md has on the site: a link to each page, as seen from the folder of documents."""
    items = ", ".join(f'<a href="../../explore/{name}.html"><code>{name}</code></a>' for name in PAGES)
    return f"<p>The bundled models at work: {items}.</p>"


def write_pages(site: Path) -> int:
    """The exit code: 0 if there is a page for each model."""
    folder = site / "explore"
    folder.mkdir(parents=True, exist_ok=True)
    codes = [main(["explore", name, *words, "-o", str(folder / f"{name}.html")]) for name, words in PAGES.items()]
    return max(codes)


if __name__ == "__main__":
    sys.exit(write_pages(Path(sys.argv[1])))
