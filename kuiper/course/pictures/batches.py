"""Steps that several readers share: the rows of each step, and which readers join, leave, wait and are put back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import template, words
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, box, label, text_width
from kuiper.course.pictures.steps import Steps, steps

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MAX_READERS, MAX_STEPS, MAX_ROWS = 10, 20, 24
_CELL, _ROW = 20.0, 24.0
_LEGEND = words("A number says how many rows; strong: a token is drawn; · waits; ↩ is put back.")


@dataclass(frozen=True)
class BatchStep:
    """What happens in one step.

    Parameters
    ----------
    rows : for each reader in the step, how many tokens are read
    draws : readers whose text is read to its end, and who get a token
    waiting : readers that have come and have no row
    put_back : readers whose pages were taken away just before this step; they wait, too
    """

    rows: Mapping[str, int]
    draws: Collection[str] = field(default=())
    waiting: Collection[str] = field(default=())
    put_back: Collection[str] = field(default=())


def batch_steps(readers: Sequence[str], done: Sequence[BatchStep], *, budget: int, caption: str = "") -> Steps:
    """One picture for each step: its rows, one behind the other, and below them all steps so far, reader by reader.

    The captions name the readers that join, read, write, wait, are put back, and have left.

    Parameters
    ----------
    readers : their names, of few letters
    done : the steps
    budget : how many rows a step can have
    caption : what all pictures show; what the signs mean is added

    >>> done = [BatchStep({"a": 3}, draws="a", waiting="b"), BatchStep({"a": 1, "b": 2}, draws="ab")]
    >>> batch_steps("ab", done, budget=4).captions[1]
    'b joins with 2 rows. a writes.'

    Raises
    ------
    CourseError
        If there is too much to draw, or a step has more rows than it can, or an unknown reader.
    """
    sizes = len(readers), len(done), budget
    if not all(1 <= size <= most for size, most in zip(sizes, (MAX_READERS, MAX_STEPS, MAX_ROWS), strict=True)):
        expected = f"1 to {MAX_READERS} readers, {MAX_STEPS} steps and {MAX_ROWS} rows"
        raise CourseError("batch_steps", expected, "{}, {} and {}".format(*sizes))
    for step in done:
        named = {*step.rows, *step.draws, *step.waiting, *step.put_back}
        if sum(step.rows.values()) > budget or not named <= set(readers):
            raise CourseError("batch_steps", f"at most {budget} rows of {', '.join(readers)}", step)
    frames = [_frame(readers, done, number, budget) for number in range(len(done))]
    return steps(frames, [_words(done, number) for number in range(len(done))], f"{caption} {_LEGEND}".strip())


def _frame(readers: Sequence[str], done: Sequence[BatchStep], shown: int, budget: int) -> Picture:
    left = max(text_width(name) for name in readers) + 12
    names = [name for name, count in done[shown].rows.items() for _ in range(count)]
    title = words("step {step}: {rows} of {budget} rows", step=shown + 1, rows=len(names), budget=budget)
    parts = [label(0, 8, title, "kp-faint", "start")]
    for place in range(budget):
        name = names[place] if place < len(names) else ""
        is_last = bool(name) and name not in names[place + 1 :]
        fill = hue(readers.index(name)) if name else ""
        parts.append(box(_CELL * place, 18, _CELL, _ROW, fill, strong=is_last and name in done[shown].draws))
        parts.append(label(_CELL * (place + 0.5), 18 + _ROW / 2, name))
    top = 18 + _ROW + 22
    parts += [label(left + _CELL * (at + 0.5), top, at + 1, "kp-faint") for at in range(len(done))]
    for line, name in enumerate(readers):
        y = top + 12 + _ROW * line
        parts.append(label(left - 8, y + _ROW / 2, name, anchor="end", bold=True))
        for at in range(len(done)):
            x, fill, text, is_strong = left + _CELL * at, "", "", False
            if at <= shown:
                text, is_strong = _cell(done[at], name)
                fill = hue(line) if name in done[at].rows else ""
            parts.append(box(x, y, _CELL, _ROW, fill, is_strong))
            parts.append(label(x + _CELL / 2, y + _ROW / 2, text))
    width = max(_CELL * budget, left + _CELL * len(done), text_width("step 20: 24 of 24 rows"))
    return Picture(width, top + 12 + _ROW * len(readers), "".join(parts))


def _cell(step: BatchStep, name: str) -> tuple[str, bool]:
    """What stands in a reader's cell of a step, and whether it is strong."""
    if name in step.rows:
        return str(step.rows[name]), name in step.draws
    return ("↩" if name in step.put_back else "·" if name in step.waiting else ""), False


def _words(done: Sequence[BatchStep], number: int) -> str:
    """What happens in a step, in a few sentences."""
    step, before = done[number], done[number - 1] if number else BatchStep({})
    joins = [name for name in step.rows if name not in before.rows]
    reads = [name for name, count in step.rows.items() if name not in joins and (count > 1 or name not in step.draws)]
    writes = [name for name in step.rows if name not in joins and name not in reads]
    stays = {*step.rows, *step.waiting, *step.put_back}
    waits = [name for name in step.waiting if name not in step.put_back]
    left = [name for name in before.rows if name not in stays]
    found = [
        *(words("{reader} is put back.", reader=name) for name in step.put_back),
        *(words("{reader} joins with {rows}.", reader=name, rows=_rows(step.rows[name])) for name in joins),
        *(words("{reader} reads {rows}.", reader=name, rows=_rows(step.rows[name])) for name in reads),
        *_said(writes, template("{reader} writes."), template("{readers} and {last} write.")),
        *_said(waits, template("{reader} waits."), template("{readers} and {last} wait.")),
        *_said(left, template("{reader} has left."), template("{readers} and {last} have left.")),
    ]
    return " ".join(found) or words("Nothing to do.")


def _rows(count: int) -> str:
    return words("1 row") if count == 1 else words("{count} rows", count=count)


def _said(names: Sequence[str], one: str, several: str) -> list[str]:
    """What is said of one reader, or of several; nothing of none."""
    if len(names) < 2:
        return [words(one, reader=name) for name in names]
    return [words(several, readers=", ".join(names[:-1]), last=names[-1])]
