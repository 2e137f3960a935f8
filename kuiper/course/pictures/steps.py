"""One picture after the other, with buttons, where a page may hold buttons; else all of them in a row."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.pictures.picture import Picture

_numbers = itertools.count()


@dataclass(frozen=True, repr=False)
class Steps:
    """Pictures with their captions; a notebook shows the first one and a button for each."""

    pictures: tuple[Picture, ...]
    captions: tuple[str, ...]

    def html(self, name: str) -> str:
        """Radio buttons and a rule for each: no script, so that pages which forbid scripts have it too.

        Where a page takes the rules away as well, all pictures stand one below the other with their captions.
        """
        count = len(self.pictures)
        shown = "".join(
            f"#{name}-{i}:checked~.kp-frames>:nth-child({i + 1}){{display:block}}"
            f"#{name}-{i}:checked~.kp-tabs>:nth-child({i + 1}){{background:#0072b2;color:#fff}}"
            for i in range(count)
        )
        buttons = "".join(
            f'<input type="radio" name="{name}" id="{name}-{i}"{" checked" if i == 0 else ""}>' for i in range(count)
        )
        tabs = "".join(f'<label for="{name}-{i}">{i + 1}</label>' for i in range(count))
        frames = "".join(
            f"<div>{picture.svg()}<p>{i + 1}. {escape(caption)}</p></div>"
            for i, (picture, caption) in enumerate(zip(self.pictures, self.captions, strict=True))
        )
        rules = (
            f"#{name}>input{{position:absolute;opacity:0}}#{name}>.kp-frames>*{{display:none}}"
            f"#{name}>.kp-tabs>label{{display:inline-block;padding:1px 9px;margin:2px;border:1px solid #8a8a8a;"
            f"border-radius:4px;cursor:pointer}}"
            f"#{name}>input:focus-visible~.kp-tabs{{outline:2px solid #0072b2}}{shown}"
        )
        return (
            f'<style>{rules}</style><div id="{name}">{buttons}<div class="kp-tabs">{tabs}</div>'
            f'<div class="kp-frames">{frames}</div></div>'
        )

    def __repr__(self) -> str:
        return f"<{len(self.pictures)} pictures>"

    def _repr_html_(self) -> str:
        return self.html(f"kp-steps-{next(_numbers)}")


def steps(pictures: Sequence[Picture], captions: Sequence[str]) -> Steps:
    """The pictures one after the other.

    >>> from kuiper.course.pictures.grid import grid
    >>> steps([grid([1]), grid([2])], ["first", "second"]).html("s").count("<svg")
    2

    Raises
    ------
    CourseError
        If there is not one caption for each picture.
    """
    if not pictures or len(pictures) != len(captions):
        raise CourseError("steps", f"as many captions as pictures ({len(pictures)}), at least 1", f"{len(captions)}")
    return Steps(tuple(pictures), tuple(captions))
