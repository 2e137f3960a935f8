"""The probabilities of the next token as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.pictures.attention import letters
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, box, label

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEIGHT, _STEP, _BAR = 180.0, 34.0, 26.0


def token_bars(tokens: Sequence[str], chances: Sequence[float], before: Sequence[float] = ()) -> Picture:
    """A bar for each token, as high as its probability; what it was before stands behind it as a line.

    A token that can no longer be drawn has a cross in place of a bar. The scale is the same in every picture.

    Parameters
    ----------
    tokens : pieces of text
    chances : the probability of each, 0 to 1
    before : the probability of each before something was changed

    >>> token_bars(["a", "b"], [1.0, 0.0]).svg().count("<rect")  # one bar and the ground
    2

    Raises
    ------
    CourseError
        If there is not one probability for each token.
    """
    if not tokens or len(tokens) != len(chances) or len(before) not in (0, len(tokens)):
        raise CourseError(
            "token_bars", f"a probability for each of {len(tokens)} tokens", f"{len(chances)}, {len(before)}"
        )
    top = 14.0
    parts = []
    for i, (token, chance) in enumerate(zip(tokens, chances, strict=True)):
        x, high = _STEP * i + (_STEP - _BAR) / 2, _HEIGHT * chance
        foot, middle = top + _HEIGHT, _STEP * (i + 0.5)
        if chance > 0:
            parts.append(box(x, foot - high, _BAR, high, hue(0), strong=True))
            parts.append(label(middle, foot - high - 9, _percent(chance), "kp-faint"))
        else:
            line = foot - _HEIGHT * (before[i] if len(before) else 0)
            parts.append(label(middle, line - 9, "×", "kp-faint"))  # noqa: RUF001 - a cross, not a letter
        if len(before):
            line = foot - _HEIGHT * before[i]
            parts.append(f'<path d="M{x - 3:.1f} {line:.1f}h{_BAR + 6:g}" style="stroke:{hue(1)};stroke-width:2.5"/>')
        parts.append(label(middle, foot + 14, letters(token), bold=True, quoted=True))
    width = _STEP * len(tokens)
    parts.append(f'<path class="kp-line" d="M0 {top + _HEIGHT:g}H{width:g}"/>')
    return Picture(width, top + _HEIGHT + 24, "".join(parts))


def _percent(chance: float) -> str:
    """A probability in two figures, as narrow as a bar."""
    return f"{100 * chance:.0f}%" if chance >= 0.01 else "<1%"
