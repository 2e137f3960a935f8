"""One picture after the other: with buttons where scripts run, otherwise all of them one below the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import for_reader, words
from kuiper.course.pictures.picture import Picture, column_of, row_of
from kuiper.page_language import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAGE, _GAP = 660.0, 26.0  # pixels: how wide the pictures may be where they stand side by side, and between them

# Until this has run, and wherever it never runs, all frames stand one below the other. All frames lie in one cell of a
# grid, so that a step changes no size. Inside of JupyterLab, keys would otherwise move from cell to cell.
_SCRIPT = """
document.querySelectorAll('.kp-steps:not([data-ready])').forEach(root => {
  root.dataset.ready = '1';
  const frames = [...root.querySelectorAll('.kp-frame')], last = frames.length - 1;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const bar = document.createElement('div'), count = document.createElement('span');
  let shown = 0, timer = 0;
  const button = (name, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = name;
    made.style.cssText = 'font:inherit;color:inherit;background:none;border:1px solid #8a8a8a;border-radius:4px;' +
      'padding:2px 9px;cursor:pointer';
    made.onclick = act;
    bar.append(made);
    return made;
  };
  const show = to => {
    shown = Math.min(Math.max(to, 0), last);
    frames.forEach((frame, i) => {
      frame.style.visibility = i === shown ? 'visible' : 'hidden';
      frame.setAttribute('aria-hidden', i !== shown);
    });
    count.textContent = `${shown + 1} / ${last + 1}`;
    previous.disabled = shown === 0;
    next.disabled = shown === last;
    [previous, next].forEach(each => { each.style.opacity = each.disabled ? 0.45 : 1; });
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    if (play) play.textContent = 'play';
  };
  const go = to => { stop(); show(to); };
  const toggle = () => {
    if (timer) return stop();
    if (shown === last) show(0);
    play.textContent = 'stop';
    timer = setInterval(() => {
      if (!root.isConnected) return stop();
      show(shown + 1);
      if (shown === last) stop();
    }, 1600);
  };
  const previous = button('previous', () => go(shown - 1));
  const next = button('next', () => go(shown + 1));
  const play = calm ? null : button('play', toggle);
  bar.append(count);
  bar.style.cssText = 'display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin:4px 0';
  count.setAttribute('aria-live', 'polite');
  root.querySelector('.kp-frames').style.display = 'grid';
  frames.forEach(frame => { frame.style.gridArea = '1 / 1'; frame.style.minWidth = '0'; });
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = 'true';
  root.setAttribute('aria-keyshortcuts', 'ArrowLeft ArrowRight Home End');
  root.onkeydown = event => {
    const to = {ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  };
  root.prepend(bar);
  show(0);
});
"""


BUTTONS = words("previous"), words("next"), words("play"), words("stop")


@dataclass(frozen=True, repr=False)
class Steps:
    """Pictures with a caption for each, and one for the whole; a notebook shows them one at a time.

    With the focus on it, the keys left, right, Home and End go through the pictures. "Play" is not offered to readers
    who have asked their system for less motion.
    """

    pictures: tuple[Picture, ...]
    captions: tuple[str, ...]
    caption: str = ""
    buttons: tuple[str, ...] = BUTTONS

    def said(self, say: Callable[[str], str]) -> Steps:
        """The same with each text as ``say`` puts it."""
        pictures = tuple(picture.said(say) for picture in self.pictures)
        buttons = tuple(map(say, self.buttons))
        return replace(
            self, pictures=pictures, captions=tuple(map(say, self.captions)), caption=say(self.caption), buttons=buttons
        )

    @property
    def alt(self) -> str:
        """The text for those who cannot see the pictures: the caption of the whole and those of all pictures."""
        return " ".join([self.caption, *(f"{i}. {words}" for i, words in enumerate(self.captions, start=1))]).strip()

    def html(self) -> str:
        """All pictures with their captions, and a script that shows one at a time."""
        frames = "".join(
            f'<div class="kp-frame">{picture.captioned(f"{i}. {caption}").html()}</div>'
            for i, (picture, caption) in enumerate(zip(self.pictures, self.captions, strict=True), start=1)
        )
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        label = f' aria-label="{escape(self.caption)}"' if self.caption else ""
        return (
            f'<figure class="kp-steps" role="group"{label} style="margin:0">'
            f'<div class="kp-frames">{frames}</div>{caption}</figure><script>{self._script()}</script>'
        )

    def _script(self) -> str:
        """The script with the names of the buttons."""
        script = _SCRIPT
        for english, name in zip(BUTTONS, self.buttons, strict=True):
            if name != english:
                script = script.replace(f"'{english}'", as_json(name))
        return script

    def still(self) -> Picture:
        """All pictures with their captions, in rows as wide as a page, for viewers that show only images."""
        frames = [
            picture.captioned(f"{i}. {caption}").still()
            for i, (picture, caption) in enumerate(zip(self.pictures, self.captions, strict=True), start=1)
        ]
        width = max(frame.width for frame in frames)
        count = max(1, int((_PAGE + _GAP) // (width + _GAP)))
        frames = [Picture(width, frame.height, frame.body) for frame in frames]
        rows = [row_of(*frames[i : i + count], gap=_GAP, top=True) for i in range(0, len(frames), count)]
        return column_of(*rows, gap=_GAP).captioned(self.caption).still().captioned(self.alt)

    def __repr__(self) -> str:
        return f"<{len(self.pictures)} pictures>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        say = for_reader()
        shown = self.said(say) if say else self
        return {"text/html": shown.html(), "image/svg+xml": shown.still().svg(), "text/plain": repr(self)}


def steps(pictures: Sequence[Picture], captions: Sequence[str], caption: str = "") -> Steps:
    """The pictures one after the other.

    Parameters
    ----------
    pictures : the frames; of one size, so that nothing moves but what is meant to
    captions : what happens in each
    caption : what all of them show

    >>> from kuiper.course.pictures.grid import grid
    >>> steps([grid([1]), grid([2])], ["first", "second"]).html().count("<img")
    2

    Raises
    ------
    CourseError
        If there is not one caption for each picture.
    """
    if not pictures or len(pictures) != len(captions):
        raise CourseError("steps", f"as many captions as pictures ({len(pictures)}), at least 1", f"{len(captions)}")
    return Steps(tuple(pictures), tuple(captions), caption)
