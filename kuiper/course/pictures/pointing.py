"""A picture that one can point at: each of its places says what it holds.

An <img> shows no <title> of the SVG in it, so a layer that cannot be seen lies over it and has the titles. A browser
shows them beside the pointer; where scripts run, the line below the picture says the same at once, and on a telephone,
where nothing hovers, after a tap. Viewers that show images and nothing else show the picture alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from kuiper.course.picture_words import words
from kuiper.course.pictures.picture import MARGIN, Picture

if TYPE_CHECKING:
    from collections.abc import Callable

_RULE = ".kp-over rect{fill:transparent}.kp-over rect:hover{stroke:#d55e00;stroke-width:2}"

_SCRIPT = """
document.querySelectorAll('.kp-points:not([data-ready])').forEach(root => {
  root.dataset.ready = '1';
  const said = root.querySelector('.kp-said');
  said.textContent = said.dataset.first;
  root.addEventListener('pointerover', event => {
    const title = event.target.querySelector(':scope > title');
    if (title) said.textContent = title.textContent;
  });
});
"""


class Place(NamedTuple):
    """A rectangle of a picture, in the picture's own pixels, and the words that are shown for it."""

    x: float
    y: float
    width: float
    height: float
    words: str


@dataclass(frozen=True, repr=False)
class Pointable(Picture):
    """A picture with places that say something.

    Parameters
    ----------
    places : the rectangles and their words
    first : what the line below the picture says until somebody points at a place

    >>> picture = Pointable(40, 20, "", "two halves", (Place(0, 0, 20, 20, "left"), Place(20, 0, 20, 20, "right")))
    >>> picture.html().count("<title>")
    2
    """

    places: tuple[Place, ...] = ()
    first: str = words("Point at a place of the picture, or tap it.")

    def said(self, say: Callable[[str], str]) -> Pointable:
        """The same picture with each of its texts as ``say`` puts it."""
        places = tuple(place._replace(words=say(place.words)) for place in self.places)
        return replace(super().said(say), places=places, first=say(self.first))

    def html(self) -> str:
        """The picture, the layer with the titles over it, the line that says them, and the caption."""
        width, height = self.width + 2 * MARGIN, self.height + 2 * MARGIN
        over = "".join(
            f'<rect x="{place.x:g}" y="{place.y:g}" width="{place.width:g}" height="{place.height:g}">'
            f"<title>{escape(place.words)}</title></rect>"
            for place in self.places
        )
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            '<figure class="kp-points" style="margin:0">'
            f'<div style="position:relative;width:{width:.0f}px;line-height:0">{self.image()}'
            f'<svg class="kp-over" aria-hidden="true" viewBox="{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}" '
            'style="position:absolute;left:0;top:0;width:100%;height:100%">'
            f"<style>{_RULE}</style>{over}</svg></div>"
            f'<p class="kp-said" data-first="{escape(self.first)}" style="margin:4px 0;min-height:1.5em"></p>{caption}'
            f"</figure><script>{_SCRIPT}</script>"
        )
