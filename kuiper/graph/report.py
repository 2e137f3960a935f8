"""Tables for people: the same rows as text in a terminal and as HTML in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 160
"""Columns of a rendered table at most; rich folds longer cells."""


@dataclass(frozen=True)
class Column:
    """A heading, and whether its cells are numbers (which are set flush right)."""

    heading: str
    numeric: bool = False


@dataclass(frozen=True)
class Report:
    """A title, columns, rows of ready text, and a last line that sums up."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    footer: str

    def __str__(self) -> str:
        # Imported here: it takes a tenth of the time of `import kuiper`, and few programs show a table.
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable

        table = RichTable(title=printable(self.title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for column in self.columns:
            table.add_column(column.heading, justify="right" if column.numeric else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*map(printable, row))
        page = StringIO()
        # In a notebook, rich would show the table in the cell instead of writing it to the file.
        console = Console(file=page, width=WIDTH, force_jupyter=False, highlight=False, markup=False, emoji=False)
        console.print(table)
        lines = [line.rstrip() for line in page.getvalue().splitlines()]
        return "\n".join([*lines, printable(self.footer, keep="\n")])

    def _repr_html_(self) -> str:
        align = ["right" if column.numeric else "left" for column in self.columns]
        head = "".join(f"<th>{_html(column.heading)}</th>" for column in self.columns)
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:{side}">{_html(cell)}</td>' for side, cell in zip(align, row, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        caption = f"<caption>{_html(self.title)}</caption>"
        return f"<table>{caption}<tr>{head}</tr>{body}</table><p>{_html(self.footer)}</p>"


def format_count(number: int | None) -> str:
    """An integer with a thousands separator, "-" for an unknown one and for zero.

    >>> format_count(11689512), format_count(0)
    ('11,689,512', '-')
    """
    return f"{number:,}" if number else "-"


def format_flops(flops: int | None) -> str:
    """Floating-point operations in the unit that leaves one to three digits before the point.

    >>> format_flops(3_628_146_688), format_flops(640), format_flops(None)
    ('3.63 G', '640', '-')
    """
    if not flops:
        return "-"
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if flops >= size:
            return f"{flops / size:.2f} {unit}"
    return str(flops)


def _html(text: str) -> str:
    return escape(printable(text, keep="\n"))
