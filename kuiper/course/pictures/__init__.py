"""The pictures of the lectures: small drawings of what the code really holds; a notebook shows them by itself.

    from kuiper.course.pictures import grid, memory, row_of
    grid(x[0, 0])                          a plane of numbers that one can count
    row_of("x", grid(x), "*", grid(w))     several pictures in one line
    memory(x)                              how an array lies in memory
    steps(pictures, captions)              one picture after the other, with buttons
    grid(x).captioned("three rows")        any picture with a caption, which is its alternative text, too

Curves and bars are made by kuiper.course.pictures.chart, photos by kuiper.course.pictures.photo.

Every picture brings its own background, light or dark as the reader's system wants it, so that it can be read on any
page.
"""

from __future__ import annotations

from kuiper.course.pictures.bars import lifetimes
from kuiper.course.pictures.class_diagram import class_diagram
from kuiper.course.pictures.flow import flow
from kuiper.course.pictures.grid import grid, hue
from kuiper.course.pictures.memory import memory
from kuiper.course.pictures.picture import Picture, column_of, row_of
from kuiper.course.pictures.steps import steps
from kuiper.course.pictures.tree import tree
from kuiper.course.pictures.yellow_lines import yellow_lines

__all__ = [
    "Picture",
    "class_diagram",
    "column_of",
    "flow",
    "grid",
    "hue",
    "lifetimes",
    "memory",
    "row_of",
    "steps",
    "tree",
    "yellow_lines",
]
