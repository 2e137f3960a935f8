"""The document: the template with its styles, scripts and the data put in, one HTML file that needs nothing else.

The page is kuiper/explore/page/template.html with its styles and scripts put in, and one JSON object in <script
type="application/json" id="network">. <, >, & and the two line separators are escaped, so no text of a model can end
that script. page.data is the same object in Python. Numbers that are missing, infinite or NaN are null.

Arrays are objects: {"kind", "shape", "data"}. data is base64 of little-endian float32 (kind is f32), or of bytes (u8),
which stand for low + (high - low) * byte / 255.

    format    1
    model     name, file, kuiper (the version), parameters, flops, and inputs and outputs, each {name, value, shape,
              type}
    machine   cpu, cores, threads, gigahertz, peak (GFLOP/s of one core), bandwidth (GB/s of a copy by one thread)
    stages    a list: file, each pass that changed something, plan
    operators by key: name, type, params, weights, formula, source, inputs and outputs (keys of values), parameters,
              flops, steps (places in the plan)
    plan      steps, and refusal: why there is no plan, or null
    runs      a list of {name, kind, threads, total, spans}; a span is {step or operator, thread, start, time}; all in
              microseconds
    memory    arena, unshared, bound in bytes, steps, peak_step, alive (bytes in each step), rectangles; null without a
              plan
    values    by key: what flowed
    windows   by the operator's key: kind, kernel, stride, padding (top, left, bottom, right), dilation, groups,
              weights of the output channels that are kept, bias, activation, residual, field
    fields    receptive fields, to which windows point
    answers   kind is classes, boxes, segments or values
    input     the first input as a picture: picture (a data address), size, fit (how the photo was placed); or null
    mine      only with --mine
    left_out  sentences: what the page had to do without, and mistakes of kuiper's that make the model slower

A stage has name, title, nodes, edges and removed (ids of the stage before). A node has id, name, type, family,
operator (a key of operators), group (what folds together, or an empty text), change (same, new, changed or moved),
from (ids of the stage before that it is or has taken in). In the stage plan a node is a step: it has step, its place
in the plan, and its type is the algorithm. An edge has from, to, value (a key of values, or null) and shape. Where the
boxes stand, the page finds itself, as the reader can fold any of the groups.

A step has operator, algorithm, kind (import, export, chain or compute), tasks, bytes, flops, measured and expected
(microseconds; the latter null where there was one algorithm only), rejected (a list of {algorithm, expected}), why,
and source, the file of its kernel.

A value has shape, type, low, high, mean, std of its finite numbers; nan, infinite, zeros, saturated as shares
(saturated is null where the operator's results have no two ends); histogram (low, high, 32 counts); maps; and exact,
all its numbers, if there was room. maps has array (the first channels, rows, columns) and step (every which row and
column was kept). A matrix is one channel, a vector is one row. What is no array has shape null, its type and its text.
A key is the name of the operand in the file; where passes put another value into it, that one's key ends in (after
passes).

A field has size, step and start for (rows, columns), as textbooks give them: output row i sees size rows from start +
step * i on. rows and columns are exact, and cut to the picture: two lists, the first and the last that each output row
or column depends on. whole says that everything mixes.

Answers: of classes, top has {label, score}, and meaning says whether a score is a probability, a raw output or that of
the next token. Boxes are left, upper, right, lower edge in pixels of input's picture: before and after suppression,
with photo_box in the photo's own pixels, the number of candidates, and the thresholds confidence and iou. Segments
have classes with their share, labels, and map, one byte for each step-th pixel of the photo.

Mine has operators by name, each with exercise, error (in the whole run), alone (for the reference's inputs) and
agrees; an error of null is infinite. first is the first operator that differs; then there are pictures of yours, the
reference and the difference. exercises are those that ran, failures those that raised an error and were replaced by
the reference.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.language import language
from kuiper.page_language import as_json, in_language
from kuiper.printable import printable

if TYPE_CHECKING:
    from os import PathLike

    from kuiper.explore.arrays import Table

_FOLDER = Path(__file__).parent / "page"
_STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)"\s*/?>')
_SCRIPT = re.compile(r'<script src="([\w./-]+)"></script>')
_DATA = '<script type="application/json" id="network"></script>'
_TITLE = "<!-- title -->"
_LONGEST_TITLE = 100
_FRAME_HEIGHT = 760  # pixels, in a notebook


class Page:
    """A network at work, as one HTML document. A notebook shows it in a frame.

    Parameters
    ----------
    data : what the head of this module describes; JSON can say all of it

    It is in the language that is spoken when it is made, as the sentences in its data are.
    """

    def __init__(self, data: Table) -> None:
        self.data = data
        self.language = language()

    @property
    def html(self) -> str:
        """The document.

        >>> page = Page({"model": {"name": "</script><b>"}})
        >>> "</script><b>" in page.html, "\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e" in page.html
        (False, True)
        """
        text = (_FOLDER / "template.html").read_text(encoding="utf-8")
        text = _STYLE.sub(lambda found: f"<style>\n{_part(found[1])}</style>", text)
        text = _SCRIPT.sub(lambda found: f"<script>\n{_part(found[1])}</script>", text)
        name = printable(str(self.data["model"]["name"]))
        text = text.replace(_TITLE, escape(name if len(name) <= _LONGEST_TITLE else f"{name[:_LONGEST_TITLE]}..."), 1)
        before, _, after = in_language(text, "explore", self.language).partition(_DATA)
        return "".join([before, _DATA.removesuffix("</script>"), as_json(self.data), "</script>", after])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the document to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        document = escape(self.html)
        style = f"width: 100%; height: {_FRAME_HEIGHT}px; border: 0"
        return f'<iframe title="kuiper explore" sandbox="allow-scripts" style="{style}" srcdoc="{document}"></iframe>'

    def __repr__(self) -> str:
        return f"<page of {printable(str(self.data['model']['name']))}: {len(self.data['operators'])} operators>"


def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
